//! A real QEMU to put behind a machine's console: see [`Sim::show_display`](crate::Sim::show_display).

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};

use tokio::io::{AsyncBufReadExt, BufReader};

/// A machine without disks that waits in its firmware. Its process ends with this value.
#[derive(Debug)]
pub struct Qemu {
    process: Child,
    /// Its display.
    pub vnc: SocketAddr,
    /// Its monitor, speaking QMP.
    pub monitor: SocketAddr,
}

impl Drop for Qemu {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A loopback address that is free now.
fn free() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

impl Qemu {
    /// Starts `qemu-system-x86_64` without acceleration, its firmware waiting a minute for a key before it looks for
    /// something to boot.
    ///
    /// # Errors
    /// When there is no such program, or it does not come up.
    pub async fn start() -> io::Result<Self> {
        // Displays are counted from port 5900.
        let (vnc, display) = loop {
            let vnc = free()?;
            if let Some(display) = vnc.port().checked_sub(5900) {
                break (vnc, display);
            }
        };
        let monitor = free()?;
        // It calls back through a second monitor when it is ready.
        let ready = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let process = Command::new("qemu-system-x86_64")
            .args([
                "-accel", "tcg", "-m", "64", "-nic", "none", "-display", "none",
            ])
            .args(["-boot", "menu=on,splash-time=60000"])
            .arg("-vnc")
            .arg(format!("127.0.0.1:{display},password=on"))
            .arg("-qmp")
            .arg(format!("tcp:{monitor},server=on,wait=off"))
            .arg("-qmp")
            .arg(format!("tcp:{}", ready.local_addr()?))
            .stdin(Stdio::null())
            .spawn()?;
        let qemu = Self {
            process,
            vnc,
            monitor,
        };
        let (stream, _) = ready.accept().await?;
        let greeting = BufReader::new(stream).lines().next_line().await?;
        greeting.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(qemu)
    }
}
