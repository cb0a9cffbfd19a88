//! Google's `streamGenerateContent`. Calls have no ids there: results are told apart by their order.

mod decode;
mod encode;

pub(crate) use decode::Gemini;
pub(crate) use encode::encode;
