//! Which token this machine uses: the one that it has, or a new one under a name that is free. No token is removed that this
//! setup did not make: a name tells nothing, since machines have equal names and several people.

use std::collections::BTreeSet;
use std::path::Path;

use pve::{Credentials, Settings};
use secrecy::SecretString;
use tools::fault::{Fault, Kind, explain};

use super::remembered::Remembered;
use super::role::USER;
use crate::config::{ClusterConfig, Environment};

/// What became of the token that the configuration names.
pub(super) enum State {
    /// It opens.
    Works(SecretString),
    /// PVE does not take its secret.
    Refused,
    /// Its secret is nowhere.
    Lost,
    /// That cannot be told now, and why.
    Unclear(String),
}

/// Tries it where setup is in already.
pub(super) async fn tried(
    known: &ClusterConfig,
    reached: &Settings,
    environment: &Environment,
) -> State {
    if known.secret_file().is_some_and(is_missing) {
        return State::Lost;
    }
    let credentials = known.settings(environment).credentials;
    let Credentials::Token { secret, .. } = &credentials else {
        return State::Lost;
    };
    let secret = match secret.get().await {
        Ok(secret) => secret,
        Err(error) => return State::Unclear(explain(&error)),
    };
    let settings = Settings {
        credentials,
        ..reached.clone()
    };
    let answer = match pve::connect(settings) {
        Ok((reader, _)) => reader.version().await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(_) => State::Works(secret),
        Err(pve::Error::Auth { .. }) => State::Refused,
        Err(error) => State::Unclear(explain(&error)),
    }
}

fn is_missing(file: &Path) -> bool {
    match std::fs::metadata(file) {
        Ok(data) => data.len() == 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// The token, by its name behind the user's.
#[derive(Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// Whether it is there and opens.
    pub is_kept: bool,
    /// Tokens that it takes the place of, and why.
    pub replaced: Vec<(String, String)>,
    /// What is left alone.
    pub notes: Vec<String>,
}

/// `configured`: the token that the configuration names, if it is one of our user. `there`: our user's tokens. `known`: those
/// that setup made for this cluster on this machine. `wanted`: what a new one is called.
/// `remove`: what takes the cluster out of the configuration.
pub(super) fn choose(
    configured: Option<(&str, &State)>,
    (there, known): (&BTreeSet<String>, &Remembered),
    wanted: &str,
    remove: &str,
) -> Result<Choice, Fault> {
    let configured = configured.filter(|(name, _)| there.contains(*name));
    if let Some((name, State::Works(_))) = configured {
        return Ok(Choice {
            name: name.to_owned(),
            is_kept: true,
            replaced: left_over(name, &known.sure),
            notes: known.unsure_beside(Some(name)),
        });
    }
    if let Some((name, State::Unclear(why))) = configured {
        let what = format!("whether the token {USER}!{name} still works cannot be told now: {why}");
        return Err(Fault::new(Kind::Failed, what).hint(format!(
            "unlock or bring back what keeps its secret, and run setup again; if it is lost for good, `{remove}` first: setup \
             then makes another token"
        )));
    }
    let name = free(wanted, there);
    let why = |old: &str| match configured {
        Some((name, State::Refused)) if name == old => "PVE does not take its secret",
        _ => "its secret is lost",
    };
    let replaced = known.sure.iter();
    let replaced: Vec<_> = replaced
        .map(|old| (old.clone(), why(old).to_owned()))
        .collect();
    let is_known = |name: &str| known.sure.contains(name) || known.unsure.contains(name);
    let left = configured.filter(|(name, _)| !is_known(name));
    let left = left.map(|(name, _)| {
        format!(
            "the token {USER}!{name} stays, though {}: setup knows nothing of having made it here",
            why(name)
        )
    });
    Ok(Choice {
        name,
        is_kept: false,
        replaced,
        notes: left.into_iter().chain(known.unsure_beside(None)).collect(),
    })
}

/// Those that an earlier run meant to remove, and came to no end. A token that somebody else chose tells nothing of them.
fn left_over(name: &str, ours: &BTreeSet<String>) -> Vec<(String, String)> {
    if !ours.contains(name) {
        return Vec::new();
    }
    let others = ours.iter().filter(|other| *other != name);
    let why = "an earlier run of setup left it behind";
    others
        .map(|other| (other.clone(), why.to_owned()))
        .collect()
}

fn free(wanted: &str, taken: &BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{wanted}-{number}"));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    names
        .find(|name| !taken.contains(name))
        .unwrap_or_else(|| wanted.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn chosen(configured: Option<(&str, &State)>, there: &[&str], ours: &[&str]) -> Choice {
        let known = Remembered {
            sure: names(ours),
            ..Remembered::default()
        };
        choose(
            configured,
            (&names(there), &known),
            "laptop",
            "oxmox cluster remove home",
        )
        .unwrap()
    }

    #[test]
    fn a_token_that_works_is_kept() {
        let works = State::Works("s".into());
        let choice = chosen(Some(("old", &works)), &["old"], &[]);
        assert_eq!((choice.name.as_str(), choice.is_kept), ("old", true));
        // Gone from the cluster meanwhile.
        assert!(!chosen(Some(("old", &works)), &[], &[]).is_kept);
    }

    #[test]
    fn what_an_earlier_run_left_is_replaced_by_what_took_its_place() {
        let works = State::Works("s".into());
        let there = ["laptop", "laptop-2", "theirs"];
        let choice = chosen(Some(("laptop-2", &works)), &there, &["laptop", "laptop-2"]);
        assert!(choice.is_kept);
        let replaced: Vec<_> = choice.replaced.iter().map(|(name, _)| name).collect();
        assert_eq!(replaced, ["laptop"]);
        // Somebody has put another in its place: ours may be in use elsewhere.
        let choice = chosen(Some(("theirs", &works)), &there, &["laptop", "laptop-2"]);
        assert_eq!((choice.is_kept, choice.replaced), (true, vec![]));
    }

    #[test]
    fn only_our_own_are_replaced() {
        let choice = chosen(None, &["laptop", "laptop-2"], &["laptop"]);
        assert_eq!(choice.name, "laptop-3");
        assert_eq!(choice.replaced.len(), 1);
        let choice = chosen(Some(("laptop", &State::Refused)), &["laptop"], &[]);
        assert_eq!(choice.name, "laptop-2");
        assert!(choice.replaced.is_empty());
        assert!(choice.notes[0].contains("PVE does not take its secret"));
    }

    #[test]
    fn what_cannot_be_told_is_not_decided() {
        let unclear = State::Unclear("the keyring is locked".to_owned());
        let there = names(&["laptop"]);
        let fault = choose(
            Some(("laptop", &unclear)),
            (&there, &Remembered::default()),
            "laptop",
            "home",
        );
        let fault = fault.unwrap_err();
        assert!(fault.message.contains("the keyring is locked"), "{fault}");
        // It is gone anyway.
        assert_eq!(chosen(Some(("laptop", &unclear)), &[], &[]).name, "laptop");
    }
}
