//! Halves of characters. JavaScript cuts texts where it likes and writes what is left as an escape; programs that keep texts in
//! UTF-8 refuse the whole file for it.

use ramus_model::json::mended;

use crate::losses::Losses;

/// Puts a sign in the place of halves of characters that stand alone in JSON, and counts that it did.
pub(crate) fn replace(json: &mut Vec<u8>, losses: &mut Losses) {
    if let Some(mended) = mended(json) {
        *json = mended;
        losses.lose("halves of characters, which the agent would refuse: a sign stands for them");
    }
}
