//! Keys without a prefix, known by how their parts are put together: bots of Discord and Telegram, Mailchimp, Mailgun,
//! Terraform, secrets of Azure applications.

use crate::alphabet::{ALNUM, Alphabet, DIGIT, HEX, URL, is_boundary};
use crate::judge;
use crate::span::{Span, before, part, rest};

/// What such keys consist of.
const RUN: &Alphabet = &Alphabet::word_and(b"-_.:~");
/// The shortest and longest of them.
const LENGTHS: std::ops::RangeInclusive<usize> = 34..=1024;

/// Finds them all.
pub(crate) fn find(text: &[u8], found: &mut Vec<Span>) {
    let mut at = 0;
    while at < text.len() {
        let len = RUN.run(rest(text, at), usize::MAX);
        if LENGTHS.contains(&len) {
            in_run(text, at, at + len, found);
        }
        at += len.max(1);
        at += rest(text, at).iter().take_while(|byte| !RUN.has(**byte)).count();
    }
}

fn in_run(text: &[u8], start: usize, end: usize, found: &mut Vec<Span>) {
    let run = part(text, start, end);
    for (offset, byte) in run.iter().enumerate().filter(|(_, byte)| matches!(byte, b':' | b'~' | b'.' | b'-')) {
        let at = start + offset;
        let span = match byte {
            b':' => telegram(text, start, at, end),
            b'~' => azure(text, start, at, end),
            b'.' => discord(text, start, at, end).or_else(|| terraform(text, start, at, end)),
            _ => mail(text, start, at, end),
        };
        found.extend(span);
    }
}

/// `123456789:AA…`
fn telegram(text: &[u8], start: usize, colon: usize, end: usize) -> Option<Span> {
    let digits = part(text, start, colon).iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let key = part(text, colon + 1, end);
    let len = URL.run(key, 40);
    let fits = (8..=10).contains(&digits) && (34..=36).contains(&len) && judge::is_random(part(key, 0, len));
    Span::new(colon - digits, colon + 1 + len, "telegram-token").filter(|_| fits)
}

/// Three characters, a digit, `Q~`, and some more.
fn azure(text: &[u8], start: usize, tilde: usize, end: usize) -> Option<Span> {
    let from = tilde.checked_sub(5).filter(|from| *from >= start)?;
    let marks = part(text, from + 3, tilde);
    let tail = part(text, tilde + 1, end);
    let len = tail.iter().take(40).take_while(|byte| **byte != b':').count();
    let fits = matches!(marks, [digit, b'Q'] if digit.is_ascii_digit()) && (31..=38).contains(&len);
    Span::new(from, tilde + 1 + len, "azure-client-secret").filter(|_| fits)
}

/// The number of a bot in base64, when it was made, a signature.
fn discord(text: &[u8], start: usize, dot: usize, end: usize) -> Option<Span> {
    let first = part(text, start, dot).iter().rev().take(30).take_while(|byte| URL.has(**byte)).count();
    let from = dot - first;
    let second = URL.run(part(text, dot + 1, end), 9);
    let after = dot + 1 + second;
    let third = URL.run(part(text, after + 1, end), 60);
    let fits = (23..=28).contains(&first)
        && (6..=7).contains(&second)
        && text.get(after) == Some(&b'.')
        && (27..=40).contains(&third)
        && matches!(text.get(from), Some(b'M' | b'N' | b'O'))
        && is_boundary(before(text, from));
    Span::new(from, after + 1 + third, "discord-token").filter(|_| fits)
}

/// Fourteen characters, `.atlasv1.`, and some more.
fn terraform(text: &[u8], start: usize, dot: usize, end: usize) -> Option<Span> {
    let first = part(text, start, dot).iter().rev().take(20).take_while(|byte| ALNUM.has(**byte)).count();
    let key = part(text, dot, end).strip_prefix(b".atlasv1.")?;
    let len = URL.run(key, 100);
    Span::new(dot - first, dot + 9 + len, "terraform-token").filter(|_| first >= 10 && len >= 50)
}

/// Thirty-two hexadecimal digits, and `-us12` or two groups more.
fn mail(text: &[u8], start: usize, dash: usize, end: usize) -> Option<Span> {
    let digits = part(text, start, dash).iter().rev().take(33).take_while(|byte| HEX.has(**byte)).count();
    if digits != 32 || !is_boundary(before(text, dash - digits)) {
        return None;
    }
    let tail = part(text, dash + 1, end);
    if let Some(number) = tail.strip_prefix(b"us") {
        let len = DIGIT.run(number, 3);
        return Span::new(dash - digits, dash + 3 + len, "mailchimp-key").filter(|_| (1..=2).contains(&len));
    }
    let groups = HEX.run(tail, 9) == 8 && tail.get(8) == Some(&b'-') && HEX.run(rest(tail, 9), 9) == 8;
    Span::new(dash - digits, dash + 18, "mailgun-key").filter(|_| groups)
}
