//! Property strings: `virtio=BC:24:11:00:00:01,bridge=vmbr0`.

use super::{Param, check_value, verify::MISSING};

/// The form of a property string.
#[derive(Debug)]
pub struct Properties {
    /// Its keys.
    pub fields: &'static [Param],
    /// The key of a value that stands without one, as `local:8` in a disk.
    pub default_key: Option<&'static str>,
    /// Keys that are really values of another key.
    pub alias: Option<Alias>,
}

/// `virtio=MAC` stands for `model=virtio,macaddr=MAC`.
#[derive(Debug)]
pub struct Alias {
    /// The keys that are really values.
    pub names: &'static [&'static str],
    /// The key whose value they are (`model`).
    pub key: &'static str,
    /// The key of what follows the `=` (`macaddr`).
    pub value: &'static str,
}

impl Properties {
    /// Splits `text` into keys and values, with default key and aliases resolved.
    ///
    /// # Errors
    /// PVE's text for a value without a key or a key given twice.
    pub fn split<'a>(&'static self, text: &'a str) -> Result<Vec<(&'a str, &'a str)>, String> {
        let mut found: Vec<(&'a str, &'a str)> = Vec::new();
        let mut add = |key: &'a str, value: &'a str| {
            if found.iter().any(|(known, _)| *known == key) {
                return Err(format!(
                    "duplicate key in comma-separated list property: {key}"
                ));
            }
            found.push((key, value));
            Ok(())
        };
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            match (part.split_once('='), &self.alias, self.default_key) {
                (Some((name, value)), Some(alias), _) if alias.names.contains(&name) => {
                    add(alias.key, name)?;
                    add(alias.value, value)?;
                }
                (Some((key, value)), ..) => add(key, value)?,
                (None, _, Some(key)) => add(key, part)?,
                (None, _, None) => {
                    return Err(
                        "value without key, but schema does not define a default key".to_owned(),
                    );
                }
            }
        }
        Ok(found)
    }

    /// Checks a whole property string; the error is what follows `invalid format - `.
    pub(super) fn check(&'static self, name: &str, text: &str) -> Result<(), String> {
        let given = self.split(text).map_err(|error| error + "\n")?;
        let mut errors = Vec::new();
        let mut report = |key: &str, error: &str| errors.push(format!("{name}.{key}: {error}\n"));
        for (key, value) in &given {
            match self.fields.iter().find(|field| field.covers(key)) {
                None => report(
                    key,
                    "property is not defined in schema and the schema does not allow additional properties",
                ),
                Some(field) => {
                    if let Err(error) = check_value(field, key, value) {
                        report(key, &error);
                    }
                }
            }
        }
        for field in self.fields.iter().filter(|field| !field.optional) {
            if !given.iter().any(|(key, _)| *key == field.name) {
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
    use super::super::{int, text};
    use super::*;

    static NET: Properties = Properties {
        fields: &[
            text("model").one_of(&["e1000", "virtio"]),
            text("macaddr").optional(),
            text("bridge").optional(),
            int("tag").min(1).max(4094).optional(),
        ],
        default_key: Some("model"),
        alias: Some(Alias {
            names: &["e1000", "virtio"],
            key: "model",
            value: "macaddr",
        }),
    };

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
