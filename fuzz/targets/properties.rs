#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pve::fuzzing::properties(bytes));
