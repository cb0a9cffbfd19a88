//! OpenAI's responses. Nothing is stored at OpenAI: every request carries the whole conversation, and thoughts come and go
//! encrypted.

mod decode;
mod encode;

pub(crate) use decode::Responses;
pub(crate) use encode::encode;
