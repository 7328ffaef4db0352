//! ISO images and container templates: found by the name that a caller gave, or the ones that there are.

use pve::{NodeName, Reader, Request, StorageStatus, lenient};
use serde::Deserialize;

use crate::clean;
use crate::fault::{Fault, Kind};
use crate::plan::Needs;
use crate::words;

/// How many are named in an error.
const NAMED: usize = 8;

/// What to look for.
pub(super) struct Wanted<'a> {
    /// PVE's word for the content: `iso` or `vztmpl`.
    pub(super) content: &'static str,
    /// The word for people.
    pub(super) noun: &'static str,
    /// A volume (`nas:iso/debian.iso`) or the bare name of its file. None: any that will do.
    pub(super) named: Option<&'a str>,
}

/// An image or template on a storage.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Medium {
    #[serde(deserialize_with = "lenient::text")]
    pub(super) volid: String,
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub(super) size: Option<u64>,
    /// Why it was chosen, if the caller did not.
    #[serde(skip)]
    pub(super) why: Option<String>,
}

impl Medium {
    pub(super) fn storage(&self) -> &str {
        self.volid.split(':').next().unwrap_or_default()
    }

    /// What reading it takes. Who may make disks on its storage may also read from there.
    pub(super) fn needs(&self, disks_on: &str) -> Option<Needs> {
        let path = format!("/storage/{}", self.storage());
        let either = ["Datastore.Audit", "Datastore.AllocateSpace"];
        let either = either.map(|privilege| Needs::on(path.as_str(), privilege));
        (self.storage() != disks_on).then(|| Needs::Any(either.into()))
    }

    /// `debian.iso` of `nas:iso/debian.iso`
    fn file(&self) -> &str {
        self.volid.rsplit(['/', ':']).next().unwrap_or_default()
    }
}

impl Wanted<'_> {
    /// Finds it among what the storages of a node hold.
    pub(super) async fn find(
        &self,
        pve: &Reader,
        node: &NodeName,
        storages: &[StorageStatus],
    ) -> Result<Medium, Fault> {
        let mut holders: Vec<_> = storages
            .iter()
            .filter(|storage| storage.active && storage.holds(self.content))
            .map(|storage| storage.storage.as_str())
            .collect();
        if let Some((storage, _)) = self.named.and_then(|name| name.split_once(':')) {
            if !holders.contains(&storage) {
                return Err(self.no_such_storage(node, storage, &holders));
            }
            holders.retain(|holder| *holder == storage);
        }
        let mut all = Vec::new();
        for storage in holders {
            all.extend(self.on(pve, node, storage).await?);
        }
        let found = match self.named {
            Some(name) => all
                .iter()
                .find(|medium| medium.volid == name || medium.file() == name)
                .cloned(),
            None => usual(&all),
        };
        found.ok_or_else(|| self.not_among(node, &all))
    }

    async fn on(&self, pve: &Reader, node: &NodeName, storage: &str) -> Result<Vec<Medium>, Fault> {
        let storage = pve::encode_segment(storage);
        let request = Request::get(format!("/nodes/{node}/storage/{storage}/content"))
            .with("content", self.content);
        Ok(pve.list(request).await?)
    }

    fn no_such_storage(&self, node: &NodeName, storage: &str, holders: &[&str]) -> Fault {
        let storage = words::clip(storage, 64);
        let others = match holders {
            [] => format!("no storage with {}s can be seen", self.noun),
            some => format!("those with {}s on {node}: {}", self.noun, words::list(some)),
        };
        Fault::new(
            Kind::NotFound,
            format!(
                "storage {storage} is not known to hold {}s on {node}",
                self.noun
            ),
        )
        .hint(format!(
            "{others}; if it exists, the token needs Datastore.Audit on /storage/{storage}"
        ))
    }

    fn not_among(&self, node: &NodeName, all: &[Medium]) -> Fault {
        let noun = self.noun;
        let message = match self.named {
            Some(name) => format!("there is no {noun} {} on {node}", words::clip(name, 128)),
            None if all.is_empty() => format!("there is no {noun} on {node}"),
            None => format!("{node} has several {noun}s and none of Debian"),
        };
        let mut names: Vec<_> = all
            .iter()
            .take(NAMED)
            .map(|medium| clean::line(&medium.volid))
            .collect();
        if all.len() > NAMED {
            names.push(format!("{} more", all.len() - NAMED));
        }
        let hint = if names.is_empty() {
            "no storage there shows any; a person has to download one, or give the token Datastore.Audit on its storage"
                .to_owned()
        } else {
            format!("those on {node}: {}", words::list(&names))
        };
        Fault::new(Kind::NotFound, message).hint(hint)
    }
}

/// The template to take if the caller names none: Debian's newest, or the only one.
fn usual(all: &[Medium]) -> Option<Medium> {
    let debian = all
        .iter()
        .filter(|medium| medium.file().starts_with("debian-"))
        .max_by_key(|medium| numbers(medium.file()));
    let (chosen, why) = match (debian, all) {
        (Some(newest), _) => (newest, "the newest Debian template there"),
        (None, [only]) => (only, "the only template there"),
        (None, _) => return None,
    };
    Some(Medium {
        why: Some(why.to_owned()),
        ..chosen.clone()
    })
}

/// The numbers in a file's name, for comparing versions: 13.1 is newer than 9.7.
fn numbers(file: &str) -> Vec<u64> {
    file.split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn media(names: &[&str]) -> Vec<Medium> {
        let medium = |name: &&str| Medium {
            volid: format!("local:vztmpl/{name}"),
            size: None,
            why: None,
        };
        names.iter().map(medium).collect()
    }

    #[test]
    fn the_usual_template_is_debians_newest_or_the_only_one() {
        let chosen = |names: &[&str]| usual(&media(names)).map(|medium| medium.volid);
        let newest = chosen(&[
            "debian-9.0-standard_9.7-1_amd64.tar.gz",
            "debian-13-standard_13.1-2_amd64.tar.zst",
            "alpine-3.22.tar.xz",
        ]);
        assert!(newest.unwrap().contains("debian-13"));
        assert!(chosen(&["alpine-3.22.tar.xz"]).is_some());
        assert_eq!(
            chosen(&["alpine-3.22.tar.xz", "ubuntu-24.04.tar.zst"]),
            None
        );
        assert_eq!(chosen(&[]), None);
    }
}
