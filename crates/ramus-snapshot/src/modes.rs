//! Who may do what with files, as far as the modes of git do not tell: what is not as new files are is noted one by one.

use crate::known::Look;

/// So many files are noted. With more, nothing is said of any.
const MOST: usize = 1 << 16;

/// The bits that count.
const BITS: u32 = 0o777;

/// What new files may not do when the system does not tell.
const USUAL: u32 = 0o022;

/// Who may do what with the files of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Modes {
    /// What new files could not do then; none when nothing is known.
    mask: Option<u32>,
    /// Files that are not as new ones were, sorted by path.
    odd: Vec<(Vec<u8>, u32)>,
}

/// What new files may not do in this process.
pub(crate) fn mask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|line| u32::from_str_radix(line.trim(), 8).ok()).unwrap_or(USUAL) & BITS
}

fn usual(mask: u32, is_executable: bool) -> u32 {
    if is_executable { BITS & !mask } else { 0o666 & !mask }
}

/// Returns the mode of a file if it is not as a new one's.
pub(crate) fn odd(look: &Look, mask: u32) -> Option<u32> {
    let mode = look.mode() & BITS;
    (look.is_file() && mode != usual(mask, look.is_executable())).then_some(mode)
}

impl Modes {
    pub(crate) fn new(mask: u32, mut odd: Vec<(Vec<u8>, u32)>) -> Self {
        odd.sort_unstable();
        if odd.len() > MOST { Self::default() } else { Self { mask: Some(mask), odd } }
    }

    /// Returns who may do what with a file; none when that is not known.
    pub(crate) fn of(&self, path: &[u8], is_executable: bool) -> Option<u32> {
        let mask = self.mask?;
        let found = self.odd.binary_search_by(|(one, _)| (**one).cmp(path));
        let odd = found.ok().and_then(|at| self.odd.get(at)).map(|(_, mode)| *mode);
        odd.or_else(|| Some(usual(mask, is_executable)))
    }

    pub(crate) fn odd(&self) -> &[(Vec<u8>, u32)] {
        &self.odd
    }

    /// What a snapshot says beside the files that are named.
    pub(crate) fn word(&self) -> Option<String> {
        self.mask.map(|mask| format!("{mask:03o}"))
    }

    /// Reads that.
    pub(crate) fn read(word: Option<&str>, odd: Vec<(Vec<u8>, u32)>) -> Self {
        let mask = word.and_then(|word| u32::from_str_radix(word, 8).ok());
        mask.map_or_else(Self::default, |mask| Self::new(mask & BITS, odd))
    }
}
