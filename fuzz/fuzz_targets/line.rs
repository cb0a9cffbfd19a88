//! Any bytes as one line of a log: no panic, no hang, and what is read is written back unchanged.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ramus_model::fuzz::line(bytes));
