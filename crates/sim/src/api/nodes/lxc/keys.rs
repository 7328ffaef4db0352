//! The keys of a container's volumes, one by one: where a parameter takes one of them, PVE lists them all.

use crate::api::nodes::guest::numbered::with_numbers;

macro_rules! mount_keys {
    ($($number:literal)*) => { &["rootfs", $(concat!("mp", $number)),*] };
}

macro_rules! volume_keys {
    ($($number:literal)*) => {
        &["rootfs", $(concat!("mp", $number)),*, $(concat!("unused", $number)),*]
    };
}

/// The root disk and all mount points.
pub(super) const MOUNT_KEYS: &[&str] = with_numbers!(mount_keys);

/// These and all unused volumes.
pub(super) const VOLUME_KEYS: &[&str] = with_numbers!(volume_keys);
