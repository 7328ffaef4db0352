//! How much may be done where without asking: modes and rules, of all clusters and of each.

use tools::fault::Fault;
use tools::policy::{Mode, Policy, Rule};
use tools::spec::Risk;

use super::{Config, known};

impl Config {
    /// A rule that cannot match would be taken for protection, so every name in it must mean something.
    pub(super) fn check_rules(&self) -> Result<(), Fault> {
        for (index, rule) in self.rules.iter().enumerate() {
            let wrong = |what: String| Fault::bad_input(format!("rule {}: {what}", index + 1));
            if let Some(fault) = rule.fault() {
                return Err(wrong(fault));
            }
            if let Some(tool) = &rule.tool {
                known(tool, tools::registry::all().map(|tool| tool.spec().name))
                    .map_err(|near| wrong(format!("there is no tool {tool}")).hint(near))?;
            }
            if let Some(cluster) = &rule.cluster {
                known(
                    cluster,
                    self.clusters.iter().map(|cluster| cluster.name.as_str()),
                )
                .map_err(|near| wrong(format!("there is no cluster {cluster}")).hint(near))?;
            }
            if let Some(tag) = &rule.cluster_tag {
                let tags = self
                    .clusters
                    .iter()
                    .flat_map(|cluster| &cluster.prefers.tags);
                known(tag, tags.map(String::as_str))
                    .map_err(|near| wrong(format!("no cluster has the tag {tag}")).hint(near))?;
                if let (Some(cluster), []) = (&rule.cluster, self.untagged(rule).as_slice()) {
                    return Err(
                        wrong(format!("the cluster {cluster} has not the tag {tag}"))
                            .hint("leave one of the two out"),
                    );
                }
            }
        }
        Ok(())
    }

    /// The settings that decide on plans.
    pub fn policy(&self) -> Policy {
        let names = self.clusters.iter().map(|cluster| cluster.name.as_str());
        Policy {
            mode: self.mode,
            modes: names
                .map(|name| (name.to_owned(), self.mode_of(name)))
                .collect(),
            rules: self
                .rules
                .iter()
                .flat_map(|rule| self.untagged(rule))
                .collect(),
            confirm: self.confirm,
            four_eyes: self.four_eyes,
            freeze: Some(self.freeze_file()),
            ..Policy::default()
        }
    }

    /// How much oxmox may do on its own at this cluster: what its section says, but read-only wins wherever it is said, and
    /// what the command line says is never gone beyond.
    pub fn mode_of(&self, cluster: &str) -> Mode {
        let own = self.clusters.iter().find(|one| one.name == cluster);
        match own.and_then(|own| own.prefers.mode) {
            _ if self.mode == Mode::ReadOnly => Mode::ReadOnly,
            Some(own) => self.mode_said.map_or(own, |said| own.stricter(said)),
            None => self.mode,
        }
    }

    /// The worst that any cluster lets happen.
    pub fn most(&self) -> Risk {
        let modes = self
            .clusters
            .iter()
            .map(|cluster| self.mode_of(&cluster.name).most());
        modes.max().unwrap_or_else(|| self.mode.most())
    }

    /// The rule by the names of the clusters that have its tag.
    fn untagged(&self, rule: &Rule) -> Vec<Rule> {
        let Some(tag) = &rule.cluster_tag else {
            return vec![rule.clone()];
        };
        let tagged = self
            .clusters
            .iter()
            .filter(|one| one.prefers.tags.contains(tag));
        let named = tagged.filter(|one| rule.cluster.as_ref().is_none_or(|name| *name == one.name));
        named
            .map(|one| Rule {
                cluster: Some(one.name.clone()),
                cluster_tag: None,
                ..rule.clone()
            })
            .collect()
    }
}
