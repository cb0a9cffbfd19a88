//! Any bytes as a session of another agent, the first byte says which: no law of reading is broken.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ramus_interchange::fuzz::source(bytes));
