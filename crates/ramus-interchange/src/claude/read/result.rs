//! Results of tools, each an entry of its own.

use ramus_model::json::{Object, Raw};

use super::super::block;
use super::spill::Spilled;
use super::{Reader, hang, stamp};
use crate::compose::Composer;
use crate::emit::{Hang, New};
use crate::error::Error;
use crate::record::Record;

impl Reader<'_> {
    /// Results of tools: an entry for each, and one for what else the line says.
    pub(super) fn results(
        &mut self,
        record: &Record<'_>,
        object: &Object<'_>,
        uuid: &str,
        content: Option<Raw<'_>>,
        alone: bool,
    ) -> Result<(), Error> {
        let (parent, time) = (object.text("parentUuid"), object.text("timestamp"));
        let is_result = |block: &Raw<'_>| block.field("type").and_then(Raw::text).as_deref() == Some("tool_result");
        let (results, others): (Vec<_>, Vec<_>) = content.into_iter().flat_map(Raw::items).partition(is_result);
        let calls: Vec<String> =
            results.iter().filter_map(|block| Some(block.field("tool_use_id")?.text()?.into_owned())).collect();
        let answer = parent.as_deref().and_then(|parent| self.emitter.entry_of(parent));
        let place = answer.as_ref().and_then(|answer| self.threads.place_results(answer, &calls));
        let first = place.as_ref().map_or_else(|| hang(parent.as_deref()), Hang::Entry);
        let mut given = Vec::new();
        for (at, block) in results.iter().filter_map(|block| block.object()).enumerate() {
            // The holes of a record lead to one entry, so a record that becomes several has none.
            let mut composer = Composer::new(if alone { &record.bytes } else { &[] });
            let spilled = self.spilled(record.line, block.field("content"))?;
            self.result(&mut composer, &block, object, spilled.as_ref());
            let (members, holes) = composer.finish();
            let own = format!("{uuid}.r{}", at + 1);
            // The first of them keeps the record: a copy for each would cost the square of a long line.
            let kept = (at == 0).then(|| record.kept(holes));
            let new = New {
                kind: "message",
                id: if at == 0 { uuid } else { &own },
                parent: if at == 0 { first } else { Hang::Last },
                timestamp: time.as_deref(),
                members: &members,
                records: kept.as_slice(),
                inert: false,
            };
            let entry = self.emitter.entry(&new)?;
            self.emitter.point(uuid, &entry);
            given.push(entry);
        }
        if let Some(answer) = answer {
            self.threads.results(&answer, calls, &given);
        }
        if others.is_empty() {
            return Ok(());
        }
        let mut composer = Composer::new(&[]);
        composer.object("message", |message| {
            message.text("role", "user");
            message.array("content", |parts| others.iter().for_each(|other| block::part(parts, *other)));
            stamp(message, object);
        });
        let (members, _) = composer.finish();
        let own = format!("{uuid}.u");
        let new = New { kind: "message", id: &own, timestamp: time.as_deref(), members: &members, ..New::default() };
        let entry = self.emitter.entry(&new)?;
        self.emitter.point(uuid, &entry);
        Ok(())
    }

    fn result(
        &mut self,
        composer: &mut Composer<'_>,
        block: &Object<'_>,
        object: &Object<'_>,
        spilled: Option<&Spilled>,
    ) {
        let call = block.text("tool_use_id").unwrap_or_default();
        let name = self.names.remove(&*call).unwrap_or_default();
        composer.object("message", |message| {
            message.text("role", "toolResult");
            message.text("toolCallId", &call);
            message.text("toolName", &name);
            block::parts(message, block.field("content"));
            message.flag("isError", block.field("is_error").and_then(Raw::flag).unwrap_or_default());
            if let Some(spilled) = spilled {
                spilled.compose(message);
            }
            stamp(message, object);
        });
    }
}
