//! What a person says: words from the command line and from a pipe, and pictures from files.

use std::fs;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ramus_engine::{Attachment, Picture};
use ramus_tools::tool::read::image_kind;

use crate::failure::Refusal;
use crate::invocation::Stdin;

/// The largest picture; providers refuse larger ones.
const LARGEST: u64 = 20 << 20;

/// What is said in a turn; nothing when the path ends with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) text: Option<String>,
    pub(crate) pictures: Vec<Picture>,
    pub(crate) attachments: Vec<Attachment>,
}

impl Said {
    /// Words alone.
    pub(crate) fn words(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// Takes the words of the command line, what comes in through a pipe behind them, pictures and files.
    pub(crate) fn gather(
        words: Option<&str>,
        pictures: &[PathBuf],
        files: &[PathBuf],
        open: Stdin,
    ) -> anyhow::Result<Self> {
        let mut piped = String::new();
        let mut stdin = std::io::stdin();
        if open == Stdin::Open && !stdin.is_terminal() && (words.is_none() || is_pipe()) {
            stdin.read_to_string(&mut piped).context("cannot read what comes in")?;
        }
        let parts = [words.unwrap_or_default().trim(), piped.trim()];
        let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
        if text.is_empty() {
            return Err(Refusal::usage("there is nothing to say").hint("say it: ramus run \"…\"").into());
        }
        let pictures = pictures.iter().map(|path| picture(path)).collect::<anyhow::Result<_>>()?;
        let attachments = files.iter().map(|path| Attachment::read(path)).collect::<Result<_, _>>()?;
        Ok(Self { text: Some(text), pictures, attachments })
    }
}

/// Reads a picture.
fn picture(path: &Path) -> anyhow::Result<Picture> {
    let unreadable = || format!("cannot read {}", path.display());
    let length = fs::metadata(path).with_context(unreadable)?.len();
    if length > LARGEST {
        let message = format!("{} is larger than {} MiB", path.display(), LARGEST >> 20);
        return Err(Refusal::invalid(message)
            .hint("make it smaller; models see no more detail in a larger one")
            .into());
    }
    let bytes = fs::read(path).with_context(unreadable)?;
    let kind = image_kind(&bytes).ok_or_else(|| {
        Refusal::invalid(format!("{} is no picture", path.display())).hint("PNG, JPEG, GIF and WebP are")
    })?;
    Ok(Picture { data: STANDARD.encode(bytes), kind: kind.to_owned() })
}

/// Says whether someone pipes something in. A terminal that is closed, or a job without one, is no pipe.
fn is_pipe() -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    fs::metadata("/dev/stdin").is_ok_and(|metadata| metadata.file_type().is_fifo() || metadata.is_file())
}
