//! `compare`: two ways a conversation went.

use clap::Args;
use ramus_engine::Comparison;
use ramus_model::usage::Tokens;
use serde_json::{Map, Value};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, Text, clean, glyphs, preview, quantity, style};

const EXAMPLES: &str = "\
Says where two branches, forks or sessions part, what was said on each side, what it used, and how the files differ as far \
as snapshots tell.

Examples:
  ramus compare last@3f2a last@88b0
  ramus compare last 0190 --json | jq .ancestor";

/// Compare two branches, forks or sessions
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Compare {
    /// The one: a session, or an entry of it
    #[arg(value_name = "A")]
    left: String,
    /// The other
    #[arg(value_name = "B")]
    right: String,
}

impl Compare {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if let Some(remote) = invocation.remote()
            && invocation.screen.wants_json()
        {
            invocation.screen.json(self.ask(&remote)?)?;
            return Ok(Exit::Done);
        }
        let (mut left, one) = invocation.session_and_entry(&self.left)?;
        let (right, other) = invocation.session_and_entry(&self.right)?;
        let (one, other) = (one.or(left.log().leaf()), other.or(right.log().leaf()));
        let comparison = invocation.engine.compare((&mut left, one), (&right, other))?;
        if invocation.screen.wants_json() {
            let prices = invocation.prices()?;
            invocation.screen.json(ramus_wire::compare::comparison(&comparison, &prices))?;
        } else {
            // What was said was fetched; the snapshots are where the files are.
            let told = match invocation.remote() {
                Some(remote) => self.ask(&remote)?,
                None => ramus_wire::compare::comparison(&comparison, &invocation.prices()?),
            };
            let width = invocation.screen.width();
            invocation.screen.text(&to_text(&comparison, told.items("files"), width))?;
        }
        Ok(Exit::Done)
    }

    /// Asks a server.
    fn ask(&self, remote: &Remote) -> anyhow::Result<Map<String, Value>> {
        let ((left, one), (right, other)) = (remote.target(&self.left)?, remote.target(&self.right)?);
        let request = remote.get(&["sessions", &left, "compare"]).maybe("entry", one).query("with", right);
        remote.answer(request.maybe("with_entry", other))
    }
}

fn to_text(comparison: &Comparison, files: &[Value], width: usize) -> Text {
    let mut text = Text::new();
    let shared = quantity::count(comparison.shared, "message", "messages");
    match &comparison.ancestor {
        Some(ancestor) => {
            text.plain(&format!("both share {shared} up to {}", clean::one_line(ancestor.as_str()))).end()
        }
        None => text.plain("they have nothing in common").end(),
    };
    for (mark, side) in [("-", &comparison.left), ("+", &comparison.right)] {
        let tokens = Tokens::from(&side.usage).sum();
        let messages = quantity::count(side.messages, "message", "messages");
        text.plain(&format!("{mark} {}: {messages}, {} tokens", side.session, quantity::grouped(tokens))).end();
    }
    for pair in &comparison.pairs {
        let sides = match pair.is_same {
            true => [(" ", &pair.left), ("", &None)],
            false => [("-", &pair.left), ("+", &pair.right)],
        };
        for (mark, view) in sides {
            let Some(view) = view else { continue };
            text.plain(mark).plain(" ").padded(style::BOLD, &preview::of_role(&view.message), 10);
            let said = preview::of_message(&view.message, &glyphs::of_terminal().signs());
            text.cut(style::NONE, &clean::one_line(&said), width.saturating_sub(14)).end();
        }
    }
    for file in files {
        text.padded(style::BOLD, file.word("status"), 9).plain(" ");
        text.plain(&clean::one_line(file.word("path")));
        text.styled(style::DIM, &format!("  +{} -{}", file.number("additions"), file.number("deletions"))).end();
    }
    text
}
