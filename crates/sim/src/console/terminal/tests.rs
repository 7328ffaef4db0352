use super::*;
use crate::clock::Time;
use crate::world::config::Config;
use crate::world::guest::Kind;

const NOW: Time = Time::from_secs(1_000_000);

fn world() -> World {
    let mut world = World::empty("test", NOW);
    for (vmid, kind) in [(100, Kind::Qemu), (200, Kind::Lxc)] {
        let mut guest = Guest::new(vmid, kind, "pve1", Config::default());
        guest.inside.os = true;
        guest.config.set("cmode", "shell".to_owned());
        guest.start(NOW, vmid);
        world.guests.insert(vmid, guest);
    }
    world
}

fn console(world: &World, screen: Screen, who: &str) -> Console {
    let who = Identity::parse(who);
    let ticket = world.signer.vnc_ticket(&who, "/vms/200", NOW);
    Console {
        node: "pve1".to_owned(),
        port: 5900,
        screen,
        who,
        password: None,
        ticket,
        upid: String::new(),
        failure: "failed".to_owned(),
        until: NOW,
    }
}

/// A client of the container that has said who it is, and what it got.
fn connect(world: &mut World) -> (Terminal, String) {
    let console = console(world, Screen::Container(200), "root@pam");
    let hello = format!("root@pam:{}\n1:120:40:", console.ticket);
    let mut terminal = Terminal::new(console);
    let got = say(&mut terminal, world, &hello).expect("goes on");
    (terminal, got)
}

fn say(terminal: &mut Terminal, world: &mut World, text: &str) -> Result<String, End> {
    let mut send = Vec::new();
    match terminal.turn(world, text.as_bytes(), &mut send) {
        ControlFlow::Continue(_) => Ok(String::from_utf8_lossy(&send).into_owned()),
        ControlFlow::Break(end) => Err(end),
    }
}

#[test]
fn tokens_and_wrong_tickets_are_refused() {
    let mut world = world();
    for (made_for, line) in [
        ("root@pam!mcp", "root@pam!mcp"),
        ("root@pam!mcp", "root@pam"),
        ("root@pam", "bob@pve"),
    ] {
        let console = console(&world, Screen::Container(200), made_for);
        let hello = format!("{line}:{}\n", console.ticket);
        let mut terminal = Terminal::new(console);
        let end = say(&mut terminal, &mut world, &hello).expect_err("refused");
        assert_eq!(end.line.as_deref(), Some("authentication request failed"));
        assert_eq!(end.status, "failed");
    }
}

#[test]
fn a_session_is_kept_and_drawn_again_for_the_next_client() {
    let mut world = world();
    let (mut first, got) = connect(&mut world);
    assert_eq!(got, "OK\x1b[H\x1b[J\x1b[?2004hroot@CT200:/# ");
    assert_eq!(say(&mut first, &mut world, "0:2:ec").as_deref(), Ok("ec"));
    let (mut second, got) = connect(&mut world);
    assert_eq!(got, "OK\x1b[H\x1b[J\r\x1b[Kroot@CT200:/# ec");
    assert_eq!(world.guests[&200].terminals.typed, 2);
    // Both see what either types, and the end.
    say(&mut second, &mut world, "0:2:ho").expect("goes on");
    assert!(say(&mut first, &mut world, "").is_ok_and(|got| got.ends_with("ho")));
    assert!(say(&mut second, &mut world, "0:6:\x15exit\r").is_err());
    assert!(say(&mut first, &mut world, "").is_err());
}

#[test]
fn a_machine_without_a_serial_port_says_so() {
    let mut world = world();
    let mut send = Vec::new();
    let mut terminal = Terminal::new(console(&world, Screen::Serial(100, None), "root@pam"));
    assert!(terminal.begin(&mut world, &mut send).is_err());
    assert_eq!(send, b"unable to find a serial interface\r\n");
    let guest = world.guests.get_mut(&100).expect("there");
    guest.config.set("serial0", "socket".to_owned());
    send.clear();
    assert!(terminal.begin(&mut world, &mut send).is_ok());
    assert_eq!(send, b"starting serial terminal on interface serial0\r\n");
    let asked = say(&mut terminal, &mut world, "0:1:\r");
    assert!(asked.is_ok_and(|got| got.ends_with("login: ")));
}

#[test]
fn nonsense_ends_the_session() {
    let mut world = world();
    let (mut terminal, _) = connect(&mut world);
    assert!(say(&mut terminal, &mut world, "x").is_err());
    let mut silent = Terminal::new(console(&world, Screen::Container(200), "root@pam"));
    assert!(say(&mut silent, &mut world, &"x".repeat(LONGEST_LINE + 1)).is_err());
}
