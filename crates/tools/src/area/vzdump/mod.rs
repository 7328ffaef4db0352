//! The toolset `backup`: the jobs that back guests up, and what is in a backup. Backing up one guest now is core's
//! `backup_proxmox_vm`.

pub(super) mod archives;
pub(super) mod jobs;
