//! What a person says: words from the command line and from a pipe, and pictures from files.

use std::fs;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ramus_engine::{Attachment, Picture};
use ramus_tools::tool::read::image_kind;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{SeekFrom, seek};

use crate::failure::Refusal;
use crate::invocation::Stdin;
use crate::screen::Screen;

/// How many seconds a pipe has to begin, when there is something to say without it.
const PATIENCE: i64 = 3;

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
        screen: &mut Screen,
    ) -> anyhow::Result<Self> {
        let mut piped = String::new();
        let mut stdin = std::io::stdin();
        if open == Stdin::Open && !stdin.is_terminal() && (words.is_none() || is_sent(screen)?) {
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

/// Says whether someone pipes something in beside the words. A file is not read then: it may be what a loop of a shell reads
/// line by line. Nor is a pipe that stays silent: whoever started this may have left one open.
fn is_sent(screen: &mut Screen) -> anyhow::Result<bool> {
    use std::os::unix::fs::FileTypeExt as _;
    let stdin = std::io::stdin();
    let Ok(kind) = fs::metadata("/dev/stdin") else { return Ok(false) };
    if kind.is_file() {
        // What is empty, or was read to its end, is missed by nobody.
        let is_left = seek(&stdin, SeekFrom::Current(0)).is_ok_and(|at| at < kind.len());
        if is_left {
            screen.warn(
                "the file on stdin is not read beside a PROMPT; pipe it in (cat FILE | ramus run …) or --attach it",
            )?;
        }
        return Ok(false);
    }
    if !kind.file_type().is_fifo() {
        return Ok(false);
    }
    let patience = Timespec { tv_sec: PATIENCE, tv_nsec: 0 };
    let mut pipe = [PollFd::new(&stdin, PollFlags::IN)];
    let is_sent = poll(&mut pipe, Some(&patience)).context("cannot read what comes in")? > 0;
    if !is_sent {
        screen.warn(&format!("nothing came through the pipe on stdin in {PATIENCE} s; going on without it"))?;
    }
    Ok(is_sent)
}
