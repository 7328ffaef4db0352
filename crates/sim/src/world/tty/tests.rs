use super::*;
use crate::world::config::Config;
use crate::world::guest::{Guest, Kind};

fn container(cmode: &str) -> Guest {
    let mut config = Config::default();
    config.set("hostname", "ct1".to_owned());
    config.set("cmode", cmode.to_owned());
    let mut guest = Guest::new(200, Kind::Lxc, "pve1", config);
    guest.start(Time::from_secs(1_000), 1);
    guest
}

/// What is written from here on.
fn typed(guest: &mut Guest, place: Place, text: &str, now: u64) -> String {
    let written = |tty: &mut Tty, _: System<'_>| tty.written();
    let mut seen = guest.with_tty(place, written).expect("it runs");
    let mut read = Vec::new();
    let at = (Time::from_secs(now), &mut seen);
    guest.type_on(place, text.as_bytes(), at, &mut read);
    String::from_utf8_lossy(&read).into_owned()
}

#[test]
fn a_login_leads_to_a_shell_and_back() {
    let mut guest = container("tty");
    let (place, kept) = guest.attach();
    assert_eq!((place, kept), (Place::Tty, false));
    assert!(typed(&mut guest, place, "\r", 1_001).ends_with("\r\r\nct1 login: "));
    assert!(typed(&mut guest, place, "root\r", 1_001).ends_with("Password: "));
    assert!(typed(&mut guest, place, "demo\r", 1_002).ends_with("root@ct1:~# "));
    assert!(typed(&mut guest, place, "exit\r", 1_002).ends_with("ct1 login: "));
    assert_eq!(guest.attach(), (Place::Tty, true));
}

#[test]
fn a_wrong_password_takes_its_time_and_what_is_typed_meanwhile_is_kept() {
    let mut guest = container("tty");
    let (place, _) = guest.attach();
    typed(&mut guest, place, "root\rwrong\r", 1_000);
    assert_eq!(typed(&mut guest, place, "root\r", 1_001), "root\r\r\n");
    let later = typed(&mut guest, place, "", 1_004);
    assert!(
        later.ends_with("Login incorrect\r\r\nct1 login: Password: "),
        "{later:?}"
    );
}

#[test]
fn a_shell_runs_commands_and_knows_how_they_ended() {
    let mut guest = container("shell");
    let (place, _) = guest.attach();
    assert_eq!(place, Place::Shell);
    let text = typed(&mut guest, place, "false; echo rc=$?\r", 1_000);
    assert_eq!(
        text,
        "false; echo rc=$?\r\r\n\x1b[?2004l\rrc=1\r\r\n\x1b[?2004hroot@ct1:/# "
    );
    assert!(typed(&mut guest, place, "echo gr\u{fc}n\r", 1_000).contains("\rgr\u{fc}n\r"));
    typed(&mut guest, place, "sh -c 'exit 7'\r", 1_000);
    assert!(typed(&mut guest, place, "echo $?\r", 1_000).contains("\r7\r\r\n"));
    assert!(
        typed(&mut guest, place, "nosuch\r", 1_000).contains("bash: nosuch: command not found")
    );
}

#[test]
fn a_command_that_runs_can_be_interrupted() {
    let mut guest = container("shell");
    let (place, _) = guest.attach();
    assert!(!typed(&mut guest, place, "sleep 60\r", 1_000).ends_with("# "));
    assert!(typed(&mut guest, place, "\x03", 1_001).ends_with("^C\r\r\n\x1b[?2004hroot@ct1:/# "));
    assert!(typed(&mut guest, place, "echo abc\x15echo x\x7fy\r", 1_001).contains("\ry\r\r\n"));
}

#[test]
fn a_session_ends_with_its_shell_and_with_the_container() {
    let mut guest = container("shell");
    let (place, _) = guest.attach();
    let text = typed(&mut guest, place, "exit\r", 1_000);
    assert_eq!(text, "exit\r\r\n\x1b[?2004l\rexit\r\r\n");
    assert_eq!(guest.attach(), (Place::Shell, false));
    guest.start(Time::from_secs(2_000), 2);
    guest.config.set("cmode", "console".to_owned());
    assert_eq!(guest.attach(), (Place::Console, false));
    // What was attached once stays attached.
    guest.config.set("cmode", "shell".to_owned());
    assert_eq!(guest.attach(), (Place::Console, true));
}

#[test]
fn a_machine_has_the_serial_ports_of_its_configuration() {
    let mut guest = Guest::new(100, Kind::Qemu, "pve1", Config::default());
    assert_eq!(
        guest.serial_port(None),
        Err("unable to find a serial interface".to_owned())
    );
    guest.config.set("serial1", "socket".to_owned());
    assert_eq!(guest.serial_port(None), Ok(Place::Serial(1)));
    assert!(guest.serial_port(Some("serial0")).is_err());
    guest.config.set("serial0", "/dev/ttyS0".to_owned());
    assert!(guest.serial_port(Some("serial0")).is_err());
}

#[test]
fn any_bytes_may_be_typed() {
    let mut guest = container("shell");
    let (place, _) = guest.attach();
    for byte in 0..=255_u8 {
        let mut read = Vec::new();
        let at = (Time::from_secs(1_000), &mut 0);
        guest.type_on(place, &[byte, b'\r'], at, &mut read);
    }
}
