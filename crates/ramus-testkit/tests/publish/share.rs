//! A share holds exactly the chosen path, without secrets, and ends when it should.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use ramus_engine::{Clock, Engine, ErrorKind, Include, Opened, Session, ShareOptions};
use ramus_redact::{Identity, Redactor};
use ramus_store::{JsonlStore, Layout};
use ramus_testkit::random::Random;
use serde_json::{Value, json};
use tempfile::TempDir;

struct Hand(AtomicI64);

impl Clock for Hand {
    fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

struct Home {
    folder: TempDir,
    engine: Engine,
    clock: Arc<Hand>,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(Hand(AtomicI64::new(1_800_000_000_000)));
        let store = JsonlStore::new(folder.path(), Layout::Pi);
        let engine = Engine::new(Arc::new(store), "test").with_shares(folder.path()).with_clock(clock.clone());
        Self { folder, engine, clock }
    }

    fn in_memory() -> Self {
        Self { engine: Engine::in_memory(), ..Self::new() }
    }

    fn session(&self, file: &str) -> Session {
        let bundle = {
            let mut writer = ramus_publish::bundle::Writer::new(Vec::new()).unwrap();
            let id = uuid(file);
            let head = ramus_publish::bundle::SessionHead { id: id.clone(), cwd: "/srv".into(), ..Default::default() };
            writer.session(&head).unwrap();
            writer.log(file.replace("SESSION", &id).as_bytes()).unwrap();
            writer.finish().unwrap()
        };
        let imported = self.engine.import_bundle(&*bundle, Default::default()).unwrap();
        self.engine.open(imported.imported[0].id.as_str(), "").unwrap()
    }
}

fn uuid(file: &str) -> String {
    format!("s{:016x}", file.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte))))
}

fn options(include: Include) -> ShareOptions {
    ShareOptions { entry: None, include, lifetime: Some(60_000) }
}

/// A tree in which every text is unlike every other; the texts on the path, and all others.
fn tree(seed: u64) -> (String, Vec<String>, Vec<String>) {
    let mut random = Random::new(seed);
    let header = json!({"type": "session", "version": 3, "id": "SESSION", "timestamp": "2026-11-15T10:20:30.000Z",
        "cwd": "/srv/cwd-is-nobodys-business", "title": "A title"});
    let mut lines = vec![header.to_string()];
    let mut parents: Vec<Option<usize>> = Vec::new();
    let mut texts: Vec<(String, bool)> = Vec::new();
    for at in 0..1 + random.below(40) {
        let parent = if at == 0 { None } else { Some(if random.chance(60) { at - 1 } else { random.below(at) }) };
        let text = format!("text-{seed}-{at}-of-its-own");
        let role = ["user", "assistant", "toolResult", "system"][random.below(4)];
        let message = match role {
            "toolResult" => {
                json!({"role": role, "toolCallId": "c", "toolName": "bash", "isError": false, "content": [{"type": "text", "text": text}]})
            }
            _ => {
                json!({"role": role, "content": [{"type": "text", "text": text}, {"type": "thinking", "thinking": format!("thought-{at}")}]})
            }
        };
        let parent_id = parent.map(|parent: usize| format!("{parent:08x}"));
        lines.push(json!({"type": "message", "id": format!("{at:08x}"), "parentId": parent_id, "timestamp": "2026-11-15T10:20:30.000Z",
            "message": message}).to_string());
        parents.push(parent);
        texts.push((text, role == "system"));
    }
    let (mut on_path, mut next) = (vec![false; texts.len()], Some(texts.len() - 1));
    while let Some(at) = next {
        on_path[at] = true;
        next = parents[at];
    }
    let (mut shown, mut hidden) = (Vec::new(), vec!["cwd-is-nobodys-business".to_owned()]);
    for (at, (text, is_system)) in texts.into_iter().enumerate() {
        if on_path[at] && !is_system { shown.push(text) } else { hidden.push(text) }
    }
    hidden.push("thought-".to_owned());
    (lines.join("\n") + "\n", shown, hidden)
}

#[test]
fn i11_a_share_holds_exactly_the_chosen_path() {
    let home = Home::in_memory();
    let redactor = Redactor::new();
    let include = Include { thinking: false, ..Include::everything() };
    let others = home.session(&tree(100_000).0);
    for seed in 0..1_000 {
        let (file, shown, hidden) = tree(seed);
        let mut session = home.session(&file);
        let page = home.engine.preview_share(&mut session, &options(include), &redactor).unwrap().page();
        let missing: Vec<&String> = shown.iter().filter(|text| !page.contains(&format!(">{text}<"))).collect();
        assert_eq!(missing, Vec::<&String>::new(), "seed {seed}");
        let leaked: Vec<&String> = hidden.iter().filter(|text| page.contains(text.as_str())).collect();
        assert_eq!(leaked, Vec::<&String>::new(), "seed {seed}");
        assert!(!page.contains(others.id().as_str()) && !page.contains(session.id().as_str()), "seed {seed}");
    }
}

