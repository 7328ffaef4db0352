//! The guests that a request is about, beyond the one in its path: named by a parameter, selected by a pool or a node, or
//! owners of a volume that is read or overwritten.

use pve::{Method, Request, Value, Vmid};

use super::path::ApiPath;
use super::property::{flag, list};
use super::table;
use crate::volume::{backup_of, owners, storage};

/// Guests that a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) which: Which,
    pub(crate) use_: Use,
}

/// Which guests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Which {
    One(Vmid),
    /// All of them but these, and only on this node if one is named.
    All {
        without: Vec<Vmid>,
        on: Option<String>,
    },
    /// Those of a pool and of the pools in it.
    Pool(String),
    /// Those of any pool.
    AnyPool,
    /// One that nothing in the request tells: what names it, such as a backup with a strange name.
    Unknown(String),
    /// Those that the backup job at this path has been about so far.
    Job(String),
    /// Those that the HA rule at this path lists so far.
    HaRule(String),
    /// Those that are in this HA group.
    HaGroup(String),
}

/// What becomes of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    /// Its data is copied, or access to it is given; it stays as it is.
    Reads,
    /// It is changed, moved or interrupted.
    Changes,
    /// Something of it is removed or overwritten, now or by a schedule.
    Destroys,
}

/// Parameters whose volumes are only read.
const SOURCES: &[&str] = &["archive", "import-from", "ostemplate", "source"];
/// Parameters in which nothing is named, whatever stands in them.
const PROSE: &[&str] = &["comment", "description", "notes", "notes-template"];
/// Parameters that name guests by their ids: `105`, `vm:105`, or `105-0` of a replication.
const GUESTS: &[&str] = &["resources", "sid", "target-vmid", "vmid", "vms"];

/// All guests that a request is about, the one in its path included.
pub(crate) fn subjects(request: &Request) -> Vec<Subject> {
    let Some((_, path)) = table::find(request.method, &request.path) else {
        return Vec::new();
    };
    let asked = Asked { request, path };
    let mut all = asked.in_path();
    all.extend(asked.backed_up());
    all.extend(asked.named());
    all.extend(asked.volumes());
    all.extend(asked.selected());
    all
}

fn one(vmid: Vmid, use_: Use) -> Subject {
    Subject {
        which: Which::One(vmid),
        use_,
    }
}

struct Asked<'a> {
    request: &'a Request,
    path: ApiPath,
}

