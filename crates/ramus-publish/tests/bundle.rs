//! What is written to a bundle is read from it to the byte, and nothing else is.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

use proptest::prelude::*;
use ramus_model::Blob;
use ramus_publish::bundle::{BundleError, Item, Limits, Reader, SessionHead, Writer};

fn head(id: &str) -> SessionHead {
    SessionHead { id: id.to_owned(), cwd: "/srv/ö".to_owned(), ..SessionHead::default() }
}

fn written(log: &[u8], blob: &[u8], step: usize) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.session(&head("a")).unwrap();
    log.chunks(step.max(1)).for_each(|piece| writer.log(piece).unwrap());
    let blob = Blob::new(blob.to_vec());
    writer.blob(blob.hash(), blob.bytes()).unwrap();
    writer.finish().unwrap()
}

fn read(bytes: &[u8]) -> Result<(Vec<u8>, Vec<u8>), BundleError> {
    let (mut log, mut blobs) = (Vec::new(), Vec::new());
    let mut reader = Reader::new(bytes, Limits::default())?;
    while let Some(item) = reader.next_item()? {
        match item {
            Item::Log(more) => log.extend(more),
            Item::Blob(_, bytes) => blobs = bytes,
            Item::Session(_) => {}
        }
    }
    Ok((log, blobs))
}

fn log() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just(br#"{"type":"message","n":1.00e3,"lone":"\ud83d","deep":[[[{}]]]}"#.to_vec()),
        Just(b"{\"cr\":1}\r".to_vec()),
        Just(b"{\"a\":1} {\"b\":2}".to_vec()),
        Just(b"{\"raw\":\"\xff\xfe\"}".to_vec()),
        Just(b"not json".to_vec()),
        Just(Vec::new()),
        proptest::collection::vec(any::<u8>(), 0..40),
    ];
    (proptest::collection::vec(line, 0..12), any::<bool>()).prop_map(|(lines, ended)| {
        let mut log = lines.join(&b'\n');
        if ended {
            log.push(b'\n');
        }
        log
    })
}

proptest! {
    #[test]
    fn any_log_comes_back_to_the_byte(log in log(), blob in proptest::collection::vec(any::<u8>(), 0..200), step in 1_usize..64) {
        let bundle = written(&log, &blob, step);
        serde_json::from_slice::<serde::de::IgnoredAny>(&bundle).unwrap_or_else(|error| panic!("no JSON: {error}"));
        prop_assert_eq!(read(&bundle).unwrap(), (log, blob));
    }

    #[test]
    fn a_changed_or_cut_bundle_is_refused(log in log(), at in any::<prop::sample::Index>(), flip in 1_u8..=255) {
        let bundle = written(&log, b"picture", 7);
        let at = at.index(bundle.len());
        prop_assert!(read(&bundle[..at]).is_err());
        let mut changed = bundle;
        changed[at] ^= flip;
        prop_assert!(read(&changed).is_err());
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
        let _ = read(&[b"{\"format\":\"ramus-bundle\",\"version\":1,\"items\":[\n", &*bytes].concat());
    }
}

#[test]
fn blobs_of_several_pieces_come_back() {
    let blob: Vec<u8> = (0..8_000_000_u32).map(|at| (at % 251) as u8).collect();
    assert_eq!(read(&written(b"", &blob, 1)).unwrap().1, blob);
}

#[test]
fn hostile_bundles_are_refused_by_what_is_wrong() {
    let opening = "{\"format\":\"ramus-bundle\",\"version\":1,\"items\":[\n";
    let session = "{\"session\":{\"id\":\"a\",\"cwd\":\"/\",\"created\":\"\",\"title\":\"\",\"draft\":false}},\n";
    let deep = format!("{{\"session\":{}1{}}},\n", "[".repeat(100_000), "]".repeat(100_000));
    let named = "{\"blob\":\"../../etc/passwd\",\"data\":\"\"},\n";
    let wrong = format!("{{\"blob\":\"{}\",\"data\":\"aGk=\"}},\n", "0".repeat(64));
    for (bytes, expected) in [
        (String::new(), "no ramus bundle"),
        ("{}\n".to_owned(), "no ramus bundle"),
        ("{\"format\":\"ramus-bundle\",\"version\":2,\"items\":[\n".to_owned(), "version 2"),
        (format!("{opening}{{\"line\":{{}}}},\n"), "belongs to a session"),
        (format!("{opening}{session}{{\"line\":{{}}}}\n"), "comma"),
        (format!("{opening}{deep}"), "line 2"),
        (format!("{opening}{session}{named}"), "named by its hash"),
        (format!("{opening}{session}{wrong}"), "not what its name says"),
        (format!("{opening}{session}"), "cut off after line 2"),
        (format!("{opening}{session}{{\"unknown\":1}},\n"), "unknown"),
    ] {
        let error = read(bytes.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} does not say {expected:?}");
    }
    let long = Limits { line: 100, ..Limits::default() };
    let endless = std::io::BufReader::new(std::io::Read::chain(opening.as_bytes(), std::io::repeat(b'x')));
    let error = Reader::new(endless, long).unwrap().next_item().unwrap_err().to_string();
    assert!(error.contains("longer than 100"), "{error}");
}
