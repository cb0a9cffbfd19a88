//! What an entry keeps of the records it was made from, and how they are put back.
//!
//! One rule: every record of a source is kept in exactly one entry, in the member [`MEMBER`], as a *template* (the record,
//! with a reference in place of each value that stands in the entry itself), as a whole *record*, or, when it is no JSON
//! that our log can hold, as its *bytes*. Filling a template with the values of its entry gives the record byte for byte.

use std::borrow::Cow;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use ramus_model::json::{Raw, Shape, quote};

use crate::compose::{Hole, HoleForm};
use crate::limits::quoted_len;

/// The member of an entry that keeps what the entry does not say.
pub const MEMBER: &str = "ramusOrigin";
/// What stands in a template for a value of the entry.
const HOLE: &[u8] = b"{\"$ramus\":\"";
/// The same for a value whose text the record quotes.
const QUOTED: &[u8] = b"{\"$ramusText\":\"";
/// The same for a picture that the record has as a data URL.
const DATA_URL: &[u8] = b"{\"$ramusImage\":\"";
/// What all of them begin with. No JSON text has this inside of a string, where quotes are escaped.
const MARK: &[u8] = b"{\"$ramus";

/// A record that an entry keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Where it stood in the source.
    line: u64,
    /// The file it was, when a source has many.
    file: Option<String>,
    form: Form,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Template,
    Record,
    Bytes,
}

impl Form {
    const ALL: [Self; 3] = [Self::Template, Self::Record, Self::Bytes];

    fn name(self) -> &'static str {
        match self {
            Self::Template => "template",
            Self::Record => "record",
            Self::Bytes => "bytes",
        }
    }
}

impl Kept {
    /// Keeps a record whole.
    pub(crate) fn whole(line: u64, record: &[u8]) -> Self {
        let is_json = std::str::from_utf8(record).is_ok() && Raw::parse(record).is_some();
        Self::of(line, if is_json { Form::Record } else { Form::Bytes }, record)
    }

    fn of(line: u64, form: Form, record: &[u8]) -> Self {
        Self { line, file: None, form, bytes: record.to_vec() }
    }

    /// Keeps a record that is known to be JSON without the values that its entry has.
    pub(crate) fn template(line: u64, record: &[u8], mut holes: Vec<Hole>) -> Self {
        static FINDER: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(MARK));
        if holes.is_empty() || FINDER.find(record).is_some() {
            return Self::of(line, Form::Record, record);
        }
        holes.sort_by_key(|hole| hole.span.start);
        let mut bytes = Vec::with_capacity(record.len() / 2);
        let mut copied = 0;
        for hole in &holes {
            let Some(before) = record.get(copied..hole.span.start) else {
                return Self::of(line, Form::Record, record);
            };
            bytes.extend_from_slice(before);
            bytes.extend_from_slice(match hole.form {
                HoleForm::Same => HOLE,
                HoleForm::Quoted => QUOTED,
                HoleForm::DataUrl => DATA_URL,
            });
            bytes.extend_from_slice(hole.pointer.as_bytes());
            bytes.extend_from_slice(b"\"}");
            copied = hole.span.end;
        }
        bytes.extend_from_slice(record.get(copied..).unwrap_or_default());
        Self { line, file: None, form: Form::Template, bytes }
    }

    /// Says which file the record was.
    pub(crate) fn in_file(mut self, name: &str) -> Self {
        self.file = Some(name.to_owned());
        self
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// How much room it takes in an entry, at most.
    pub(crate) fn room(&self) -> usize {
        let bytes = if self.form == Form::Bytes { self.bytes.len() / 3 * 4 + 4 } else { self.bytes.len() };
        bytes + self.file.as_deref().map_or(0, |file| quoted_len(file.as_bytes()) + 12) + 48
    }

    pub(crate) fn line(&self) -> u64 {
        self.line
    }
}

