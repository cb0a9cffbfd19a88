//! Made-up sessions of other agents, as they store them: texts, calls with long results, and what each agent writes besides.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ramus_testkit::random::Random;

const WORDS: [&str; 16] = [
    "branch", "tree", "leaf", "commit", "parser", "index", "error", "line", "file", "test", "cache", "token", "entry",
    "session", "of", "the",
];

/// A corpus of so many sessions that come to so many bytes.
pub(crate) struct Corpus {
    pub(crate) root: PathBuf,
    pub(crate) sessions: usize,
    pub(crate) bytes: u64,
}

impl Corpus {
    /// Makes it, unless it is there; returns how large it is.
    pub(crate) fn make(&self) -> io::Result<u64> {
        let mark = self.root.join(".complete");
        if let Ok(size) = fs::read_to_string(&mark) {
            return size.trim().parse().map_err(io::Error::other);
        }
        let mut random = Random::new(8);
        let each = self.bytes / self.sessions.max(1) as u64;
        let mut size = 0;
        for number in 0..self.sessions {
            let path = self.root.join(name(number));
            fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
            let mut out = Counted { out: BufWriter::new(fs::File::create(&path)?), written: 0 };
            // Most sessions are short, and a few are long.
            let wanted = if random.chance(10) { each * 6 } else { each * 4 / 9 };
            match number % 10 {
                0..4 => claude(&mut out, number, wanted, &mut random)?,
                4..8 => codex(&mut out, number, wanted, &mut random)?,
                _ => pi(&mut out, number, wanted, &mut random)?,
            }
            out.out.flush()?;
            size += out.written;
            // What was written a moment ago is never taken for unchanged.
            let then = SystemTime::now() - Duration::from_secs(3600);
            fs::OpenOptions::new().append(true).open(&path)?.set_modified(then)?;
        }
        fs::write(mark, size.to_string())?;
        Ok(size)
    }
}

struct Counted<W> {
    out: W,
    written: u64,
}

impl<W: Write> Counted<W> {
    fn line(&mut self, line: &str) -> io::Result<()> {
        self.written += line.len() as u64 + 1;
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(b"\n")
    }
}

fn id(number: usize) -> String {
    format!("{number:08x}-0000-4000-8000-000000000000")
}

fn name(number: usize) -> String {
    let id = id(number);
    match number % 10 {
        0..4 => format!(".claude/projects/-project-{}/{id}.jsonl", number % 50),
        4..8 => format!(".codex/sessions/2026/11/{:02}/rollout-2026-11-01T10-00-00-{id}.jsonl", number % 28 + 1),
        _ => format!(".pi/agent/sessions/--project-{}--/2026-11-01T10-00-00-000Z_{id}.jsonl", number % 50),
    }
}

/// Text of about so many bytes, as it is spelled in JSON.
fn text(random: &mut Random, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        text.push_str(WORDS.get(random.below(WORDS.len())).copied().unwrap_or_default());
        text.push_str(if random.chance(8) { "\\n" } else { " " });
    }
    text
}

