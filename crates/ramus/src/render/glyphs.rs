//! The signs that trees and turns are drawn with. A locale that says it knows no UTF-8 gets ASCII.

use std::sync::LazyLock;

use ramus_wire::preview::Signs;

/// One set of signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Glyphs {
    pub(crate) leaf: &'static str,
    pub(crate) on_path: &'static str,
    pub(crate) off_path: &'static str,
    pub(crate) compaction: &'static str,
    pub(crate) label: &'static str,
    pub(crate) star: &'static str,
    pub(crate) fold: &'static str,
    pub(crate) call: &'static str,
    pub(crate) tee: &'static str,
    pub(crate) corner: &'static str,
    pub(crate) rail: &'static str,
    pub(crate) gap: &'static str,
    pub(crate) squeezed: &'static str,
    pub(crate) separator: &'static str,
    pub(crate) item: &'static str,
    pub(crate) done: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) thought: &'static str,
    pub(crate) child: &'static str,
    pub(crate) changed: &'static str,
    pub(crate) minus: &'static str,
}

pub(crate) const UNICODE: Glyphs = Glyphs {
    leaf: "@",
    on_path: "●",
    off_path: "○",
    compaction: "~",
    label: "⚑",
    star: "★",
    fold: "⋮",
    call: "→",
    tee: "├─",
    corner: "└─",
    rail: "│ ",
    gap: "  ",
    squeezed: "⋯ ",
    separator: " · ",
    item: "•",
    done: "✓",
    failed: "✗",
    thought: "∴",
    child: "↳",
    changed: "±",
    minus: "−",
};

pub(crate) const ASCII: Glyphs = Glyphs {
    leaf: "@",
    on_path: "*",
    off_path: "o",
    compaction: "~",
    label: "#",
    star: "*",
    fold: ":",
    call: ">",
    tee: "|-",
    corner: "`-",
    rail: "| ",
    gap: "  ",
    squeezed: "> ",
    separator: " - ",
    item: "*",
    done: "+",
    failed: "x",
    thought: "~",
    child: ">",
    changed: "+-",
    minus: "-",
};

impl Glyphs {
    /// Those of them that previews are written with.
    pub(crate) fn signs(&self) -> Signs {
        Signs { call: self.call, changed: self.changed, minus: self.minus }
    }
}

/// Returns the signs for this terminal.
pub(crate) fn of_terminal() -> &'static Glyphs {
    static CHOSEN: LazyLock<&Glyphs> = LazyLock::new(choose);
    *CHOSEN
}

/// A locale that was never set says nothing, and then UTF-8 is what terminals use.
fn choose() -> &'static Glyphs {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| {
        let value = std::env::var(name).ok()?;
        (!value.is_empty()).then_some(value)
    });
    match locale {
        Some(locale) if !knows_utf8(&locale) => &ASCII,
        _ => &UNICODE,
    }
}

fn knows_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
