//! `describe`: what a list shows of one session, with what is around it now.
//!
//! What takes long is reading every message. Whoever describes a session again and again, to show it page by page, keeps what
//! that came to in [`Descriptions`]. The invariant: what is told is what reading would tell. What was read is that of one
//! position of one log, and is forgotten with it; what is not in the log is looked at each time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ramus_model::blob::Restore;
use ramus_model::message::Usage;
use ramus_model::usage::UsageTotals;
use ramus_model::{Role, Seq, SessionId, tokens};
use ramus_store::Position;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::project::{self, Place, Standing};
use crate::session::Session;
use crate::verb::info::SessionInfo;
use crate::verb::survey::Survey;
use crate::workspace::Account;

/// Of how many sessions it is kept what their messages came to.
const SESSIONS: usize = 128;

/// With more models than this it is not kept: names come from elsewhere, and may be many and long.
const MODELS: usize = 64;

/// How many answers are looked at for what the last one used.
const ANSWERS: usize = 32;

/// What only reading the messages of a session tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gist {
    pub(crate) messages: usize,
    pub(crate) usage: UsageTotals,
    pub(crate) newest: Option<i64>,
    /// The model in force at the leaf.
    pub(crate) model: Option<String>,
    pub(crate) last_prompt_tokens: u64,
    pub(crate) last_completion_tokens: u64,
    pub(crate) account: Account,
}

/// What the messages of sessions came to that were described lately.
#[derive(Debug, Default)]
pub struct Descriptions {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    gists: HashMap<SessionId, At>,
    /// Grows with every use.
    clock: u64,
}

#[derive(Debug)]
struct At {
    position: Position,
    gist: Gist,
    used: u64,
}

impl Engine {
    /// Collects what a list in `cwd` shows of a session: also what is around it now, and whether it moved there.
    pub fn describe(&self, session: &Session, cwd: &str) -> Result<SessionInfo, EngineError> {
        Ok(around(session.info()?, cwd))
    }

    /// Like [`Engine::describe`], without reading every message again when that was done at the same position.
    pub fn describe_again(
        &self,
        session: &Session,
        cwd: &str,
        known: &Descriptions,
    ) -> Result<SessionInfo, EngineError> {
        let gist = match known.recall(session) {
            Some(gist) => gist,
            None => {
                let gist = session.gist(session.survey()?)?;
                known.keep(session, &gist);
                gist
            }
        };
        Ok(around(session.info_of_gist(gist)?, cwd))
    }
}

fn around(mut info: SessionInfo, cwd: &str) -> SessionInfo {
    if Place::of(cwd).standing(&info.cwd, info.project.as_ref()) == Standing::Moved {
        info.moved_to = Some(cwd.to_owned());
    }
    info.project = info.project.or_else(|| project::find(&info.cwd));
    info
}

impl Session {
    /// Looks at what else a description needs when the messages were counted.
    pub(crate) fn gist(&self, survey: Survey) -> Result<Gist, EngineError> {
        let context = self.context(self.log().leaf())?;
        let last = self.last_usage()?;
        // An answer from before a compaction was sent what the compaction took away.
        let (prompt, completion) = match context.compacted_by {
            Some(compaction) if last.as_ref().is_none_or(|(last, _)| *last < compaction) => {
                (tokens::of_context(self.log(), &context, &self.restored_lines(Restore::Texts))?, 0)
            }
            _ => last.map_or((0, 0), |(_, used)| (used.prompt(), used.output)),
        };
        let mut models = context.state.models;
        Ok(Gist {
            messages: survey.messages,
            usage: survey.usage,
            newest: survey.newest,
            model: models.remove("default"),
            last_prompt_tokens: prompt,
            last_completion_tokens: completion,
            account: self.account()?,
        })
    }

    /// The last answer that says what it used, and what that was: one that was stopped or failed may not.
    fn last_usage(&self) -> Result<Option<(Seq, Usage)>, EngineError> {
        let is_answer = |seq: &Seq| self.log().record(*seq).is_some_and(|record| record.role == Role::Assistant);
        for seq in self.log().ancestors(self.log().leaf()).filter(is_answer).take(ANSWERS) {
            let answer = self.message(seq)?.and_then(|message| message.answer);
            let used = answer.and_then(|answer| answer.usage).filter(|used| used.tokens() > 0);
            if let Some(used) = used {
                return Ok(Some((seq, used)));
            }
        }
        Ok(None)
    }

    /// Says whether the position of its log tells all of what it shows: what a fork shares may be rewritten without it, and
    /// damage is found by reading.
    fn is_told_by_position(&self) -> bool {
        self.sources.len() == 1 && self.lost_origin.is_none() && !self.log().is_damaged()
    }
}

impl Descriptions {
    fn recall(&self, session: &Session) -> Option<Gist> {
        if !session.is_told_by_position() {
            return None;
        }
        let mut kept = self.kept();
        kept.clock += 1;
        let used = kept.clock;
        let at = kept.gists.get_mut(&session.location().id).filter(|at| at.position == session.position())?;
        at.used = used;
        Some(at.gist.clone())
    }

    fn keep(&self, session: &Session, gist: &Gist) {
        if !session.is_told_by_position() || gist.usage.unreported.len() > MODELS {
            return;
        }
        let mut kept = self.kept();
        kept.clock += 1;
        let at = At { position: session.position(), gist: gist.clone(), used: kept.clock };
        kept.gists.insert(session.location().id.clone(), at);
        if kept.gists.len() > SESSIONS {
            let oldest = kept.gists.iter().min_by_key(|(_, at)| at.used).map(|(id, _)| id.clone());
            oldest.map(|oldest| kept.gists.remove(&oldest));
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nobody leaves it half changed.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
