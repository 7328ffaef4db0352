//! A cluster's section of the configuration file, from values.

use std::path::{Path, PathBuf};

use pve::Host;
use toml_edit::{Array, InlineTable, Item, Table, Value, value};
use tools::fault::Fault;

/// What a section says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its nodes, best first, with their pins.
    pub hosts: Vec<Host>,
    /// Who vouches for those without a pin, if it is not the system's roots.
    pub ca_file: Option<PathBuf>,
    /// The token, `oxmox@pve!laptop`.
    pub token: String,
    /// Where its secret is.
    pub secret: Reference,
}

/// Where a secret is, as the file says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// In a file.
    File(PathBuf),
    /// A program prints it.
    Command(Vec<String>),
    /// A variable of the environment holds it.
    Variable(String),
}

impl Section {
    /// As the file has it, in the order of the documentation.
    pub fn table(&self) -> Table {
        let mut table = Table::new();
        let text = |path: &Path| value(path.to_string_lossy().into_owned());
        table.insert("hosts", value(hosts(&self.hosts)));
        if let Some(file) = &self.ca_file {
            table.insert("ca_file", text(file));
        }
        table.insert("token", value(self.token.as_str()));
        let (key, item) = self.secret.entry("token_secret");
        table.insert(&key, item);
        table
    }
}

impl Reference {
    /// The key and the value, for what is called `whose` in the file: `token_secret` or `password`.
    pub fn entry(&self, whose: &str) -> (String, Item) {
        let (how, item) = match self {
            Self::File(file) => ("file", value(file.to_string_lossy().into_owned())),
            Self::Variable(name) => ("env", value(name.as_str())),
            Self::Command(words) => {
                let words: Array = words.iter().map(String::as_str).collect();
                ("command", value(words))
            }
        };
        (format!("{whose}_{how}"), item)
    }
}

/// Whether a cluster can be called that: callers send it, rules and the audit trail hold it, and files are named by it.
pub fn check_cluster_name(name: &str) -> Result<(), Fault> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_flag = name.starts_with('-');
    if !name.is_empty() && name.len() <= 40 && !is_flag && name.chars().all(fits) {
        return Ok(());
    }
    Err(Fault::bad_input("this is no name for a cluster")
        .hint("letters, digits, - and _, at most 40, the first no -: home, branch-2"))
}

/// A node, with the fingerprint that its certificate must have.
pub fn host_entry(host: &str, pin: Option<&str>) -> Value {
    let Some(pin) = pin else {
        return host.into();
    };
    let mut table = InlineTable::new();
    table.insert("host", host.into());
    table.insert("pin", pin.into());
    Value::InlineTable(table)
}

fn hosts(hosts: &[Host]) -> Array {
    let entry = |host: &Host| {
        let pin = host.pin.map(|pin| pin.to_string());
        host_entry(&host.to_string(), pin.as_deref())
    };
    let mut list: Array = hosts.iter().map(entry).collect();
    if hosts.len() > 1 {
        for item in list.iter_mut() {
            item.decor_mut().set_prefix("\n    ");
        }
        list.set_trailing("\n");
        list.set_trailing_comma(true);
    }
    list
}

#[cfg(test)]
mod tests {
    use pve::Fingerprint;

    use super::super::{Edit, File};
    use super::*;

    #[test]
    fn a_name_stands_in_files_and_on_command_lines() {
        for good in ["home", "branch-2", "_x", "7"] {
            check_cluster_name(good).unwrap();
        }
        let long = "x".repeat(41);
        for wrong in ["", "-x", "a b", "a/b", "..", "häuser", long.as_str()] {
            check_cluster_name(wrong).unwrap_err();
        }
    }

    #[test]
    fn a_section_is_read_back_and_written_once() {
        let host: Host = "10.0.0.1:8006".parse().unwrap();
        let mut section = Section {
            hosts: vec![
                host.with_pin(Fingerprint::of_der(b"x")),
                "pve2".parse().unwrap(),
            ],
            ca_file: None,
            token: "oxmox@pve!here".to_owned(),
            secret: Reference::File("secrets/home".into()),
        };
        let dir = tempfile::tempdir().unwrap();
        let mut edit = Edit::open(&dir.path().join("config.toml")).unwrap();
        edit.set_cluster("home", section.table()).unwrap();
        let text = edit.text();
        assert_eq!(File::parse(&text).unwrap().clusters.len(), 1, "{text}");
        assert!(text.starts_with("[clusters.home]\n"), "{text}");
        edit.set_cluster("home", section.table()).unwrap();
        assert_eq!(edit.text(), text);
        section.secret = Reference::Command(vec!["pass".to_owned(), "show \"x\"".to_owned()]);
        edit.set_cluster("home", section.table()).unwrap();
        let text = edit.text();
        assert!(!text.contains("token_secret_file"), "{text}");
        File::parse(&text).unwrap();
        assert!(edit.remove_cluster("home"));
        assert_eq!(edit.text().trim(), "");
    }
}
