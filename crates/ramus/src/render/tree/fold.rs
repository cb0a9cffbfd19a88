//! Folding: long runs show their turns, very long ones only the ends. What marks a place always shows.

use ramus_model::Seq;

/// How much is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folding {
    /// Nothing.
    None,
    /// What lies between a prompt and its answer, in runs that are long.
    Turns,
}

/// How much an entry matters in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// May be folded.
    Light,
    /// Starts a turn: shows, and so does the entry before it.
    Prompt,
    /// Marks a place: always shows.
    Landmark,
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// An entry that shows.
    Entry(Seq),
    /// So many entries that do not.
    Fold(usize),
}

/// Runs up to this length are shown whole.
const SHORT: usize = 12;
/// How many entries at the start and the end of a run always show.
const HEAD: usize = 2;
const TAIL: usize = 4;
/// How many entries of turns show at the start and the end of a run that has many.
const FIRST_TURNS: usize = 10;
const LAST_TURNS: usize = 20;
/// A fold stands for at least so many entries.
const LEAST: usize = 3;

/// Divides a run into what shows and what is folded.
pub(super) fn pieces(run: &[Seq], folding: Folding, weigh: &dyn Fn(Seq) -> Weight) -> Vec<Piece> {
    if folding == Folding::None || run.len() <= SHORT {
        return run.iter().copied().map(Piece::Entry).collect();
    }
    let shows = shown(run, weigh);
    let mut pieces = Vec::new();
    let mut hidden: Vec<Seq> = Vec::new();
    for (&seq, shows) in run.iter().zip(shows) {
        if !shows {
            hidden.push(seq);
            continue;
        }
        close(&mut hidden, &mut pieces);
        pieces.push(Piece::Entry(seq));
    }
    close(&mut hidden, &mut pieces);
    pieces
}

fn close(hidden: &mut Vec<Seq>, pieces: &mut Vec<Piece>) {
    if hidden.len() < LEAST {
        pieces.extend(hidden.drain(..).map(Piece::Entry));
    } else {
        pieces.push(Piece::Fold(hidden.len()));
        hidden.clear();
    }
}

fn shown(run: &[Seq], weigh: &dyn Fn(Seq) -> Weight) -> Vec<bool> {
    let weights: Vec<Weight> = run.iter().map(|seq| weigh(*seq)).collect();
    let is_prompt = |at: usize| weights.get(at) == Some(&Weight::Prompt);
    let turns: Vec<usize> = (0..run.len()).filter(|at| is_prompt(*at) || is_prompt(at + 1)).collect();
    let last_turns = turns.len().saturating_sub(LAST_TURNS);
    let mut shows: Vec<bool> = (0..run.len()).map(|at| at < HEAD || at + TAIL >= run.len()).collect();
    for (number, at) in turns.into_iter().enumerate() {
        if let Some(slot) = shows.get_mut(at) {
            *slot |= number < FIRST_TURNS || number >= last_turns;
        }
    }
    for (slot, weight) in shows.iter_mut().zip(weights) {
        *slot |= weight == Weight::Landmark;
    }
    shows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(length: u32, weigh: &dyn Fn(u32) -> Weight) -> Vec<String> {
        let run: Vec<Seq> = (1..=length).filter_map(Seq::new).collect();
        let weigh = |seq: Seq| weigh(seq.number());
        let piece = |piece: &Piece| match piece {
            Piece::Entry(seq) => seq.number().to_string(),
            Piece::Fold(count) => format!("+{count}"),
        };
        pieces(&run, Folding::Turns, &weigh).iter().map(piece).collect()
    }

    #[test]
    fn short_runs_stay_whole() {
        assert_eq!(fold(12, &|_| Weight::Light).len(), 12);
    }

    #[test]
    fn the_middle_is_folded_around_turns_and_landmarks() {
        let weigh = |number: u32| match number {
            1 | 20 => Weight::Prompt,
            30 => Weight::Landmark,
            _ => Weight::Light,
        };
        let expected = ["1", "2", "+16", "19", "20", "+9", "30", "+6", "37", "38", "39", "40"];
        assert_eq!(fold(40, &weigh), expected);
    }

    #[test]
    fn many_turns_show_only_at_the_ends() {
        let drawn = fold(9_999, &|number| if number % 2 == 1 { Weight::Prompt } else { Weight::Light });
        assert_eq!(drawn.len(), FIRST_TURNS + 1 + LAST_TURNS);
        assert_eq!(drawn[FIRST_TURNS], format!("+{}", 9_999 - FIRST_TURNS - LAST_TURNS));
    }
}
