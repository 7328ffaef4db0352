//! What tools declare as their risk, against the table that judges what they send.

use serde_json::Value;

use super::all;
use crate::deed::Deed;
use crate::risk;
use crate::spec::Risk;
use crate::tool::{ApiMethod, Tool};

/// The worst that a declared tool can send: its methods with every argument that it takes.
fn worst_of(method: &ApiMethod) -> Risk {
    let params = method.params.iter().map(|param| {
        let choices = param.takes["enum"].as_array();
        let texts = choices.map(|all| all.iter().filter_map(Value::as_str).collect());
        (param.name, texts.unwrap_or_default())
    });
    risk::worst_of_method(method.method, &method.path, &params.collect::<Vec<_>>())
}

fn changes() -> impl Iterator<Item = &'static dyn Tool> {
    all().filter(|tool| tool.spec().risk > Risk::Read)
}

/// Annotations, scopes and documents go by what a tool declares.
#[test]
fn a_declared_tool_has_the_risk_of_its_methods() {
    let mut wrong = Vec::new();
    for tool in changes() {
        let methods = tool.methods();
        let Some(worst) = methods.iter().map(worst_of).max() else {
            continue;
        };
        let spec = tool.spec();
        if spec.risk != worst {
            wrong.push(format!(
                "{}: {} should be {}",
                spec.name,
                spec.risk.word(),
                worst.word()
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What counts as a tool's job though it never sends it: a rule about migrating holds for a migration to another cluster.
const NEVER_SENT: &[&str] = &[
    "/nodes/{}/{guest}/remote_migrate",
    "/nodes/{}/services/{}/{}",
];

/// A tool with code of its own sends at least what its endpoints do without parameters.
#[test]
fn a_coded_tool_has_at_least_the_risk_of_its_endpoints() {
    let mut wrong = Vec::new();
    for tool in changes() {
        let spec = tool.spec();
        let least = tool.deeds().iter().filter_map(|deed| match deed {
            Deed::Sends { path, .. } if NEVER_SENT.contains(path) => None,
            Deed::Sends { verb, path, .. } => Some(risk::least_risk(*verb, &one_of(path))),
            Deed::Keys | Deed::TerminalLine | Deed::TerminalExec => Some(Risk::Grant),
        });
        if least.max() > Some(spec.risk) {
            wrong.push(format!("{}: {}", spec.name, spec.risk.word()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A path of this form.
fn one_of(form: &str) -> String {
    form.replace("{guest}", "qemu/105").replace("{}", "x")
}
