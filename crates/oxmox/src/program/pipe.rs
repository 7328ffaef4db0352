//! What a program says, read without waiting for it: what it leaves running may hold its end of the pipe open for ever.

#[cfg(not(unix))]
pub(super) use threads::Pipe;
#[cfg(unix)]
pub(super) use unix::Pipe;

#[cfg(unix)]
mod unix {
    use std::io::{self, ErrorKind, Read};
    use std::os::fd::AsFd;
    use std::time::Duration;

    /// Our end of it.
    pub(in super::super) struct Pipe {
        /// `None`: nobody holds the other end any more.
        source: Option<Box<dyn Read>>,
    }

    impl Pipe {
        /// How long what an ended program has said may still be under way: it is in the pipe already.
        pub(in super::super) const GRACE: Duration = Duration::ZERO;

        pub(in super::super) fn new(source: impl Read + AsFd + 'static) -> io::Result<Self> {
            rustix::io::ioctl_fionbio(&source, true)?;
            Ok(Self {
                source: Some(Box::new(source)),
            })
        }

        /// The next of what is there; nothing if there is nothing now.
        pub(in super::super) fn next(&mut self) -> Vec<u8> {
            let mut part = [0; 4096];
            while let Some(source) = &mut self.source {
                match source.read(&mut part) {
                    Ok(0) => self.source = None,
                    Ok(length) => return part[..length].to_vec(),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    // What came before an error is what there is.
                    Err(_) => self.source = None,
                }
            }
            Vec::new()
        }

        pub(in super::super) fn is_closed(&self) -> bool {
            self.source.is_none()
        }
    }
}

/// Where a pipe cannot be read without waiting, a thread waits; it ends when nobody listens any more.
#[cfg(not(unix))]
mod threads {
    use std::io::{self, Read};
    use std::sync::mpsc::{self, Receiver, TryRecvError};
    use std::time::Duration;

    /// Our end of it.
    pub(in super::super) struct Pipe {
        heard: Receiver<Vec<u8>>,
        is_closed: bool,
    }

    impl Pipe {
        /// How long what an ended program has said may still be under way.
        pub(in super::super) const GRACE: Duration = Duration::from_secs(1);

        #[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
        pub(in super::super) fn new(mut source: impl Read + Send + 'static) -> io::Result<Self> {
            // Few at once: one that prints without end must wait for us.
            let (tell, heard) = mpsc::sync_channel(4);
            std::thread::spawn(move || {
                let mut part = [0; 4096];
                while let Ok(length @ 1..) = source.read(&mut part) {
                    if tell.send(part[..length].to_vec()).is_err() {
                        break;
                    }
                }
            });
            Ok(Self {
                heard,
                is_closed: false,
            })
        }

        /// The next of what is there; nothing if there is nothing now.
        pub(in super::super) fn next(&mut self) -> Vec<u8> {
            self.heard.try_recv().unwrap_or_else(|error| {
                self.is_closed = error == TryRecvError::Disconnected;
                Vec::new()
            })
        }

        pub(in super::super) fn is_closed(&self) -> bool {
            self.is_closed
        }
    }
}
