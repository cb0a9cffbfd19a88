//! Any bytes as a session of the agent that `RAMUS_FUZZ_FORMAT` names: no law of reading is broken.
#![no_main]

use std::sync::LazyLock;

use ramus_interchange::{Format, fuzz};

static FORMAT: LazyLock<Format> = LazyLock::new(|| {
    let name = std::env::var("RAMUS_FUZZ_FORMAT").unwrap_or_default();
    Format::from_name(&name).expect("RAMUS_FUZZ_FORMAT names a format")
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::read(*FORMAT, bytes));
