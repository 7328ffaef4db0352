use super::*;
use crate::world::config::Config;
use crate::world::guest::Kind;

const START: Time = Time::from_secs(1_000_000);

fn machine(os: bool) -> Guest {
    let mut config = Config::default();
    config.set("name", "web");
    let mut guest = Guest::new(100, Kind::Qemu, "pve1", config);
    guest.inside.os = os;
    guest.start(START, 1);
    guest
}

fn after(seconds: u64) -> Time {
    START + Duration::from_secs(seconds)
}

/// Types text of which every character is a key.
fn type_text(guest: &mut Guest, text: &str, now: Time) {
    for c in text.chars() {
        let key = match c {
            '\n' => "ret".to_owned(),
            ' ' => "spc".to_owned(),
            c => c.to_string(),
        };
        guest.press_together(&[&key], now);
    }
}

fn last_line(guest: &mut Guest, now: Time) -> String {
    let lines = guest.look(now).lines();
    let shown = lines.iter().rfind(|line| !line.is_empty());
    shown.cloned().unwrap_or_default()
}

#[test]
fn a_boot_takes_its_time() {
    let mut guest = machine(true);
    assert!(guest.look(START).lines()[0].starts_with("SeaBIOS"));
    assert_eq!(last_line(&mut guest, after(1)), "Welcome to GRUB!");
    assert!(last_line(&mut guest, after(2)).contains("systemd"));
    assert_eq!(last_line(&mut guest, after(3)), "web login:");
    let mut blank = machine(false);
    assert_eq!(last_line(&mut blank, after(60)), "No bootable device.");
    type_text(&mut blank, "x", after(61));
    assert_eq!(last_line(&mut blank, after(61)), "No bootable device.");
}

#[test]
fn a_wrong_password_is_told_and_no_password_is_shown() {
    let mut guest = machine(true);
    type_text(&mut guest, "root\nwrong", after(60));
    assert_eq!(last_line(&mut guest, after(60)), "Password:");
    type_text(&mut guest, "\n", after(60));
    let lines = guest.look(after(60)).lines();
    assert!(lines.contains(&"Login incorrect".to_owned()), "{lines:#?}");
    type_text(&mut guest, "nobody\ndemo\n", after(60));
    assert_eq!(last_line(&mut guest, after(60)), "web login:");
    type_text(&mut guest, "root\ndemo\n", after(60));
    assert_eq!(last_line(&mut guest, after(60)), "root@web:~#");
}

#[test]
fn commands_take_their_time_and_can_be_stopped() {
    let mut guest = machine(true);
    type_text(&mut guest, "root\ndemo\nsleep 5\n", after(60));
    assert_eq!(last_line(&mut guest, after(64)), "root@web:~# sleep 5");
    assert_eq!(last_line(&mut guest, after(65)), "root@web:~#");
    type_text(&mut guest, "sleep 5\nhostname\n", after(65));
    assert_eq!(last_line(&mut guest, after(69)), "root@web:~# sleep 5");
    let lines = guest.look(after(70)).lines();
    assert!(lines.contains(&"web".to_owned()), "{lines:#?}");
    type_text(&mut guest, "sleep 5\n", after(70));
    guest.press_together(&["ctrl", "c"], after(70));
    assert_eq!(last_line(&mut guest, after(70)), "root@web:~#");
    type_text(&mut guest, "clear\n", after(70));
    assert_eq!(guest.look(after(70)).lines()[0], "root@web:~#");
    type_text(&mut guest, "ecgo", after(70));
    guest.press_together(&["backspace"], after(70));
    assert_eq!(last_line(&mut guest, after(70)), "root@web:~# ecg");
}

#[test]
fn a_restart_of_the_system_is_none_of_the_process() {
    let mut guest = machine(true);
    type_text(&mut guest, "root\ndemo\nuptime\n", after(600));
    let lines = guest.look(after(600)).lines();
    assert!(
        lines.iter().any(|line| line.contains("up 10 min")),
        "{lines:#?}"
    );
    guest.press_together(&["ctrl", "alt", "delete"], after(600));
    assert!(guest.look(after(600)).lines()[0].starts_with("SeaBIOS"));
    type_text(&mut guest, "root\ndemo\nuptime\n", after(660));
    let lines = guest.look(after(660)).lines();
    assert!(
        lines.iter().any(|line| line.contains("up 1 min")),
        "{lines:#?}"
    );
    assert_eq!(guest.uptime(after(660)), 660);
}

#[test]
fn what_is_paused_or_off_takes_no_keys() {
    let mut guest = machine(true);
    guest.look(after(60));
    if let Power::Running { paused, .. } = &mut guest.power {
        *paused = true;
    }
    type_text(&mut guest, "x", after(60));
    assert_eq!(last_line(&mut guest, after(60)), "web login:");
    guest.stop();
    guest.start(after(70), 2);
    assert!(guest.look(after(70)).lines()[0].starts_with("SeaBIOS"));
}

#[test]
fn the_system_can_switch_the_machine_off() {
    let mut guest = machine(true);
    type_text(&mut guest, "root\ndemo\npoweroff\n", after(60));
    assert_eq!(guest.off_at, Some(after(62)));
    assert_eq!(
        last_line(&mut guest, after(61)),
        "The system will power off now!"
    );
}

#[test]
fn windows_stays_locked() {
    let mut guest = machine(true);
    guest.config.set("ostype", "win11");
    guest.press_together(&["ctrl", "alt", "delete"], after(60));
    let unlock = "Press Ctrl+Alt+Delete to unlock.";
    assert_eq!(last_line(&mut guest, after(60)), unlock);
    type_text(&mut guest, "x\n", after(60));
    assert_eq!(last_line(&mut guest, after(60)), unlock);
}
