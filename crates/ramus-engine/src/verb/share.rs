//! `share` and `unshare`: the path to an entry, redacted, as a page that others can open with a secret.
//!
//! The page is frozen. Only what is on the path and asked for is in it: no other branch, no system prompt, no directory, and
//! nothing of another session. The session records that it was shared and never how to open it.

use std::collections::BTreeSet;

use ramus_model::{Body, Draft, Record, Seq, time};
use ramus_publish::html;
use ramus_publish::transcript::Transcript;
use ramus_redact::{Finding, Redactor};
use ramus_store::Residence;
use serde_json::json;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::shares::{Share, Shares, hash};
use crate::verb::append::Cursor;
use crate::verb::transcript::{Include, TranscriptScope, redact};

/// What is shared, and how.
#[derive(Clone, Debug)]
pub struct ShareOptions {
    /// The entry that the path ends with.
    pub entry: Option<Seq>,
    /// What of each entry is in it. The system is never.
    pub include: Include,
    /// For how long, in milliseconds; none for until it is taken back.
    pub lifetime: Option<i64>,
}

/// What would be shared.
#[derive(Clone, Debug)]
pub struct SharePreview {
    /// What others would see.
    pub transcript: Transcript,
    /// What was taken out of it.
    pub findings: Vec<Finding>,
}

impl SharePreview {
    /// Returns the page.
    pub fn page(&self) -> String {
        html::write(&self.transcript, &html::Options { unlisted: true })
    }
}

/// A share that was just made: the only time its secret is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The share.
    pub share: Share,
    /// What opens it.
    pub secret: String,
}

/// What a secret opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// The page.
    Page(Vec<u8>),
    /// Nothing any more: the share was taken back, or its time is over.
    Over,
    /// Nothing: there is no such share, or the secret is another one.
    Nothing,
}

impl Engine {
    /// Keeps shares in a home.
    #[must_use]
    pub fn with_shares(mut self, home: &std::path::Path) -> Self {
        self.shares = Some(Shares::of_home(home));
        self
    }

    /// Shows what a share would hold. Nothing is written.
    pub fn preview_share(
        &self,
        session: &mut Session,
        options: &ShareOptions,
        redactor: &Redactor,
    ) -> Result<SharePreview, EngineError> {
        let leaf = options.entry.or(session.log().leaf());
        let include = Include { system: false, ..options.include };
        let mut transcript = self.transcript(session, TranscriptScope::Path(leaf), include)?;
        // What leads back to the session is the owner's.
        transcript.session.clear();
        let mut pass = redactor.pass();
        redact(&mut transcript, &mut pass);
        let findings = pass.findings().to_vec();
        let count: usize = findings.iter().map(|finding| finding.count).sum();
        if count > 0 {
            let many = if count == 1 { "One value was".to_owned() } else { format!("{count} values were") };
            transcript.notes.push(format!("{many} taken out or made anonymous before this was shared."));
        }
        Ok(SharePreview { transcript, findings })
    }

    /// Shares what was previewed.
    pub fn share(
        &self,
        session: &mut Session,
        options: &ShareOptions,
        preview: &SharePreview,
    ) -> Result<Shared, EngineError> {
        if session.residence() == Residence::InPlace {
            let reason = "the file belongs to another program; import or fork the session to share it";
            return Err(EngineError::Invalid(reason.into()));
        }
        let shares = self.shares()?;
        let leaf = options.entry.or(session.log().leaf());
        let entry = leaf.map(|leaf| session.entry_id(leaf).to_string()).unwrap_or_default();
        // 122 random bits are what a UUID has; two of them are more than the 128 that a secret should have.
        let random = || uuid::Uuid::new_v4().simple().to_string();
        let secret = format!("{}{}", random(), &random().get(..8).unwrap_or_default());
        let include = options.include;
        let named = [
            ("messages", include.messages),
            ("diffs", include.diffs),
            ("tools", include.tools),
            ("thinking", include.thinking),
        ];
        let share = Share {
            id: random(),
            session: session.id().to_string(),
            entry: entry.clone(),
            include: named.iter().filter(|(_, is_in)| *is_in).map(|(name, _)| (*name).to_owned()).collect(),
            created: self.timestamp(),
            expires: options.lifetime.map(|lifetime| self.now().saturating_add(lifetime)),
            revoked: None,
            secret_sha256: hash(&secret),
        };
        shares.add(share.clone(), preview.page().as_bytes())?;
        let data = json!({"op": "share", "client": self.client_of(session), "id": share.id, "entry": entry, "include": share.include,
            "expires": share.expires.map(time::format)});
        let draft = Draft::new(Body::ramus("share", data));
        let noted = self.append(session, &[draft], &Cursor::Leaf).and_then(|_| {
            let log = session.log();
            // Whoever erases ends the shares that there are first, and may have been done between the look and the list.
            let is_shown = |seq| log.record(seq).is_some_and(Record::is_visible);
            let is_there = share.entry.is_empty() || log.seq_of(&share.entry).is_some_and(is_shown);
            let gone = || EngineError::Conflict("what was to be shared was erased meanwhile".into());
            if is_there { Ok(()) } else { Err(gone()) }
        });
        if let Err(error) = noted {
            // What the session does not know of must not be open.
            shares.revoke(|other| other.id == share.id, self.now(), &self.timestamp())?;
            return Err(error);
        }
        Ok(Shared { share, secret })
    }

