//! Images in requests: what every provider checks about them, whatever it calls them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::model_server::illegal::Rule;

/// The smallest picture there is: one pixel, as the base64 of a PNG.
pub const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The most bytes of one image, as it is sent.
const MOST: usize = 5 * 1024 * 1024;

/// The most bytes of all images of a request, as they are sent.
const MOST_IN_ALL: usize = 20 * 1024 * 1024;

/// Counts the images of a request.
#[derive(Default)]
pub(super) struct Images {
    total: usize,
}

/// What is wrong with an image.
pub(super) struct Fault {
    /// The rule it breaks.
    pub(super) rule: Rule,
    /// What is wrong, in words that all providers could use.
    pub(super) message: String,
}

impl Images {
    /// Takes in one more image: of one of the `accepted` types, base64, and neither too large nor too much.
    pub(super) fn admit(&mut self, media_type: &str, data: &str, accepted: &[&str]) -> Result<(), Fault> {
        let fault = |rule, message| Err(Fault { rule, message });
        if !accepted.contains(&media_type) {
            let accepted = accepted.join("', '");
            return fault(Rule::ImageType, format!("media type '{media_type}' is not one of '{accepted}'"));
        }
        if data.len() > MOST {
            let size = data.len();
            return fault(Rule::ImageSize, format!("image exceeds 5 MB maximum: {size} bytes > {MOST} bytes"));
        }
        self.total += data.len();
        if self.total > MOST_IN_ALL {
            return fault(Rule::ImagesSize, format!("images exceed {MOST_IN_ALL} bytes in all"));
        }
        let Ok(bytes) = STANDARD.decode(data) else {
            return fault(Rule::ImageData, "Invalid base64 data".to_owned());
        };
        match appearance(&bytes) {
            Some(appears) if appears == media_type => Ok(()),
            Some(appears) => fault(
                Rule::ImageType,
                format!("Image does not match the provided media type {media_type}: it appears to be {appears}"),
            ),
            None => fault(Rule::ImageData, "Could not process image".to_owned()),
        }
    }
}

/// Returns what the first bytes of an image say that it is.
fn appearance(bytes: &[u8]) -> Option<&'static str> {
    let at = |from: usize, mark: &[u8]| bytes.get(from..).is_some_and(|rest| rest.starts_with(mark));
    if at(0, b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if at(0, b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if at(0, b"GIF87a") || at(0, b"GIF89a") {
        Some("image/gif")
    } else if at(0, b"RIFF") && at(8, b"WEBP") {
        Some("image/webp")
    } else if at(4, b"ftyphei") {
        Some("image/heic")
    } else {
        None
    }
}

/// Takes a `data:` address apart: media type and base64.
pub(super) fn data_address(address: &str) -> Option<(&str, &str)> {
    address.strip_prefix("data:")?.split_once(";base64,")
}
