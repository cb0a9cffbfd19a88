//! What a list shows of a session, as a row and back. The invariant: nothing is lost on the way.

use ramus_catalogue::Row;
use ramus_model::usage::UsageTotals;
use ramus_model::{EntryId, ImportedFrom, Origin, Project, SessionId};
use ramus_store::{Location, LogStore, Residence};

use crate::verb::info::{GitState, Lineage, SessionInfo, SessionStatus, Workspace};

/// Fills in the columns about a session. Those about its file are the caller's.
pub(crate) fn row_of(info: &SessionInfo, created_millis: Option<i64>) -> Row {
    let project = info.project.as_ref();
    let text = |text: &str| Some(text.to_owned());
    Row {
        id: info.id.to_string(),
        cwd: info.cwd.clone(),
        title: info.title.clone(),
        owner: info.owner.clone(),
        parent: info.lineage.parent.as_ref().map(ToString::to_string),
        forked_from: info.lineage.forked_from.as_ref().map(|from| (from.session.to_string(), from.entry.to_string())),
        parent_session: info.lineage.parent_session.clone(),
        source: info.lineage.imported_from.as_ref().map(|from| (from.agent.clone(), from.file.clone())),
        archived_at: info.archived_at.clone(),
        compacted_at: info.compacted_at.clone(),
        is_starred: info.starred,
        tags: to_json(&info.tags),
        metadata: to_json(&info.metadata),
        permission: to_json(&info.permission),
        messages: info.messages as u64,
        entries: info.entries as u64,
        usage: to_json(&info.usage),
        cost: info.usage.reported(),
        tokens: info.usage.tokens.sum(),
        last_prompt_tokens: info.last_prompt_tokens,
        last_completion_tokens: info.last_completion_tokens,
        provider: info.provider.clone(),
        model: info.model.clone(),
        engine_version: info.engine_version.clone(),
        created: info.created.clone(),
        created_millis: created_millis.unwrap_or_default(),
        updated: info.updated.clone(),
        updated_millis: info.updated_millis,
        is_damaged: info.damaged,
        workspace_root: info.workspace.root.clone(),
        workspace_mount: info.workspace.mount.clone(),
        workspace_session: info.workspace.session.clone(),
        git_commit: info.git.commit.clone(),
        git_dirty: info.git.dirty,
        summary: to_json(&info.summary),
        latest_snapshot: info.latest_snapshot.clone(),
        revert: info.revert.as_ref().map(to_json),
        project_root: project.and_then(|project| text(&project.root)),
        project_remote: project.and_then(|project| project.remote.clone()),
        project_git: project.and_then(|project| project.git.clone()),
        ..Row::default()
    }
}

/// Makes of rows what a list shows, but for what no row can know, and says where the logs are. None when a row makes no
/// sense, which a database that was tampered with may hold.
pub(crate) fn infos_of(rows: Vec<Row>, store: &dyn LogStore) -> Option<(Vec<SessionInfo>, Vec<Location>)> {
    let locations: Vec<Location> = rows.iter().map(|row| store.located(&row.name)).collect::<Option<_>>()?;
    let infos =
        rows.into_iter().zip(&locations).map(|(row, location)| info_of(row, location)).collect::<Option<_>>()?;
    Some((infos, locations))
}

/// Asks the home what no row can know: which sessions run.
pub(crate) fn with_runners(infos: &mut [SessionInfo], locations: &[Location], store: &dyn LogStore) {
    // A lock that cannot be asked stands in nobody's way here.
    let runners = match store.runners(locations) {
        Ok(runners) => runners,
        Err(_) => locations.iter().map(|at| store.runner(at).ok().flatten()).collect(),
    };
    for (info, runner) in infos.iter_mut().zip(runners) {
        info.status = match runner {
            Some(runner) => SessionStatus::Running(runner),
            None if info.damaged => SessionStatus::Damaged,
            None => SessionStatus::Idle,
        };
    }
}

fn info_of(row: Row, location: &Location) -> Option<SessionInfo> {
    let forked_from =
        |(session, entry): (String, String)| Origin { session: SessionId::new(session), entry: EntryId::new(entry) };
    let project = |root| Project { root, remote: row.project_remote, git: row.project_git };
    Some(SessionInfo {
        id: SessionId::new(row.id),
        path: location.path.clone(),
        residence: location.residence,
        title: row.title,
        cwd: row.cwd,
        messages: usize::try_from(row.messages).ok()?,
        entries: usize::try_from(row.entries).ok()?,
        created: row.created,
        updated: row.updated,
        updated_millis: row.updated_millis,
        owner: row.owner,
        engine_version: row.engine_version,
        provider: row.provider,
        model: row.model,
        lineage: Lineage {
            parent: row.parent.map(SessionId::new),
            forked_from: row.forked_from.map(forked_from),
            parent_session: row.parent_session,
            imported_from: row.source.map(|(agent, file)| ImportedFrom { agent, file }),
        },
        usage: serde_json::from_str(&row.usage).ok()?,
        last_prompt_tokens: row.last_prompt_tokens,
        last_completion_tokens: row.last_completion_tokens,
        archived_at: row.archived_at,
        compacted_at: row.compacted_at,
        project: row.project_root.map(project),
        moved_to: None,
        tags: serde_json::from_str(&row.tags).ok()?,
        starred: row.is_starred,
        metadata: serde_json::from_str(&row.metadata).ok()?,
        permission: serde_json::from_str(&row.permission).ok()?,
        workspace: Workspace { root: row.workspace_root, mount: row.workspace_mount, session: row.workspace_session },
        git: GitState { commit: row.git_commit, dirty: row.git_dirty },
        summary: serde_json::from_str(&row.summary).ok()?,
        latest_snapshot: row.latest_snapshot,
        revert: row.revert.map(|revert| serde_json::from_str(&revert).ok()).unwrap_or_default(),
        damaged: row.is_damaged,
        status: SessionStatus::default(),
    })
}

/// What the usage column says.
pub(crate) fn usage_of(row: &Row) -> Option<UsageTotals> {
    serde_json::from_str(&row.usage).ok()
}

/// What kind of place a row says a log is in.
pub(crate) fn residence_of(residence: Residence) -> ramus_catalogue::Residence {
    match residence {
        Residence::Base => ramus_catalogue::Residence::Base,
        Residence::Draft => ramus_catalogue::Residence::Draft,
        Residence::Memory => ramus_catalogue::Residence::Memory,
        Residence::Published | Residence::InPlace => ramus_catalogue::Residence::Published,
    }
}

/// Text, numbers and JSON of our own always become JSON.
fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
