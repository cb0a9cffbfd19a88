//! How a store grows: a thousand snapshots, each with five files changed, beside what the changed content takes alone.

use std::fs;
use std::io;
use std::path::Path;

use gix_zlib::stream::deflate::{Compress, FlushCompress};
use gix_zlib::{Compression, Status};
use ramus_snapshot::{About, Snapshots};
use serde_json::json;

use crate::tree::Tree;

const SNAPSHOTS: usize = 1_000;
const CHANGED: usize = 5;

pub(crate) fn measure(directory: &Path) -> io::Result<()> {
    let tree = Tree { root: directory.join("growing"), files: 10_000, lines: 120 };
    tree.make()?;
    let store = directory.join("growing-store");
    if store.exists() {
        fs::remove_dir_all(&store)?;
    }
    let mut snapshots = Snapshots::open(&store, &tree.root, &[]).map_err(io::Error::other)?;
    let mut ids = vec![take(&mut snapshots, 0)?];
    let start = size(&store)?;
    let (mut compressed, mut slowest) = (0, 0.0_f64);
    for round in 1..=SNAPSHOTS {
        for number in 0..CHANGED {
            let file = (round * 7_919 + number * 1_009) % tree.files;
            let content = tree.content(file, round);
            compressed += deflate(content.as_bytes())?;
            fs::write(tree.path(file), content)?;
        }
        let before = std::time::Instant::now();
        ids.push(take(&mut snapshots, round)?);
        slowest = slowest.max(before.elapsed().as_secs_f64() * 1_000.0);
    }
    let grown = size(&store)? - start;
    let packs = snapshots.usage().map_err(io::Error::other)?.packs;
    let before = std::time::Instant::now();
    let collected = snapshots.collect(&ids, std::time::Duration::ZERO).map_err(io::Error::other)?;
    let collecting = before.elapsed().as_secs_f64() * 1_000.0;
    let after = size(&store)? - start;
    println!(
        "{}",
        json!({"op": "growth", "entries": tree.files, "grown": grown, "compressed": compressed, "packs": packs,
            "slowest_ms": slowest, "collect_ms": collecting, "collected": after, "collected_packs": collected.after.packs})
    );
    fs::remove_dir_all(&store)?;
    fs::remove_dir_all(&tree.root)
}

fn take(snapshots: &mut Snapshots, round: usize) -> io::Result<ramus_snapshot::SnapshotId> {
    let about = About { label: format!("After: change number {round}"), parents: Vec::new() };
    Ok(snapshots.take(&about).map_err(io::Error::other)?.id)
}

/// Bytes of all packs and their indexes.
fn size(store: &Path) -> io::Result<u64> {
    fs::read_dir(store.join("objects").join("pack"))?.map(|entry| Ok(entry?.metadata()?.len())).sum()
}

/// How many bytes content takes at git's usual level.
fn deflate(content: &[u8]) -> io::Result<u64> {
    let mut compress = Compress::new(Compression::new(6).unwrap_or_default());
    let mut room = vec![0; content.len() + 1_024];
    match compress.compress(content, &mut room, FlushCompress::Finish) {
        Ok(Status::StreamEnd) => Ok(compress.total_out()),
        _ => Err(io::Error::other("cannot compress")),
    }
}
