//! One cluster, in the order of what depends on what. What was found before the time is over is told in any case.

use std::time::Duration;

use pve::{Credentials, Reader, Settings, TokenId};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tools::fault::Fault;
use tools::registry::Registry;
use tools::words;

use super::finding::Finding;
use super::holder::Holder;
use super::{agents, quorum, reach, rights, storages, token, version};

/// A cluster to be examined.
pub struct Patient {
    /// Its name in the configuration.
    pub name: String,
    /// The way to it; or why there is none.
    pub settings: Result<Settings, Fault>,
    /// Whether the configuration is yet to be written that has it: no other command knows it by its name.
    pub is_new: bool,
}

/// Where findings about one cluster go.
pub(super) struct Notes {
    cluster: String,
    to: UnboundedSender<Finding>,
}

impl Notes {
    pub(super) fn add(&self, finding: Finding) {
        // Nobody takes them any more once the time is over.
        let _ = self.to.send(finding.at(&self.cluster));
    }

    pub(super) fn extend(&self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.add(finding));
    }
}

/// The checks that need a way in, for saying that they were not made.
const BEHIND_THE_DOOR: &str = "token, privileges, agents and storages were not looked at";

/// All of it, or without the tools of a registry only whether it lets us in.
pub(super) async fn check(
    patient: &Patient,
    registry: Option<&Registry>,
    limit: Duration,
) -> Vec<Finding> {
    let (to, mut from) = unbounded_channel();
    let notes = Notes {
        cluster: patient.name.clone(),
        to,
    };
    let way = way(patient).await;
    let looking = async {
        match way {
            Ok(settings) => look((settings, patient), registry, &notes).await,
            Err(finding) => notes.add(finding),
        }
    };
    if tokio::time::timeout(limit, looking).await.is_err() {
        let within = words::duration(limit.as_secs());
        notes.add(Finding::problem(
            "time",
            format!(
                "it took longer than {within}; what comes after the lines above was not looked at"
            ),
            waits_longer(patient, registry.is_some()),
        ));
    }
    drop(notes);
    let mut found = Vec::new();
    while let Some(finding) = from.recv().await {
        found.push(finding);
    }
    found
}

/// What to type where the time was too short.
fn waits_longer(patient: &Patient, is_all: bool) -> String {
    let name = &patient.name;
    match (patient.is_new, is_all) {
        (true, _) => {
            format!("--no-test adds it, and `oxmox cluster test {name} --timeout 120` waits longer")
        }
        (false, true) => "`oxmox doctor --timeout 120` waits longer".to_owned(),
        (false, false) => format!("`oxmox cluster test {name} --timeout 120` waits longer"),
    }
}

/// The way to it, its secret in hand. That has a time of its own, since a person may have to unlock what keeps it.
async fn way(patient: &Patient) -> Result<&Settings, Finding> {
    let failed = |fault: Fault, hint| Finding::failed("secret", fault, hint);
    let settings = patient.settings.as_ref();
    let settings = settings.map_err(|fault| failed(fault.clone(), "mend the configuration"))?;
    match settings.credentials.fetch().await {
        Ok(()) => Ok(settings),
        Err(error) => Err(failed(
            error.into(),
            "mend where its secret comes from in the configuration",
        )),
    }
}

async fn look(
    (settings, patient): (&Settings, &Patient),
    registry: Option<&Registry>,
    notes: &Notes,
) {
    let door = reach::check(settings, patient, notes).await;
    let reach::Door::Open(running) = door else {
        notes.extend(registry.map(|_| Finding::skipped("more", BEHIND_THE_DOOR)));
        return;
    };
    notes.add(version::check(&running));
    let pve = match pve::connect(settings.clone()) {
        Ok((reader, _)) => reader,
        Err(error) => {
            notes.add(Finding::failed(
                "token",
                error.into(),
                "mend the configuration",
            ));
            return;
        }
    };
    let who = pve.identity();
    let about = token::look(&pve, &settings.credentials).await;
    notes.add(token::check(&who, &settings.credentials, about));
    if let Some(registry) = registry {
        let holder = match &settings.credentials {
            Credentials::Token { user, name, .. } => Holder::Token {
                id: TokenId::new(user, name),
                separated: about.separated,
                user_held: pve.permissions_of(user).await.ok(),
            },
            Credentials::Password { .. } | Credentials::Ticket { .. } => Holder::User(who),
        };
        notes.add(rights::check(&pve, registry, &holder).await);
        inventory(&pve, notes).await;
    }
}

async fn inventory(pve: &Reader, notes: &Notes) {
    match pve.resources().await {
        Ok(resources) => {
            let (quorum, agents, storages) = tokio::join!(
                quorum::check(pve),
                agents::check(pve, &resources),
                storages::check(pve, &resources)
            );
            notes.extend(quorum);
            notes.extend(agents);
            notes.extend(storages);
        }
        Err(error) => {
            let hint = "`oxmox call list_proxmox_resources` tells more";
            notes.add(Finding::unanswered(
                "inventory",
                "GET /cluster/resources",
                error,
                hint,
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_needs_longer_is_told_a_command_that_can_wait() {
        let of = |is_new: bool, is_all: bool| {
            let patient = Patient {
                name: "lab".to_owned(),
                settings: Err(Fault::bad_input("none")),
                is_new,
            };
            waits_longer(&patient, is_all)
        };
        assert!(of(false, true).contains("`oxmox doctor --timeout 120`"));
        let test = "`oxmox cluster test lab --timeout 120`";
        assert!(of(false, false).starts_with(test));
        let new = of(true, false);
        assert!(new.starts_with("--no-test") && new.contains(test), "{new}");
    }
}
