//! What lies on the machine that the engine runs on.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tools::uploads::Uploads;

/// A clone of the community's scripts, in small.
pub(super) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scripts")
}

/// The files that the tools' examples upload, and place for others. They are made once, below the directory that is there
/// for such tests.
pub(crate) fn shelf() -> &'static Path {
    static SHELF: OnceLock<PathBuf> = OnceLock::new();
    SHELF.get_or_init(|| {
        let shelf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("uploads");
        std::fs::create_dir_all(shelf.join("builds")).unwrap();
        for (name, size) in [("my-installer.iso", 36_870), ("builds/app.tar.zst", 2_048)] {
            let path = shelf.join(name);
            // Tests run in other processes beside this one: what is there is the same, and stays untouched.
            if path.metadata().is_ok_and(|it| it.len() == size) {
                continue;
            }
            let made = path.with_extension(std::process::id().to_string());
            std::fs::write(&made, vec![7; usize::try_from(size).unwrap()]).unwrap();
            std::fs::rename(&made, &path).unwrap();
        }
        shelf
    })
}

pub(super) fn uploads() -> Uploads {
    Uploads::from_dirs(vec![shelf().to_owned()])
}
