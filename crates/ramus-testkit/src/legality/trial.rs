//! The trial: every context of a tree, every request of a context, every judge.

use std::ops::Range;

use ramus_model::context::provider::{self, Outgoing};
use ramus_model::request::{Request, Thinking, ToolDefinition};
use ramus_model::usage::ModelName;
use ramus_model::{Depth, Log, Seq, context};
use ramus_provider::wire::{Api, Dialect};
use ramus_provider::{Facts, Models, ModelsError};
use serde_json::json;

use super::harm::Harm;
use super::part::MODELS;
use super::{fork, history, room, tree};
use crate::model_server::{Format, judge};
use crate::random::Random;

/// How often a context is also evicted from and compacted: once in so many.
const ROOM: usize = 24;

/// How often a context is stored and made again: once in so many.
const SETTLED: usize = 8;

/// How often a tree is also forked: once in so many.
const FORKS: usize = 16;

/// What a trial came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many trees there were.
    pub trees: u64,
    /// How many contexts were made of them, at an entry, behind a cut, after room was made.
    pub contexts: u64,
    /// How many requests were judged.
    pub requests: u64,
    /// How many times messages were evicted.
    pub evictions: u64,
    /// How many times a path was compacted.
    pub compactions: u64,
    /// How many forks were made.
    pub forks: u64,
    /// How many times something was wrong.
    pub violations: u64,
    /// What was wrong first, with the seed of its tree.
    pub first: Option<String>,
}

impl Tally {
    /// Takes in what another part of the trial came to.
    pub fn add(&mut self, other: Self) {
        self.trees += other.trees;
        self.contexts += other.contexts;
        self.requests += other.requests;
        self.evictions += other.evictions;
        self.compactions += other.compactions;
        self.forks += other.forks;
        self.violations += other.violations;
        self.first = self.first.take().or(other.first);
    }
}

/// Who is asked: the format, what is known of the model, and its name.
struct Asked {
    api: Api,
    format: Format,
    facts: Facts,
    model: ModelName,
}

/// Tries trees, one after the other.
pub struct Trial {
    asked: Vec<Asked>,
    harm: Option<Harm>,
    tally: Tally,
    seed: u64,
}

impl Trial {
    /// Prepares a trial. With a harm, every history is spoiled before it is judged.
    pub fn new(harm: Option<Harm>) -> Result<Self, ModelsError> {
        let models = Models::known()?;
        let apis = [
            (Api::Completions, Format::Chat),
            (Api::Responses, Format::Responses),
            (Api::Anthropic, Format::Anthropic),
            (Api::Anthropic, Format::Anthropic),
            (Api::Gemini, Format::Gemini),
            (Api::Gemini, Format::Gemini),
        ];
        let asked = apis.into_iter().zip(MODELS).map(|((api, format), (provider, model))| {
            let model = ModelName { provider: provider.to_owned(), model: model.to_owned() };
            Asked { api, format, facts: models.facts(&model).cloned().unwrap_or_default(), model }
        });
        Ok(Self { asked: asked.collect(), harm, tally: Tally::default(), seed: 0 })
    }

    /// Tries the trees of these seeds, and returns what all trees so far came to.
    pub fn run(&mut self, seeds: Range<u64>) -> &Tally {
        for seed in seeds {
            self.seed = seed;
            self.tally.trees += 1;
            self.tree(&tree(seed));
        }
        &self.tally
    }

    /// A fork sends what its origin sends at the entry that it was made at.
    fn fork(&mut self, log: &Log, file: &[u8], random: &mut Random) {
        let Some(entry) = log.seqs().nth(random.below(log.len())) else { return };
        match fork::sent(file, entry) {
            Ok(Some(messages)) => {
                self.tally.forks += 1;
                if !fork::is_same(&messages, &sent(log, Some(entry), file)) {
                    self.wrong(&format!("a fork at {entry:?} sends something else"));
                }
            }
            Ok(None) => {}
            Err(error) => self.wrong(&format!("no fork can be made at {entry:?}: {error}")),
        }
    }

