//! Sessions with everything that reaches a context, spelled line by line: some of it cannot be written as a tree of values.

use serde_json::Value;

use super::message::{self, Calls};
use super::part::{self, MODELS};
use crate::random::Random;

/// The most entries of a session.
const MOST: usize = 32;

/// Makes a session file; the seed alone decides its bytes.
pub fn tree(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut growing = Growing { calls: Calls::default(), ids: Vec::new() };
    let mut file = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"tree-{seed}\",\"timestamp\":\"2026-03-02T08:00:00.000Z\",\"cwd\":\"/tmp\"}}\n"
    );
    for _ in 0..1 + random.below(MOST) {
        file += &growing.line(&mut random);
        file.push('\n');
    }
    file.into_bytes()
}

struct Growing {
    calls: Calls,
    ids: Vec<String>,
}

impl Growing {
    fn line(&mut self, random: &mut Random) -> String {
        let is_again = !self.ids.is_empty() && random.chance(4);
        let id = if is_again { self.earlier(random) } else { format!("{:08x}", random.bits() as u32) };
        let parent = match self.ids.last() {
            None => Value::Null,
            Some(_) if random.chance(2) => Value::Null,
            Some(_) if is_again || random.chance(15) => Value::from(self.earlier(random)),
            Some(last) => Value::from(last.as_str()),
        };
        let body = self.body(random);
        // A later version of an entry says so; without it, the id is damage.
        let mark = if is_again && random.chance(90) { r#","ramusSupersedes":true"# } else { "" };
        if !is_again {
            self.ids.push(id.clone());
        }
        let time = "2026-03-02T08:00:01.000Z";
        format!(r#"{{{body},"id":"{id}","parentId":{parent},"timestamp":"{time}"{mark}}}"#)
    }

    fn earlier(&self, random: &mut Random) -> String {
        self.ids.get(random.below(self.ids.len())).cloned().unwrap_or_else(|| "nowhere".to_owned())
    }

    fn body(&mut self, random: &mut Random) -> String {
        match random.below(40) {
            0..=30 => format!(r#""type":"message","message":{}"#, message::message(random, &mut self.calls)),
            31 | 32 => self.compaction(random),
            33 => format!(r#""type":"branch_summary","fromId":"root","summary":{}"#, part::text(random)),
            34 => {
                let content = message::content(random);
                format!(r#""type":"custom_message","customType":"note","content":{content},"display":true"#)
            }
            35 => {
                let (provider, model) = MODELS.get(random.below(MODELS.len())).copied().unwrap_or_default();
                format!(r#""type":"model_change","provider":"{provider}","modelId":"{model}""#)
            }
            36 | 37 => self.edit(random),
            38 => r#""type":"reset_boundary""#.to_owned(),
            _ => part::any(
                random,
                &[
                    r#""type":"thinking_level_change","thinkingLevel":"high""#,
                    r#""type":"custom","customType":"ramus.leaf","data":{"op":"branch"}"#,
                    r#""type":"kind_of_the_future""#,
                ],
            )
            .to_owned(),
        }
    }

    fn compaction(&self, random: &mut Random) -> String {
        let (summary, kept) = (part::text(random), self.earlier(random));
        let system = match random.below(5) {
            0 => format!(r#","systemMessage":{{"role":"system","content":{}}}"#, message::content(random)),
            _ => String::new(),
        };
        let remote = match random.below(8) {
            0 => r#","preserveData":{"openaiRemoteCompaction":{"provider":"openai","replacementHistory":[]}}"#,
            _ => "",
        };
        format!(
            r#""type":"compaction","summary":{summary},"firstKeptEntryId":"{kept}","tokensBefore":1{system}{remote}"#
        )
    }

    fn edit(&self, random: &mut Random) -> String {
        let target = self.earlier(random);
        let replacement = match random.below(3) {
            0 => "null".to_owned(),
            _ => format!(r#"{{"content":{}}}"#, message::content(random)),
        };
        format!(r#""type":"context_edit","targetId":"{target}","replacement":{replacement}"#)
    }
}

#[cfg(test)]
mod tests {
    use super::tree;

    #[test]
    fn the_seed_alone_decides() {
        assert_eq!(tree(3), tree(3));
        assert_ne!(tree(3), tree(4));
    }
}
