//! The conversation as every format can be told it, worked out once for all of them.
//!
//! The postconditions: it begins and ends with the user's side; no two neighbours speak for the same side, but results and
//! the user who follows them; results stand behind their calls, in call order; no text is blank and no turn is empty;
//! what a model sealed is there byte for byte or not at all; pictures fit.
//!
//! It trusts that messages are repaired: every call has a result, directly behind its message.

mod reading;

use std::borrow::Cow;

use ramus_model::context::provider::{Outgoing, Speaker};
use ramus_model::json::Raw;
use ramus_model::request::Request;

use super::images::{self, Image, Sight};
use super::json::{Json, Text};
use crate::models::Facts;
use reading::Reading;

/// What stands first when the conversation does not begin with the user.
const BEGINNING: &str = "[The beginning of this conversation is not shown.]";

/// What stands last when the conversation does not end with the user.
const GO_ON: &str = "Go on from where you stopped.";

/// A conversation.
pub(crate) struct History<'a> {
    pub(crate) system: Vec<Text<'a>>,
    pub(crate) turns: Vec<Turn<'a>>,
}

/// What one side says before the other does.
pub(crate) enum Turn<'a> {
    User(Vec<Piece<'a>>),
    Model(Vec<Piece<'a>>),
    Results(Vec<Answer<'a>>),
}

/// A part of what is said.
#[derive(Clone, Debug)]
pub(crate) enum Piece<'a> {
    Text(Text<'a>),
    Image(Image<'a>),
    Thought(Thought<'a>),
    Call(Call<'a>),
}

/// A thought of the model that is asked.
#[derive(Clone, Debug)]
pub(crate) struct Thought<'a> {
    pub(crate) text: Raw<'a>,
    /// Never empty.
    pub(crate) seal: Option<Raw<'a>>,
    /// Whether only the provider can read it.
    pub(crate) is_redacted: bool,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) id: String,
    pub(crate) name: String,
    /// An object, or none for an empty one.
    arguments: Option<Raw<'a>>,
    pub(crate) seal: Option<Raw<'a>>,
    stored: Cow<'a, str>,
}

/// The result of a call.
pub(crate) struct Answer<'a> {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) is_error: bool,
    pub(crate) pieces: Vec<Piece<'a>>,
}

/// What a format allows.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// Which thoughts go back.
    pub(crate) keeps: fn(&Thought<'_>) -> bool,
    /// Whether a seal without a thought belongs to the text in front of it.
    pub(crate) seals_text: bool,
    /// Whether results can hold pictures. Otherwise they come from the user's side, behind all results.
    pub(crate) shows_results: bool,
    /// Which pictures there can be.
    pub(crate) sight: Sight,
}

impl<'a> History<'a> {
    pub(crate) fn new(request: &'a Request, facts: &Facts, rules: Rules) -> Self {
        let sight = if facts.images { rules.sight } else { Sight::Blind };
        let mut reading = Reading::new(request, sight, rules);
        let mut history = Self { system: Vec::new(), turns: Vec::with_capacity(request.messages.len() + 2) };
        if !request.system.trim().is_empty() {
            history.system.push(Text::Own(Cow::Borrowed(&request.system)));
        }
        for message in &request.messages {
            history.take(message, &mut reading);
        }
        if !rules.shows_results {
            history.move_pictures();
        }
        if !matches!(history.turns.first(), Some(Turn::User(_))) {
            history.turns.insert(0, said(BEGINNING));
        }
        if matches!(history.turns.last(), Some(Turn::Model(_))) {
            history.turns.push(said(GO_ON));
        }
        images::fit(&mut history.turns);
        history
    }

    fn take(&mut self, message: &'a Outgoing, reading: &mut Reading<'a>) {
        match &message.speaker {
            Speaker::System => {
                let texts = reading.pieces(message, false).into_iter();
                self.system
                    .extend(texts.filter_map(|piece| if let Piece::Text(text) = piece { Some(text) } else { None }));
            }
            Speaker::User => self.push_user(reading.pieces(message, false)),
            Speaker::Assistant(_) => {
                let mut pieces = reading.pieces(message, true);
                // A thought that leads nowhere is refused at the end of a message.
                while reading.ends_in_thought(&pieces) {
                    pieces.pop();
                }
                self.push_model(pieces);
            }
            Speaker::Tool(result) => {
                if let Some(answer) = reading.answer(message, result) {
                    self.push_answer(answer);
                }
            }
        }
    }

    /// Iterates over the sides of the conversation in turn: what the model says, or results with what the user says then.
    pub(crate) fn sides(&self) -> impl Iterator<Item = &[Turn<'a>]> {
        self.turns.chunk_by(|a, b| !a.is_model() && !b.is_model())
    }

    /// Moves pictures out of results, to the front of what the user says next.
    fn move_pictures(&mut self) {
        let turns = std::mem::take(&mut self.turns);
        let mut moved = Vec::new();
        for mut turn in turns {
            if let Turn::User(pieces) = &mut turn {
                pieces.splice(0..0, moved.drain(..));
            } else if !moved.is_empty() {
                self.turns.push(Turn::User(std::mem::take(&mut moved)));
            }
            if let Turn::Results(answers) = &mut turn {
                answers.iter_mut().for_each(|answer| answer.give_pictures(&mut moved));
            }
            self.turns.push(turn);
        }
        if !moved.is_empty() {
            self.turns.push(Turn::User(moved));
        }
    }

    fn push_user(&mut self, pieces: Vec<Piece<'a>>) {
        match self.turns.last_mut() {
            _ if pieces.is_empty() => {}
            Some(Turn::User(before)) => before.extend(pieces),
            _ => self.turns.push(Turn::User(pieces)),
        }
    }

    fn push_model(&mut self, pieces: Vec<Piece<'a>>) {
        match self.turns.last_mut() {
            _ if pieces.is_empty() => {}
            Some(Turn::Model(before)) => before.extend(pieces),
            _ => self.turns.push(Turn::Model(pieces)),
        }
    }

    fn push_answer(&mut self, answer: Answer<'a>) {
        match self.turns.last_mut() {
            Some(Turn::Results(answers)) => answers.push(answer),
            _ => self.turns.push(Turn::Results(vec![answer])),
        }
    }
}

fn said(text: &'static str) -> Turn<'static> {
    Turn::User(vec![Piece::Text(Text::Own(Cow::Borrowed(text)))])
}

impl Turn<'_> {
    /// Says whether the model speaks.
    pub(crate) fn is_model(&self) -> bool {
        matches!(self, Self::Model(_))
    }
}

impl<'a> Answer<'a> {
    /// Hands over the pictures of the result, and says in their place where they are.
    fn give_pictures(&mut self, moved: &mut Vec<Piece<'a>>) {
        let own = |text: String| Piece::Text(Text::Own(Cow::Owned(text)));
        let (pictures, mut rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.pieces).into_iter().partition(|piece| matches!(piece, Piece::Image(_)));
        if !pictures.is_empty() {
            rest.push(own("(The pictures follow.)".to_owned()));
            moved.push(own(format!("Pictures from the result of {}:", self.name)));
            moved.extend(pictures);
        }
        self.pieces = rest;
    }
}

impl Call<'_> {
    /// Writes the arguments as an object.
    pub(crate) fn write_arguments(&self, json: &mut Json) {
        match self.arguments {
            Some(arguments) => json.raw(arguments),
            None => json.object(|_| {}),
        }
    }

    /// Writes the arguments as a string that holds JSON.
    pub(crate) fn spell_arguments(&self, json: &mut Json) {
        match self.arguments {
            Some(arguments) => json.spelled(arguments),
            None => json.text("{}"),
        }
    }
}

impl Thought<'_> {
    /// Says whether there is nothing of it but its seal.
    pub(crate) fn is_only_seal(&self) -> bool {
        self.text.bytes().len() <= 2 && self.seal.is_some()
    }
}

impl<'a> Piece<'a> {
    pub(crate) fn as_text(&self) -> Option<&Text<'a>> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_call(&self) -> Option<&Call<'a>> {
        if let Self::Call(call) = self { Some(call) } else { None }
    }
}
