//! A page that is written while it is made: the same page as in one piece, and never more than an entry of it at a time.

use std::io::{self, Write};

use ramus_engine::{Include, Say, Session, TranscriptScope, redact};
use ramus_model::Seq;
use ramus_publish::html;
use ramus_redact::Redactor;

use crate::homes::{Home, jsonl};

/// A secret whose form gives it away, in pieces.
const SECRET: [&str; 2] = ["ghp_", "9fK2mQ7vX4tB8nR1wZ6cL3pD5hJ0sG2yT7uE"];

/// Keeps what is written, and how much came at once.
#[derive(Default)]
struct Pieces {
    bytes: Vec<u8>,
    longest: usize,
    /// After so many bytes the disk is full.
    room: Option<usize>,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room.is_some_and(|room| self.bytes.len() + bytes.len() > room) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.longest = self.longest.max(bytes.len());
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A session of long messages, with a branch, a label and a secret in it.
fn long_session(home: &Home) -> Session {
    let text = "<all> work & no *play* ".repeat(4_000);
    let mut session = home.session();
    for number in 0..40 {
        home.engine.say(&mut session, Say::user(format!("{number} {text}"))).unwrap();
        home.engine.say(&mut session, Say::assistant(format!("token {} {text}", SECRET.concat()))).unwrap();
    }
    home.engine.label(&mut session, Seq::new(3).unwrap(), Some("here")).unwrap();
    home.engine.branch(&mut session, Seq::new(5).unwrap()).unwrap();
    home.engine.say(&mut session, Say::user("another way")).unwrap();
    session
}

fn scope(session: &Session) -> TranscriptScope {
    TranscriptScope::Whole(session.log().leaf())
}

#[test]
fn a_page_is_written_entry_by_entry_and_is_the_same_page() {
    let home = jsonl();
    let mut session = long_session(&home);
    let scope = scope(&session);
    let transcript = home.engine.transcript(&mut session, scope, Include::everything()).unwrap();
    let whole = html::write(&transcript, &html::Options::default());
    let mut out = Pieces::default();
    let found = home.engine.write_page(&mut session, scope, Include::everything(), None, &mut out).unwrap();
    assert!(found.is_empty());
    assert_eq!(String::from_utf8(out.bytes).unwrap(), whole);
    assert!(whole.len() > 40 * 2 * 90_000, "{}", whole.len());
    assert!(out.longest < 400_000, "{} bytes at once", out.longest);
}

#[test]
fn a_page_that_is_redacted_says_how_much_was_taken_out_once() {
    let home = jsonl();
    let mut session = long_session(&home);
    let (scope, redactor) = (scope(&session), Redactor::new());
    let mut transcript = home.engine.transcript(&mut session, scope, Include::everything()).unwrap();
    let mut pass = redactor.pass();
    redact(&mut transcript, &mut pass);
    let mut out = Pieces::default();
    let found = home.engine.write_page(&mut session, scope, Include::everything(), Some(&redactor), &mut out).unwrap();
    let page = String::from_utf8(out.bytes).unwrap();
    assert_eq!(page, html::write(&transcript, &html::Options::default()));
    assert!(!page.contains(SECRET[1]));
    assert_eq!(found, pass.findings());
    assert_eq!(found.iter().map(|finding| finding.count).sum::<usize>(), 40);
}

#[test]
fn a_page_that_cannot_be_written_is_an_error() {
    let home = jsonl();
    let mut session = long_session(&home);
    let scope = scope(&session);
    let mut out = Pieces { room: Some(300_000), ..Pieces::default() };
    let error = home.engine.write_page(&mut session, scope, Include::everything(), None, &mut out).unwrap_err();
    assert_eq!(error.kind(), ramus_engine::ErrorKind::Full);
}
