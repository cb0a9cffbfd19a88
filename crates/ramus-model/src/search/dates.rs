//! Moments as people write them in a query: `2026-02-16`, `2026-02`, `7d`, `yesterday`. Days are those of UTC.

use crate::time;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// What [`parse`] reads, for people who wrote something else.
pub(super) const FORMS: &str = "a date (2026-02-16, 2026-02, 2026), a time (2026-02-16T10:00), or an age (30m, 12h, 7d, 2w, 6mo, 1y, today, yesterday)";

/// Reads a moment; dates stand for their beginning. `now` is in milliseconds since 1970.
pub(super) fn parse(text: &str, now: i64) -> Option<i64> {
    let midnight = now - now.rem_euclid(DAY);
    match text {
        "now" => return Some(now),
        "today" => return Some(midnight),
        "yesterday" => return Some(midnight - DAY),
        _ => {}
    }
    age(text).and_then(|age| now.checked_sub(age)).or_else(|| date(text))
}

/// How many milliseconds an age has.
fn age(text: &str) -> Option<i64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let unit = match unit {
        "m" | "min" => MINUTE,
        "h" => HOUR,
        "d" => DAY,
        "w" => 7 * DAY,
        "mo" => 30 * DAY,
        "y" => 365 * DAY,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit)
}

fn date(text: &str) -> Option<i64> {
    let is_date = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let spelled = match text.len() {
        4 if is_date => format!("{text}-01-01T00:00:00Z"),
        7 if is_date => format!("{text}-01T00:00:00Z"),
        10 if is_date => format!("{text}T00:00:00Z"),
        _ => {
            return time::parse(text)
                .or_else(|| time::parse(&format!("{text}Z")))
                .or_else(|| time::parse(&format!("{text}:00Z")));
        }
    };
    time::parse(&spelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_people_write_them() {
        let now = time::parse("2026-02-16T10:21:01.250Z").unwrap();
        for (text, expected) in [
            ("2026-02-16", "2026-02-16T00:00:00.000Z"),
            ("2026-02", "2026-02-01T00:00:00.000Z"),
            ("2026", "2026-01-01T00:00:00.000Z"),
            ("2026-02-16T10:00", "2026-02-16T10:00:00.000Z"),
            ("2026-02-16T10:00:05", "2026-02-16T10:00:05.000Z"),
            ("2026-02-16T10:00:00+02:00", "2026-02-16T08:00:00.000Z"),
            ("today", "2026-02-16T00:00:00.000Z"),
            ("yesterday", "2026-02-15T00:00:00.000Z"),
            ("7d", "2026-02-09T10:21:01.250Z"),
            ("2w", "2026-02-02T10:21:01.250Z"),
        ] {
            assert_eq!(parse(text, now).map(time::format).as_deref(), Some(expected), "{text}");
        }
        for bad in ["", "d", "soon", "2026-13", "2026-02-30", "7", "99999999999999999y", "é", "-7d"] {
            assert_eq!(parse(bad, now), None, "{bad}");
        }
    }
}
