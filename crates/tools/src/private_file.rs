//! Files that hold a key or a secret: their owner, and nobody else, may read and write them.

use std::fs::Metadata;
use std::path::Path;

use crate::fault::Fault;

/// Where systemd puts the credentials of a service: owned by root, and readable for the service by an access list, which
/// shows as rights of the group.
const CREDENTIALS: &str = "/run/credentials";

/// Fails if other users of this machine may read or change the file, or if it belongs to one of them. The hint is the
/// command that corrects it.
#[cfg(unix)]
pub fn check(path: &Path, data: &Metadata) -> Result<(), Fault> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let us = rustix::process::geteuid().as_raw();
    let is_credential = path.starts_with(CREDENTIALS);
    if data.uid() != us && !(is_credential && data.uid() == 0) {
        let what = format!(
            "{} belongs to another user (uid {}), and oxmox runs as uid {us}",
            path.display(),
            data.uid()
        );
        return Err(Fault::refused(what).hint(format!("`chown {us} {}`", quoted(path))));
    }
    let others = if is_credential { 0o027 } else { 0o077 };
    let mode = data.permissions().mode() & 0o7777;
    if mode & others != 0 {
        let can = if mode & 0o022 == 0 { "read" } else { "change" };
        let what = format!(
            "other users of this machine may {can} {} (mode {mode:04o}), which holds a secret",
            path.display()
        );
        return Err(Fault::refused(what).hint(format!("`chmod 600 {}`", quoted(path))));
    }
    Ok(())
}

/// Rights are not told by modes here.
#[cfg(not(unix))]
pub fn check(_: &Path, _: &Metadata) -> Result<(), Fault> {
    Ok(())
}

/// The path as a shell takes it for one word.
#[cfg(unix)]
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:".contains(c);
    if text.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn judged(name: &str, mode: u32) -> Result<(), Fault> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, "x").unwrap();
        let rights = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&path, rights).unwrap();
        let judged = check(&path, &std::fs::metadata(&path).unwrap());
        judged.map_err(|fault| Fault {
            hint: fault
                .hint
                .map(|hint| hint.replace(dir.path().to_str().unwrap(), "")),
            ..fault
        })
    }

    #[test]
    fn file_that_others_may_read_or_change_is_refused_with_the_command_to_run() {
        for mode in [0o600, 0o400, 0o700] {
            assert_eq!(judged("key", mode), Ok(()), "{mode:o}");
        }
        for (mode, word) in [
            (0o644, "read"),
            (0o640, "read"),
            (0o666, "change"),
            (0o620, "change"),
        ] {
            let fault = judged("key", mode).unwrap_err();
            assert!(fault.message.contains(word), "{fault}");
            assert_eq!(fault.hint.as_deref(), Some("`chmod 600 /key`"));
        }
        let fault = judged("a key", 0o644).unwrap_err();
        assert!(fault.hint.unwrap().ends_with("/a key'`"));
    }

    #[test]
    fn file_of_another_user_is_refused_with_the_command_to_run() {
        let us = rustix::process::geteuid().as_raw();
        // A file of somebody else: root's, or, for root, one that is given away.
        let dir = tempfile::tempdir().unwrap();
        let given = dir.path().join("key");
        std::fs::write(&given, "x").unwrap();
        let path = if us == 0 {
            std::os::unix::fs::chown(&given, Some(4711), None).unwrap();
            given.as_path()
        } else {
            Path::new("/etc/passwd")
        };
        let fault = check(path, &std::fs::metadata(path).unwrap()).unwrap_err();
        let command = format!("`chown {us} {}`", path.display());
        assert_eq!(fault.hint, Some(command));
    }
}