impl Asked<'_> {
    fn text(&self, name: &str) -> Option<String> {
        self.request.param(name).map(Value::to_string)
    }

    fn is_on(&self, name: &str) -> bool {
        self.text(name)
            .is_some_and(|text| flag(&text) != Some(false))
    }

    fn ids(&self, name: &str) -> Vec<Vmid> {
        let text = self.text(name).unwrap_or_default();
        list(&text).into_iter().filter_map(vmid_in).collect()
    }

    /// The guest in the path, by whatever name: an id, an HA resource, a replication job.
    fn in_path(&self) -> Vec<Subject> {
        let destroys = self.request.method == Method::Delete;
        let use_ = if destroys {
            Use::Destroys
        } else {
            Use::Changes
        };
        let names = ["vmid", "sid"].into_iter();
        let mut found: Vec<_> = names
            .filter_map(|name| self.path.value(name))
            .filter_map(vmid_in)
            .map(|vmid| one(vmid, use_))
            .collect();
        let is_replication = self.path.template.contains("/replication/");
        if let Some(vmid) = self
            .path
            .value("id")
            .filter(|_| is_replication)
            .and_then(vmid_in)
        {
            found.push(one(vmid, use_));
        }
        let kept = match self.path.template {
            "/cluster/ha/rules/{rule}" => Some(Which::HaRule(self.request.path.clone())),
            "/cluster/ha/groups/{group}" => {
                let group = self.path.value("group");
                group.map(|group| Which::HaGroup(group.to_owned()))
            }
            _ => None,
        };
        // HA moves guests by what it is told to keep together, apart or somewhere.
        let use_ = Use::Changes;
        found.extend(kept.map(|which| Subject { which, use_ }));
        if self.path.template.ends_with("/clone") {
            // A clone leaves its source as it is.
            for subject in &mut found {
                subject.use_ = Use::Reads;
            }
        }
        found
    }

    /// Whom a backup, a backup job or a pruning of backups is about.
    fn backed_up(&self) -> Vec<Subject> {
        let template = self.path.template;
        let job = "/cluster/backup/{id}";
        let is_backup = ["/cluster/backup", "/nodes/{node}/vzdump", job].contains(&template);
        let mut found = Vec::new();
        if template == job {
            found.push(Subject {
                which: Which::Job(self.request.path.clone()),
                use_: Use::Destroys,
            });
        }
        if template.ends_with("/prunebackups") {
            let ids = self.ids("vmid");
            if ids.is_empty() {
                found.push(all(Vec::new(), None, Use::Destroys));
            }
            found.extend(ids.into_iter().map(|vmid| one(vmid, Use::Destroys)));
        }
        if !is_backup {
            return found;
        }
        let prunes = ["maxfiles", "prune-backups"]
            .iter()
            .any(|name| self.text(name).is_some())
            || self
                .text("remove")
                .is_some_and(|text| flag(&text) == Some(true));
        let use_ = if prunes { Use::Destroys } else { Use::Reads };
        let node = self.path.value("node").map(str::to_owned);
        let on = node.or_else(|| self.text("node"));
        let (ids, without) = (self.ids("vmid"), self.ids("exclude"));
        let pool = self.text("pool").filter(|pool| !pool.is_empty());
        // Who only says which guests are left out means all the others.
        let but_for = self.text("exclude").is_some() && pool.is_none() && ids.is_empty();
        if self.is_on("all") || but_for {
            found.push(all(without, on, use_));
        } else if let Some(pool) = pool {
            found.push(Subject {
                which: Which::Pool(pool),
                use_,
            });
        }
        found.extend(ids.into_iter().map(|vmid| one(vmid, use_)));
        found
    }

    /// The guests that other parameters name.
    fn named(&self) -> Vec<Subject> {
        let template = self.path.template;
        let is_backup = template.contains("backup") || template.ends_with("/vzdump");
        // A guest that comes to be is not there yet.
        let creates = matches!(template, "/nodes/{node}/qemu" | "/nodes/{node}/lxc");
        if is_backup || creates {
            return Vec::new();
        }
        let ids = GUESTS.iter().flat_map(|name| self.ids(name));
        ids.map(|vmid| one(vmid, Use::Changes)).collect()
    }

    /// The owners of the volumes that it names, and those that a backup is of.
    fn volumes(&self) -> Vec<Subject> {
        let mut found = Vec::new();
        if let Some(volume) = self.path.value("volume") {
            let volume = match (storage(volume), self.path.value("storage")) {
                (None, Some(storage)) => format!("{storage}:{volume}"),
                _ => volume.to_owned(),
            };
            let removes = self.request.method == Method::Delete
                || self
                    .text("protected")
                    .is_some_and(|text| flag(&text) != Some(true));
            let use_ = if removes { Use::Destroys } else { Use::Reads };
            found.extend(owners_of(&volume).map(|vmid| one(vmid, use_)));
        }
        if !self.path.template.starts_with("/nodes/") {
            return found;
        }
        let own = self.path.value("vmid").and_then(vmid_in);
        for (name, value) in &self.request.params {
            if PROSE.contains(&name.as_str()) {
                continue;
            }
            let text = value.to_string();
            let is_archive =
                matches!(name.as_str(), "archive" | "ostemplate") && !text.contains(":vztmpl/");
            if is_archive && owners_of(&text).next().is_none() {
                found.push(Subject {
                    which: Which::Unknown(crate::words::clip(&text, 80)),
                    use_: Use::Reads,
                });
            }
            for part in text.split([',', ';', '\0']) {
                let (key, volume) = part.split_once('=').unwrap_or((name, part));
                let is_name = volume.contains(':') || volume.starts_with('/');
                let use_ = if SOURCES.contains(&key) {
                    Use::Reads
                } else {
                    Use::Destroys
                };
                let others = owners_of(volume).filter(|vmid| is_name && Some(*vmid) != own);
                found.extend(others.map(|vmid| one(vmid, use_)));
            }
        }
        found
    }

    /// Guests that a whole node, a storage or the access tree takes along.
    fn selected(&self) -> Vec<Subject> {
        let on = self.path.value("node").map(str::to_owned);
        let names_some = ["vmid", "vms"]
            .iter()
            .any(|name| !self.ids(name).is_empty());
        let which = match (self.request.method, self.path.template) {
            (Method::Put, "/access/acl") => return self.given_access(),
            // A list of nothing is no list to PVE: it means all of them.
            _ if names_some => return Vec::new(),
            (
                Method::Post,
                "/nodes/{node}/status"
                | "/nodes/{node}/stopall"
                | "/nodes/{node}/suspendall"
                | "/nodes/{node}/migrateall"
                | "/nodes/{node}/startall",
            ) => all(Vec::new(), on, Use::Changes),
            (Method::Post, path) if path.starts_with("/cluster/bulk-action/guest/") => {
                all(Vec::new(), None, Use::Changes)
            }
            (Method::Put, "/pools" | "/pools/{poolid}") => {
                let pool = self.path.value("poolid").map(str::to_owned);
                let Some(pool) = pool.or_else(|| self.text("poolid")) else {
                    return Vec::new();
                };
                Subject {
                    which: Which::Pool(pool),
                    use_: Use::Reads,
                }
            }
            _ => return Vec::new(),
        };
        vec![which]
    }

    /// Rights on a path of the access tree hold for all below it.
    fn given_access(&self) -> Vec<Subject> {
        let path = self.text("path").unwrap_or_default();
        let propagates = self
            .text("propagate")
            .is_none_or(|text| flag(&text) != Some(false));
        let words: Vec<_> = path.split('/').filter(|word| !word.is_empty()).collect();
        let which = match words.as_slice() {
            [] | ["vms"] if propagates => return vec![all(Vec::new(), None, Use::Reads)],
            ["vms", vmid, ..] => {
                return vmid_in(vmid)
                    .map(|vmid| one(vmid, Use::Reads))
                    .into_iter()
                    .collect();
            }
            ["pool"] if propagates => Which::AnyPool,
            ["pool", name @ ..] if !name.is_empty() => Which::Pool(name.join("/")),
            _ => return Vec::new(),
        };
        vec![Subject {
            which,
            use_: Use::Reads,
        }]
    }
}

