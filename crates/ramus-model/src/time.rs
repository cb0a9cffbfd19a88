//! Timestamps of the log: milliseconds since 1970 in memory, ISO-8601 UTC with three decimals on disk.

use jiff::Timestamp;

/// Reads an ISO-8601 timestamp with a zone.
pub fn parse(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// Writes `YYYY-MM-DDTHH:MM:SS.fffZ`.
pub fn format(millis: i64) -> String {
    match Timestamp::from_millisecond(millis) {
        Ok(timestamp) => format!("{timestamp:.3}"),
        Err(_) => format!("{:.3}", Timestamp::UNIX_EPOCH),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_the_form_of_the_log() {
        let millis = parse("2026-02-16T10:21:01.250Z");
        assert_eq!(millis, Some(1_771_237_261_250));
        assert_eq!(millis.map(format).as_deref(), Some("2026-02-16T10:21:01.250Z"));
        assert_eq!(parse("2026-02-16T12:21:01+02:00"), Some(1_771_237_261_000));
        for bad in ["", "2026", "2026-02-16T10:21:01", "2026-13-16T10:21:01Z", "yesterday"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
