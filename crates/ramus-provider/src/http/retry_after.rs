//! How long a provider asks to wait.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The longest time that is taken for one, a day.
const LONGEST: f64 = 86_400.0;

/// Reads it from the headers: in milliseconds, in seconds, or as a date.
pub(crate) fn read(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |value: Option<&reqwest::header::HeaderValue>| Some(value?.to_str().ok()?.trim().to_owned());
    let millis = text(headers.get("retry-after-ms")).and_then(|text| seconds(&text, 1e-3));
    millis.or_else(|| {
        let text = text(headers.get(RETRY_AFTER))?;
        seconds(&text, 1.0).or_else(|| until(&text, now))
    })
}

fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.parse().ok()?;
    (number.is_finite() && number >= 0.0).then(|| Duration::from_secs_f64((number * unit).min(LONGEST)))
}

/// A date that has passed means now.
fn until(text: &str, now: SystemTime) -> Option<Duration> {
    let then = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    let now = jiff::Timestamp::try_from(now).ok()?;
    let millis = then.as_millisecond().saturating_sub(now.as_millisecond()).max(0);
    Some(Duration::from_millis(u64::try_from(millis).ok()?).min(Duration::from_secs_f64(LONGEST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &'static str, value: &str) -> Option<Duration> {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_445_412_480);
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        read(&headers, now)
    }

    #[test]
    fn seconds_fractions_milliseconds_and_dates() {
        assert_eq!(asked("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(asked("retry-after", " 1.5 "), Some(Duration::from_millis(1_500)));
        assert_eq!(asked("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(asked("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(asked("retry-after", "Wed, 21 Oct 2015 07:27:00 GMT"), Some(Duration::ZERO));
        assert_eq!(asked("retry-after", "soon"), None);
        assert_eq!(asked("retry-after", "-1"), None);
        assert_eq!(asked("retry-after", "1e99"), Some(Duration::from_secs(86_400)));
    }
}
