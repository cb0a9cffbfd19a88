//! What the model says in the tests of the view.

/// A model that says something.
pub(crate) const TALK: &str = "answers = [{ steps = [{ text = \"hello\" }] }]";

/// An answer that never ends.
pub(crate) const ENDLESS: &str = "answers = [{ steps = [{ text = [\"one \", \"two\"] }, { hang = true }] }]";

/// A command that must be asked for, and an answer.
pub(crate) const ASKING: &str = "answers = [\n\
    { steps = [{ call = { id = \"c1\", name = \"bash\", arguments = { command = \"touch made\" } } }] },\n\
    { steps = [{ text = \"it is **made**\" }] },\n]";
