//! Positions in a stream of events, found without decoding anything else.

/// What a stream of events tells about where it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Where it starts.
    Open,
    /// Every event of the entry at this position was told.
    Entry(u64),
}

/// Finds positions in what comes in, however it is cut.
#[derive(Default)]
pub(super) struct Positions {
    /// The beginning of a line.
    rest: Vec<u8>,
    /// The id of the event whose lines these are.
    id: Option<u64>,
}

impl Positions {
    /// Looks at what came in. Sizes of chunks stand on lines of their own, between events.
    pub(super) fn look(&mut self, bytes: &[u8], mut tell: impl FnMut(Told)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !piece.ends_with(b"\n") {
                self.rest.extend_from_slice(piece);
            } else if self.rest.is_empty() {
                self.line(piece, &mut tell);
            } else {
                let mut line = std::mem::take(&mut self.rest);
                line.extend_from_slice(piece);
                self.line(&line, &mut tell);
            }
        }
    }

    fn line(&mut self, line: &[u8], tell: &mut impl FnMut(Told)) {
        let text = |prefix| line.strip_prefix(prefix).map(|rest| String::from_utf8_lossy(rest.trim_ascii()));
        if let Some(id) = text(b"id: ".as_slice()) {
            // One with a point is of an entry that tells more.
            self.id = id.parse().ok();
        } else if let Some(name) = text(b"event: ".as_slice()) {
            assert!(!matches!(&*name, "dropped" | "reset" | "closing"), "the stream said {name}");
            match (&*name, self.id.take()) {
                ("open", _) => tell(Told::Open),
                (_, Some(position)) => tell(Told::Entry(position)),
                _ => {}
            }
        }
    }
}

#[test]
fn positions_are_found_wherever_the_stream_is_cut() {
    let text = b"retry: 1000\n\nid: 6\nevent: open\ndata: {}\n\n\r\n2f\r\nid: 6.1\nevent: entry.appended\ndata: {}\n\n\
        id: 7\nevent: tool.end\ndata: {}\n\n\r\n11\r\nevent: heartbeat\ndata: {}\n\nid: 8\nevent: entry.appended\ndata: {}\n\n";
    for cut in 0..text.len() {
        let (mut positions, mut told) = (Positions::default(), Vec::new());
        positions.look(&text[..cut], |one| told.push(one));
        positions.look(&text[cut..], |one| told.push(one));
        assert_eq!(told, [Told::Open, Told::Entry(7), Told::Entry(8)], "cut at {cut}");
    }
}