fn claude(out: &mut Counted<impl Write>, number: usize, wanted: u64, random: &mut Random) -> io::Result<()> {
    let session = id(number);
    let mut parent = "null".to_owned();
    let mut turn = 0;
    while out.written < wanted {
        turn += 1;
        let mut say = |out: &mut Counted<_>, kind: &str, message: String| {
            let id = format!("{number:08x}-{turn:04x}-4000-8000-{:012x}", out.written);
            let line = format!(
                r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":"/project/{}","sessionId":"{session}","version":"2.1.325","gitBranch":"main","type":"{kind}","message":{message},"uuid":"{id}","timestamp":"2026-11-01T10:00:00.000Z"}}"#,
                number % 50
            );
            parent = format!("\"{id}\"");
            out.line(&line)
        };
        say(out, "user", format!(r#"{{"role":"user","content":"{}"}}"#, text(random, 200)))?;
        let answer = text(random, 600);
        let usage = r#""usage":{"input_tokens":1200,"output_tokens":300,"cache_read_input_tokens":9000}"#;
        say(
            out,
            "assistant",
            format!(
                r#"{{"id":"msg_{number}_{turn}","type":"message","role":"assistant","model":"claude-x","content":[{{"type":"text","text":"{answer}"}}],"stop_reason":null,{usage}}}"#
            ),
        )?;
        say(
            out,
            "assistant",
            format!(
                r#"{{"id":"msg_{number}_{turn}","type":"message","role":"assistant","model":"claude-x","content":[{{"type":"tool_use","id":"toolu_{turn}","name":"Read","input":{{"file_path":"/project/src/lib.rs"}}}}],"stop_reason":"tool_use",{usage}}}"#
            ),
        )?;
        let size = 2000 + random.below(8000);
        let result = text(random, size);
        say(
            out,
            "user",
            format!(
                r#"{{"role":"user","content":[{{"tool_use_id":"toolu_{turn}","type":"tool_result","content":"{result}"}}]}}"#
            ),
        )?;
    }
    Ok(())
}

fn codex(out: &mut Counted<impl Write>, number: usize, wanted: u64, random: &mut Random) -> io::Result<()> {
    let session = id(number);
    let time = "2026-11-01T10:00:00.000Z";
    out.line(&format!(r#"{{"timestamp":"{time}","type":"session_meta","payload":{{"id":"{session}","timestamp":"{time}","cwd":"/project/{}","originator":"codex_cli_rs","cli_version":"0.166.0","source":"cli","model_provider":"openai"}}}}"#, number % 50))?;
    let mut turn = 0;
    while out.written < wanted {
        turn += 1;
        let item = |out: &mut Counted<_>, payload: String| {
            out.line(&format!(r#"{{"timestamp":"{time}","type":"response_item","payload":{payload}}}"#))
        };
        item(
            out,
            format!(
                r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{}"}}]}}"#,
                text(random, 200)
            ),
        )?;
        item(
            out,
            format!(
                r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{}"}}]}}"#,
                text(random, 600)
            ),
        )?;
        item(
            out,
            format!(
                r#"{{"type":"function_call","name":"shell","arguments":"{{\"command\":[\"ls\"]}}","call_id":"call_{turn}"}}"#
            ),
        )?;
        let size = 2000 + random.below(8000);
        item(
            out,
            format!(r#"{{"type":"function_call_output","call_id":"call_{turn}","output":"{}"}}"#, text(random, size)),
        )?;
        out.line(&format!(r#"{{"timestamp":"{time}","type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{turn}000,"output_tokens":{turn}00}},"last_token_usage":{{"input_tokens":1000,"output_tokens":100}}}}}}}}"#))?;
    }
    Ok(())
}

fn pi(out: &mut Counted<impl Write>, number: usize, wanted: u64, random: &mut Random) -> io::Result<()> {
    let time = "2026-11-01T10:00:00.000Z";
    out.line(&format!(
        r#"{{"type":"session","version":3,"id":"{}","timestamp":"{time}","cwd":"/project/{}"}}"#,
        id(number),
        number % 50
    ))?;
    let mut parent = "null".to_owned();
    let mut turn = 0;
    while out.written < wanted {
        turn += 1;
        let mut say = |out: &mut Counted<_>, message: String| {
            let id = format!("{:08x}", out.written);
            let line = format!(
                r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"{time}","message":{message}}}"#
            );
            parent = format!("\"{id}\"");
            out.line(&line)
        };
        say(out, format!(r#"{{"role":"user","content":"{}"}}"#, text(random, 200)))?;
        say(
            out,
            format!(
                r#"{{"role":"assistant","content":[{{"type":"text","text":"{}"}},{{"type":"toolCall","id":"c{turn}","name":"read","arguments":{{"path":"src/lib.rs"}}}}],"provider":"demo","model":"small","stopReason":"toolUse"}}"#,
                text(random, 600)
            ),
        )?;
        let size = 2000 + random.below(8000);
        say(
            out,
            format!(
                r#"{{"role":"toolResult","toolCallId":"c{turn}","toolName":"read","isError":false,"content":[{{"type":"text","text":"{}"}}]}}"#,
                text(random, size)
            ),
        )?;
    }
    Ok(())
}
