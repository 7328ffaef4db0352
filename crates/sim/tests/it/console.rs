//! The display of a machine over a websocket.

use std::time::Duration;

use sim::world::guest::Guest;
use sim::{Clock, Sim, worlds};

use crate::client::{Client, Refused};
use crate::rfb::{News, Proxy, Rfb};

/// A machine that runs, with a system in it.
const MACHINE: &str = "/nodes/pve1/qemu/100";

/// The recorded cluster, with that machine running for a while.
async fn start() -> Sim {
    let sim = Sim::start(worlds::recorded()).await.expect("a simulator");
    sim.world(|world| {
        let now = world.now;
        let machine = world.guests.get_mut(&100).expect("the machine");
        machine.inside.os = true;
        machine.start(now, 4711);
        world.advance(Duration::from_mins(1));
    });
    sim
}

fn machine<T>(sim: &Sim, look: impl FnOnce(&mut Guest) -> T) -> T {
    sim.world(|world| look(world.guests.get_mut(&100).expect("the machine")))
}

#[tokio::test]
async fn the_display_opens_as_recorded() {
    let sim = start().await;
    let client = Client::root(&sim).header("sec-websocket-protocol", "binary");
    let proxy = Proxy::open(&client, MACHINE).await;
    let stream = client.websocket(&proxy.target(MACHINE)).await;
    let stream = stream.expect("a websocket");
    assert_eq!(stream.headers["sec-websocket-protocol"], "binary");
    let rfb = Rfb::open(stream, &proxy.password).await;
    let mut rfb = rfb.expect("the password is right");
    assert_eq!(rfb.name, "QEMU (web)");
    assert_eq!(rfb.size, (720, 400));
    let text = rfb.look().await;
    assert_eq!(text[0], "Debian GNU/Linux 13 web tty1");
    assert_eq!(text[2], "web login:");

    let status = format!("/nodes/pve1/tasks/{}/status", proxy.upid);
    let running = client.get(&status).await;
    assert_eq!(running.data()["status"], "running");
    rfb.leave().await;
    assert_eq!(client.wait_for("pve1", &proxy.upid).await, "OK");
}

#[tokio::test]
async fn without_a_generated_password_the_ticket_is_it() {
    let sim = start().await;
    let client = Client::root(&sim);
    let answer = client
        .post(&format!("{MACHINE}/vncproxy"), "websocket=1")
        .await;
    let text = |key: &str| answer.data()[key].as_str().expect(key).to_owned();
    let proxy = Proxy {
        port: text("port"),
        ticket: text("ticket"),
        password: text("ticket"),
        upid: text("upid"),
    };
    let stream = client.websocket(&proxy.target(MACHINE)).await;
    let rfb = Rfb::open(stream.expect("a websocket"), &proxy.password).await;
    assert!(rfb.is_ok());
}

#[tokio::test]
async fn a_wrong_password_is_refused_as_recorded() {
    let sim = start().await;
    let client = Client::root(&sim);
    let proxy = Proxy::open(&client, MACHINE).await;
    let stream = client.websocket(&proxy.target(MACHINE)).await;
    let refused = Rfb::open(stream.expect("a websocket"), "wrong").await;
    let bytes = b"\0\0\0\x01\0\0\0\x16Authentication failed\0";
    assert_eq!(refused.err().as_deref(), Some(&bytes[..]));
    assert_eq!(client.wait_for("pve1", &proxy.upid).await, "OK");
}

#[tokio::test]
async fn a_stopped_machine_fails_after_the_answer() {
    let sim = start().await;
    machine(&sim, Guest::stop);
    let client = Client::root(&sim);
    let proxy = Proxy::open(&client, MACHINE).await;
    let stream = client.websocket(&proxy.target(MACHINE)).await;
    let mut socket = stream.expect("101 comes first").socket;
    let next = futures_util::StreamExt::next(&mut socket).await;
    assert!(!matches!(next, Some(Ok(_))), "{next:?}");
    let exit = client.wait_for("pve1", &proxy.upid).await;
    assert_eq!(exit, "Failed to run vncproxy.");
    let log = format!("/nodes/pve1/tasks/{}/log", proxy.upid);
    let log = client.get(&log).await;
    assert_eq!(log.data()[0]["t"], "VM 100 not running");
}

#[tokio::test]
async fn a_console_takes_one_client_at_its_own_node() {
    let sim = start().await;
    let client = Client::root(&sim);
    let proxy = Proxy::open(&client, MACHINE).await;
    let target = proxy.target(MACHINE);
    let elsewhere = client.clone().at(sim.node_addr("pve2").expect("a node"));
    assert!(matches!(elsewhere.websocket(&target).await, Err(None)));
    let first = client.websocket(&target).await;
    assert!(first.is_ok());
    assert!(matches!(client.websocket(&target).await, Err(None)));
    let forged = target.replace("PVEVNC", "PVEVNX");
    let refused = client.websocket(&forged).await;
    assert_eq!(refused.err(), Some(Some(Refused { status: 401 })));
}

#[tokio::test]
async fn a_task_ends_when_its_machine_does() {
    let sim = start().await;
    let client = Client::root(&sim);
    let proxy = Proxy::open(&client, MACHINE).await;
    let stream = client.websocket(&proxy.target(MACHINE)).await;
    let rfb = Rfb::open(stream.expect("a websocket"), &proxy.password).await;
    let mut rfb = rfb.expect("the password is right");
    machine(&sim, Guest::stop);
    assert!(rfb.rest().await.is_empty());
    assert_eq!(client.wait_for("pve1", &proxy.upid).await, "OK");
}

