//! A real QEMU behind the simulator: its firmware's screen, seen and operated through a console.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sim::{Sim, worlds};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::client::Client;
use crate::rfb::Rfb;

const MACHINE: &str = "/nodes/pve1/qemu/100";
/// A machine without acceleration on a busy host takes a few seconds.
const PATIENCE: Duration = Duration::from_mins(1);

/// A process that ends with the test.
struct Qemu {
    process: Child,
    vnc: SocketAddr,
    monitor: SocketAddr,
}

impl Drop for Qemu {
    fn drop(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
    }
}

/// A port that is free now.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.local_addr().expect("an address").port()
}

impl Qemu {
    /// Starts a machine that waits for a key in its firmware; `None` where there is no QEMU.
    async fn start() -> Option<Self> {
        let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let (vnc, monitor) = (local(free_port()), local(free_port()));
        let display = vnc.port().checked_sub(5900).expect("ports begin later");
        // It calls back through a second monitor when it is ready.
        let ready = tokio::net::TcpListener::bind(local(0))
            .await
            .expect("a port");
        let ready_port = ready.local_addr().expect("an address").port();
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
            .arg(format!("tcp:127.0.0.1:{ready_port}"))
            .stdin(Stdio::null())
            .spawn()
            .ok()?;
        let qemu = Self {
            process,
            vnc,
            monitor,
        };
        let (stream, _) = ready.accept().await.expect("it calls back");
        let greeting = BufReader::new(stream).lines().next_line().await;
        assert!(greeting.expect("a greeting").is_some());
        Some(qemu)
    }
}

#[tokio::test]
async fn the_firmware_of_a_real_machine_is_seen_and_operated() {
    let Some(qemu) = Qemu::start().await else {
        eprintln!("skipped: there is no qemu-system-x86_64 here");
        return;
    };
    let sim = Sim::start(worlds::recorded()).await.expect("a simulator");
    sim.world(|world| {
        let now = world.now;
        let machine = world.guests.get_mut(&100).expect("the machine");
        machine.start(now, 4711);
    });
    let shown = sim.show_display(100, qemu.vnc, qemu.monitor).await;
    shown.expect("a monitor");

    let seen = tokio::time::timeout(PATIENCE, operate(&sim)).await;
    seen.expect("in time");
}

/// Opens the firmware's boot menu, and chooses from it.
async fn operate(sim: &Sim) {
    let mut rfb = Rfb::connect(sim, MACHINE).await;
    rfb.encodings(&[0, -223]).await;
    rfb.look().await;
    rfb.wait_for("Press ESC for boot menu").await;
    let put = format!("/api2/json{MACHINE}/sendkey");
    let sent = Client::root(sim).send("PUT", &put, "key=esc").await;
    assert_eq!(sent.expect("an answer").status, 200);
    rfb.wait_for("Select boot device:").await;
    // A key of the client's own: the first device, of which there is nothing to boot.
    rfb.key(u32::from('1')).await;
    rfb.wait_for("Booting from").await;
}
