#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oxmox::fuzzing::client_file(bytes));