#[test]
fn i11_a_share_opens_with_its_secret_until_it_ends() {
    let home = Home::new();
    let redactor = Redactor::new();
    let mut session = home.session(&tree(3).0);
    let options = options(Include::everything());
    let preview = home.engine.preview_share(&mut session, &options, &redactor).unwrap();
    let share = |session: &mut Session| home.engine.share(session, &options, &preview).unwrap();
    let first = share(&mut session);
    let second = share(&mut session);
    assert!(first.secret.len() >= 32 && first.secret != second.secret && first.share.id != second.share.id);
    let sees = |shared: &ramus_engine::Shared, secret: &str| {
        matches!(home.engine.open_share(&shared.share.id, secret).unwrap(), Opened::Page(_))
    };
    assert!(sees(&first, &first.secret) && sees(&second, &second.secret));
    assert!(!sees(&first, &second.secret) && !sees(&first, ""));
    assert_eq!(home.engine.open_share("nothing", &first.secret).unwrap(), Opened::Nothing);
    // What is said later is not in it.
    let before = home.engine.open_share(&first.share.id, &first.secret).unwrap();
    home.engine.say(&mut session, ramus_engine::Say::user("said-later")).unwrap();
    assert_eq!(home.engine.open_share(&first.share.id, &first.secret).unwrap(), before);
    // Nowhere in the home is the secret itself.
    for entry in walk(home.folder.path()) {
        let bytes = std::fs::read(&entry).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(&first.secret), "{}", entry.display());
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&entry).unwrap().permissions());
        assert_eq!(mode & 0o077, 0, "{}", entry.display());
    }
    let ended = home.engine.unshare(&mut session, Some(&first.share.id)).unwrap();
    assert_eq!(ended.len(), 1);
    assert!(!sees(&first, &first.secret) && sees(&second, &second.secret));
    // Only whoever could see it is told that it was there.
    let opened = |secret: &str| home.engine.open_share(&first.share.id, secret).unwrap();
    assert_eq!((opened(&first.secret), opened(&second.secret)), (Opened::Over, Opened::Nothing));
    let again = home.engine.unshare(&mut session, Some(&first.share.id)).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::NotFound);
    home.clock.0.fetch_add(60_000, Ordering::SeqCst);
    assert!(!sees(&second, &second.secret), "it has expired");
    assert_eq!(home.engine.open_shares().unwrap(), []);
    assert_eq!(home.engine.list_shares().unwrap().len(), 2, "what is over is remembered");
}

#[test]
fn i11_deleting_a_session_ends_its_shares_first() {
    let home = Home::new();
    let mut session = home.session(&tree(4).0);
    let options = options(Include::everything());
    let preview = home.engine.preview_share(&mut session, &options, &Redactor::new()).unwrap();
    let shared = home.engine.share(&mut session, &options, &preview).unwrap();
    home.engine.delete(&session, Default::default(), true).unwrap();
    let opened = || home.engine.open_share(&shared.share.id, &shared.secret).unwrap();
    assert!(matches!(opened(), Opened::Page(_)), "a dry run ends nothing");
    home.engine.delete(&session, Default::default(), false).unwrap();
    assert_eq!(opened(), Opened::Over);
}

#[test]
fn i12_secrets_are_taken_out_of_every_field_of_a_share() {
    let home = Home::new();
    let key = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let own = "correct horse own value";
    let places = json!({"type": "message", "id": "a1a1a1a1", "parentId": null, "timestamp": "2026-11-15T10:20:30.000Z",
        "message": {"role": "assistant", "model": key, "content": [
            {"type": "text", "text": format!("{key} and {own} in /home/ada/shop")},
            {"type": "thinking", "thinking": format!("{key} {own}")},
            {"type": "toolCall", "id": "c", "name": key, "arguments": {"command": format!("TOKEN={key}\n{own}"), key: "x"}},
            {"type": "image", "mimeType": key, "data": ""}]}});
    let label = json!({"type": "label", "id": "b1b1b1b1", "parentId": "a1a1a1a1", "timestamp": "", "targetId": "a1a1a1a1", "label": key});
    let header = json!({"type": "session", "version": 3, "id": "SESSION", "timestamp": "2026-11-15T10:20:30.000Z", "cwd": "/", "title": key});
    let mut session = home.session(&format!("{header}\n{places}\n{label}\n"));
    let identity = Identity { user: "ada".into(), home: "/home/ada".into(), host: "tower".into() };
    let redactor = Redactor::new().with_secrets(&[own.to_owned()]).with_identity(&identity);
    let preview = home.engine.preview_share(&mut session, &options(Include::everything()), &redactor).unwrap();
    let page = preview.page();
    for secret in [key, own, "/home/ada"] {
        assert!(!page.contains(secret), "{secret}");
    }
    let found: Vec<(&str, usize)> = preview.findings.iter().map(|finding| (finding.kind, finding.number)).collect();
    assert!(found.contains(&("github-token", 1)) && !found.contains(&("github-token", 2)), "{found:?}");
    assert!(page.contains("[redacted: github-token 1]") && page.contains("noindex"), "{page}");
}

fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() { directories.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    found
}

#[test]
fn i11_the_session_records_that_it_was_shared_and_not_how() {
    let home = Home::new();
    let mut session = home.session(&tree(5).0);
    let options = options(Include::everything());
    let preview = home.engine.preview_share(&mut session, &options, &Redactor::new()).unwrap();
    let leaf = session.leaf();
    let shared = home.engine.share(&mut session, &options, &preview).unwrap();
    assert_eq!(session.leaf(), leaf, "the record is no part of the tree");
    let last = session.log().seqs().next_back().unwrap();
    let line: Value = serde_json::from_slice(&session.line(last).unwrap()).unwrap();
    assert_eq!(line["customType"], "ramus.share");
    assert_eq!(line["data"]["id"], json!(shared.share.id));
    assert_eq!(line["data"]["op"], "share");
}
