//! Writing JSON straight into bytes: no trees, and nothing that no provider would read.
//!
//! Stored values are copied as they are spelled. Only what is no Unicode is replaced on the way: lone surrogates and
//! invalid UTF-8 make providers refuse a whole conversation, for ever.

use std::borrow::Cow;

use ramus_model::json::{Raw, quote};
use ramus_model::request::Request;
use serde_json::Value;

/// A JSON document being written.
#[derive(Default)]
pub(crate) struct Json {
    out: Vec<u8>,
}

impl Json {
    /// Makes room for a request, so that a long one is not copied while it grows.
    pub(crate) fn for_request(request: &Request) -> Self {
        let parts = request.messages.iter().flat_map(|message| &message.parts);
        let bytes = parts.map(|part| part.len() + 64).sum::<usize>() + request.system.len() + 16 * 1024;
        Self { out: Vec::with_capacity(bytes) }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// Values follow an opening bracket, a name, or another value; only then a comma is due.
    fn separate(&mut self) {
        if !matches!(self.out.last(), None | Some(b'{' | b'[' | b':')) {
            self.out.push(b',');
        }
    }

    /// Writes the name of a member; its value must follow.
    pub(crate) fn key(&mut self, name: &str) -> &mut Self {
        self.separate();
        quote(name, &mut self.out);
        self.out.push(b':');
        self
    }

    pub(crate) fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.separate();
        self.out.push(b'{');
        members(self);
        self.out.push(b'}');
    }

    pub(crate) fn array(&mut self, items: impl FnOnce(&mut Self)) {
        self.separate();
        self.out.push(b'[');
        items(self);
        self.out.push(b']');
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.separate();
        quote(text, &mut self.out);
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.separate();
        self.out.extend_from_slice(number.to_string().as_bytes());
    }

    pub(crate) fn flag(&mut self, flag: bool) {
        self.separate();
        self.out.extend_from_slice(if flag { b"true" } else { b"false" });
    }

    pub(crate) fn null(&mut self) {
        self.separate();
        self.out.extend_from_slice(b"null");
    }

    /// Writes a stored value as it is spelled.
    pub(crate) fn raw(&mut self, raw: Raw<'_>) {
        self.separate();
        self.out.extend_from_slice(&clean(raw.bytes()));
    }

    /// Writes a schema.
    pub(crate) fn value(&mut self, value: &Value) {
        self.text_of(&value.to_string());
    }

    /// Writes text that is JSON already.
    fn text_of(&mut self, json: &str) {
        self.separate();
        self.out.extend_from_slice(json.as_bytes());
    }

    /// Writes a stored value as a string that holds its spelling.
    pub(crate) fn spelled(&mut self, raw: Raw<'_>) {
        self.separate();
        quote(&String::from_utf8_lossy(&clean(raw.bytes())), &mut self.out);
    }

    /// Writes several texts as one string, a line each.
    pub(crate) fn lines<'t>(&mut self, texts: impl IntoIterator<Item = &'t Text<'t>>) {
        self.pieces(texts, b"\\n");
    }

    /// Writes several texts as one string, a paragraph each.
    pub(crate) fn paragraphs<'t>(&mut self, texts: impl IntoIterator<Item = &'t Text<'t>>) {
        self.pieces(texts, b"\\n\\n");
    }

    fn pieces<'t>(&mut self, texts: impl IntoIterator<Item = &'t Text<'t>>, between: &[u8]) {
        self.separate();
        self.out.push(b'"');
        for (at, text) in texts.into_iter().enumerate() {
            if at > 0 {
                self.out.extend_from_slice(between);
            }
            text.write_inside(&mut self.out);
        }
        self.out.push(b'"');
    }

    /// Writes a picture as the address that holds its data.
    pub(crate) fn data_url(&mut self, mime: &str, data: Raw<'_>) {
        self.separate();
        self.out.extend_from_slice(b"\"data:");
        self.out.extend_from_slice(mime.as_bytes());
        self.out.extend_from_slice(b";base64,");
        self.out.extend_from_slice(inside(data.bytes()));
        self.out.push(b'"');
    }
}

