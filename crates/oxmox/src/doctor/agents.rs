//! Whether the guest agents that the configuration of VMs promises answer: addresses, commands and clean backups come by
//! them.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use pve::{PropertyString, Reader, Resource, ResourceKind};
use serde_json::{Value, json};
use tokio::time::timeout;
use tools::words;

use super::finding::Finding;

const CHECK: &str = "agents";

/// A look at each would take long on a large cluster; a few show what there is to know.
const MOST: usize = 25;
const AT_ONCE: usize = 8;
/// PVE itself waits for an agent that hangs.
const PATIENCE: Duration = Duration::from_secs(5);

/// How an agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Answers,
    Silent,
    SwitchedOff,
    Unknown,
    Forbidden,
}

pub(super) async fn check(pve: &Reader, resources: &[Resource]) -> Option<Finding> {
    let running: Vec<_> = resources
        .iter()
        .filter(|one| one.kind == ResourceKind::Qemu && !one.template)
        .filter(|one| one.status.as_deref() == Some("running"))
        .collect();
    if running.is_empty() {
        return None;
    }
    let looks = running.iter().take(MOST).map(|vm| look(pve, vm));
    let looked: Vec<_> = stream::iter(looks).buffered(AT_ONCE).collect().await;
    Some(tell(running.len(), &looked))
}

/// The id and name of a VM, and how its agent does.
async fn look(pve: &Reader, vm: &Resource) -> (String, State) {
    let (Some(node), Some(vmid)) = (&vm.node, vm.vmid) else {
        return (String::new(), State::Unknown);
    };
    let label = match &vm.name {
        Some(name) => format!("{vmid} {name}"),
        None => vmid.to_string(),
    };
    let at = format!("/nodes/{node}/qemu/{vmid}");
    let config = pve.get(format!("{at}/config"));
    let agent = pve.get(format!("{at}/agent/info"));
    // Both are large, and many are asked at once.
    (label, Box::pin(state(config, agent, PATIENCE)).await)
}

/// By the configuration of the VM, and by what its agent says. Only the agent can be silent: a configuration that is long in
/// coming says nothing of it.
async fn state(
    config: impl Future<Output = Result<Value, pve::Error>>,
    agent: impl Future<Output = Result<Value, pve::Error>>,
    patience: Duration,
) -> State {
    match timeout(patience, config).await {
        Err(_) => return State::Unknown,
        Ok(Err(error)) => return of_error(&error),
        Ok(Ok(config)) if !is_on(&config["agent"]) => return State::SwitchedOff,
        Ok(Ok(_)) => {}
    }
    match timeout(patience, agent).await {
        Err(_) => State::Silent,
        Ok(Err(error)) => of_error(&error),
        Ok(Ok(_)) => State::Answers,
    }
}

fn of_error(error: &pve::Error) -> State {
    match error.status() {
        Some(403) => State::Forbidden,
        Some(500) if error.pve_text().is_some_and(|text| text.contains("agent")) => State::Silent,
        _ => State::Unknown,
    }
}

fn is_on(agent: &Value) -> bool {
    let text = match agent {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return false,
    };
    let enabled = PropertyString::parse(&text);
    enabled.default_or("enabled") == Some("1")
}

fn tell(running: usize, looked: &[(String, State)]) -> Finding {
    let of = |state: State| -> Vec<&str> {
        let those = looked.iter().filter(|(_, is)| *is == state);
        those.map(|(label, _)| label.as_str()).collect()
    };
    let (answers, silent, off) = (
        of(State::Answers),
        of(State::Silent),
        of(State::SwitchedOff),
    );
    let (forbidden, unknown) = (of(State::Forbidden), of(State::Unknown));
    let mut text = format!("of {} ", words::count(running, "running VM"));
    if running > looked.len() {
        text = format!("{text}({} looked at) ", looked.len());
    }
    text = format!("{text}the agents of {} answer", answers.len());
    for (those, how) in [
        (&silent, "is switched on and silent"),
        (&off, "is not switched on"),
        (&forbidden, "may not be asked"),
        (&unknown, "gave no answer to go by"),
    ] {
        if !those.is_empty() {
            text = format!("{text}; {how}: {}", words::list(those));
        }
    }
    let detail = json!({
        "answer": answers, "silent": silent, "switched_off": off, "forbidden": forbidden,
        "unknown": unknown,
    });
    let finding = if let Some(first) = silent.first() {
        let vmid = first.split(' ').next().unwrap_or(first);
        Finding::warning(CHECK, text).hint(format!(
            "inside the guest: `apt install qemu-guest-agent && systemctl enable --now qemu-guest-agent`; then `qm agent {vmid} ping` on its node"
        ))
    } else if let Some(first) = off.first() {
        let vmid = first.split(' ').next().unwrap_or(first);
        Finding::note(CHECK, text).hint(format!(
            "`qm set {vmid} --agent 1`, then shut it down and start it"
        ))
    } else if !forbidden.is_empty() {
        Finding::note(CHECK, text)
            .hint("the token needs VM.GuestAgent.Audit on the guests (PVE 8: VM.Monitor)")
    } else {
        Finding::ok(CHECK, text)
    };
    finding.detail(detail)
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    #[test]
    fn agents_are_switched_on_in_several_ways() {
        for (value, on) in [
            (json!("1"), true),
            (json!(1), true),
            (json!("enabled=1,fstrim_cloned_disks=1"), true),
            (json!("1,freeze-fs-on-backup=0"), true),
            (json!("0"), false),
            (json!(null), false),
        ] {
            assert_eq!(is_on(&value), on, "{value}");
        }
    }

    #[tokio::test]
    async fn a_node_that_is_slow_is_no_silent_agent() {
        let on = || async { Ok(json!({"agent": "1"})) };
        let never = std::future::pending;
        assert_eq!(state(never(), on(), Duration::ZERO).await, State::Unknown);
        assert_eq!(state(on(), never(), Duration::ZERO).await, State::Silent);
        assert_eq!(state(on(), on(), Duration::ZERO).await, State::Answers);
        let off = async { Ok(json!({})) };
        assert_eq!(
            state(off, never(), Duration::ZERO).await,
            State::SwitchedOff
        );
    }

    #[test]
    fn a_silent_one_is_named() {
        let looked = [
            ("100 web".to_owned(), State::Answers),
            ("105 db".to_owned(), State::Silent),
        ];
        let found = tell(40, &looked);
        assert_eq!(found.level, Level::Warning);
        assert_eq!(
            found.says,
            "of 40 running VMs (2 looked at) the agents of 1 answer; is switched on and silent: 105 db"
        );
        assert!(found.hint.unwrap().contains("qm agent 105 ping"));
    }
}
