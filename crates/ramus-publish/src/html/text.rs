//! Text that is text wherever it stands in a page.

use std::fmt;

/// A text whose every character stands for itself, in content and in quoted attributes.
pub(super) struct Escaped<'t>(&'t str);

/// Escapes a text.
pub(super) fn escape(text: &str) -> Escaped<'_> {
    Escaped(text)
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut from = 0;
        for (at, character) in self.0.char_indices() {
            let stand_in = match character {
                '&' => "&amp;",
                '<' => "&lt;",
                '>' => "&gt;",
                '"' => "&quot;",
                '\'' => "&#39;",
                '`' => "&#96;",
                // What no page can hold.
                '\t' | '\n' => continue,
                control if control.is_control() => "\u{fffd}",
                _ => continue,
            };
            out.write_str(self.0.get(from..at).unwrap_or_default())?;
            out.write_str(stand_in)?;
            from = at + character.len_utf8();
        }
        out.write_str(self.0.get(from..).unwrap_or_default())
    }
}

/// The fragment that leads to an entry, as it stands in an address.
pub(super) fn fragment(id: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    let coded = id.bytes().map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    format!("#e-{}", coded.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{escape, fragment};

    #[test]
    fn nothing_that_means_something_is_left() {
        let shown = escape("<a href='x' title=\"y\">`&\u{1b}\n").to_string();
        assert_eq!(shown, "&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;&#96;&amp;\u{fffd}\n");
        assert_eq!(fragment("a b\"<ö"), "#e-a%20b%22%3C%C3%B6");
    }
}
