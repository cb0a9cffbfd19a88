//! Pictures: which of them go out. Providers refuse a conversation with a picture that is too large, or with too many, and
//! would refuse it for ever; so the oldest become a line of text.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
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

/// Which pictures a model can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// None.
    Blind,
    /// Still ones.
    Still,
    /// GIFs too.
    Moving,
}

/// Reads a stored picture. What cannot go out is a line that says why.
pub(crate) fn read<'a>(part: &Object<'a>, sight: Sight) -> Piece<'a> {
    let note = |text: &'static str| Piece::Text(Text::Own(Cow::Borrowed(text)));
    let data = part.field("data").filter(|data| data.shape() == Shape::Text);
    let Some(data) = data.filter(|data| is_base64(data.bytes())) else {
        return note("[A picture that is not there any more.]");
    };
    match appearance(data.bytes()) {
        _ if sight == Sight::Blind => note("[A picture. You cannot see pictures.]"),
        _ if data.bytes().len() > LARGEST + 2 => note("[A picture that is too large to be shown.]"),
        None => note("[A picture in a format that cannot be shown.]"),
        Some("image/gif") if sight == Sight::Still => note("[A picture in a format that cannot be shown.]"),
        Some(mime) => Piece::Image(Image { mime, data }),
    }
}

fn digits(quoted: &[u8]) -> &[u8] {
    quoted.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or_default()
}

/// Checks the alphabet of all of it, and that its end is as decoders want it.
fn is_base64(quoted: &[u8]) -> bool {
    let data = digits(quoted);
    let (body, end) = data.split_at(data.len().saturating_sub(4));
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    data.len().is_multiple_of(4) && !end.is_empty() && STANDARD.decode(end).is_ok() && body.iter().all(is_digit)
}

/// What a picture is by its first bytes. Providers refuse one that is not what it is said to be, and what is said of stored
/// ones is not always true.
fn appearance(quoted: &[u8]) -> Option<&'static str> {
    let data = digits(quoted);
    let start = STANDARD.decode(data.get(..16).unwrap_or(data)).ok()?;
    let at = |from: usize, mark: &[u8]| start.get(from..).is_some_and(|rest| rest.starts_with(mark));
    let kinds = [
        ("image/png", at(0, b"\x89PNG\r\n\x1a\n")),
        ("image/jpeg", at(0, b"\xff\xd8\xff")),
        ("image/gif", at(0, b"GIF87a") || at(0, b"GIF89a")),
        ("image/webp", at(0, b"RIFF") && at(8, b"WEBP")),
    ];
    kinds.into_iter().find(|(_, is_it)| *is_it).map(|(mime, _)| mime)
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
