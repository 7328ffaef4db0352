//! The two keys of an installation: one seals what leaves and comes back, one chains the audit trail.
//! They live in a file beside the database, never in it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::fault::{Fault, Kind};
use crate::private_file;

/// Both keys. Has no `Debug`: nothing prints them.
#[derive(Clone)]
pub struct Keys {
    seal: [u8; 32],
    audit: [u8; 32],
}

impl Keys {
    /// From the file, which is made on first use and readable by its owner only.
    /// Refused where others may read or change it, or own it.
    pub fn load(file: &Path) -> Result<Self, Fault> {
        let unusable = |why: std::io::Error| {
            let what = format!("the key {} cannot be used: {why}", file.display());
            Fault::new(Kind::Internal, what)
        };
        match read(file) {
            Ok(Ok(root)) if root.len() == 32 => Ok(Self::derive(&root)),
            Ok(Ok(root)) => Err(unusable(std::io::Error::other(format!(
                "it holds {} bytes where a key has 32; it was not written by oxmox",
                root.len()
            )))),
            Ok(Err(fault)) => Err(fault),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                create(file).map_err(unusable)?;
                // Another process may have been first; what is in the file counts.
                let root = read(file).map_err(unusable)??;
                Ok(Self::derive(&root))
            }
            Err(error) => Err(unusable(error)),
        }
    }

    /// Keys that end with the process.
    pub fn ephemeral() -> Self {
        Self::derive(&random::<32>())
    }

    fn derive(root: &[u8]) -> Self {
        Self {
            seal: mac(root, &[b"oxmox seal"]),
            audit: mac(root, &[b"oxmox audit"]),
        }
    }

    /// What tells these keys from others, and gives nothing of them away.
    pub fn name(&self) -> String {
        hex(&mac(&self.seal, &[b"oxmox key name"])[..8])
    }

    /// A seal over these parts.
    pub fn seal(&self, parts: &[&[u8]]) -> String {
        hex(&mac(&self.seal, parts))
    }

    /// Whether `seal` is the one over these parts. Takes the same time either way.
    pub fn is_sealed(&self, parts: &[&[u8]], seal: &str) -> bool {
        let wanted = self.seal(parts);
        wanted.len() == seal.len()
            && wanted
                .bytes()
                .zip(seal.bytes())
                .fold(0, |difference, (a, b)| difference | (a ^ b))
                == 0
    }

    /// The link of an audit entry to the one before it.
    pub fn link(&self, previous: &str, entry: &str) -> String {
        hex(&mac(&self.audit, &[previous.as_bytes(), entry.as_bytes()]))
    }
}

/// What is in the file, if that is private. The file that is read is the one that was checked.
fn read(path: &Path) -> std::io::Result<Result<Vec<u8>, Fault>> {
    let mut file = fs::File::open(path)?;
    if let Err(fault) = private_file::check(path, &file.metadata()?) {
        return Ok(Err(fault));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Ok(bytes))
}

fn create(file: &Path) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(file) {
        Ok(mut file) => {
            file.write_all(&random::<32>())?;
            file.sync_all()
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Each part is preceded by its length, so that no two lists of parts give the same bytes.
fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key)
        .unwrap_or_else(|_| unreachable!("HMAC takes keys of any length"));
    for part in parts {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// Random bytes of the operating system.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .unwrap_or_else(|error| unreachable!("no randomness from the system: {error}"));
    bytes
}

/// A new plan id: short enough to type, 40 bits of chance, no letter that looks like another.
pub fn short_id() -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    random::<8>()
        .iter()
        .map(|byte| char::from(ALPHABET[usize::from(byte % 32)]))
        .collect()
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_is_bound_to_its_parts() {
        let keys = Keys::ephemeral();
        let seal = keys.seal(&[b"ab", b"c"]);
        assert!(keys.is_sealed(&[b"ab", b"c"], &seal));
        assert!(!keys.is_sealed(&[b"a", b"bc"], &seal));
        assert!(!Keys::ephemeral().is_sealed(&[b"ab", b"c"], &seal));
    }

    #[test]
    fn a_key_file_is_made_once_and_private() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("key");
        let first = Keys::load(&file).unwrap().seal(&[b"x"]);
        assert_eq!(Keys::load(&file).unwrap().seal(&[b"x"]), first);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(
                fs::metadata(&file).unwrap().permissions().mode() & 0o777,
                0o600
            );
        }
    }
}
