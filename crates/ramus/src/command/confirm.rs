//! Asking before something is destroyed.

use crate::failure::Refusal;
use crate::invocation::Invocation;
use crate::render::{Text, clean};

/// Asks a person. Without one, and without `--yes`, nothing is done.
pub(crate) fn ask(invocation: &mut Invocation<'_>, question: &str, doing: &str) -> anyhow::Result<()> {
    let mut text = Text::new();
    let refusal = || Refusal::usage(format!("{doing} needs --yes when nobody can be asked"));
    let answer = invocation.screen.ask(text.plain(&clean::one_line(question)))?;
    match answer.ok_or_else(|| refusal().hint("--dry-run says what would be removed"))? {
        true => Ok(()),
        false => Err(Refusal::invalid("nothing was done").into()),
    }
}
