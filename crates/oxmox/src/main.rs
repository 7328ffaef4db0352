//! The oxmox binary.
fn main() {}