/// A text that goes out: as it is stored, or our own.
#[derive(Clone, Debug)]
pub(crate) enum Text<'a> {
    Stored(Raw<'a>),
    Own(Cow<'a, str>),
}

impl Text<'_> {
    /// Says whether nothing of it can be seen. Providers refuse such text.
    pub(crate) fn is_blank(&self) -> bool {
        match self {
            Self::Own(text) => text.trim().is_empty(),
            Self::Stored(raw) => raw.is_blank(),
        }
    }

    fn write_inside(&self, out: &mut Vec<u8>) {
        match self {
            Self::Stored(raw) => out.extend_from_slice(&clean(inside(raw.bytes()))),
            Self::Own(text) => {
                let mut quoted = Vec::with_capacity(text.len() + 2);
                quote(text, &mut quoted);
                out.extend_from_slice(inside(&quoted));
            }
        }
    }
}

impl Json {
    pub(crate) fn own_or_stored(&mut self, text: &Text<'_>) {
        self.pieces([text], b"");
    }
}

/// The inside of a string.
fn inside(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or_default()
}

/// Says whether stored bytes can go out unchanged.
pub(crate) fn is_clean(bytes: &[u8]) -> bool {
    matches!(clean(bytes), Cow::Borrowed(_))
}

/// Returns stored JSON with what is no Unicode replaced.
fn clean(bytes: &[u8]) -> Cow<'_, [u8]> {
    let bytes = match std::str::from_utf8(bytes) {
        Ok(_) => Cow::Borrowed(bytes),
        Err(_) => Cow::Owned(String::from_utf8_lossy(bytes).into_owned().into_bytes()),
    };
    if memchr::memmem::find(&bytes, b"\\u").is_none() {
        return bytes;
    }
    let lone = lone_surrogates(&bytes);
    if lone.is_empty() {
        return bytes;
    }
    let mut bytes = bytes.into_owned();
    for at in lone {
        if let Some(digits) = bytes.get_mut(at + 2..at + 6) {
            digits.copy_from_slice(b"fffd");
        }
    }
    Cow::Owned(bytes)
}

/// Where escapes of lone surrogates stand. `\\ud800` with its backslash escaped is none.
fn lone_surrogates(bytes: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut pos = 0;
    while let Some(at) = bytes.get(pos..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        pos += at;
        pos += match (unit(bytes, pos), unit(bytes, pos + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                found.push(pos);
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
    }
    found
}

/// The code unit that an escape `\uXXXX` at `pos` stands for.
fn unit(bytes: &[u8], pos: usize) -> Option<u32> {
    let digits = bytes.get(pos..pos + 6)?.strip_prefix(b"\\u")?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(bytes: &[u8]) -> String {
        String::from_utf8(clean(bytes).into_owned()).unwrap()
    }

    #[test]
    fn lone_surrogates_are_replaced_and_nothing_else() {
        assert_eq!(cleaned(br#""a\ud83d\ude00b""#), r#""a\ud83d\ude00b""#);
        assert_eq!(cleaned(br#""\ud83d""#), r#""\ufffd""#);
        assert_eq!(cleaned(br#""\ude00\ud83d\n""#), r#""\ufffd\ufffd\n""#);
        assert_eq!(cleaned(br#""\ud83d\ud83d\ude00""#), r#""\ufffd\ud83d\ude00""#);
        assert_eq!(cleaned(br#""\\ud83d""#), r#""\\ud83d""#, "an escaped backslash is no escape");
        assert_eq!(cleaned(b"\"\xff\""), "\"\u{fffd}\"");
        assert!(is_clean(br#"{"a":"\u00e9"}"#) && !is_clean(br#"{"a":"\uDC00"}"#));
    }

    #[test]
    fn commas_stand_between_values_only() {
        let mut json = Json::default();
        json.object(|json| {
            json.key("a").number(1);
            json.key("b").array(|json| {
                json.text("[");
                json.object(|_| {});
                json.flag(true);
                json.null();
            });
            json.key("c").lines(&[Text::Own("x\"".into()), Text::Stored(Raw::parse(br#""y\n""#).unwrap())]);
        });
        assert_eq!(String::from_utf8(json.into_bytes()).unwrap(), r#"{"a":1,"b":["[",{},true,null],"c":"x\"\ny\n"}"#);
    }
}
