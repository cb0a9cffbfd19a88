//! What is shared: frozen pages and the list of them, which the home keeps.
//!
//! The page is made when it is shared and never again, so nothing that is said later can leak through an old link. The
//! list holds the hash of each secret, not the secret. A share that is over keeps its place in the list, so that its link
//! is known to be dead for good, and its page is removed.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use ramus_store::StoreError;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::EngineError;
use crate::kept::Kept;

/// The shares of a home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    directory: PathBuf,
    kept: Kept,
}

/// One share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Its name, which says nothing about the session.
    pub id: String,
    /// The session.
    pub session: String,
    /// The entry that the shared path ends with.
    pub entry: String,
    /// What is in it.
    pub include: Vec<String>,
    /// When it was shared.
    pub created: String,
    /// When it ends, in milliseconds since 1970; none when it does not end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
    /// When it was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<String>,
    /// The SHA-256 of the secret, in hexadecimal.
    pub secret_sha256: String,
}

impl Share {
    /// Says whether it can be seen at a time.
    pub fn is_open(&self, now: i64) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|end| now < end)
    }

    /// Says whether this is its secret. Takes as long whatever is wrong.
    pub fn opens_with(&self, secret: &str) -> bool {
        let given = hash(secret);
        let same = given.bytes().zip(self.secret_sha256.bytes());
        given.len() == self.secret_sha256.len() && same.fold(0, |differs, (one, other)| differs | (one ^ other)) == 0
    }
}

/// The hash of a secret.
pub(crate) fn hash(secret: &str) -> String {
    hex::encode(Sha256::digest(secret.as_bytes()))
}

impl Shares {
    pub(crate) fn of_home(home: &Path) -> Self {
        let directory = home.join("shares");
        let kept = Kept::at(directory.join("list.json"));
        Self { directory, kept }
    }

    pub(crate) fn all(&self) -> Result<Vec<Share>, EngineError> {
        self.kept.read()
    }

    /// Adds a share and its page, the page first: a link that is listed works.
    pub(crate) fn add(&self, share: Share, page: &[u8]) -> Result<(), EngineError> {
        let path = self.page_path(&share.id);
        let failed = |error: io::Error| {
            EngineError::Store(StoreError::Io { action: "write", path: path.clone(), source: error })
        };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.directory).map_err(failed)?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
        let written = file.write_all(page).and_then(|()| file.sync_all()).map_err(failed);
        let added = written.and_then(|()| {
            self.kept.change(|list| {
                list.push(share);
                true
            })
        });
        if added.is_err() {
            let _ = fs::remove_file(&path);
        }
        added
    }

    /// Takes shares back; returns those that were open. Their pages go, and those of others that are meant and were over.
    pub(crate) fn revoke(
        &self,
        which: impl Fn(&Share) -> bool,
        now: i64,
        time: &str,
    ) -> Result<Vec<Share>, EngineError> {
        if !self.directory.exists() {
            return Ok(Vec::new());
        }
        let (mut ended, mut meant) = (Vec::new(), Vec::new());
        self.kept.change(|list: &mut Vec<Share>| {
            for share in list.iter_mut().filter(|share| which(share)) {
                if share.is_open(now) {
                    share.revoked = Some(time.to_owned());
                    ended.push(share.clone());
                }
                meant.push(share.id.clone());
            }
            !ended.is_empty()
        })?;
        meant.iter().try_for_each(|id| self.remove_page(id))?;
        Ok(ended)
    }

    /// Removes the pages of shares that are over.
    pub(crate) fn sweep(&self, now: i64) -> Result<(), EngineError> {
        let all = self.all()?;
        all.iter().filter(|share| !share.is_open(now)).try_for_each(|share| self.remove_page(&share.id))
    }

    fn remove_page(&self, id: &str) -> Result<(), EngineError> {
        let path = self.page_path(id);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::Io { action: "remove", path, source: error }.into())
            }
            _ => Ok(()),
        }
    }

    /// Returns the page of a share.
    pub(crate) fn page(&self, share: &Share) -> Result<Vec<u8>, EngineError> {
        let path = self.page_path(&share.id);
        fs::read(&path).map_err(|error| StoreError::Io { action: "read", path, source: error }.into())
    }

    /// Ids are made here, of hexadecimal digits; what a list says otherwise names nothing.
    fn page_path(&self, id: &str) -> PathBuf {
        let name = if id.bytes().all(|byte| byte.is_ascii_hexdigit()) { id } else { "none" };
        self.directory.join(format!("{name}.html"))
    }
}
