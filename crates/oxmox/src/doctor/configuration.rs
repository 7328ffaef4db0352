//! The configuration: whether it can be used, and what in it is not what somebody may think it is.

use std::path::Path;

use tools::fault::Fault;
use tools::policy::Mode;
use tools::words;

use super::finding::Finding;
use crate::config::token_secret;
use crate::config::{Config, Environment, Login, SecretSource};

const CHECK: &str = "config";

/// One that cannot be used. What is wrong with it names the line and never quotes it.
pub(super) fn unusable(fault: Fault) -> Finding {
    Finding::failed(
        CHECK,
        fault,
        "mend the configuration file; docs/CONFIG.md describes every key",
    )
}

pub(super) fn check(config: &Config, environment: &Environment) -> Vec<Finding> {
    let mut found = vec![overview(config)];
    found.extend(
        config
            .warnings
            .iter()
            .map(|what| Finding::warning(CHECK, what)),
    );
    found.extend(config.file.as_deref().and_then(lint));
    found.extend(missing_places(config));
    if environment.get("PROXMOX_HOST").is_some() && holds_secret(config) {
        let what =
            "a secret comes from the environment: every program that this user starts gets it too";
        found.push(Finding::note(CHECK, what).hint(
            "keep it in a file that only you may read, and name that by token_secret_file in the configuration",
        ));
    }
    found
}

fn overview(config: &Config) -> Finding {
    let place = match &config.file {
        Some(file) => file.display().to_string(),
        None => "no configuration file".to_owned(),
    };
    if config.clusters.is_empty() && !config.is_demo {
        return Finding::problem(
            CHECK,
            format!("{place}, and no cluster in the environment: there is nothing to talk to"),
            "`oxmox setup` asks for what is needed; `oxmox cluster add` takes it as flags; `oxmox --demo doctor` needs nothing",
        );
    }
    let sets: Vec<_> = config.toolsets.iter().map(|set| set.word()).collect();
    let text = format!(
        "{place}; mode {}; toolsets {}",
        words::word(&config.mode),
        sets.join(", ")
    );
    if config.mode == Mode::Trusted {
        return Finding::note(
            CHECK,
            format!("{text}; nobody is asked before anything is done"),
        )
        .hint("mode = \"ask\" puts what interrupts, destroys or grants before a person");
    }
    Finding::ok(CHECK, text)
}

fn holds_secret(config: &Config) -> bool {
    config.clusters.iter().any(|cluster| {
        let (Login::Token { secret, .. }
        | Login::Password {
            password: secret, ..
        }) = &cluster.login;
        matches!(secret, SecretSource::Held(_))
    })
}

/// What looks like the secret of a token, wherever in the file it stands: in a comment, or where a name belongs.
fn lint(file: &Path) -> Option<Finding> {
    let text = std::fs::read_to_string(file).ok()?;
    let lines: Vec<_> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| token_secret::is_in(line))
        .map(|(at, _)| (at + 1).to_string())
        .collect();
    if lines.is_empty() {
        return None;
    }
    let what = format!(
        "{}, line {}: this looks like the secret of a token, in plain text",
        file.display(),
        words::list(&lines)
    );
    Some(Finding::warning(CHECK, what).hint(
        "take it out, and if it is one make the token anew: `pveum user token remove USER NAME` and `pveum user token add USER NAME`",
    ))
}

/// Directories that the configuration names and that are not there.
fn missing_places(config: &Config) -> Vec<Finding> {
    let uploads = config.upload_from.iter().map(|dir| ("upload_from", dir));
    let scripts = config.community_scripts.iter();
    let named = uploads.chain(scripts.map(|dir| ("community_scripts", dir)));
    // The demo's own is made when something is put there.
    let missing = named.filter(|(_, dir)| !config.is_demo && !dir.is_dir());
    missing
        .map(|(key, dir)| {
            let what = format!("{key}: there is no directory {}", dir.display());
            Finding::warning(CHECK, what).hint(format!(
                "`mkdir -p {}`, or take it out of {key}",
                dir.display()
            ))
        })
        .collect()
}
