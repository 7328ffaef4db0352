//! Where a screen goes that a tool shows: a terminal shows no pictures.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

use tools::fault::{Fault, Kind};
use tools::tool::Image;

use crate::cli::out;

/// The file, if there is to be one. Made before the call: what was done is not to end in an error about a file.
pub(super) struct Picture(Option<(PathBuf, File)>);

impl Picture {
    pub(super) fn new(path: Option<PathBuf>) -> Result<Self, Fault> {
        let Some(path) = path else {
            return Ok(Self(None));
        };
        match File::create_new(&path) {
            Ok(file) => Ok(Self(Some((path, file)))),
            Err(error) => {
                let what = format!("no picture can be kept in {}: {error}", path.display());
                let fault = Fault::new(Kind::Failed, what);
                Err(match error.kind() {
                    ErrorKind::AlreadyExists => fault.hint("name a file that is not there yet"),
                    _ => fault,
                })
            }
        }
    }

    /// Puts the last one there.
    pub(super) fn keep(mut self, images: &[Image]) {
        let Some(image) = images.last() else {
            if self.0.is_some() {
                out::warn("it shows no picture: none is kept");
            }
            return;
        };
        let Some((path, mut file)) = self.0.take() else {
            out::hint("--picture FILE keeps the picture");
            return;
        };
        if let Err(error) = file.write_all(&image.png) {
            // Half of it is no picture, and would be in the way of the next one.
            let _ = fs::remove_file(&path);
            out::warn(format_args!(
                "the picture is not in {}: {error}",
                path.display()
            ));
        }
    }
}

/// One that came to nothing.
impl Drop for Picture {
    fn drop(&mut self) {
        if let Some((path, _)) = self.0.take() {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_picture_is_not_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("screen.png");
        fs::write(&path, "half").unwrap();
        // What was opened for reading cannot be written, as on a disk that is full.
        let file = File::open(&path).unwrap();
        let picture = Picture(Some((path.clone(), file)));
        picture.keep(&[Image {
            png: b"all of it".to_vec(),
        }]);
        assert!(!path.exists());
        Picture::new(Some(path)).unwrap();
    }
}
