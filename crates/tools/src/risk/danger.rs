//! Requests that must never be sent unasked, derived from the table: one for each method and each parameter that interrupts,
//! destroys or grants. Tests ask every tool for every one of them that it can send.

use pve::Method;

use super::judge::value_risk;
use super::row::{Level, Properties, Row, Rule};
use super::table;
use crate::spec::Risk;

/// A method, or a parameter of one with certain values, that asks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Danger {
    /// The verb.
    pub verb: Method,
    /// The template of the path, as PVE's schema writes it.
    pub path: String,
    /// The parameter; none where the method is dangerous whatever goes along.
    pub param: Option<String>,
    /// Values of it that count; empty where any does.
    pub values: Vec<String>,
    /// What it does at the least.
    pub risk: Risk,
}

/// Values of which some count, whatever the parameter.
const PROBES: &[&str] = &[
    "stop",
    "insecure",
    "keep-last=1",
    "ACCEPT",
    "stopped",
    "snippets",
    "/root/x.vma",
    "local_network",
    "quit",
    "shutdown",
    "https://ca.example.org/directory",
    "1",
    "0",
    "x",
];

/// Dangerous values of settings, which are judged by what was set before. Each is so where nothing was.
const SETTINGS: &[(&str, &[&str])] = &[
    ("affinity", &["0-1"]),
    ("amd-sev", &["type=std"]),
    ("arch", &["aarch64"]),
    ("args", &["-S"]),
    ("cdrom", &["/dev/sr0"]),
    ("cicustom", &["user=local:snippets/x.yaml"]),
    ("cmode", &["shell"]),
    ("dev[n]", &["/dev/sda"]),
    ("efidisk0", &["/dev/sda"]),
    ("entrypoint", &["/bin/sh"]),
    ("env", &["A=b"]),
    (
        "features",
        &["mount=nfs;ext4,mknod=1", "keyctl=1", "fuse=1,nesting=1"],
    ),
    ("hookscript", &["local:snippets/x.sh"]),
    ("hostpci[n]", &["0000:01:00.0", "host=01:00.0,mapping=gpu"]),
    ("hugepages", &["2"]),
    (
        "ide[n]",
        &["/dev/sda,media=cdrom", "local-lvm:1,volume=/dev/sda"],
    ),
    ("intel-tdx", &["type=tdx"]),
    ("ivshmem", &["size=32"]),
    ("keephugepages", &["1"]),
    (
        "mp[n]",
        &["/etc,mp=/host", "local-lvm:4,mp=/x,idmap=u:0:0:1"],
    ),
    ("net[n]", &["virtio,bridge=vmbr0,up=x"]),
    ("parallel[n]", &["/dev/parport0"]),
    ("rng0", &["source=/dev/hwrng"]),
    (
        "sata[n]",
        &["/dev/sda", "local-lvm:1,file=local-lvm:vm-101-disk-0"],
    ),
    (
        "scsi[n]",
        &[
            "/dev/sda",
            "local-lvm:1,volume=local-lvm:vm-101-disk-0",
            "local-lvm:8,snapshot=TRUE",
            "local-lvm:8,snapshot=On",
            "local-lvm:8,snapshot=yes",
            "local-lvm:0,import-from=/etc/shadow",
            "local-lvm:vm-101-disk-0",
            "local-lvm:8,cache=unsafe",
        ],
    ),
    ("serial[n]", &["/dev/ttyS0"]),
    ("spice_enhancements", &["foldersharing=1"]),
    ("template", &["1", "Yes"]),
    ("tpmstate0", &["/dev/sda"]),
    ("unprivileged", &["0", "off"]),
    ("unused[n]", &["local-lvm:vm-101-disk-0"]),
    ("usb[n]", &["host=1-1", "mapping=key,host=1-1"]),
    ("virtio[n]", &["/dev/sda", "local-lvm:8,snapshot=1"]),
    ("virtiofs[n]", &["dirid=media"]),
    ("vmgenid", &["1"]),
];

/// All of them, in the order of the table.
pub fn dangers() -> Vec<Danger> {
    table::rows().flat_map(of_row).collect()
}

fn of_row(row: &'static Row) -> Vec<Danger> {
    let mut found = Vec::new();
    if row.verb == Method::Get {
        return found;
    }
    for path in row.paths.iter().flat_map(|path| expanded(path)) {
        let danger = |param, values, risk| Danger {
            verb: row.verb,
            path: path.clone(),
            param,
            values,
            risk,
        };
        if row.base > Risk::Change {
            found.push(danger(None, Vec::new(), row.base));
        }
        // Credentials of a guest that comes to be are its creator's to choose.
        let creates = matches!(path.as_str(), "/nodes/{node}/qemu" | "/nodes/{node}/lxc");
        let rules = row.rules.iter().flat_map(|rules| rules.iter());
        let rules = rules.filter(|it| !(creates && matches!(it.level, Level::Credential(_))));
        for rule in rules {
            let all = of_rule(rule).into_iter();
            found.extend(all.map(|(name, values, risk)| danger(Some(name), values, risk)));
        }
    }
    found
}

