//! Tokens of the source of this project, counted by us and by tiktoken-rs in turns.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use ramus_model::tokens::Counter as _;
use ramus_provider::Bpe;
use serde_json::json;

use crate::best;

pub(super) fn measure() -> io::Result<()> {
    let mut text = String::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut text)?;
    let ours = Bpe::newest().ok_or_else(|| io::Error::other("there is no vocabulary"))?;
    let theirs = tiktoken_rs::o200k_base_singleton();
    let (mut our_time, mut their_time) = (Duration::MAX, Duration::MAX);
    // In turns, so that what disturbs the machine disturbs both.
    for _ in 0..5 {
        let (time, count) = best(1, || Ok(ours.count(&[&text])))?;
        our_time = our_time.min(time);
        let (time, expected) = best(1, || Ok(theirs.count_ordinary(&text) as u64))?;
        their_time = their_time.min(time);
        assert_eq!(count, expected, "both count the same");
    }
    let rate = |time: Duration| text.len() as f64 / 1e6 / time.as_secs_f64();
    println!(
        "{}",
        json!({"op": "count", "bytes": text.len(), "mb_per_second": rate(our_time),
        "their_mb_per_second": rate(their_time)})
    );
    Ok(())
}

/// The source files below a folder, in the order of their names.
fn sources(folder: &Path, text: &mut String) -> io::Result<()> {
    let mut paths = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    for path in paths {
        text.push_str(&fs::read_to_string(path)?);
    }
    Ok(())
}
