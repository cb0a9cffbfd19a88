//! Filling in templates: `{alphabet:length}` or `{alphabet:least-most}` becomes characters of that alphabet, everything
//! else, other braces included, is itself.

use crate::random::Random;

/// Returns the characters an alphabet has.
fn alphabet(name: &str) -> Option<&'static [u8]> {
    let characters: &[u8] = match name {
        "digit" => b"0123456789",
        "hex" => b"0123456789abcdef",
        "lower" => b"abcdefghijklmnopqrstuvwxyz0123456789",
        "upper" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "letter" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "base32" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "alnum" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "url" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        "base64" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "base58" => b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
        "bech32" => b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
        "password" => b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789!#*+.=?^_~-",
        _ => return None,
    };
    Some(characters)
}

/// Fills in a template.
pub fn fill(template: &str, random: &mut Random) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        rest = match hole(after) {
            Some((characters, span, behind)) => {
                draw(characters, span, random, &mut filled);
                behind
            }
            None => {
                filled.push('{');
                after
            }
        };
    }
    filled + rest
}

/// What belongs into a hole, how much of it, and what follows it.
fn hole(after: &str) -> Option<(&'static [u8], (usize, usize), &str)> {
    let (inside, behind) = after.split_once('}')?;
    let (name, length) = inside.split_once(':')?;
    let (least, most) = length.split_once('-').unwrap_or((length, length));
    Some((alphabet(name)?, (least.parse().ok()?, most.parse().ok()?), behind))
}

fn draw(from: &[u8], (least, most): (usize, usize), random: &mut Random, into: &mut String) {
    let length = least + random.below(most + 1 - least);
    into.extend((0..length).filter_map(|_| from.get(random.below(from.len())).map(|byte| char::from(*byte))));
}

#[cfg(test)]
mod tests {
    use super::fill;
    use crate::random::Random;

    #[test]
    fn holes_become_characters_of_their_alphabet() {
        let filled = fill("a-{digit:3}-{hex:2-5}", &mut Random::new(3));
        let (digits, hex) = filled.strip_prefix("a-").and_then(|rest| rest.split_once('-')).unwrap_or_default();
        assert!(digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()), "{filled}");
        assert!((2..=5).contains(&hex.len()) && hex.bytes().all(|byte| byte.is_ascii_hexdigit()), "{filled}");
    }
}