/// Adds JSON to a line. Between tokens a newline is only whitespace, and a line of the log has none.
pub(crate) fn extend_line(line: &mut Vec<u8>, json: &[u8]) {
    let start = line.len();
    line.extend_from_slice(json);
    if memchr::memchr2(b'\n', b'\r', json).is_some() {
        let added = line.iter_mut().skip(start);
        added.filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
}

/// Writes the member that keeps records, a comma in front. One without records says that the entry was made from a record
/// that another entry keeps.
pub(crate) fn write(agent: &str, records: &[Kept], out: &mut Vec<u8>) {
    out.push(b',');
    quote(MEMBER, out);
    out.extend_from_slice(b":{\"agent\":");
    quote(agent, out);
    out.extend_from_slice(b",\"records\":[");
    for (index, kept) in records.iter().enumerate() {
        out.extend_from_slice(if index > 0 { b",{\"line\":" } else { b"{\"line\":" });
        out.extend_from_slice(kept.line.to_string().as_bytes());
        if let Some(file) = &kept.file {
            out.extend_from_slice(b",\"file\":");
            quote(file, out);
        }
        out.push(b',');
        quote(kept.form.name(), out);
        out.push(b':');
        match kept.form {
            Form::Bytes => {
                let start = out.len() + 1;
                out.push(b'"');
                out.resize(start + kept.bytes.len().div_ceil(3) * 4, b'=');
                // There is as much room as it takes.
                let _ = STANDARD.encode_slice(&kept.bytes, out.get_mut(start..).unwrap_or_default());
                out.push(b'"');
            }
            _ => extend_line(out, &kept.bytes),
        }
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
}

/// The records that an entry keeps of one agent, as they were in the source.
pub(crate) fn restore(entry: Raw<'_>, agent: &str) -> Option<Vec<Vec<u8>>> {
    let origin = entry.field(MEMBER)?.object()?;
    if origin.text("agent")? != agent {
        return None;
    }
    origin.field("records")?.items().map(|kept| restored(kept, entry)).collect()
}

/// The same with the files that the records were.
pub(crate) fn restore_files(entry: Raw<'_>, agent: &str) -> Option<Vec<(Option<String>, Vec<u8>)>> {
    let origin = entry.field(MEMBER)?.object()?;
    let names = origin
        .field("records")?
        .items()
        .map(|kept| kept.field("file").and_then(Raw::text).map(|name| name.into_owned()));
    Some(names.collect::<Vec<_>>().into_iter().zip(restore(entry, agent)?).collect())
}

/// The files that an entry keeps of one agent.
pub(crate) fn files(entry: Raw<'_>, agent: &str) -> Vec<String> {
    let origin = entry.field(MEMBER).and_then(Raw::object);
    let records = origin.filter(|origin| origin.text("agent").as_deref() == Some(agent));
    let records = records.and_then(|origin| origin.field("records")).into_iter().flat_map(Raw::items);
    records.filter_map(|kept| Some(kept.field("file")?.text()?.into_owned())).collect()
}

/// A record as it was read: text that is no UTF-8 as what it resembles. None when that is no JSON object either.
pub(crate) fn readable(record: &[u8]) -> Option<Cow<'_, [u8]>> {
    let text = match String::from_utf8_lossy(record) {
        Cow::Borrowed(_) => Cow::Borrowed(record),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    };
    Raw::parse(&text).is_some_and(|raw| raw.shape() == Shape::Object).then_some(text)
}

fn restored(kept: Raw<'_>, entry: Raw<'_>) -> Option<Vec<u8>> {
    let kept = kept.object()?;
    let (form, value) = Form::ALL.into_iter().find_map(|form| Some((form, kept.field(form.name())?)))?;
    match form {
        Form::Record => Some(value.bytes().to_vec()),
        Form::Bytes => STANDARD.decode(value.text()?.as_bytes()).ok(),
        Form::Template => fill(value.bytes(), entry),
    }
}

/// Puts the values of an entry into a template; none when one is not there.
fn fill(template: &[u8], entry: Raw<'_>) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(template.len() * 2);
    let mut rest = template;
    let mut holes = 0;
    while let Some(found) = memmem::find(rest, MARK) {
        holes += 1;
        // Templates of ours have few holes; one that has many would be searched for long.
        (holes <= 1024).then_some(())?;
        let (before, hole) = rest.split_at(found);
        out.extend_from_slice(before);
        let (hole, behind) = Raw::prefix(hole)?;
        let (name, pointer) = hole.fields().next()?;
        let value = lookup(entry, &pointer.text()?)?;
        match &*name {
            "$ramus" => out.extend_from_slice(value.bytes()),
            "$ramusText" => quote(std::str::from_utf8(value.bytes()).ok()?, &mut out),
            "$ramusImage" => {
                let (mime, data) = (value.field("mimeType")?.text()?, value.field("data")?.text()?);
                quote(&format!("data:{mime};base64,{data}"), &mut out);
            }
            _ => return None,
        }
        rest = behind;
    }
    out.extend_from_slice(rest);
    Some(out)
}

/// Follows a pointer into a value.
fn lookup<'a>(raw: Raw<'a>, pointer: &str) -> Option<Raw<'a>> {
    let mut steps = pointer.strip_prefix('/')?.split('/');
    steps.try_fold(raw, |raw, step| match raw.shape() {
        Shape::Object => raw.field(step),
        Shape::Array => raw.items().nth(step.parse().ok()?),
        _ => None,
    })
}

