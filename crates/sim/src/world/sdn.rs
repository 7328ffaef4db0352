//! Virtual networks. What runs is in the world's own fields; what was configured since it was applied last is kept
//! beside it, so that both can be shown.

use std::collections::BTreeMap;

use crate::world::{Section, Sections, World};

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A zone.
    Zone,
    /// A network in a zone.
    Vnet,
    /// A subnet of a network.
    Subnet,
    /// A controller.
    Controller,
}

/// What was configured and not applied: an object as it will be, or nothing where it will be gone.
pub type Pending = BTreeMap<(Part, String), Option<Section>>;

impl World {
    /// The objects of a kind that run.
    pub fn sdn_running(&self, part: Part) -> &Sections {
        match part {
            Part::Zone => &self.sdn_zones,
            Part::Vnet => &self.sdn_vnets,
            Part::Subnet => &self.sdn_subnets,
            Part::Controller => &self.sdn_controllers,
        }
    }

    fn sdn_running_mut(&mut self, part: Part) -> &mut Sections {
        match part {
            Part::Zone => &mut self.sdn_zones,
            Part::Vnet => &mut self.sdn_vnets,
            Part::Subnet => &mut self.sdn_subnets,
            Part::Controller => &mut self.sdn_controllers,
        }
    }

    /// The objects of a kind as they are configured.
    pub fn sdn_configured(&self, part: Part) -> Sections {
        let mut sections = self.sdn_running(part).clone();
        for ((_, id), change) in self.sdn_pending.iter().filter(|((of, _), _)| *of == part) {
            match change {
                Some(section) => sections.insert(id.clone(), section.clone()),
                None => sections.remove(id),
            };
        }
        sections
    }

    /// Configures an object, or takes it out of the configuration. It runs on as it was until [`World::apply_sdn`].
    pub fn configure_sdn(&mut self, part: Part, id: &str, section: Option<Section>) {
        let key = (part, id.to_owned());
        if self.sdn_running(part).get(id) == section.as_ref() {
            self.sdn_pending.remove(&key);
        } else {
            self.sdn_pending.insert(key, section);
        }
    }

    /// Lets everything run as it is configured.
    pub fn apply_sdn(&mut self) {
        for ((part, id), change) in std::mem::take(&mut self.sdn_pending) {
            let running = self.sdn_running_mut(part);
            match change {
                Some(section) => running.insert(id, section),
                None => running.remove(&id),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worlds;

    #[test]
    fn what_is_configured_runs_once_it_is_applied() {
        let mut world = worlds::homelab();
        let zone = || Section {
            kind: "simple".to_owned(),
            ..Section::default()
        };
        world.apply_sdn();
        world.configure_sdn(Part::Zone, "new", Some(zone()));
        assert!(world.sdn_configured(Part::Zone).contains_key("new"));
        assert!(!world.sdn_running(Part::Zone).contains_key("new"));
        world.apply_sdn();
        assert!(world.sdn_running(Part::Zone).contains_key("new"));
        // Taken out and put back, there is nothing to apply.
        world.configure_sdn(Part::Zone, "new", None);
        world.configure_sdn(Part::Zone, "new", Some(zone()));
        assert!(world.sdn_pending.is_empty());
    }
}
