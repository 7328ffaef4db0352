//! Files that their owner alone may read, as oxmox wants secrets to be.

use std::path::Path;

/// Writes such a file.
pub(crate) fn write(path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
    std::fs::write(&path, text).unwrap();
    restrict(path);
}

/// Makes it one.
pub(crate) fn restrict(path: impl AsRef<Path>) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let rights = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, rights).unwrap();
    }
}
