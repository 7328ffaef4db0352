//! Commands inside VMs, through the guest agent of the demo's build server.

use serde_json::json;
use sim::Fault;
use tools::outcome::{Status, StepState};
use tools::policy::Mode;
use tools::tool::Rendered;

use crate::house::{House, Nobody, call, done};

const TOOL: &str = "run_proxmox_vm_command";
const AGENT: &str = "/nodes/pve3/qemu/106/agent";

/// The build server with one more program.
async fn house_with(line: &str, outcome: sim::world::shell::Outcome) -> House {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.world(|world| {
        let guest = world.guests.get_mut(&106).unwrap();
        let line = line.to_owned();
        let program = sim::world::agent::Program { line, outcome };
        guest.agent.programs.push(program);
    });
    house
}

async fn run(house: &House, command: &str) -> Rendered {
    let args = json!({"vmid": 106, "command": command}).to_string();
    house.call(TOOL, &args).await.unwrap()
}

fn result(answer: &Rendered) -> &serde_json::Value {
    &answer.data["steps"][0]["result"]
}

/// How often a program was started.
fn starts(house: &House) -> usize {
    let writes = house.writes();
    writes
        .iter()
        .filter(|write| write.ends_with("/exec"))
        .count()
}

#[tokio::test]
async fn exit_code_and_both_outputs_come_back() {
    let house = House::in_mode(Mode::Trusted).await;
    let answer = run(&house, "echo out; echo err >&2; exit 3").await;
    assert_eq!(answer.data["status"], "applied");
    let expected = json!({"exit_code": 3, "stdout": "out\n", "stderr": "err\n"});
    assert_eq!(*result(&answer), expected);
    assert!(answer.text.contains("; exit code 3\n"), "{}", answer.text);
    assert!(answer.text.contains("  | out\n"), "{}", answer.text);
    let requests = house.sim.requests();
    let sent = requests.iter().find(|request| request.method == "POST");
    let sent = format!("{:?}", sent.unwrap().params);
    assert!(sent.contains("sh") && sent.contains("-c"), "{sent}");
}

#[tokio::test]
async fn words_are_not_taken_apart_and_input_arrives() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 106, "command": ["echo", "a  b", "ü → $HOME"]}"#;
    let answer = house.call(TOOL, args).await.unwrap();
    assert_eq!(result(&answer)["stdout"], "a  b ü → $HOME\n");
    let args = r#"{"vmid": 106, "command": ["cat", "-"], "input": "größer\n"}"#;
    house.sim.world(|world| {
        let guest = world.guests.get_mut(&106).unwrap();
        guest.agent.programs.clear();
    });
    let answer = house
        .call(TOOL, &args.replace(", \"-\"", ""))
        .await
        .unwrap();
    assert_eq!(result(&answer)["stdout"], "größer\n");
}

