//! What a session that grows is called: what its source calls it, unless somebody here has called it otherwise.

use ramus_interchange::MEMBER;
use ramus_model::json::Raw;
use ramus_model::operation::Mark;
use ramus_model::{Body, Kind, Seq, title};
use serde_json::json;

use super::Growing;
use crate::error::EngineError;
use crate::verb::create::title_body;

impl Growing<'_> {
    /// What the session is called from now on, when that is new. A title that somebody gave it since stays, and so does one that
    /// stands among the entries of the source.
    pub(super) fn new_title<'t>(
        &self,
        given: Option<&'t str>,
        made: Option<&'t str>,
    ) -> Result<Option<&'t str>, EngineError> {
        let log = self.session.log();
        let is_title = |seq: &Seq| {
            log.record(*seq).is_some_and(|record| matches!(record.kind, Kind::SessionInfo | Kind::TitleChange))
        };
        if let Some(title) = log.seqs().rev().find(is_title) {
            let line = self.session.line(title)?;
            let mark = Raw::parse(&line).and_then(Mark::read);
            if mark.is_none_or(|mark| mark.name != "import") {
                return Ok(None);
            }
        }
        let known = title::given(log).map(str::trim);
        Ok(given.filter(|given| known != Some(given.trim())).or_else(|| made.filter(|_| known.is_none())))
    }

    /// A title that the source gave, and that is nothing to be told to its agent.
    pub(super) fn title_body(&self, title: &str) -> Body {
        let from = self.session.log().header().and_then(|header| header.ramus.imported_from.as_ref());
        let agent = from.map(|from| from.agent.as_str()).unwrap_or_default();
        title_body(title).with(MEMBER, &json!({"agent": agent, "records": []}))
    }
}
