//! A house with rules, and rules in few words.

use tools::policy::{Mode, Policy, Rule, Verdict};
use tools::spec::Risk;

use crate::house::{Furnish, House};

/// The demo world under these rules.
pub(crate) async fn with_rules(mode: Mode, rules: Vec<Rule>) -> House {
    House::furnished(Furnish {
        policy: policy(mode, rules),
        ..Furnish::default()
    })
    .await
}

pub(crate) fn policy(mode: Mode, rules: Vec<Rule>) -> Policy {
    Policy {
        mode,
        rules,
        ..Policy::default()
    }
}

/// About everything.
pub(crate) fn rule(verdict: Verdict) -> Rule {
    Rule {
        verdict: Some(verdict),
        ..Rule::default()
    }
}

/// About what this tool does.
pub(crate) fn tool(name: &str, verdict: Verdict) -> Rule {
    Rule {
        tool: Some(name.to_owned()),
        ..rule(verdict)
    }
}

/// About guests with this tag.
pub(crate) fn tag(name: &str, verdict: Verdict) -> Rule {
    Rule {
        tag: Some(name.to_owned()),
        ..rule(verdict)
    }
}

/// About these guests.
pub(crate) fn vmid(range: &str, verdict: Verdict) -> Rule {
    Rule {
        vmid: Some(range.to_owned()),
        ..rule(verdict)
    }
}

/// About guests of this pool.
pub(crate) fn pool(name: &str, verdict: Verdict) -> Rule {
    Rule {
        pool: Some(name.to_owned()),
        ..rule(verdict)
    }
}

/// About what is of this risk.
pub(crate) fn risk(risk: Risk, verdict: Verdict) -> Rule {
    Rule {
        risk: Some(risk),
        ..rule(verdict)
    }
}