    /// At every entry; and as if the writer had stopped behind every line, and in the middle of every line.
    fn tree(&mut self, file: &[u8]) {
        let mut random = Random::new(!self.seed);
        let log = Log::from_bytes(file, Depth::Envelope);
        for seq in log.seqs() {
            self.context(&log, Some(seq), file, &mut random);
            if random.below(ROOM) == 0 {
                self.make_room(&log, seq, file, &mut random);
            }
        }
        if random.below(FORKS) == 0 {
            self.fork(&log, file, &mut random);
        }
        let mut start = 0;
        for line in file.split_inclusive(|byte| *byte == b'\n') {
            let torn = start + random.below(line.len());
            start += line.len();
            for end in [start, torn] {
                let cut = file.get(..end).unwrap_or_default();
                let log = Log::from_bytes(cut, Depth::Envelope);
                self.context(&log, log.leaf(), cut, &mut random);
            }
        }
    }

    fn make_room(&mut self, log: &Log, leaf: Seq, file: &[u8], random: &mut Random) {
        let before = sent(log, Some(leaf), file);
        for made in room::evictions(log, leaf, file, &before, random) {
            self.tally.evictions += 1;
            self.after(&before, &made, "an eviction", random);
        }
        for made in room::compactions(log, leaf, file) {
            self.tally.compactions += 1;
            self.after(&before, &made, "a compaction", random);
        }
    }

    fn after(&mut self, before: &[Outgoing], file: &[u8], what: &str, random: &mut Random) {
        let log = Log::from_bytes(file, Depth::Envelope);
        let after = sent(&log, log.leaf(), file);
        if let Err(wrong) = history::keeps_pairs(before, &after) {
            self.wrong(&format!("{what} at {:?}: {wrong}", log.leaf()));
        }
        self.context(&log, log.leaf(), file, random);
    }

    /// Makes every request of a context and has it judged.
    fn context(&mut self, log: &Log, leaf: Option<Seq>, file: &[u8], random: &mut Random) {
        self.tally.contexts += 1;
        let messages = sent(log, leaf, file);
        if random.below(SETTLED) == 0
            && let Err(wrong) = history::is_settled(&messages)
        {
            self.wrong(&format!("at {leaf:?}: {wrong}"));
        }
        let thinking = match random.below(3) {
            0 => Thinking::Off,
            1 => Thinking::Low,
            _ => Thinking::Max,
        };
        let model = ModelName::default();
        let system = if random.chance(50) { "Be brief.".to_owned() } else { String::new() };
        let max_tokens = random.chance(50).then_some(1 + random.below(60_000) as u64);
        let mut request =
            Request { model, system, messages, tools: tools(random), max_tokens, thinking, cache_key: None };
        for at in 0..self.asked.len() {
            let Err(wrong) = self.ask(at, &mut request) else { continue };
            self.wrong(&format!("at {leaf:?}: {wrong}"));
        }
    }

    fn ask(&mut self, at: usize, request: &mut Request) -> Result<(), String> {
        let Some(asked) = self.asked.get(at) else { return Ok(()) };
        request.model = asked.model.clone();
        let spoiled = self.harm.map(|harm| {
            let mut spoiled = request.clone();
            harm.spoil(&mut spoiled.messages, &asked.model);
            spoiled
        });
        let request = spoiled.as_ref().unwrap_or(request);
        history::judge(&request.messages)?;
        let body = asked.api.encode(request, &asked.facts, Dialect::Compatible);
        self.tally.requests += 1;
        match judge::bytes(asked.format, &asked.model.model, &body) {
            Ok(_) => Ok(()),
            Err(illegal) => Err(format!("{illegal}\n{}", String::from_utf8_lossy(&body))),
        }
    }

    fn wrong(&mut self, what: &str) {
        self.tally.violations += 1;
        let seed = self.seed;
        self.tally.first.get_or_insert_with(|| format!("tree {seed}, {what}"));
    }
}

/// What a provider is sent at a leaf.
fn sent(log: &Log, leaf: Option<Seq>, file: &[u8]) -> Vec<Outgoing> {
    let Ok(context) = context::build(log, leaf, file);
    let Ok(messages) = provider::messages(log, &context, file);
    messages
}

fn tools(random: &mut Random) -> Vec<ToolDefinition> {
    let tool = |name: &str| ToolDefinition {
        name: name.to_owned(),
        description: format!("Does what {name} does."),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    };
    if random.chance(20) { Vec::new() } else { ["read", "mcp.files/read"].map(tool).into() }
}
