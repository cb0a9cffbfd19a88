//! The store that opencode had before its database: a file for each session, message and part.

use ramus_model::json::{Raw, Shape};

use super::{TOO_LARGE, unwrapped};
use crate::error::Error;
use crate::limits::Limits;
use crate::lines::document;
use crate::order::by_time;
use crate::record::Pieced;
use crate::source::{Source, Wanted};

/// Returns what gives the messages of a session one by one, each with its parts, as an export has them. The main file is that
/// of the session; messages are in `message/<session>/`, parts in `part/<message>/`.
pub(super) fn messages<'s>(
    source: &'s dyn Source,
    session: &str,
    limits: Limits,
) -> Result<impl FnMut() -> Result<Option<Pieced>, Error> + use<'s>, Error> {
    let directory = format!("message/{session}");
    // The id is the file's own word. One that is no name leads nowhere.
    let mut names = if is_name(session) { source.list(&directory)? } else { Vec::new() };
    // Ids ascend with time, and begin anew every 795 days.
    names.sort();
    let mut names = by_time(names, |name| {
        let info = object(source, &format!("{directory}/{name}"), limits, &mut Vec::new())?;
        let time = info.as_deref().and_then(Raw::parse).and_then(|info| info.field("time"));
        Ok(time.and_then(|time| time.field("created")?.float()))
    })?
    .into_iter();
    Ok(move || {
        let Some(name) = names.next() else { return Ok(None) };
        let mut gaps = Vec::new();
        let Some(info) = object(source, &format!("{directory}/{name}"), limits, &mut gaps)? else {
            return Ok(Some(Pieced { bytes: Vec::new(), gaps }));
        };
        let stem = name.strip_suffix(".json").unwrap_or(&name);
        let bytes = message(source, &info, stem, limits, &mut gaps)?;
        Ok(Some(Pieced { bytes, gaps }))
    })
}

fn is_name(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

fn message(
    source: &dyn Source,
    info: &[u8],
    id: &str,
    limits: Limits,
    gaps: &mut Vec<&'static str>,
) -> Result<Vec<u8>, Error> {
    let directory = format!("part/{id}");
    let mut names = source.list(&directory)?;
    names.sort();
    unwrapped(&mut names, String::as_str);
    let mut message = b"{\"info\":".to_vec();
    message.extend_from_slice(info);
    message.extend_from_slice(b",\"parts\":[");
    let mut first = true;
    for name in names {
        let Some(part) = object(source, &format!("{directory}/{name}"), limits, gaps)? else { continue };
        if message.len() + part.len() > limits.line {
            gaps.push(TOO_LARGE);
            continue;
        }
        if !std::mem::take(&mut first) {
            message.push(b',');
        }
        message.extend(part);
    }
    message.extend_from_slice(b"]}");
    Ok(message)
}

/// A file that holds an object; none when it is not there, or holds something else.
fn object(
    source: &dyn Source,
    name: &str,
    limits: Limits,
    gaps: &mut Vec<&'static str>,
) -> Result<Option<Vec<u8>>, Error> {
    let bytes = match source.other(Wanted::Beside(name))?.map(|file| document(file, limits)).transpose() {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            gaps.push("a file of a message or part is gone");
            return Ok(None);
        }
        Err(Error::Limit(_)) => {
            gaps.push(TOO_LARGE);
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let is_object = Raw::parse(&bytes).is_some_and(|raw| raw.shape() == Shape::Object);
    if !is_object || std::str::from_utf8(&bytes).is_err() {
        gaps.push("a file of a message or part holds no object; it is left out");
        return Ok(None);
    }
    Ok(Some(bytes))
}