    /// Takes shares of a session back: one, or all of them. Returns those that were open.
    pub fn unshare(&self, session: &mut Session, id: Option<&str>) -> Result<Vec<Share>, EngineError> {
        let shares = self.shares()?;
        let owner = session.id().to_string();
        let is_meant =
            |share: &Share| share.session == owner && id.is_none_or(|id| share.id.starts_with(id) && id.len() >= 4);
        let ended = shares.revoke(is_meant, self.now(), &self.timestamp())?;
        if ended.is_empty() {
            return Err(EngineError::ShareNotFound(id.unwrap_or(&owner).to_owned()));
        }
        for share in &ended {
            let data = json!({"op": "unshare", "client": self.client_of(session), "id": share.id});
            self.append(session, &[Draft::new(Body::ramus("share", data))], &Cursor::Leaf)?;
        }
        Ok(ended)
    }

    /// Lists everything that was ever shared, what is over included.
    pub fn list_shares(&self) -> Result<Vec<Share>, EngineError> {
        match &self.shares {
            Some(shares) => shares.all(),
            None => Ok(Vec::new()),
        }
    }

    /// Lists what can be seen now.
    pub fn open_shares(&self) -> Result<Vec<Share>, EngineError> {
        let now = self.now();
        Ok(self.list_shares()?.into_iter().filter(|share| share.is_open(now)).collect())
    }

    /// Removes the pages of shares whose time is over. The list remembers that they were there.
    pub fn sweep_shares(&self) -> Result<(), EngineError> {
        match &self.shares {
            Some(shares) => shares.sweep(self.now()),
            None => Ok(()),
        }
    }

    /// Finds what a secret opens.
    pub fn open_share(&self, id: &str, secret: &str) -> Result<Opened, EngineError> {
        let shares = self.shares()?;
        let now = self.now();
        let found = shares.all()?.into_iter().find(|share| share.id == id);
        match found.filter(|share| share.opens_with(secret)) {
            Some(share) if share.is_open(now) => shares.page(&share).map(Opened::Page),
            Some(_) => Ok(Opened::Over),
            None => Ok(Opened::Nothing),
        }
    }

    /// Takes back some of what is shared of a session.
    pub(crate) fn revoke_shares_called(&self, session: &str, ids: &BTreeSet<String>) -> Result<(), EngineError> {
        match ids.is_empty() {
            true => Ok(()),
            false => self.end_shares(session, |share| ids.contains(&share.id), false).map(drop),
        }
    }

    /// Takes back everything that is shared of a session, before it goes.
    pub(crate) fn revoke_shares_of(&self, session: &str) -> Result<(), EngineError> {
        self.end_shares(session, |_| true, false).map(drop)
    }

    /// Takes back what is shared of a session and shows what goes; with `dry_run`, says what would be taken back. Returns
    /// those that were open.
    pub(crate) fn end_shares(
        &self,
        session: &str,
        shows: impl Fn(&Share) -> bool,
        dry_run: bool,
    ) -> Result<Vec<String>, EngineError> {
        let Some(shares) = &self.shares else { return Ok(Vec::new()) };
        let is_meant = |share: &Share| share.session == session && shows(share);
        let ended = match dry_run {
            true => self.open_shares()?.into_iter().filter(is_meant).collect(),
            false => shares.revoke(is_meant, self.now(), &self.timestamp())?,
        };
        Ok(ended.into_iter().map(|share| share.id).collect())
    }

    fn shares(&self) -> Result<&Shares, EngineError> {
        self.shares.as_ref().ok_or_else(|| EngineError::Invalid("this home keeps no shares".into()))
    }
}
