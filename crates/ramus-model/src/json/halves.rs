//! Halves of characters: texts that were cut in the middle of a pair of surrogates. They are JSON, and no text.

/// What stands where a half stood. It is as long.
const SHOWN: &[u8] = b"\\ufffd";

/// Puts something that can be shown in the place of every half of a character; none when there is none. Everything else
/// stays as it is spelled.
pub fn mended(json: &[u8]) -> Option<Vec<u8>> {
    let mut mended: Option<Vec<u8>> = None;
    let mut at = 0;
    // In JSON a backslash stands in strings only, and every one of them begins an escape.
    while let Some(found) = json.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += found;
        at += match (unit(json, at), unit(json, at + SHOWN.len())) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 2 * SHOWN.len(),
            (Some(0xd800..=0xdfff), _) => {
                let half = mended.get_or_insert_with(|| json.to_vec()).get_mut(at..at + SHOWN.len());
                half?.copy_from_slice(SHOWN);
                SHOWN.len()
            }
            _ => 2,
        };
    }
    mended
}

/// Reads the escape `\uXXXX` that begins here, if one does.
fn unit(json: &[u8], at: usize) -> Option<u32> {
    let digits = json.get(at..)?.strip_prefix(b"\\u")?.get(..4)?;
    let digit = |value: u32, digit: &u8| Some(value * 16 + char::from(*digit).to_digit(16)?);
    digits.iter().try_fold(0, digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_shown_and_whole_characters_are_kept() {
        let told = |json: &str| mended(json.as_bytes()).map(|mended| String::from_utf8_lossy(&mended).into_owned());
        for whole in [r#"{"a":"b"}"#, r#""\ud83d\ude00""#, r#""\\ud83d""#, r#""\u00e9\n""#, r#""\ud83"#, "\\"] {
            assert_eq!(told(whole), None, "{whole}");
        }
        assert_eq!(told(r#""a\ud83d""#).as_deref(), Some(r#""a\ufffd""#));
        assert_eq!(told(r#""\uDE00\ud83d\ud83d\ude00""#).as_deref(), Some(r#""\ufffd\ufffd\ud83d\ude00""#));
        assert_eq!(told(r#""\\\ud83d\"""#).as_deref(), Some(r#""\\\ufffd\"""#));
    }
}
