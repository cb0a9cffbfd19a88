//! Attachments: files that a person gives a model along with what they say.
//!
//! A text that is short enough is in the message, for every model to read. Of everything else the message says what it is and
//! where, so that tools can read it, and its bytes are kept as a blob: what was given can be looked at later, whatever
//! became of the file.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use ramus_model::Blob;

use crate::error::EngineError;

/// How many files can be given at once.
const MOST: usize = 100;

/// How large each can be, in bytes.
const LARGEST: usize = 100 << 20;

/// The longest text that is in the message itself, in bytes.
const INLINE: usize = 64 << 10;

/// A file that is given along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// What it is called.
    pub name: String,
    /// Where it is, if tools can read it there.
    pub path: Option<String>,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl Attachment {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, EngineError> {
        let shown = path.display();
        let wrong = |reason: String| EngineError::Invalid(format!("{shown} cannot be attached: {reason}"));
        let whole = std::path::absolute(path).map_err(|error| wrong(error.to_string()))?;
        let file = File::open(&whole).map_err(|error| wrong(error.to_string()))?;
        if !file.metadata().map_err(|error| wrong(error.to_string()))?.is_file() {
            return Err(wrong("it is no file".into()));
        }
        let mut bytes = Vec::new();
        // One more than there may be tells that there is more.
        file.take(LARGEST as u64 + 1).read_to_end(&mut bytes).map_err(|error| wrong(error.to_string()))?;
        let name = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let attachment = Self { name, path: whole.to_str().map(str::to_owned), bytes };
        attachment.check()?;
        Ok(attachment)
    }

    fn check(&self) -> Result<(), EngineError> {
        if self.bytes.len() > LARGEST {
            let most = LARGEST >> 20;
            return Err(EngineError::Invalid(format!("{:?} is larger than {most} MiB", self.name)));
        }
        if self.name.is_empty() || self.name.chars().any(char::is_control) {
            return Err(EngineError::Invalid(format!("{:?} is no name of an attachment", self.name)));
        }
        Ok(())
    }

    /// The text, when it is short enough to be told.
    fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok().filter(|text| text.len() <= INLINE && !text.contains('\0'))
    }
}

/// Makes sure that attachments can be told apart and are not too many.
pub(crate) fn check(attachments: &[Attachment]) -> Result<(), EngineError> {
    if attachments.len() > MOST {
        let count = attachments.len();
        return Err(EngineError::Invalid(format!("at most {MOST} files can be attached at once, not {count}")));
    }
    let mut names = HashSet::new();
    for attachment in attachments {
        attachment.check()?;
        if !names.insert(&attachment.name) {
            return Err(EngineError::Invalid(format!("two attachments are called {:?}", attachment.name)));
        }
    }
    Ok(())
}

/// The blobs that must be there before the message is.
pub(crate) fn blobs(attachments: &[Attachment]) -> Vec<Blob> {
    attachments.iter().filter(|one| one.text().is_none()).map(|one| Blob::new(one.bytes.clone())).collect()
}

/// What a model is told of an attachment.
pub(crate) fn told(attachment: &Attachment) -> String {
    let name = attachment.name.replace('"', "'");
    let size = attachment.bytes.len();
    let path = attachment.path.as_ref().map(|path| format!(" path=\"{path}\"")).unwrap_or_default();
    match attachment.text() {
        Some(text) => format!("<attachment name=\"{name}\"{path}>\n{}\n</attachment>", text.trim_end_matches('\n')),
        None => {
            let hash = ramus_model::BlobHash::of(&attachment.bytes);
            format!("<attachment name=\"{name}\"{path} bytes=\"{size}\" blob=\"sha256:{hash}\" />")
        }
    }
}
