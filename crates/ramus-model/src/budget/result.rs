//! Results of tools that a window has no room for: they go out cut, with a line that says so. What is stored stays whole.

use crate::context::provider::{Outgoing, Speaker, text_part};
use crate::json::Object;

/// How many characters stand for a token here: few enough that no text is taken for shorter than it is by much.
const CHARS: u64 = 3;

/// Returns how many tokens the result of a tool may have: a share of what is left of the window that grows with it.
pub fn result_tokens(window: u64, reserved: u64) -> u64 {
    let share = (0.33 + window as f64 / 80_000.0 * 0.27).clamp(0.33, 0.6);
    (window.saturating_sub(reserved) as f64 * share) as u64
}

/// Cuts texts in results that have more than `tokens`, and returns how many were cut.
pub fn cut_results(messages: &mut [Outgoing], tokens: u64) -> usize {
    let most = usize::try_from(tokens.saturating_mul(CHARS)).unwrap_or(usize::MAX).max(1);
    let results = messages.iter_mut().filter(|message| matches!(message.speaker, Speaker::Tool(_)));
    let mut cut = 0;
    for part in results.flat_map(|message| &mut message.parts).filter(|part| part.len() > most) {
        if let Some(shorter) = shortened(part, most) {
            *part = shorter;
            cut += 1;
        }
    }
    cut
}

/// A text part with only the beginning of its text; none when it is short enough or no text.
fn shortened(part: &[u8], most: usize) -> Option<Vec<u8>> {
    let text = Object::parse(part).filter(|part| part.text("type").as_deref() == Some("text"))?.text("text")?;
    let (at, _) = text.char_indices().nth(most)?;
    let (kept, _) = text.split_at_checked(at)?;
    // Whole lines, unless that would leave hardly anything.
    let kept = kept.rfind('\n').filter(|end| *end > kept.len() / 2).and_then(|end| kept.get(..end)).unwrap_or(kept);
    let (shown, all) = (kept.lines().count(), text.lines().count());
    let notice = format!("[Cut to fit the model's window: {shown} of {all} lines are shown. Ask for a part of it.]");
    Some(text_part(&format!("{kept}\n\n{notice}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ToolResult;

    fn result(text: &str) -> Outgoing {
        let speaker = Speaker::Tool(ToolResult { call: "c".into(), name: "read".into(), is_error: false });
        Outgoing { entry: None, speaker, parts: vec![text_part(text)], by: None }
    }

    fn text(message: &Outgoing) -> String {
        Object::parse(&message.parts[0]).unwrap().text("text").unwrap().into_owned()
    }

    #[test]
    fn only_long_results_are_cut_and_at_a_line() {
        let long = "a line of text\n".repeat(100);
        let user = Outgoing { speaker: Speaker::User, ..result(&long) };
        let mut messages = vec![user.clone(), result("short"), result(&long), result(&"é".repeat(900))];
        assert_eq!(cut_results(&mut messages, 100), 2);
        assert_eq!((&messages[0], text(&messages[1])), (&user, "short".to_owned()));
        let cut = text(&messages[2]);
        assert!(cut.starts_with("a line of text\na line"), "{cut}");
        assert!(
            cut.ends_with(
                "of text\n\n[Cut to fit the model's window: 20 of 100 lines are shown. Ask for a part of it.]"
            )
        );
        assert_eq!(text(&messages[3]).chars().filter(|char| *char == 'é').count(), 300);
        let again = messages.clone();
        cut_results(&mut messages, 200);
        assert_eq!(messages, again, "what fits stays");
    }

    #[test]
    fn the_share_grows_with_the_window() {
        assert_eq!(result_tokens(8_192, 1_408), 2_426);
        assert_eq!(result_tokens(200_000, 60_000), 84_000);
        assert_eq!(result_tokens(1_000, 2_000), 0);
    }
}
