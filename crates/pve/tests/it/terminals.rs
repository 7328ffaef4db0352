//! Terminals of the simulator.

use std::time::Duration;

use pve::console::{Program, Size, Stands, Until, Waited};
use pve::{GuestKind, GuestRef, NodeName};
use sim::Sim;

use crate::simulated::{homelab_as, root_password, root_token, vmid};

const LIMIT: Duration = Duration::from_secs(10);
const QUIET: Until = Until::Quiet(Duration::from_millis(100));

fn guest(node: &str, kind: GuestKind, number: u64) -> GuestRef {
    GuestRef {
        node: NodeName::new(node).unwrap(),
        kind,
        vmid: vmid(number),
    }
}

fn container() -> GuestRef {
    guest("pve1", GuestKind::Lxc, 200)
}

fn set_mode(sim: &Sim, mode: &str) {
    sim.world(|world| {
        let guest = world.guests.get_mut(&200).unwrap();
        guest.config.set("cmode", mode.to_owned());
    });
}

fn typed(sim: &Sim) -> usize {
    sim.world(|world| {
        let guests = world.guests.values();
        guests.map(|guest| guest.terminals.typed).sum()
    })
}

#[tokio::test]
async fn a_token_is_told_before_anything_is_sent() {
    let (sim, reader, writer) = homelab_as(root_token()).await;
    assert!(!reader.opens_terminals());
    let watched = reader
        .watch_terminal(&container(), Size::default(), LIMIT)
        .await;
    let opened = writer.terminal(&container(), Size::default(), LIMIT).await;
    for error in [watched.unwrap_err(), opened.unwrap_err()] {
        assert!(error.is_never_sent());
        assert!(error.to_string().contains("no API token"), "{error}");
    }
    assert_eq!(sim.requests().len(), 0);
}

#[tokio::test]
async fn watching_types_nothing() {
    let (sim, reader, writer) = homelab_as(root_password()).await;
    set_mode(&sim, "shell");
    let mut terminal = writer
        .terminal(&container(), Size::default(), LIMIT)
        .await
        .unwrap();
    terminal.send(b"echo half").await.unwrap();
    assert_eq!(terminal.wait(&QUIET, LIMIT).await.unwrap(), Waited::Found);
    drop(terminal);
    // The session has stayed, and its shell draws its line again.
    let mut view = reader
        .watch_terminal(&container(), Size::default(), LIMIT)
        .await
        .unwrap();
    let half = Until::Text("half".to_owned());
    assert_eq!(view.wait(&half, LIMIT).await.unwrap(), Waited::Found);
    assert!(view.screen().text().ends_with(":/# echo half"));
    assert_eq!(
        view.screen().stands(),
        Stands::HalfTyped("echo half".to_owned())
    );
    assert_eq!(typed(&sim), "echo half".len());
}

#[tokio::test]
async fn programs_run_at_the_prompt_of_a_container() {
    let (sim, _, writer) = homelab_as(root_password()).await;
    set_mode(&sim, "shell");
    let mut terminal = writer
        .terminal(&container(), Size::default(), LIMIT)
        .await
        .unwrap();
    assert_eq!(terminal.wait(&QUIET, LIMIT).await.unwrap(), Waited::Found);
    assert_eq!(terminal.screen().stands(), Stands::Prompt);
    for (words, output, code) in [
        (&["echo", "it's  $HOME; x"][..], "it's  $HOME; x\n", 0),
        (&["sh", "-c", "echo out; exit 7"], "out\n", 7),
        (&["printf", "no end"], "no end", 0),
        (&["nosuch"], "bash: exec: nosuch: not found\n", 127),
        // Nothing that the shell itself does: that would end it.
        (&["exit", "3"], "bash: exec: exit: not found\n", 127),
    ] {
        let program = Program::new(words, "a1b2c3");
        terminal.send(program.line().as_bytes()).await.unwrap();
        let end = Until::Line(program.end_mark().into());
        assert_eq!(terminal.wait(&end, LIMIT).await.unwrap(), Waited::Found);
        terminal.wait(&QUIET, LIMIT).await.unwrap();
        let ran = program.read(terminal.raw_news()).unwrap();
        assert_eq!(
            (ran.output.as_str(), ran.code),
            (output, Some(code)),
            "{words:?}"
        );
        assert_eq!(terminal.screen().stands(), Stands::Prompt);
    }
}

#[tokio::test]
async fn a_login_is_asked_for_where_the_configuration_says_so() {
    let (_sim, _, writer) = homelab_as(root_password()).await;
    let mut terminal = writer
        .terminal(&container(), Size::default(), LIMIT)
        .await
        .unwrap();
    assert_eq!(terminal.wait(&QUIET, LIMIT).await.unwrap(), Waited::Found);
    assert_eq!(terminal.screen().stands(), Stands::Blank);
    for (line, answer) in [
        ("\r", "login: "),
        ("root\r", "Password: "),
        ("demo\r", "# "),
    ] {
        terminal.send(line.as_bytes()).await.unwrap();
        let answer = Until::Text(answer.trim().to_owned());
        assert_eq!(terminal.wait(&answer, LIMIT).await.unwrap(), Waited::Found);
    }
    assert_eq!(terminal.screen().stands(), Stands::Prompt);
}

#[tokio::test]
async fn a_machine_without_a_serial_port_says_so_and_closes() {
    let (sim, reader, _) = homelab_as(root_password()).await;
    let web = guest("pve1", GuestKind::Qemu, 100);
    let mut view = reader
        .watch_terminal(&web, Size::default(), LIMIT)
        .await
        .unwrap();
    assert_eq!(view.wait(&QUIET, LIMIT).await.unwrap(), Waited::Closed);
    assert_eq!(view.screen().text(), "unable to find a serial interface");
    assert_eq!(typed(&sim), 0);
}
