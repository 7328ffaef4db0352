//! Tells systemd how the service is: <https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html>.

use std::io;

use crate::config::Environment;

/// What there is to tell.
#[derive(Debug, Clone, Copy)]
pub enum News {
    /// It takes calls.
    Ready,
    /// It reads its configuration again.
    Reloading,
    /// It takes no more calls.
    Stopping,
}

/// Tells whoever started this process, if they want to know.
pub fn tell(news: News) {
    let environment = Environment::of_process();
    let Some(socket) = environment.notify_socket() else {
        return;
    };
    let state = match news {
        News::Ready => "READY=1",
        News::Reloading => "RELOADING=1",
        News::Stopping => "STOPPING=1",
    };
    if let Err(error) = send(socket, state) {
        tracing::warn!(%error, state, "the service manager cannot be told");
    }
}

#[cfg(target_os = "linux")]
fn send(socket: &str, state: &str) -> io::Result<()> {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    let address = match socket.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    let sent = UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address);
    sent.map(drop)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn send(_: &str, _: &str) -> io::Result<()> {
    Ok(())
}