/// Returns an entry's line without what it keeps of a foreign record, newline included.
pub fn without_origin(line: &[u8]) -> Vec<u8> {
    with_members(line, &[(MEMBER, None)]).unwrap_or_else(|| line.to_vec())
}

/// Rewrites members of an object: each gets another value, or goes. Names that are not there are not added. None when the
/// bytes are no object.
pub(crate) fn with_members(record: &[u8], changes: &[(&str, Option<&[u8]>)]) -> Option<Vec<u8>> {
    let raw = Raw::parse(record).filter(|raw| raw.shape() == Shape::Object)?;
    let end = record.iter().rposition(|byte| !byte.is_ascii_whitespace())? + 1;
    let mut out = Vec::with_capacity(record.len());
    out.push(b'{');
    for (name, value) in raw.raw_fields() {
        let change = name.text().and_then(|text| changes.iter().find(|(changed, _)| *changed == text));
        let value = match change {
            Some((_, None)) => continue,
            Some((_, Some(other))) => other,
            None => value.bytes(),
        };
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(name.bytes());
        out.push(b':');
        out.extend_from_slice(value);
    }
    out.push(b'}');
    out.extend_from_slice(record.get(end..).unwrap_or_default());
    Some(out)
}

/// The same, except that names that are not there are added.
pub(crate) fn with_also(record: &[u8], members: &[(&str, &[u8])]) -> Option<Vec<u8>> {
    let object = Raw::parse(record)?.object()?;
    let changes: Vec<_> = members.iter().map(|(name, value)| (*name, Some(*value))).collect();
    let mut out = with_members(record, &changes)?.trim_ascii_end().to_vec();
    out.pop();
    for (name, value) in members.iter().filter(|(name, _)| object.field(name).is_none()) {
        if out.len() > 1 {
            out.push(b',');
        }
        quote(name, &mut out);
        out.push(b':');
        out.extend_from_slice(value);
    }
    out.push(b'}');
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::Composer;

    #[test]
    fn a_template_gives_its_record_back() {
        let long = "x".repeat(100);
        let record = format!(r#"{{ "a" : "{long}", "n": 1e3, "args":"{{\"k\":\"{long}\"}}", "s":"\ud83d" }}"#);
        let raw = Raw::parse(record.as_bytes()).unwrap();
        let mut composer = Composer::new(record.as_bytes());
        composer.object("message", |message| {
            message.array("content", |content| {
                content.object("", |part| part.raw("text", raw.field("a").unwrap()));
                content.object("", |part| assert!(part.spelled("arguments", raw.field("args").unwrap())));
            });
        });
        let (members, holes) = composer.finish();
        assert_eq!(holes.len(), 2);
        let mut entry = b"{".to_vec();
        entry.extend(members);
        write("claude", &[Kept::template(7, record.as_bytes(), holes)], &mut entry);
        entry.push(b'}');
        assert!(entry.len() < record.len() * 2);
        let records = restore(Raw::parse(&entry).unwrap(), "claude").unwrap();
        assert_eq!(records, [record.into_bytes()]);
        assert_eq!(restore(Raw::parse(&entry).unwrap(), "codex"), None);
    }

    #[test]
    fn a_record_that_looks_like_a_template_is_kept_whole() {
        let record = format!(r#"{{"a":"{}","b":{{"$ramus":"/type"}}}}"#, "y".repeat(80));
        let raw = Raw::parse(record.as_bytes()).unwrap();
        let mut composer = Composer::new(record.as_bytes());
        composer.raw("a", raw.field("a").unwrap());
        let kept = Kept::template(1, record.as_bytes(), composer.finish().1);
        assert_eq!(kept.form, Form::Record);
    }

    #[test]
    fn bytes_that_are_no_json_come_back() {
        for bytes in [&b"\xff\xfe{"[..], b"{\"a\":\"\xff\"}", b"not json", b"\0\0\0"] {
            let mut entry = b"{\"type\":\"custom\"".to_vec();
            write("pi", &[Kept::whole(1, bytes)], &mut entry);
            entry.push(b'}');
            let records = restore(Raw::parse(&entry).unwrap(), "pi").unwrap();
            assert_eq!(records, [bytes.to_vec()]);
        }
    }

    #[test]
    fn members_change_and_go() {
        let changed = with_members(br#"{"a":1,"b":"x","c":[2]}"#, &[("a", None), ("b", Some(b"null"))]);
        assert_eq!(changed.as_deref(), Some(&br#"{"b":null,"c":[2]}"#[..]));
    }
}
