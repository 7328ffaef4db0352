//! A copy of each entry of the audit trail for the system's log, at `/dev/log`: journald listens there as well as every
//! syslog daemon. In the form that the C library's `syslog` sends, which all of them read.

use std::path::Path;

use tools::fault::Fault;
use tools::store::Copyist;

/// Where the system's log listens.
pub const SOCKET: &str = "/dev/log";

/// Who sends the copies to this socket. A copy that cannot be delivered is left out: the trail itself is whole.
#[cfg(unix)]
pub fn copyist(socket: &Path) -> Result<Copyist, Fault> {
    let log = unix::Log::at(socket).map_err(|error| {
        Fault::bad_input(format!("no socket for `audit_copy` can be made: {error}"))
    })?;
    Ok(std::sync::Arc::new(move |written| log.copy(written)))
}

/// Who sends the copies to this socket.
#[cfg(not(unix))]
pub fn copyist(_: &Path) -> Result<Copyist, Fault> {
    Err(Fault::bad_input("`audit_copy`: this system has no syslog").hint("leave it out"))
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::os::unix::net::UnixDatagram;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicBool, Ordering};

    use jiff::Zoned;
    use serde_json::{Value, json};
    use tools::store::Written;
    use tools::tool::Object;

    use crate::cli::out;

    /// Facility authpriv, which files that others may read are kept free of; severity notice.
    const PRIORITY: u8 = 10 * 8 + 5;
    /// The longest message that rsyslog takes whole unless told otherwise.
    const LONGEST: usize = 8000;
    /// What is left out of an entry that is longer, one after the other, until it fits.
    const LEFT_OUT: [&str; 5] = ["steps", "arguments", "affects", "reason", "summary"];

    pub(super) struct Log {
        socket: UnixDatagram,
        path: PathBuf,
        has_failed: AtomicBool,
    }

    impl Log {
        pub(super) fn at(path: &Path) -> io::Result<Self> {
            let socket = UnixDatagram::unbound()?;
            // Whoever changes something does not wait for a log that is full.
            socket.set_nonblocking(true)?;
            Ok(Self {
                socket,
                path: path.to_owned(),
                has_failed: AtomicBool::new(false),
            })
        }

        pub(super) fn copy(&self, written: &Written) {
            // By its address each time: a daemon that was started anew listens on a new socket.
            let sent = self.socket.send_to(message(written).as_bytes(), &self.path);
            if let Err(error) = sent
                && !self.has_failed.swap(true, Ordering::Relaxed)
            {
                out::warn(format_args!(
                    "the audit trail cannot be copied to the system's log at {}: {error}; what is left out from entry {} on \
                     is in the trail itself, and this is said once",
                    self.path.display(),
                    written.seq
                ));
            }
        }
    }

    fn message(written: &Written) -> String {
        let time = Zoned::now().strftime("%b %e %H:%M:%S");
        let id = std::process::id();
        format!("<{PRIORITY}>{time} oxmox[{id}]: {}", line(written))
    }

    /// The entry as `oxmox audit export` prints it. Its link is the head that `oxmox audit verify --head` takes.
    fn line(written: &Written) -> String {
        let mut whole = Object::new();
        whole.insert("seq".to_owned(), json!(written.seq));
        if let Ok(Value::Object(entry)) = serde_json::from_str(&written.entry) {
            whole.extend(entry);
        }
        whole.insert("link".to_owned(), json!(written.link));
        let mut text = Value::Object(whole.clone()).to_string();
        let mut left_out = Vec::new();
        for field in LEFT_OUT {
            if text.len() <= LONGEST {
                break;
            }
            if whole.shift_remove(field).is_some() {
                left_out.push(field);
                whole.insert("left_out".to_owned(), json!(left_out));
                text = Value::Object(whole.clone()).to_string();
            }
        }
        text
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_is_too_long_is_left_out_and_the_link_never() {
            let entry = json!({
                "kind": "opened", "plan": "p", "arguments": {"text": "x".repeat(9000)}, "summary": "short",
            });
            let written = Written {
                seq: 7,
                entry: entry.to_string(),
                link: "the link".to_owned(),
            };
            let told: Value = serde_json::from_str(&line(&written)).unwrap();
            assert_eq!(
                told,
                json!({"seq": 7, "kind": "opened", "plan": "p", "summary": "short", "link": "the link",
                       "left_out": ["arguments"]})
            );
            assert!(message(&written).len() < LONGEST + 100);
        }
    }
}
