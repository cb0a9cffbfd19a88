//! Any bytes as a whole session file: tree, path and context are built without a panic and without a hang.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ramus_model::fuzz::file_in_part(bytes));
