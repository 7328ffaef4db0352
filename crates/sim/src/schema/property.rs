//! Property strings: `virtio=BC:24:11:00:00:01,bridge=vmbr0`.

use super::verify::{MISSING, UNKNOWN};
use super::{Kind, Param, check_value};

/// The form of a property string. Built with [`properties`].
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Properties {
    /// Its keys.
    pub fields: &'static [Param],
    /// Further keys, for tables that several forms share.
    pub more: &'static [Param],
    /// The key of a value that stands without one, as `local:8` in a disk.
    pub default_key: Option<&'static str>,
    /// Other names of keys.
    pub aliases: &'static [Alias],
}

/// Names that stand for a key: `volume=x` for `file=x`, `virtio=MAC` for `model=virtio,macaddr=MAC`.
#[derive(Debug)]
pub struct Alias {
    /// The names.
    pub names: &'static [&'static str],
    /// The key of what follows the `=`.
    pub value: &'static str,
    /// The key whose value the name itself is (`model`).
    pub key: Option<&'static str>,
}

/// A property string with these keys.
pub const fn properties(fields: &'static [Param]) -> Properties {
    Properties {
        fields,
        more: &[],
        default_key: None,
        aliases: &[],
    }
}

impl Properties {
    /// Lets a value without a key belong to this one.
    pub const fn default_key(mut self, key: &'static str) -> Self {
        self.default_key = Some(key);
        self
    }

    /// Adds a shared table of keys.
    pub const fn and(mut self, more: &'static [Param]) -> Self {
        self.more = more;
        self
    }