#[tokio::test]
async fn keys_show_whichever_way_they_come() {
    let sim = start().await;
    let mut rfb = Rfb::connect(&sim, MACHINE).await;
    rfb.look().await;
    rfb.type_text("ro").await;
    rfb.wait_for("web login: ro").await;
    // The same key by its place on the keyboard.
    for down in [1, 0] {
        rfb.send(&[255, 0, 0, down, 0, 0, 0, 0x6f, 0, 0, 0, 0x18])
            .await;
    }
    rfb.wait_for("web login: roo").await;
    let put = format!("/api2/json{MACHINE}/sendkey");
    let sent = Client::root(&sim).send("PUT", &put, "key=t").await;
    assert_eq!(sent.expect("an answer").status, 200);
    let unknown = Client::root(&sim).send("PUT", &put, "key=nosuch").await;
    let unknown = unknown.expect("an answer");
    let told = (unknown.status, unknown.reason.as_str(), &unknown.body);
    assert_eq!(told, (400, "Bad Request", &"".into()));
    let kind = "application/json;charset=UTF-8";
    assert_eq!(unknown.headers["content-type"], kind);
    rfb.wait_for("web login: root").await;
    assert_eq!(machine(&sim, |vm| vm.keys.clone()), ["r", "o", "o", "t"]);
    assert_eq!(machine(&sim, |vm| vm.display.inputs), 6);
}

#[tokio::test]
async fn an_incremental_request_waits_for_a_change() {
    let sim = start().await;
    let mut rfb = Rfb::connect(&sim, MACHINE).await;
    rfb.look().await;
    rfb.ask(true).await;
    // The answer to what is sent later comes first.
    rfb.encodings(&[0, -258]).await;
    assert_eq!(rfb.update().await, [News::ExtendedKeys]);
    rfb.key(u32::from('x')).await;
    assert_eq!(rfb.update().await, [News::Pixels]);
    assert_eq!(rfb.text()[2], "web login: x");
}

#[tokio::test]
async fn a_login_opens_a_shell() {
    let sim = start().await;
    let mut rfb = Rfb::connect(&sim, MACHINE).await;
    rfb.look().await;
    rfb.type_text("root\ndemo\n").await;
    let text = rfb.wait_for("root@web:~#").await;
    assert!(!text.iter().any(|line| line.contains("demo")), "{text:#?}");
    rfb.type_text("echo hello\n").await;
    rfb.wait_for("hello").await;
    rfb.type_text("sleep 5000\n").await;
    // Ctrl and c.
    rfb.hold(0xffe3, true).await;
    rfb.key(u32::from('c')).await;
    rfb.hold(0xffe3, false).await;
    rfb.wait_for("^C").await;
    rfb.type_text("exit\n").await;
    rfb.wait_until(|text| text[2] == "web login:").await;
}

#[tokio::test]
async fn ctrl_alt_delete_boots_again() {
    let sim = start().await;
    let mut rfb = Rfb::connect(&sim, MACHINE).await;
    rfb.look().await;
    rfb.type_text("abc").await;
    for keysym in [0xffe3, 0xffe9, 0xffff] {
        rfb.hold(keysym, true).await;
    }
    for keysym in [0xffff, 0xffe9, 0xffe3] {
        rfb.hold(keysym, false).await;
    }
    rfb.wait_for("SeaBIOS").await;
    rfb.wait_for("GRUB loading.").await;
    rfb.wait_until(|text| text[2] == "web login:").await;
    let last = machine(&sim, |vm| vm.keys.last().cloned());
    assert_eq!(last.as_deref(), Some("ctrl-alt-delete"));
}

#[tokio::test]
async fn a_boot_follows_the_clock() {
    let world = worlds::recorded();
    let sim = Sim::builder(world).clock(Clock::Manual).start().await;
    let sim = sim.expect("a simulator");
    sim.world(|world| {
        let now = world.now;
        let machine = world.guests.get_mut(&100).expect("the machine");
        machine.inside.os = true;
        machine.config.set("vga", "virtio");
        machine.start(now, 4711);
    });
    let mut rfb = Rfb::connect(&sim, MACHINE).await;
    rfb.encodings(&[0, -223]).await;
    assert!(rfb.look().await[0].starts_with("SeaBIOS"));
    rfb.ask(true).await;
    sim.advance(Duration::from_secs(1));
    assert!(rfb.update().await.contains(&News::Pixels));
    assert!(rfb.text().contains(&"GRUB loading.".to_owned()));
    rfb.ask(true).await;
    sim.advance(Duration::from_secs(5));
    // The kernel's console is larger than VGA's.
    assert_eq!(rfb.update().await, [News::Size(1280, 800)]);
    assert_eq!(rfb.update().await, [News::Pixels]);
    assert_eq!(rfb.text()[2], "web login:");
}

#[tokio::test]
async fn a_clock_of_its_own_needs_no_requests() {
    let mut world = worlds::recorded();
    let now = world.now;
    let machine = world.guests.get_mut(&100).expect("the machine");
    machine.inside.os = true;
    machine.start(now + Duration::from_secs(1), 4711);
    let sim = Sim::builder(world).clock(Clock::Fast(5)).start().await;
    let sim = sim.expect("a simulator");
    let mut rfb = Rfb::connect(&sim, MACHINE).await;
    rfb.look().await;
    rfb.wait_for("web login:").await;
}

#[tokio::test]
async fn nonsense_ends_the_connection() {
    let sim = start().await;
    let mut rfb = Rfb::connect(&sim, MACHINE).await;
    rfb.send(&[77, 1, 2, 3]).await;
    assert!(rfb.rest().await.is_empty());
}
