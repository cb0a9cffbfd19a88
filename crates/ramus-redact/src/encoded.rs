//! Base64 that holds text: it is looked into, once.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::alphabet::Alphabet;
use crate::span::{part, rest};

/// What base64 consists of, in both of its alphabets.
const RUN: &Alphabet = &Alphabet::word_and(b"+/-_");
/// How much must hold text before the rest is looked at.
const PROBE: usize = 24;
/// How long a run is looked into.
const LONGEST: usize = 1 << 20;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

/// Calls `look` for each run that holds text: where it is, and the text.
pub(crate) fn each(text: &[u8], mut look: impl FnMut(usize, usize, &[u8])) {
    let mut at = 0;
    while at < text.len() {
        let len = RUN.run(rest(text, at), usize::MAX);
        if (PROBE..=LONGEST).contains(&len)
            && let Some(decoded) = decode(part(text, at, at + len))
        {
            let padding = rest(text, at + len).iter().take(2).take_while(|byte| **byte == b'=').count();
            look(at, at + len + padding, &decoded);
        }
        at += len.max(1);
        at += rest(text, at).iter().take_while(|byte| !RUN.has(**byte)).count();
    }
}

fn decode(run: &[u8]) -> Option<Vec<u8>> {
    let for_urls = memchr::memchr2(b'-', b'_', run).is_some();
    let engine = GeneralPurpose::new(if for_urls { &URL_SAFE } else { &STANDARD }, LENIENT);
    if !is_text(&engine.decode(part(run, 0, PROBE)).ok()?) {
        return None;
    }
    // One character alone holds no byte.
    let whole = if run.len() % 4 == 1 { part(run, 0, run.len() - 1) } else { run };
    engine.decode(whole).ok().filter(|decoded| is_text(decoded))
}

fn is_text(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t'))
}