fn all(without: Vec<Vmid>, on: Option<String>, use_: Use) -> Subject {
    Subject {
        which: Which::All { without, on },
        use_,
    }
}

/// The subjects of a backup job as it stands, by its own fields.
pub(crate) fn of_job(field: &dyn Fn(&str) -> Option<String>) -> Vec<Subject> {
    const FIELDS: &[&str] = &["all", "exclude", "node", "pool", "vmid"];
    let mut request = Request::post("/cluster/backup");
    for name in FIELDS {
        request = request.maybe(*name, field(name));
    }
    let mut subjects = subjects(&request);
    for subject in &mut subjects {
        // A person approves what becomes of the job; nothing of the guests is destroyed by it, so protection does not refuse it.
        subject.use_ = Use::Reads;
    }
    subjects
}

/// The guests whose data a volume holds: those that own a disk, or that a backup is of.
fn owners_of(volume: &str) -> impl Iterator<Item = Vmid> {
    owners(volume).chain(backup_of(volume))
}

/// `105`, `vm:105`, or `105-0` of a replication.
fn vmid_in(word: &str) -> Option<Vmid> {
    let word = word.rsplit(':').next()?;
    word.split('-').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vmid(id: u64) -> Vmid {
        Vmid::new(id).unwrap()
    }

    fn uses(request: &Request) -> Vec<(u32, Use)> {
        let mut all: Vec<_> = subjects(request)
            .into_iter()
            .filter_map(|subject| match subject.which {
                Which::One(vmid) => Some((vmid.get(), subject.use_)),
                _ => None,
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn the_source_of_a_restore_is_a_subject() {
        let restore = |archive: &str| {
            Request::post("/nodes/pve1/qemu")
                .with("vmid", "5020")
                .with("archive", archive)
        };
        let source = [(100, Use::Reads)];
        assert_eq!(
            uses(&restore("vault:backup/vm/100/2026-11-14T01:00:05Z")),
            source
        );
        assert_eq!(
            uses(&restore(
                "nas:backup/vzdump-qemu-100-2026_11_08-03_00_02.vma.zst"
            )),
            source
        );
        let strange = subjects(&restore("nas:backup/x.vma"));
        assert!(matches!(strange[0].which, Which::Unknown(_)), "{strange:?}");
    }

    #[test]
    fn owners_of_volumes_are_subjects_by_every_key() {
        let config = |value: &str| Request::put("/nodes/pve1/qemu/105/config").with("scsi1", value);
        let own = (105, Use::Changes);
        assert_eq!(uses(&config("local-lvm:8")), [own]);
        assert_eq!(
            uses(&config("local-lvm:1,volume=local-lvm:vm-101-disk-0")),
            [(101, Use::Destroys), own]
        );
        assert_eq!(
            uses(&config("local-lvm:0,import-from=nas:101/vm-101-disk-0.raw")),
            [(101, Use::Reads), own]
        );
        let delete = Request::delete("/nodes/pve1/storage/nas/content/nas:101%2Fvm-101-disk-0.raw");
        assert_eq!(uses(&delete), [(101, Use::Destroys)]);
        let unprotect =
            Request::put("/nodes/pve1/storage/nas/content/backup%2Fvzdump-qemu-100-2026.vma")
                .with("protected", false);
        assert_eq!(uses(&unprotect), [(100, Use::Destroys)]);
    }

    #[test]
    fn a_backup_job_is_about_the_guests_that_it_selects() {
        let job = |name: &str, value: &str| {
            let job = Request::post("/cluster/backup").with("storage", "nas");
            subjects(&job.with(name, value))
        };
        assert_eq!(job("vmid", "101"), [one(vmid(101), Use::Reads)]);
        assert_eq!(job("all", "1"), [all(vec![], None, Use::Reads)]);
        assert_eq!(
            job("exclude", "101 102"),
            [all(vec![vmid(101), vmid(102)], None, Use::Reads)]
        );
        let pool = Which::Pool("lab".to_owned());
        assert_eq!(job("pool", "lab")[0].which, pool);
        let prunes = Request::post("/cluster/backup")
            .with("vmid", "101")
            .with("prune-backups", "keep-last=1");
        assert_eq!(uses(&prunes), [(101, Use::Destroys)]);
        let change = subjects(&Request::put("/cluster/backup/nightly").with("enabled", false));
        assert!(matches!(change[0].which, Which::Job(_)), "{change:?}");
    }

    #[test]
    fn a_node_that_is_shut_down_takes_its_guests_along() {
        let down = Request::post("/nodes/pve1/status").with("command", "shutdown");
        let on = Some("pve1".to_owned());
        assert_eq!(subjects(&down), [all(vec![], on, Use::Changes)]);
        let some = Request::post("/nodes/pve1/stopall").with("vms", "105");
        assert_eq!(uses(&some), [(105, Use::Changes)]);
        let none = Request::post("/cluster/bulk-action/guest/shutdown").with("vms", ",");
        assert_eq!(subjects(&none), [all(vec![], None, Use::Changes)]);
    }

    #[test]
    fn rights_reach_what_is_below_their_path() {
        let acl = |path: &str, propagate: &str| {
            let acl = Request::put("/access/acl").with("path", path);
            subjects(&acl.with("propagate", propagate))
        };
        assert_eq!(acl("/vms/100", "0"), [one(vmid(100), Use::Reads)]);
        assert_eq!(acl("//vms//100/", "1"), [one(vmid(100), Use::Reads)]);
        assert_eq!(
            acl("/pool/a/b", "1")[0].which,
            Which::Pool("a/b".to_owned())
        );
        assert_eq!(acl("/pool", "1")[0].which, Which::AnyPool);
        assert!(acl("/pool", "Off").is_empty() && acl("/", "0").is_empty());
        assert_eq!(acl("/", "1"), [all(vec![], None, Use::Reads)]);
        assert!(acl("/storage/nas", "1").is_empty());
    }

    #[test]
    fn ha_and_replication_name_guests() {
        let ha = Request::post("/cluster/ha/resources/vm:105/migrate").with("node", "pve2");
        assert_eq!(uses(&ha), [(105, Use::Changes)]);
        assert_eq!(
            uses(&Request::delete("/cluster/replication/105-0")),
            [(105, Use::Destroys)]
        );
        let add = Request::post("/cluster/ha/resources").with("sid", "ct:200");
        assert_eq!(uses(&add), [(200, Use::Changes)]);
    }
}
