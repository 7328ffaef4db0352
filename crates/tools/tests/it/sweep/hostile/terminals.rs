//! What runs on the terminal of a container or on the serial port of a VM writes what it likes.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use sim::World;
use sim::world::display::PASSWORD;

use super::corpus::CORPUS;
use super::inside::{self, END, Look, PROGRAM};
use crate::house::House;

const CONTAINER: u32 = 200;
const VM: u32 = 106;
/// So many houses at a time: most of a look is waiting for the terminal to be quiet.
const AT_ONCE: usize = 20;
/// How long somebody thinks before they run the program once more.
const PAUSE: Duration = Duration::from_secs(2);

/// What runs the program, and shows what came.
const RUNS: &[(&str, &str)] = &[
    ("send_vm_terminal_line", r#"{"vmid": 200, "line": "spew"}"#),
    (
        "send_vm_terminal_line",
        r#"{"vmid": 106, "line": "spew", "wait_for": "spewed all"}"#,
    ),
    (
        "run_proxmox_vm_command",
        r#"{"vmid": 200, "command": ["spew"]}"#,
    ),
];

/// Somebody at a terminal, by other means.
fn type_line(world: &mut World, vmid: u32, line: &str) {
    let now = world.now;
    let guest = world.guests.get_mut(&vmid).unwrap();
    let place = if vmid == VM {
        guest.serial_port(None).unwrap()
    } else {
        guest.attach().0
    };
    let typed = format!("{line}\r");
    guest.type_on(place, typed.as_bytes(), (now, &mut 0), &mut Vec::new());
}

/// Reads a terminal while somebody runs the program there: terminals show to new clients little of what was before.
async fn read(house: &House, vmid: u32) -> Look {
    let args = format!(r#"{{"vmid": {vmid}, "wait_for": "{END}", "timeout": 40}}"#);
    let reading = inside::look(house, "read_vm_terminal", &args);
    let running = async {
        loop {
            tokio::time::sleep(PAUSE).await;
            house.sim.world(|world| type_line(world, vmid, PROGRAM));
        }
    };
    tokio::select! {
        look = reading => look,
        () = running => unreachable!("nobody stops"),
    }
}

/// What each look at a terminal gave on which the program writes this text.
async fn seen(text: &str) -> Vec<Look> {
    let house = super::asking().await;
    house.set(CONTAINER, "cmode", "shell");
    for vmid in [CONTAINER, VM] {
        inside::install(&house, vmid, text);
    }
    house.sim.world(|world| {
        for line in ["", "root", PASSWORD] {
            type_line(world, VM, line);
        }
    });
    let mut looks = Vec::new();
    for (tool, args) in RUNS {
        looks.push(inside::look(&house, tool, args).await);
    }
    for vmid in [CONTAINER, VM] {
        looks.push(read(&house, vmid).await);
    }
    looks
}

#[tokio::test]
async fn what_a_terminal_says_is_data() {
    let terminals = CORPUS.iter().map(|(_, text)| seen(text));
    let terminals: Vec<Vec<Look>> = stream::iter(terminals).buffered(AT_ONCE).collect().await;
    let looks = || terminals.iter().flatten();
    let wrong: Vec<_> = looks().flat_map(|look| &look.wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let ended = looks().filter(|look| look.shown.contains(END)).count();
    assert_eq!(ended, looks().count(), "all of them show what was written");
    // What a terminal acts on is not there any more; the rest is told by all of them.
    let acts = |c: char| c.is_control() && c != '\n';
    let mut told = 0;
    for (number, ((trick, text), looks)) in CORPUS.iter().zip(&terminals).enumerate() {
        let by = looks.iter().filter(|look| look.told.contains(&number));
        let by = by.count();
        told += usize::from(by > 0);
        let shown: Vec<_> = looks.iter().map(|look| &look.shown).collect();
        assert!(
            by == looks.len() || text.contains(acts),
            "{trick}: {by} looks tell it: {shown:#?}"
        );
    }
    eprintln!(
        "{} texts, {} looks at terminals, {told} texts told as they are",
        CORPUS.len(),
        looks().count()
    );
}
