//! The tools of oxmox.
