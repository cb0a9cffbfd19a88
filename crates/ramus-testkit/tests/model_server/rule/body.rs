//! Bodies that are no JSON at all.

use ramus_testkit::model_server::{Format, Rule, judge};

fn struck(format: Format, bytes: &[u8]) -> Rule {
    judge::bytes(format, "model", bytes).unwrap_err().rule
}

#[test]
fn a_body_must_be_json() {
    for format in Format::ALL {
        assert_eq!(struck(format, b""), Rule::NotJson);
        assert_eq!(struck(format, b"{"), Rule::NotJson);
        assert_eq!(struck(format, b"{\"model\": \"m\xff\"}"), Rule::NotJson);
        assert_eq!(struck(format, b"[]"), Rule::Shape);
    }
}

#[test]
fn half_a_surrogate_pair_is_no_text() {
    for format in Format::ALL {
        for half in [r"\ud83d", r"\ud83d!", r"\udc00", r"\ud83d\n"] {
            assert_eq!(struck(format, format!("{{\"model\":\"{half}\"}}").as_bytes()), Rule::Surrogate, "{half}");
        }
        assert_ne!(struck(format, br#"{"model":"\ud83d\ude00"}"#), Rule::Surrogate);
        // Half a pair as bytes is no UTF-8 to begin with.
        assert_eq!(struck(format, b"{\"model\":\"\xed\xa0\xbd\"}"), Rule::NotJson);
    }
}
