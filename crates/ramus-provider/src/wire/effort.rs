//! How much a model may think, in the words that it takes.

use ramus_model::request::Thinking;

use crate::models::Control;

/// The words for levels, from little to much. Models know some of them.
const WORDS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// The words that are tried on models nobody told us about.
const USUAL: [&str; 3] = ["low", "medium", "high"];

/// Returns the word for a level that the model takes: the nearest one. None leaves it to the model.
pub(crate) fn word(thinking: Thinking, control: &Control) -> Option<&str> {
    let place = |word: &str| WORDS.iter().position(|known| *known == word);
    let wanted = match thinking {
        Thinking::Off => "none",
        Thinking::Minimal => "minimal",
        Thinking::Low => "low",
        Thinking::Medium => "medium",
        Thinking::High => "high",
        Thinking::Max => "max",
    };
    let nearest = |words: &mut dyn Iterator<Item = &'_ str>| -> Option<&'static str> {
        let at = place(wanted)?;
        let known = words.filter_map(place).filter(|known| *known > 0);
        known.min_by_key(|known| known.abs_diff(at)).and_then(|known| WORDS.get(known).copied())
    };
    match control {
        Control::Levels(levels) if thinking == Thinking::Off => {
            levels.iter().any(|level| level == "none").then_some("none")
        }
        Control::Levels(levels) => nearest(&mut levels.iter().map(String::as_str)),
        Control::Unknown if thinking != Thinking::Off => nearest(&mut USUAL.into_iter()),
        _ => None,
    }
}

/// Returns how many tokens a level is worth, for models that take a number.
pub(crate) fn budget(thinking: Thinking) -> u64 {
    match thinking {
        Thinking::Off => 0,
        Thinking::Minimal => 1_024,
        Thinking::Low => 4_096,
        Thinking::Medium => 10_240,
        Thinking::High => 20_480,
        Thinking::Max => 32_768,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_that_the_model_takes() {
        let levels = |words: &[&str]| Control::Levels(words.iter().map(|word| (*word).to_owned()).collect());
        let few = levels(&["low", "medium", "high"]);
        assert_eq!(word(Thinking::Off, &few), None);
        assert_eq!(word(Thinking::Minimal, &few), Some("low"));
        assert_eq!(word(Thinking::Max, &few), Some("high"));
        let all = levels(&["none", "low", "xhigh", "max"]);
        assert_eq!(word(Thinking::Off, &all), Some("none"));
        assert_eq!(word(Thinking::Minimal, &all), Some("low"));
        assert_eq!(word(Thinking::Max, &all), Some("max"));
        assert_eq!(word(Thinking::High, &Control::Unknown), Some("high"));
        assert_eq!(word(Thinking::Off, &Control::Unknown), None);
        assert_eq!(word(Thinking::High, &Control::Never), None);
    }
}
