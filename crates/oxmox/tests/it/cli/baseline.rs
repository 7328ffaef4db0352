//! The estate kept, listed and compared with.

use super::Machine;

#[test]
fn a_baseline_is_kept_listed_and_compared_with() {
    let machine = Machine::new();
    let none = machine.demo(&["baseline", "show"]).exits(0);
    assert!(none.stderr.contains("no baseline is kept"), "{none:#?}");
    let saved = machine.demo(&["baseline", "save"]).exits(0);
    assert!(
        saved
            .stderr
            .contains("kept 26 guests as baseline \"default\""),
        "{saved:#?}"
    );
    let listed = machine.demo(&["baseline", "show"]).exits(0).stdout;
    assert!(listed.contains("default"), "{listed}");
    let diff = machine.demo(&["baseline", "diff"]).exits(0).stdout;
    assert!(
        diff.starts_with("nothing differs from the baseline of "),
        "{diff}"
    );
    let other = machine
        .demo(&["baseline", "diff", "--name", "monday"])
        .exits(0)
        .stdout;
    assert!(other.contains("there is no baseline \"monday\""), "{other}");
}