#[tokio::test]
async fn a_signal_is_told() {
    let house = House::in_mode(Mode::Trusted).await;
    let answer = run(&house, "kill -9 $$").await;
    assert_eq!(*result(&answer), json!({"signal": 9}));
    assert!(
        answer.text.contains("killed by signal 9"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn long_and_hostile_output_is_cut_and_cleaned() {
    let mut out = "\u{1b}[2Jfirst ü\n".to_owned();
    out.push_str(&"x".repeat(1 << 20));
    out.push_str("\nlast\u{202e}\n");
    let outcome = sim::world::shell::Outcome {
        out: out.into_bytes(),
        ..Default::default()
    };
    let house = house_with("spew", outcome).await;
    let answer = run(&house, "spew").await;
    let stdout = result(&answer)["stdout"].as_str().unwrap();
    assert!(stdout.len() < 17 << 10, "{} bytes", stdout.len());
    assert!(stdout.starts_with("[2Jfirst ü\n") && stdout.ends_with("\nlast\n"));
    assert!(stdout.contains("bytes left out"));
    assert_eq!(result(&answer)["truncated"], true);
    assert!(answer.text.contains("not shown in full"));
}

#[tokio::test]
async fn a_program_that_runs_on_is_read_later() {
    let mut furnish = crate::house::Furnish::default();
    furnish.policy.mode = Mode::Trusted;
    furnish.clock = sim::Clock::Manual;
    let house = House::furnished(furnish).await;
    let args = r#"{"vmid": 106, "command": ["sleep 90; echo over"], "timeout": 0}"#;
    let answer = house.call(TOOL, args).await.unwrap();
    assert_eq!(answer.data["status"], "running", "{}", answer.text);
    let pid = result(&answer)["pid"].as_u64().unwrap();
    let said = format!("it runs on inside as process {pid}");
    assert!(answer.text.contains(&said), "{}", answer.text);
    let plan = answer.data["plan"].as_str().unwrap();
    let task = json!({ "upid": plan }).to_string();
    assert!(answer.text.contains("get_proxmox_task"), "{}", answer.text);
    let still = house.call("get_proxmox_task", &task).await.unwrap();
    assert!(still.text.contains("running"), "{}", still.text);
    house.sim.advance(std::time::Duration::from_secs(100));
    let read = house.engine.handle(plan).await.unwrap().outcome;
    assert_eq!(read.status, Status::Applied);
    assert_eq!(read.steps[0].state, StepState::Done);
    let printed = read.steps[0].result.as_ref().unwrap();
    assert_eq!(printed["stdout"], "over\n", "{printed:?}");
    for _ in 0..2 {
        let ended = house.call("get_proxmox_task", &task).await.unwrap();
        assert!(ended.text.contains("exit code 0"), "{}", ended.text);
    }
    assert_eq!(starts(&house), 1);
}

/// It is looked at again until it ends, within the time that was given.
#[tokio::test]
async fn a_program_is_waited_for_as_long_as_was_asked() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 106, "command": ["sleep 30; echo over"], "timeout": 60}"#;
    let answer = house.call(TOOL, args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(result(&answer)["stdout"], "over\n");
}

#[tokio::test]
async fn a_program_that_cannot_be_watched_is_unknown_and_named() {
    let house = House::in_mode(Mode::Trusted).await;
    let blind = Fault::refuse(595, "no route to host");
    house
        .sim
        .fault(blind.on("GET", &format!("{AGENT}/exec-status")));
    let args = r#"{"vmid": 106, "command": ["echo over"], "timeout": 0}"#;
    let answer = house.call(TOOL, args).await.unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    let said = "how it goes cannot be read";
    assert!(answer.text.contains(said), "{}", answer.text);
    assert!(result(&answer)["pid"].is_u64(), "{}", answer.text);
    assert_eq!(starts(&house), 1);
}

#[tokio::test]
async fn a_lost_start_is_unknown_and_never_sent_again() {
    for fault in [Fault::drop_before(), Fault::drop_after()] {
        let house = House::in_mode(Mode::Trusted).await;
        house.sim.fault(fault.on("POST", &format!("{AGENT}/exec")));
        let answer = run(&house, "hostname").await;
        assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
        assert!(answer.text.contains("not sent again"), "{}", answer.text);
        assert!(starts(&house) <= 1);
    }
}

#[tokio::test]
async fn a_lost_end_is_unknown_and_the_program_is_not_run_again() {
    let house = House::in_mode(Mode::Trusted).await;
    let lost = Fault::drop_after().on("GET", &format!("{AGENT}/exec-status"));
    house.sim.fault(lost.times(1));
    let answer = run(&house, "hostname").await;
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    assert!(
        answer.text.contains("that answer was lost"),
        "{}",
        answer.text
    );
    assert!(answer.text.contains("process 7"), "{}", answer.text);
    assert_eq!(starts(&house), 1);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_said_to_be_likely_missing() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 106, "command": ["nosuch", "-v"]}"#;
    let answer = house.call(TOOL, args).await.unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    let said = "has no program \"nosuch\"";
    assert!(answer.text.contains(said), "{}", answer.text);
    // A shell answers for itself.
    let answer = run(&house, "nosuch -v").await;
    assert_eq!(result(&answer)["exit_code"], 127);
}

/// Each with what must be true of the VM, what is said, and the change that allows it.
#[tokio::test]
async fn the_four_refusals_are_told_apart_before_anything_is_sent() {
    type Change = fn(&mut sim::world::guest::Guest);
    let cases: [(Change, &str, &str); 6] = [
        (|guest| guest.stop(), "is not running", "start_proxmox_vm"),
        (
            |guest| drop(guest.config.remove("agent")),
            "no guest agent is configured",
            r#"set {"agent": "1"}"#,
        ),
        (
            |guest| guest.config.set("agent", "0"),
            "no guest agent is configured",
            r#"set {"agent": "1"}"#,
        ),
        (
            |guest| guest.inside.agent = false,
            "the guest agent is not running",
            "qemu-guest-agent",
        ),
        (
            |guest| guest.agent.blocked.push("guest-exec".to_owned()),
            "guest-exec is disabled inside",
            "block-rpcs",
        ),
        (
            |guest| guest.agent.frozen = true,
            "are frozen",
            "vm_agent_fsfreeze_thaw",
        ),
    ];
    for (change, because, instead) in cases {
        let house = House::in_mode(Mode::Trusted).await;
        house
            .sim
            .world(|world| change(world.guests.get_mut(&106).unwrap()));
        let args = r#"{"vmid": 106, "command": ["id"]}"#;
        let fault = house.call(TOOL, args).await.unwrap_err().to_string();
        assert!(fault.contains(because), "{because}: {fault}");
        assert!(fault.contains(instead), "{instead}: {fault}");
        let preview = house.preview(TOOL, args).await.unwrap();
        assert!(
            preview.text.contains("would be refused"),
            "{}",
            preview.text
        );
        assert_eq!(house.writes(), [""; 0]);
    }
}

#[tokio::test]
async fn what_changes_between_plan_and_start_is_told_with_its_remedy() {
    let house = House::in_mode(Mode::Trusted).await;
    let path = format!("{AGENT}/exec");
    let said = "Agent error: Command guest-exec has been disabled: the command is not allowed";
    house.sim.fault(Fault::refuse(500, said).on("POST", &path));
    let args = r#"{"vmid": 106, "command": ["id"]}"#;
    let fault = house.call(TOOL, args).await.unwrap_err().to_string();
    assert!(
        fault.contains(said) && fault.contains("block-rpcs"),
        "{fault}"
    );
}

#[tokio::test]
async fn nonsense_is_refused_in_words() {
    let house = House::in_mode(Mode::Trusted).await;
    let long = json!({"vmid": 106, "command": ["cat"], "input": "ü".repeat(20_000)}).to_string();
    for (args, said) in [
        (r#"{"vmid": 106, "command": []}"#, "the command is empty"),
        (r#"{"vmid": 106, "command": " "}"#, "the command is empty"),
        (
            r#"{"vmid": 106, "command": ["a\u0000b"]}"#,
            "null character",
        ),
        (
            r#"{"vmid": 106, "command": ["id"], "timeout": 601}"#,
            "out of range",
        ),
        (
            r#"{"vmid": 106, "node": "pve1", "command": ["id"]}"#,
            "is on node pve3",
        ),
        (
            r#"{"vmid": 200, "command": ["id"]}"#,
            "lets no API token in",
        ),
        (long.as_str(), "PVE takes 60000"),
    ] {
        let fault = house.call(TOOL, args).await.unwrap_err();
        assert!(fault.message.contains(said), "{args}: {fault}");
        assert!(fault.hint.is_some(), "{args}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_windows_vm_gets_its_own_shell() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(106, "ostype", "win11");
    let args = r#"{"vmid": 106, "command": "dir"}"#;
    let preview = house.preview(TOOL, args).await.unwrap();
    assert!(
        preview
            .text
            .contains("command=cmd.exe command=/c command=dir"),
        "{}",
        preview.text
    );
}

#[tokio::test]
async fn nothing_runs_in_read_only_mode_unasked_or_frozen() {
    let args = r#"{"vmid": 106, "command": ["id"]}"#;
    let house = House::in_mode(Mode::ReadOnly).await;
    assert!(
        house
            .call(TOOL, args)
            .await
            .unwrap_err()
            .message
            .contains("switched off")
    );
    assert_eq!(house.writes(), [""; 0]);
    let house = House::new().await;
    let asked = house.call(TOOL, args).await.unwrap();
    assert_eq!(asked.data["status"], "needs_confirmation", "{}", asked.text);
    let declined = house
        .ask(TOOL, args, &crate::house::Person::saying_no())
        .await;
    assert!(declined.is_err() || declined.unwrap().data["status"] == "not_applied");
    assert_eq!(house.writes(), [""; 0]);
    let token = ("nobody@pve".to_owned(), "t".to_owned(), "s".to_owned());
    house.sim.world(|world| {
        world.add_token("nobody@pve!t", "s");
        world.grant("nobody@pve", "/vms/106", &["VM.Audit"]);
    });
    let policy = tools::policy::Policy {
        mode: Mode::Trusted,
        ..Default::default()
    };
    let engine = house.with_token(&token, policy);
    let fault = done(engine.call(call(TOOL, args), &Nobody).await).unwrap_err();
    assert!(
        fault
            .to_string()
            .contains("VM.GuestAgent.Unrestricted on /vms/106"),
        "{fault}"
    );
}
