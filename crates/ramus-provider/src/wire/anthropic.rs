//! Anthropic's messages.

mod decode;
mod encode;

pub(crate) use decode::Messages;
pub(crate) use encode::encode;