/// `{guest}` stands for VMs and containers.
fn expanded(path: &str) -> Vec<String> {
    if path.contains("{guest}") {
        let each = ["qemu/{vmid}", "lxc/{vmid}"].map(|guest| path.replace("{guest}", guest));
        each.to_vec()
    } else {
        vec![path.to_owned()]
    }
}

/// Parameters with the values that count, and what they do at the least.
fn of_rule(rule: &'static Rule) -> Vec<(String, Vec<String>, Risk)> {
    let of_name = |name: &&'static str| {
        let numbered = name.replace("[n]", "1");
        match &rule.level {
            // What it does depends on the guest: at least it interrupts.
            Level::Setting(_) => settings(name)
                .map(|value| (numbered.clone(), vec![value.to_owned()], Risk::Disrupt))
                .collect(),
            Level::Properties(properties) => {
                let each = of_properties(properties).into_iter();
                each.map(|(value, risk)| (numbered.clone(), vec![value], risk))
                    .collect()
            }
            Level::Credential(_) => vec![(numbered, Vec::new(), Risk::Grant)],
            Level::Is(risk, _) if *risk > Risk::Change => vec![(numbered, Vec::new(), *risk)],
            Level::Unsets | Level::Is(..) => Vec::new(),
            level @ (Level::On(..) | Level::Off(..) | Level::By(_)) => {
                let least = probes(level).map(|(_, risk)| risk).min();
                let values = probes(level).map(|(value, _)| value.to_owned());
                let values: Vec<_> = values.collect();
                least
                    .map(|risk| (numbered, values, risk))
                    .into_iter()
                    .collect()
            }
        }
    };
    rule.names.iter().flat_map(of_name).collect::<Vec<_>>()
}

fn settings(name: &str) -> impl Iterator<Item = &'static str> {
    let known = SETTINGS.iter().filter(move |(setting, _)| *setting == name);
    known.flat_map(|(_, values)| values.iter().copied())
}

fn of_properties(properties: &'static Properties) -> Vec<(String, Risk)> {
    let keys = properties.keys.iter().flat_map(|rule| {
        let first = probes(&rule.level).next();
        let names = rule.names.iter();
        names.filter_map(move |key| first.map(|(value, risk)| (format!("{key}={value}"), risk)))
    });
    keys.collect()
}

/// Values that count, and what they do.
fn probes(level: &Level) -> impl Iterator<Item = (&'static str, Risk)> {
    PROBES.iter().filter_map(move |probe| {
        let risk = value_risk(level, probe)?;
        (risk > Risk::Change).then_some((*probe, risk))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::setting::{Old, Setting};

    #[test]
    fn there_are_hundreds_of_dangers() {
        let all = dangers();
        assert!(all.len() >= 200, "{}", all.len());
    }

    /// Whoever lowers a risk changes this list, and has to say why.
    #[test]
    fn the_dangers_are_those_that_were_reviewed() {
        let mut lines: Vec<String> = Vec::new();
        let mut last = String::new();
        for danger in dangers() {
            let method = format!("{} {}", danger.verb, danger.path);
            if method != last {
                lines.push(method.clone());
                last = method;
            }
            let param = danger.param.as_deref().unwrap_or("whatever goes along");
            let value = match danger.values.as_slice() {
                [value] => format!("={value}"),
                _ => String::new(),
            };
            lines.push(format!("    {} {param}{value}", danger.risk.word()));
        }
        insta::assert_snapshot!(lines.join("\n"));
    }

    /// A rule that no value makes count would be one that no test asks about.
    #[test]
    fn every_rule_that_judges_values_has_a_dangerous_one() {
        let rules = table::rows().flat_map(|row| row.rules.iter().flat_map(|rules| rules.iter()));
        for rule in rules {
            if let Level::By(_) = &rule.level {
                assert!(probes(&rule.level).next().is_some(), "{:?}", rule.names);
            }
            let Level::Setting(judge) = &rule.level else {
                continue;
            };
            for value in rule.names.iter().flat_map(|name| settings(name)) {
                let found = judge(&Setting {
                    vmid: None,
                    new: Some(value),
                    old: Old::Unset,
                });
                let counts = found.is_some_and(|it| it.risk > Risk::Change);
                assert!(counts, "{:?} {value}", rule.names);
            }
        }
    }
}
