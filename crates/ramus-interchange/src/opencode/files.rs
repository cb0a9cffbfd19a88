//! The store that opencode had before its database: a file for each session, message and part.

use ramus_model::json::{Raw, Shape};

use crate::error::Error;
use crate::limits::Limits;
use crate::lines::document;
use crate::source::{Source, Wanted};

/// Returns what gives the messages of a session one by one, each with its parts, as an export has them. The main file is that
/// of the session; messages are in `message/<session>/`, parts in `part/<message>/`.
pub(super) fn messages<'s>(
    source: &'s dyn Source,
    session: &str,
    limits: Limits,
) -> Result<impl FnMut() -> Result<Option<Vec<u8>>, Error> + use<'s>, Error> {
    let directory = format!("message/{session}");
    // The id is the file's own word. One that is no name leads nowhere.
    let mut names = if is_name(session) { source.list(&directory)? } else { Vec::new() };
    // Ids ascend with time.
    names.sort();
    let mut names = names.into_iter();
    Ok(move || {
        for name in names.by_ref() {
            let Some(info) = object(source, &format!("{directory}/{name}"), limits)? else { continue };
            let stem = name.strip_suffix(".json").unwrap_or(&name);
            return message(source, &info, stem, limits).map(Some);
        }
        Ok(None)
    })
}

fn is_name(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

fn message(source: &dyn Source, info: &[u8], id: &str, limits: Limits) -> Result<Vec<u8>, Error> {
    let directory = format!("part/{id}");
    let mut names = source.list(&directory)?;
    names.sort();
    let mut message = b"{\"info\":".to_vec();
    message.extend_from_slice(info);
    message.extend_from_slice(b",\"parts\":[");
    let mut first = true;
    for name in names {
        let Some(part) = object(source, &format!("{directory}/{name}"), limits)? else { continue };
        if !std::mem::take(&mut first) {
            message.push(b',');
        }
        message.extend(part);
        if message.len() > limits.line {
            return Err(Error::Limit(format!("a message is larger than {} MiB", limits.line >> 20)));
        }
    }
    message.extend_from_slice(b"]}");
    Ok(message)
}

/// A file that holds an object; none when it is not there, or holds something else.
fn object(source: &dyn Source, name: &str, limits: Limits) -> Result<Option<Vec<u8>>, Error> {
    let Some(file) = source.other(Wanted::Beside(name))? else { return Ok(None) };
    let bytes = document(file, limits)?;
    let is_object = Raw::parse(&bytes).is_some_and(|raw| raw.shape() == Shape::Object);
    Ok((is_object && std::str::from_utf8(&bytes).is_ok()).then_some(bytes))
}
