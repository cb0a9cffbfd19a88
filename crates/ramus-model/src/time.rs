//! Timestamps of the log: milliseconds since 1970 in memory, ISO-8601 UTC with three decimals on disk.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

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

/// Where on earth days begin and end.
#[derive(Clone, Debug)]
pub struct Zone(TimeZone);

impl Zone {
    /// The zone of timestamps.
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Returns the day of a time, as `YYYY-MM-DD`.
    pub fn day(&self, millis: i64) -> String {
        self.date(millis).to_string()
    }

    /// Reads what people call a day, seen from `now`: `YYYY-MM-DD`, `today`, `yesterday`, or `7d` for seven days ago.
    pub fn read_day(&self, text: &str, now: i64) -> Option<Day> {
        let ago = |days: i64| self.date(now).checked_sub(days.days()).ok();
        let date = match text {
            "today" => ago(0),
            "yesterday" => ago(1),
            _ => match text.strip_suffix('d') {
                Some(days) => days.parse::<u16>().ok().and_then(|days| ago(days.into())),
                // Only dates: jiff would also take a time and drop it.
                None => text.parse().ok().filter(|_| text.len() == "YYYY-MM-DD".len()),
            },
        };
        date.and_then(|date| self.bounds(date))
    }

    fn date(&self, millis: i64) -> Date {
        Timestamp::from_millisecond(millis).unwrap_or_default().to_zoned(self.0.clone()).date()
    }

    fn bounds(&self, date: Date) -> Option<Day> {
        let start = |date: Date| Some(date.to_zoned(self.0.clone()).ok()?.timestamp().as_millisecond());
        Some(Day { start: start(date)?, end: start(date.tomorrow().ok()?)? })
    }
}

impl From<TimeZone> for Zone {
    fn from(zone: TimeZone) -> Self {
        Self(zone)
    }
}

/// A day in a zone, in milliseconds since 1970. Not every day has 24 hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    /// Its first millisecond.
    pub start: i64,
    /// The first millisecond behind it.
    pub end: i64,
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

    #[test]
    fn days_are_those_of_the_zone() {
        let now = 1_771_237_261_250;
        let east = Zone::from(TimeZone::fixed(jiff::tz::offset(14)));
        assert_eq!((Zone::utc().day(now), east.day(now)), ("2026-02-16".into(), "2026-02-17".into()));
        let day = |start: &str, end: &str| Some(Day { start: parse(start).unwrap_or(1), end: parse(end).unwrap_or(1) });
        let utc = Zone::utc();
        assert_eq!(utc.read_day("2024-02-29", now), day("2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"));
        assert_eq!(utc.read_day("yesterday", now), day("2026-02-15T00:00:00Z", "2026-02-16T00:00:00Z"));
        assert_eq!(utc.read_day("7d", now), utc.read_day("2026-02-09", now));
        assert_eq!(east.read_day("today", now), day("2026-02-16T10:00:00Z", "2026-02-17T10:00:00Z"));
        for bad in ["", "d", "-1d", "2026-02-30", "2026-02", "16.02.2026", "2026-02-16T10:00:00Z", "99999999d"] {
            assert_eq!(utc.read_day(bad, now), None, "{bad}");
        }
    }

    #[test]
    fn a_day_in_spring_is_short() -> Result<(), jiff::Error> {
        let zone = Zone::from(TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3")?);
        let day = zone.read_day("2026-03-29", 0).map(|day| (day.end - day.start) / 3_600_000);
        assert_eq!(day, Some(23));
        Ok(())
    }
}
