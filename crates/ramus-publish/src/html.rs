//! A transcript as one HTML page that needs nothing else: no network, no other file, no program but a browser.
//!
//! Every byte of the transcript passes `text::escape` or is base64 that was looked at; the page's own script and style are
//! the only ones its policy lets run, by their hashes, and the script only shows and hides what is there.

mod blocks;
mod entry;
mod inline;
mod sidebar;
mod text;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::outline::Outline;
use crate::transcript::{Entry, Transcript};
use text::escape;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// What a page is told besides its transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether others may find it: pages that are shared say that they should not be listed.
    pub unlisted: bool,
}

/// Returns the policy that the page carries, for servers that send it as a header too.
pub fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

/// Writes a page.
pub fn write(transcript: &Transcript, options: &Options) -> String {
    let mut page = Page::new(&Outline::from(transcript), options);
    transcript.entries.iter().for_each(|entry| page.entry(entry));
    page.finish()
}

/// A page in the making, for whoever writes it out on the way: what was made so far can be taken at any time.
pub struct Page {
    made: String,
    on_path: Vec<bool>,
    /// How many entries were written.
    entries: usize,
}

impl Page {
    /// Begins with what stands in front of the entries. The entries of the outline must follow, each once and in order.
    pub fn new(outline: &Outline, options: &Options) -> Self {
        let mut made = String::with_capacity(64 << 10);
        let on_path = outline.on_path();
        front(outline, &on_path, options, &mut made);
        Self { made, on_path, entries: 0 }
    }

    /// Writes the next entry.
    pub fn entry(&mut self, entry: &Entry) {
        let on_path = self.on_path.get(self.entries).copied().unwrap_or_default();
        entry::write(entry, self.entries, on_path, &mut self.made);
        self.entries += 1;
    }

    /// Returns what was made since this was asked last.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.made)
    }

    /// Ends the page and returns what was not taken yet.
    pub fn finish(mut self) -> String {
        self.made.push_str("<p id=\"nothing\" hidden>Nothing matches.</p>\n</main>\n</div>\n");
        self.made.push_str(&format!("<script>{SCRIPT}</script>\n</body>\n</html>\n"));
        self.made
    }
}

fn front(outline: &Outline, on_path: &[bool], options: &Options, page: &mut String) {
    let title = if outline.title.trim().is_empty() { "Session" } else { &outline.title };
    page.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.push_str(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", policy()));
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.push_str(
        "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n",
    );
    if options.unlisted {
        page.push_str("<meta name=\"robots\" content=\"noindex, nofollow, noarchive\">\n");
    }
    page.push_str(&format!("<title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n", escape(title)));
    header(outline, title, page);
    page.push_str("<div id=\"panes\">\n");
    sidebar::write(outline, on_path, page);
    page.push_str("<main id=\"conversation\" tabindex=\"-1\">\n");
    outline.notes.iter().for_each(|note| page.push_str(&format!("<p class=\"notice\">{}</p>\n", escape(note))));
}

fn header(outline: &Outline, title: &str, page: &mut String) {
    page.push_str(
        "<header>\n<button id=\"menu\" type=\"button\" aria-label=\"Tree\">☰</button>\n<div class=\"what\">\n",
    );
    page.push_str(&format!("<h1 dir=\"auto\">{}</h1>\n<p class=\"facts\">", escape(title)));
    let day = outline.created.get(..10).unwrap_or(&outline.created);
    let facts = [&*outline.session, &*outline.cwd, day];
    for fact in facts.into_iter().filter(|fact| !fact.is_empty()) {
        page.push_str(&format!("<span>{}</span>", escape(fact)));
    }
    page.push_str("</p>\n</div>\n<div class=\"tools\">\n");
    page.push_str(
        "<input id=\"search\" type=\"search\" placeholder=\"Search  /\" aria-label=\"Search\" autocomplete=\"off\">\n",
    );
    page.push_str(
        "<span id=\"count\" role=\"status\"></span>\n<div class=\"filters\" role=\"group\" aria-label=\"Show\">\n",
    );
    for (name, title) in [("user", "User"), ("assistant", "Assistant"), ("tool", "Tools"), ("thinking", "Thinking")] {
        page.push_str(&format!(
            "<button type=\"button\" class=\"filter\" data-filter=\"{name}\" aria-pressed=\"true\">{title}</button>\n"
        ));
    }
    page.push_str(
        "</div>\n<button id=\"theme\" type=\"button\" aria-label=\"Light or dark\">◐</button>\n</div>\n</header>\n",
    );
}
