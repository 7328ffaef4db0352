//! docs/guide.md, gone through from its top on a machine with nothing on it.

use sim::{Sim, worlds};

use super::read;
use super::transcript::{Names, entries};

#[tokio::test]
async fn the_guide_runs_as_it_stands() {
    let (home, branch) = (
        Sim::start(worlds::homelab()).await.unwrap(),
        Sim::start(worlds::recorded()).await.unwrap(),
    );
    let dir = tempfile::tempdir().unwrap();
    // A person who has that editor.
    std::fs::create_dir(dir.path().join(".cursor")).unwrap();
    let (at_home, at_branch) = (home.addr().to_string(), branch.addr().to_string());
    let places = [
        ("127.0.0.1:8006", at_home.as_str()),
        ("127.0.0.1:8016", at_branch.as_str()),
        ("E7:55:…", branch.fingerprint()),
        ("/home/anna", dir.path().to_str().unwrap()),
    ];
    let mut names = Names::of(&["k7m29qxd", "p2w8k4za", "anna"]);
    let entries = entries(&read("docs/guide.md"));
    assert!(entries.len() > 20, "{}", entries.len());
    for entry in entries {
        let mut entry = entry.here(&places).unattended();
        entry.command = names.known(&entry.command);
        let path = dir.path().to_owned();
        // The simulators live in this process, so that the shell must not hold up its threads.
        let (entry, printed) = tokio::task::spawn_blocking(move || {
            let printed = entry.run(&path);
            (entry, printed)
        })
        .await
        .unwrap();
        assert!(
            names.fit(&entry.printed, &printed),
            "$ {}\nprinted:\n{printed}\nwanted:\n{}",
            entry.command,
            entry.printed.join("\n")
        );
    }
}
