//! Pictures: which of them go out. Providers refuse a conversation with a picture that is too large, or with too many, and
//! would refuse it for ever; so the oldest become a line of text.

use std::borrow::Cow;

use ramus_model::json::{Object, Raw, Shape};

use super::history::{Piece, Turn};
use super::json::Text;

/// The largest picture, in bytes of base64.
const LARGEST: usize = 5 * 1024 * 1024;

/// The most bytes of pictures in one request, in base64.
const MOST: usize = 20 * 1000 * 1000;

/// A picture that can go out.
#[derive(Clone, Debug)]
pub(crate) struct Image<'a> {
    pub(crate) mime: &'static str,
    pub(crate) data: Raw<'a>,
}

/// Reads a stored picture. What cannot go out is a line that says why.
pub(crate) fn read<'a>(part: &Object<'a>, sees: bool) -> Piece<'a> {
    let note = |text: &'static str| Piece::Text(Text::Own(Cow::Borrowed(text)));
    let data = part.field("data").filter(|data| data.shape() == Shape::Text);
    let mime = part.text("mimeType").unwrap_or_default();
    let mime = match &*mime.to_ascii_lowercase() {
        "image/png" => "image/png",
        "image/jpeg" | "image/jpg" => "image/jpeg",
        "image/gif" => "image/gif",
        "image/webp" => "image/webp",
        _ => return note("[A picture in a format that cannot be shown.]"),
    };
    match data {
        _ if !sees => note("[A picture. You cannot see pictures.]"),
        Some(data) if data.bytes().len() > LARGEST + 2 => note("[A picture that is too large to be shown.]"),
        Some(data) if is_base64(data.bytes()) => Piece::Image(Image { mime, data }),
        _ => note("[A picture that is not there any more.]"),
    }
}

fn is_base64(quoted: &[u8]) -> bool {
    let Some(data) = quoted.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else { return false };
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    !data.is_empty() && data.iter().all(is_digit)
}

/// Turns the oldest pictures into text until the rest fits.
pub(crate) fn fit(turns: &mut [Turn<'_>]) {
    let mut used = 0_usize;
    for turn in turns.iter_mut().rev() {
        match turn {
            Turn::User(pieces) | Turn::Model(pieces) => fit_pieces(pieces, &mut used),
            Turn::Results(answers) => {
                answers.iter_mut().rev().for_each(|answer| fit_pieces(&mut answer.pieces, &mut used));
            }
        }
    }
}

fn fit_pieces(pieces: &mut [Piece<'_>], used: &mut usize) {
    for piece in pieces.iter_mut().rev() {
        if let Piece::Image(image) = piece {
            *used = used.saturating_add(image.data.bytes().len());
            if *used > MOST {
                *piece = Piece::Text(Text::Own(Cow::Borrowed("[An older picture that is not shown any more.]")));
            }
        }
    }
}