    /// All keys, its own and shared ones.
    pub fn all(&self) -> impl Iterator<Item = &'static Param> {
        self.fields.iter().chain(self.more)
    }

    fn field(&self, key: &str) -> Option<&'static Param> {
        self.all().find(|field| field.covers(key))
    }

    /// Accepts other names for keys.
    pub const fn aliases(mut self, aliases: &'static [Alias]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Splits `text` into keys and values, with default key and aliases resolved and booleans as `0` or `1`.
    ///
    /// # Errors
    /// PVE's text for a value without a key, a key without a value, or a key given twice.
    pub fn split<'a>(&self, text: &'a str) -> Result<Vec<(&'a str, &'a str)>, String> {
        let mut found: Vec<(&'a str, &'a str)> = Vec::new();
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            for (key, value) in self.resolve(part)? {
                if found.iter().any(|(known, _)| *known == key) {
                    return Err(format!(
                        "duplicate key in comma-separated list property: {key}"
                    ));
                }
                found.push((key, self.normal(key, value)));
            }
        }
        Ok(found)
    }

    /// The keys and values that one part stands for.
    fn resolve<'a>(&self, part: &'a str) -> Result<Vec<(&'a str, &'a str)>, String> {
        match (part.split_once('='), self.default_key) {
            (Some(("", _) | (_, "")), _) => {
                Err("missing key in comma-separated list property".to_owned())
            }
            (Some((name, value)), _) => {
                let alias = self
                    .aliases
                    .iter()
                    .find(|alias| alias.names.contains(&name));
                Ok(match alias {
                    None => vec![(name, value)],
                    Some(Alias {
                        value: key,
                        key: named,
                        ..
                    }) => named
                        .map(|named| (named, name))
                        .into_iter()
                        .chain([(*key, value)])
                        .collect(),
                })
            }
            (None, Some(key)) => Ok(vec![(key, part)]),
            (None, None) => {
                Err("value without key, but schema does not define a default key".to_owned())
            }
        }
    }

    /// Booleans may be spelled in words here, unlike in parameters of their own.
    fn normal<'a>(&self, key: &str, value: &'a str) -> &'a str {
        if self
            .field(key)
            .is_none_or(|field| field.kind != Kind::Boolean)
        {
            return value;
        }
        match value.to_ascii_lowercase().as_str() {
            "1" | "on" | "yes" | "true" => "1",
            "0" | "off" | "no" | "false" => "0",
            _ => value,
        }
    }

    /// Writes keys and values as PVE does: the default key first, then what must be there, then the rest by name.
    pub fn join(&self, pairs: &[(&str, &str)]) -> String {
        let rank = |key: &str| {
            let required = self.field(key).is_some_and(|field| !field.optional);
            (self.default_key != Some(key), !required)
        };
        let mut pairs: Vec<(&str, &str)> = pairs.to_vec();
        pairs.sort_by_key(|(key, _)| (rank(key), *key));
        let value_of = |key: &str| pairs.iter().find(|(known, _)| *known == key);
        let combined = |key: &str| {
            let alias = self.aliases.iter().find(|alias| alias.key == Some(key))?;
            value_of(alias.value).map(|(_, value)| (alias.value, *value))
        };
        let swallowed: Vec<&str> = pairs
            .iter()
            .filter_map(|(key, _)| Some(combined(key)?.0))
            .collect();
        let parts: Vec<String> = pairs
            .iter()
            .filter(|(key, _)| !swallowed.contains(key))
            .map(|(key, value)| match combined(key) {
                Some((_, second)) => format!("{value}={second}"),
                None if self.default_key == Some(key) => (*value).to_owned(),
                None => format!("{key}={value}"),
            })
            .collect();
        parts.join(",")
    }

    /// Checks a whole property string; the error is what follows `invalid format - `.
    pub(crate) fn check(&self, name: &str, text: &str) -> Result<(), String> {
        let given = self.split(text).map_err(|error| error + "\n")?;
        let mut errors = Vec::new();
        let has = |key: &str| given.iter().any(|(known, _)| *known == key);
        let mut report = |key: &str, error: &str| errors.push(format!("{name}.{key}: {error}\n"));
        for (key, value) in &given {
            let Some(field) = self.field(key) else {
                report(key, UNKNOWN);
                continue;
            };
            if let Err(error) = check_value(field, key, value) {
                report(key, &error);
            }
            if let Some(other) = field.requires.filter(|other| !has(other)) {
                let text = format!("missing property required by '{name}.{key}'");
                report(other, &text);
            }
        }
        for field in self.all().filter(|field| !field.optional) {
            if !has(field.name) {
                report(field.name, MISSING);
            }
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(format!("format error\n{}", errors.concat()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{flag, int, text};
    use super::*;

    static NET: Properties = properties(&[
        text("model").one_of(&["e1000", "virtio"]),
        text("macaddr").optional(),
        text("bridge").optional(),
        int("tag").min(1).max(4094).optional(),
        flag("firewall").optional(),
    ])
    .default_key("model")
    .aliases(&[Alias {
        names: &["e1000", "virtio"],
        value: "macaddr",
        key: Some("model"),
    }]);

    #[test]
    fn aliases_and_default_keys_resolve() {
        assert_eq!(
            NET.split("virtio=AA:BB,bridge=vmbr0"),
            Ok(vec![
                ("model", "virtio"),
                ("macaddr", "AA:BB"),
                ("bridge", "vmbr0")
            ])
        );
        assert_eq!(NET.split("virtio"), Ok(vec![("model", "virtio")]));
    }

    #[test]
    fn what_was_split_is_joined_in_the_order_of_pve() {
        let pairs = NET.split("firewall=on,bridge=vmbr0,e1000=AA:BB");
        let text = NET.join(&pairs.expect("well formed"));
        assert_eq!(text, "e1000=AA:BB,bridge=vmbr0,firewall=1");
        assert_eq!(
            NET.join(&[("tag", "2"), ("model", "virtio")]),
            "virtio,tag=2"
        );
    }

    #[test]
    fn errors_name_the_key() {
        assert_eq!(
            NET.check("net0", "bridge=vmbr0"),
            Err(
                "format error\nnet0.model: property is missing and it is not optional\n".to_owned()
            )
        );
        assert_eq!(
            NET.check("net0", "virtio,tag=5000"),
            Err("format error\nnet0.tag: value must have a maximum value of 4094\n".to_owned())
        );
    }
}
