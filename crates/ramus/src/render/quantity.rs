//! Numbers, sizes, times and lines in the form people read them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ramus_model::time;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr};

/// Writes a count with its noun: `1 entry`, `2 entries`.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number as u64), if number == 1 { one } else { many })
}

pub(crate) use ramus_wire::preview::grouped;

/// Writes a number of bytes.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = "kB";
    for next in UNITS.iter().skip(1) {
        if value < 999.95 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if value < 10.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// Writes an amount of US dollars; none when nothing was spent.
pub(crate) fn money(micros: u64) -> Option<String> {
    match micros {
        0 => None,
        1..10_000 => Some("<$0.01".to_owned()),
        _ => Some(format!("${:.2}", micros as f64 / 1e6)),
    }
}

/// Writes how long something took.
pub(crate) fn duration(time: Duration) -> String {
    match (time.as_millis(), time.as_secs()) {
        (millis @ ..1000, _) => format!("{millis} ms"),
        (_, ..10) => format!("{:.1} s", time.as_secs_f64()),
        (_, seconds @ ..60) => format!("{seconds} s"),
        (_, seconds) => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

/// Writes how long ago a time is: `3h ago`, or the date when that is long.
pub(crate) fn ago(millis: i64) -> String {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
    ago_at(millis, now)
}

fn ago_at(millis: i64, now: i64) -> String {
    let seconds = now.saturating_sub(millis) / 1000;
    match seconds {
        ..-60 => date(millis),
        -60..60 => "just now".to_owned(),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..86_400 => format!("{}h ago", seconds / 3600),
        86_400..2_592_000 => format!("{}d ago", seconds / 86_400),
        _ => date(millis),
    }
}

/// Writes the day of a time.
fn date(millis: i64) -> String {
    time::format(millis).chars().take(10).collect()
}

/// Cuts a line into pieces of at most `width` columns, between words where there are any.
pub(crate) fn wrap(line: &str, width: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut used = 0;
    // Where the last word that fits ends, and where the next one starts.
    let mut gap: Option<(usize, usize)> = None;
    for (at, c) in line.char_indices() {
        let columns = c.width().unwrap_or_default();
        if c == ' ' {
            match &mut gap {
                Some((_, next)) if *next == at => *next = at + 1,
                _ => gap = Some((at, at + 1)),
            }
        } else if used + columns > width {
            let (end, next) = gap.filter(|(end, _)| *end > start).unwrap_or((at, at));
            pieces.push(line.get(start..end).unwrap_or_default());
            used = line.get(next..at).map_or(0, UnicodeWidthStr::width);
            start = next;
            gap = None;
        }
        used += columns;
    }
    pieces.push(line.get(start..).unwrap_or_default());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(count(1, "entry", "entries"), "1 entry");
        assert_eq!(count(1000, "entry", "entries"), "1,000 entries");
        assert_eq!(
            [size(0), size(999), size(1000), size(12_345), size(999_999)],
            ["0 B", "999 B", "1.0 kB", "12 kB", "1.0 MB"]
        );
    }

    #[test]
    fn times_read_well() {
        let now = 1_771_237_261_250;
        let before = |seconds: i64| ago_at(now - seconds * 1000, now);
        assert_eq!([before(0), before(59), before(60), before(7200)], ["just now", "just now", "1m ago", "2h ago"]);
        assert_eq!([before(3 * 86_400), before(60 * 86_400), before(-3600)], ["3d ago", "2025-12-18", "2026-02-16"]);
    }

    #[test]
    fn lines_wrap_between_words() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("a  bcd efgh", 5), ["a", "bcd", "efgh"]);
        assert_eq!(wrap("日本語日本語", 5), ["日本", "語日", "本語"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("    indented code line", 14), ["    indented", "code line"]);
    }
}
