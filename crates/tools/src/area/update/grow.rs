//! Disks that grow. PVE cannot shrink one, so what is refused is refused before anything is sent.

use std::collections::BTreeMap;

use pve::{Request, StorageStatus, parse_size};

use super::Subject;
use super::device::{ABSURD, Drive};
use super::edit::Edit;
use crate::fault::Fault;
use crate::plan::{Check, Effect, Expect, Impact, Step, Trace};
use crate::words;

/// A disk and its new size in bytes.
#[derive(Debug)]
pub(super) struct Growth {
    pub(super) key: String,
    pub(super) storage: String,
    volume: String,
    from: Option<u64>,
    to: u64,
}

/// Every disk that grows; one that has the size already is left out.
pub(super) fn all(
    subject: &Subject,
    wanted: &BTreeMap<String, String>,
    edits: &[Edit],
) -> Result<Vec<Growth>, Fault> {
    let mut growths = Vec::new();
    for (key, size) in wanted {
        if edits.iter().any(|edit| edit.key == *key) {
            return Err(
                Fault::bad_input(format!("`{key}` is both changed and grown"))
                    .hint("change it first, then grow it in a second call"),
            );
        }
        growths.extend(growth(subject, key, size)?);
    }
    Ok(growths)
}

fn growth(subject: &Subject, key: &str, size: &str) -> Result<Option<Growth>, Fault> {
    let (drive, storage) = disk(subject, key)?;
    let from = drive.size();
    let to = target(key, from, size)?;
    match from {
        Some(from) if to < from => Err(Fault::bad_input(format!(
            "{key} has {}, and PVE cannot shrink a disk",
            words::size(from)
        ))
        .hint(format!(
            "send a size above {}, or one to add, such as \"+8G\"",
            in_units(from)
        ))),
        Some(from) if to == from => Ok(None),
        _ => Ok(Some(Growth {
            key: key.to_owned(),
            storage,
            volume: drive.volume,
            from,
            to,
        })),
    }
}

/// The disk that a key names, and its storage.
fn disk(subject: &Subject, key: &str) -> Result<(Drive, String), Fault> {
    let drives = subject.config.disks();
    let found = drives
        .iter()
        .find(|disk| disk.key == key && !disk.is_unused());
    let value = found.and_then(|disk| Some((subject.config.text(key)?, disk.storage.clone()?)));
    if let Some((value, storage)) = value {
        return Ok((Drive::parse(&value), storage));
    }
    let names: Vec<&str> = drives
        .iter()
        .filter(|disk| !disk.is_unused() && disk.storage.is_some())
        .map(|disk| disk.key.as_str())
        .collect();
    Err(Fault::bad_input(format!(
        "{} has no disk `{}` to grow",
        subject.guest.label(),
        words::clip(key, 20)
    ))
    .hint(format!("its disks are {}", words::list(&names))))
}

/// The size in bytes that a disk should have.
fn target(key: &str, from: Option<u64>, text: &str) -> Result<u64, Fault> {
    let text = text.trim();
    let (added, number) = match text.strip_prefix('+') {
        Some(number) => (true, number),
        None => (false, text),
    };
    let has_unit = number.ends_with(['K', 'M', 'G', 'T', 'k', 'm', 'g', 't']);
    let Some(bytes) = parse_size(number).filter(|bytes| has_unit && *bytes < ABSURD) else {
        return Err(Fault::bad_input(format!(
            "`{key}` cannot grow to {:?}",
            words::clip(text, 20)
        ))
        .hint(
            "send the new size with its unit, such as \"40G\", or what to add, such as \"+8G\"",
        ));
    };
    match (added, from) {
        (false, _) => Ok(bytes),
        (true, Some(from)) => Ok(from.saturating_add(bytes)),
        (true, None) => Err(Fault::bad_input(format!(
            "the configuration does not tell the size of {key}"
        ))
        .hint("send the new size itself instead of what to add")),
    }
}

/// A size as PVE writes it, in the largest unit that leaves nothing over.
fn in_units(bytes: u64) -> String {
    let units = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    let unit = units.iter().find(|(unit, _)| bytes.is_multiple_of(*unit));
    match unit {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => bytes.to_string(),
    }
}

impl Growth {
    pub(super) fn says(&self) -> String {
        format!("grow {} to {}", self.key, in_units(self.to))
    }

    fn added(&self) -> u64 {
        self.to - self.from.unwrap_or(0).min(self.to)
    }

    fn on<'a>(&self, storages: &'a [StorageStatus]) -> Option<&'a StorageStatus> {
        storages
            .iter()
            .find(|status| status.storage == self.storage)
    }

    pub(super) fn impact(&self, storages: &[StorageStatus]) -> Impact {
        let from = self.from.map_or_else(|| "?".to_owned(), words::size);
        let free = match self.on(storages).and_then(|status| status.avail) {
            Some(free) => format!("{} free on {}", words::size(free), self.storage),
            None => format!("free space on {} is not known", self.storage),
        };
        Impact::new(Effect::Changed, "disk", &self.volume)
            .bytes(Some(self.to))
            .note(format!(
                "{}: {from} -> {}; {free}",
                self.key,
                words::size(self.to)
            ))
    }

    /// More than is free. Thin storages take it all the same, until they are full.
    pub(super) fn warning(&self, storages: &[StorageStatus]) -> Option<String> {
        let free = self.on(storages)?.avail?;
        (self.added() > free).then(|| {
            format!(
                "{} grows by {}, and {} has {} left",
                self.key,
                words::size(self.added()),
                self.storage,
                words::size(free)
            )
        })
    }

    /// The size is sent as a whole, so that a request that arrives twice does no more than once.
    pub(super) fn step(&self, subject: &Subject, digest: Option<String>) -> Step {
        let at = &subject.guest.at;
        let size = in_units(self.to);
        let label = subject.guest.label();
        let request = Request::put(at.path("resize"))
            .with("disk", &self.key)
            .with("size", &size)
            .maybe("digest", digest);
        let grown = Check::guest(
            at,
            "config",
            format!("{} of {label} has {size}", self.key),
            vec![Expect::Has(self.key.clone(), vec![format!("size={size}")])],
        );
        Step::request(format!("Grow {} of {label} to {size}", self.key), request)
            .task(Trace {
                node: at.node.clone(),
                vmid: Some(at.vmid),
                types: vec!["resize".to_owned()],
            })
            .after(grown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_or_added() {
        let gib = 1_u64 << 30;
        assert_eq!(target("scsi0", Some(16 * gib), "40G").unwrap(), 40 * gib);
        assert_eq!(target("scsi0", Some(16 * gib), "+8G").unwrap(), 24 * gib);
        assert_eq!(target("scsi0", None, "1T").unwrap(), 1024 * gib);
        for wrong in ["40", "", "big", "-1G", "+8"] {
            assert!(target("scsi0", Some(gib), wrong).is_err(), "{wrong}");
        }
        assert!(target("scsi0", None, "+8G").is_err());
    }

    #[test]
    fn sizes_are_written_as_pve_does() {
        assert_eq!(in_units(40 << 30), "40G");
        assert_eq!(in_units((40 << 30) + (1 << 20)), "40961M");
        assert_eq!(in_units(528 << 10), "528K");
    }
}
