//! The simulator against a recording of a real PVE.

use std::collections::BTreeSet;

use sim::replay::{self, Verdict};

use crate::{docs, reference};

#[test]
fn replay_differs_only_where_accepted() {
    let Some(text) = reference::read("pve-real/exchanges.jsonl") else {
        return;
    };
    let exchanges = replay::exchange::parse(&text).expect("a recording");
    let script = replay::script::parse(include_str!("replay.toml")).expect("a script");
    let report = replay::run(&exchanges, &script);
    let (alike, all) = (report.matched(), report.all_but(None));
    let faithful = report.all_but(Some(&Verdict::Deviates));
    let percent = |part: usize, whole: usize| {
        let tenths = (part * 1000 + whole / 2) / whole;
        format!("{}.{} %", tenths / 10, tenths % 10)
    };
    docs::holds(
        "replay",
        &format!(
            "{alike} of {all} exchanges ({}), and of the {faithful} in which the recorded cluster itself was like any other {}.\n\n{report}",
            percent(alike, all),
            percent(alike, faithful),
        ),
    );
    for (id, how) in report.mismatches() {
        eprintln!("{id}: {}", how.join("; "));
    }
    let found: BTreeSet<&str> = report.mismatches().map(|(id, _)| id).collect();
    let accepted: BTreeSet<&str> = script.accept.keys().map(String::as_str).collect();
    let new: Vec<_> = found.difference(&accepted).collect();
    let gone: Vec<_> = accepted.difference(&found).collect();
    assert!(
        new.is_empty(),
        "different, and not accepted in replay.toml: {new:?}"
    );
    assert!(
        gone.is_empty(),
        "accepted in replay.toml, but no longer different: {gone:?}"
    );
}
