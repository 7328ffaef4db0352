//! What a filter is compared with.

use pve::{Resource, ResourceKind};

use super::field::{Measure, Word};

/// Something that a filter can be held against.
pub trait Facts {
    /// Whether a test holds for one of the values of a field; a subject may have none, or several tags.
    fn any(&self, field: Word, test: &dyn Fn(&str) -> bool) -> bool;

    /// The number in a field, if it has one and it is known.
    fn number(&self, field: Measure) -> Option<f64>;
}

impl Facts for Resource {
    fn any(&self, field: Word, test: &dyn Fn(&str) -> bool) -> bool {
        let holds = |text: Option<&str>| text.is_some_and(test);
        let node = self.node.as_ref().map(pve::NodeName::as_str);
        match field {
            Word::Name => holds(match self.kind {
                ResourceKind::Node => node,
                ResourceKind::Storage => self.storage.as_deref(),
                ResourceKind::Pool => self.pool.as_deref(),
                _ => self.name.as_deref(),
            }),
            Word::Id => holds(self.id.as_deref()),
            Word::Tag => separated(self.tags.as_deref()).any(test),
            Word::Pool => holds(self.pool.as_deref()),
            Word::Node => holds(node),
            Word::Status if self.template => test("template"),
            Word::Status => holds(self.status.as_deref()),
            Word::Type => test(self.kind.as_str()),
            Word::Storage => holds(self.storage.as_deref()),
            Word::Content => separated(self.content.as_deref()).any(test),
            Word::Lock => holds(self.lock.as_deref()),
            Word::Ha => holds(self.hastate.as_deref()),
        }
    }

    fn number(&self, field: Measure) -> Option<f64> {
        // PVE tells zeros of a guest that does not run, which are no load but no knowledge.
        let runs = self.kind.guest_kind().is_none() || self.status.as_deref() == Some("running");
        match field {
            Measure::Vmid => self.vmid.map(|vmid| f64::from(vmid.get())),
            Measure::Cpu => self.cpu.filter(|_| runs).map(|share| share * 100.0),
            Measure::Mem => percent(self.mem.filter(|_| runs)?, self.maxmem?),
            // PVE cannot look into the disks of a VM, and tells 0.
            Measure::Disk => percent(
                self.disk.filter(|_| self.kind != ResourceKind::Qemu)?,
                self.maxdisk?,
            ),
            Measure::Uptime => self.uptime.filter(|_| runs).map(float),
            Measure::Size => self.maxdisk.map(float),
            Measure::Created => None,
        }
    }
}

/// The items of a list as PVE writes lists of tags and contents.
fn separated(text: Option<&str>) -> impl Iterator<Item = &str> {
    text.unwrap_or_default()
        .split([';', ',', ' '])
        .filter(|item| !item.is_empty())
}

/// How much of something is in use, in percent.
pub(super) fn percent(used: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| float(used) / float(of) * 100.0)
}

#[expect(clippy::cast_precision_loss, reason = "bounds are not that exact")]
fn float(number: u64) -> f64 {
    number as f64
}
