//! The web view: one page, one style sheet and native modules, as they are in `assets`, embedded in the program.
//!
//! Nothing is built, bundled or fetched: what a browser runs is what the repository holds. All files are served under an
//! address that holds the hash of all of them, so a browser may keep them for ever and never mixes two versions.

use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

/// One file of the view.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub bytes: &'static [u8],
}

impl Asset {
    /// Returns the media type that its name tells.
    pub fn media_type(&self) -> &'static str {
        match self.name.rsplit('.').next() {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "application/octet-stream",
        }
    }
}

macro_rules! assets {
    ($($name:literal),* $(,)?) => {
        /// The files that the page refers to.
        pub static ASSETS: &[Asset] = &[$(Asset { name: $name, bytes: include_bytes!(concat!("../assets/", $name)) }),*];
    };
}

assets! {
    "actions.js", "api.js", "app.css", "app.js", "branches.js", "choice.js", "compare.js", "context.js", "create.js", "demo.js", "detail.js", "dialog.js",
    "diff.js", "divider.js", "dom.js", "done.js", "drafts.js", "elsewhere.js", "export.js", "families.js", "files.js", "format.js", "found.js", "help.js",
    "home.js", "icon.svg", "keep.js", "keys.js", "kin.js", "list.js", "live.js", "login.js", "markdown.js", "menu.js", "merge.js", "message.js", "models.js",
    "outline.js", "palette.js", "pictures.js", "pieces.js", "prompt.js", "question.js", "raw.js", "rewind.js", "row.js", "rows.js", "said.js", "sessions.js", "share.js",
    "state.js", "stream.js", "thread.js", "timeline.js", "tree.js", "usage.js", "welcome.js",
}

/// The page, in which `BUNDLE` stands for the hash of all files.
const PAGE: &str = include_str!("../assets/index.html");

/// How much of the hash is used.
const DIGITS: usize = 16;

/// What the page may do: run and show our own files, ask this server, show pictures that came with an answer. Nothing written
/// into a page becomes a script or a style, whoever wrote it.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

static BUNDLE: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for asset in ASSETS {
        hash.update(asset.name);
        hash.update([0]);
        hash.update((asset.bytes.len() as u64).to_le_bytes());
        hash.update(asset.bytes);
    }
    hash.update(PAGE);
    hex::encode(hash.finalize()).chars().take(DIGITS).collect()
});

static HTML: LazyLock<String> = LazyLock::new(|| PAGE.replace("BUNDLE", bundle()));

/// Returns the name of this version of all files: it changes when one of them does.
pub fn bundle() -> &'static str {
    &BUNDLE
}

/// Returns the page.
pub fn page() -> &'static str {
    &HTML
}

/// Finds a file of this version.
pub fn asset(bundle: &str, name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name).filter(|_| bundle == self::bundle())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How large all files may be, as they are.
    const LARGEST: usize = 300 * 1024;

    #[test]
    fn all_files_together_are_small() {
        let sum = ASSETS.iter().map(|asset| asset.bytes.len()).sum::<usize>() + PAGE.len();
        assert!(sum < LARGEST, "{sum}");
    }

    #[test]
    fn every_file_is_embedded_and_asks_nobody_else() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
        let names = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
        names.retain(|name| name != "index.html");
        names.sort();
        assert_eq!(names, ASSETS.iter().map(|asset| asset.name).collect::<Vec<_>>());
        for asset in ASSETS {
            let text = String::from_utf8_lossy(asset.bytes).replace("http://www.w3.org/2000/svg", "");
            for wrong in
                ["http://", "https://", "innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "document.write"]
            {
                assert!(!text.contains(wrong), "{} has {wrong}", asset.name);
            }
        }
    }

    #[test]
    fn modules_import_only_what_is_there() {
        for module in ASSETS.iter().filter(|asset| asset.name.ends_with(".js")) {
            let text = String::from_utf8_lossy(module.bytes);
            for line in text.lines().filter(|line| line.starts_with("import ") || line.starts_with("} from ")) {
                let Some((_, from)) = line.split_once("from \"./") else { continue };
                let name = from.trim_end_matches("\";");
                assert!(asset(bundle(), name).is_some(), "{} imports {name}", module.name);
            }
        }
        assert!(page().contains(bundle()) && !page().contains("BUNDLE"));
        assert!(asset("0000000000000000", "app.js").is_none());
    }
}
