//! Arguments with a form of their own: tags, SSH keys, secrets.

use std::fmt;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use crate::area::logins;
use crate::plan::Impact;

/// Tags of a guest, as a text or a list.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(inline, with = "String")]
pub(super) struct Tags(Vec<String>);

impl Tags {
    pub(super) fn words(&self) -> Vec<String> {
        self.0.clone()
    }
}

/// As PVE keeps them.
impl fmt::Display for Tags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(";"))
    }
}

impl<'de> Deserialize<'de> for Tags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = OneOrMany::deserialize(deserializer)?.joined(";");
        let tags: Vec<String> = text
            .split([';', ',', ' '])
            .filter(|tag| !tag.is_empty())
            .map(str::to_lowercase)
            .collect();
        match tags.iter().find(|tag| !is_tag(tag)) {
            Some(bad) => Err(Error::custom(format!(
                "{bad:?} is not a tag: letters, digits and _, then also - + ."
            ))),
            None => Ok(Self(tags)),
        }
    }
}

fn is_tag(tag: &str) -> bool {
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    tag.bytes().next().is_some_and(is_word)
        && tag
            .bytes()
            .all(|b| is_word(b) || matches!(b, b'-' | b'+' | b'.'))
}

/// Public SSH keys in OpenSSH's form, as lines or a list.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(inline, with = "String")]
pub(super) struct SshKeys(Vec<String>);

impl SshKeys {
    /// One key a line.
    pub(super) fn lines(&self) -> String {
        self.0.join("\n")
    }

    /// Whom they let in.
    pub(super) fn impact(&self) -> impl Iterator<Item = Impact> {
        self.0.iter().map(|key| logins::impact(key))
    }
}

impl<'de> Deserialize<'de> for SshKeys {
    /// An error never quotes what was sent: it may be the private half.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = OneOrMany::deserialize(deserializer)?.joined("\n");
        if text.contains("PRIVATE KEY") {
            return Err(Error::custom(
                "this is a private key; send the public one, from the file that ends in .pub",
            ));
        }
        let keys: Vec<String> = text
            .lines()
            .map(|line| line.trim().to_owned())
            .filter(|line| !line.is_empty())
            .collect();
        match keys.iter().position(|key| !is_public_key(key)) {
            Some(at) => Err(Error::custom(format!(
                "line {} is not a public key in OpenSSH's form, such as \"ssh-ed25519 AAAA… name\"",
                at + 1
            ))),
            None if keys.is_empty() => Err(Error::custom("there is no key in it")),
            None => Ok(Self(keys)),
        }
    }
}

const KEY_TYPES: [&str; 8] = [
    "ssh-ed25519",
    "ssh-rsa",
    "ssh-dss",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
];

/// A type followed by its key in base64. Options may stand before, a comment behind.
fn is_public_key(line: &str) -> bool {
    let mut words = line.split_whitespace();
    if !words.any(|word| KEY_TYPES.contains(&word)) {
        return false;
    }
    let is_base64 = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    // The key begins with the length of its type's name, whose first three bytes are zero.
    words
        .next()
        .is_some_and(|key| key.starts_with("AAAA") && key.len() >= 60 && key.bytes().all(is_base64))
}

/// A text of one line, such as the name of a user. PVE notices a second line only in the midst of its work.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(inline, with = "String")]
pub(super) struct Line(String);

impl Line {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        one_line(String::deserialize(deserializer)?).map(Self)
    }
}

/// A secret of one line that may arrive as a number. No error ever quotes it.
pub(super) fn secret<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SecretString>, D::Error> {
    let text = one_line(pve::lenient::text(deserializer)?)?;
    Ok(Some(text.into()))
}

fn one_line<E: Error>(text: String) -> Result<String, E> {
    if text.is_empty() || text.contains(|c: char| c.is_control()) {
        return Err(E::custom(
            "it is one line of text, without control characters",
        ));
    }
    Ok(text)
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn joined(self, separator: &str) -> String {
        match self {
            Self::One(text) => text,
            Self::Many(texts) => texts.join(separator),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJX5LbHZ1e2jVJ0y7cXw3dJQe0vY4m9tUo8pW1aBcDeF me@laptop";

    #[test]
    fn tags_come_in_any_dress() {
        for value in [
            json!("Web;prod"),
            json!("web, prod"),
            json!(["web", "prod"]),
        ] {
            assert_eq!(from_value::<Tags>(value).unwrap().to_string(), "web;prod");
        }
        let error = from_value::<Tags>(json!("a!b")).unwrap_err();
        assert!(
            error.to_string().contains("\"a!b\" is not a tag"),
            "{error}"
        );
    }

    #[test]
    fn keys_come_as_lines_or_list() {
        let two = format!("{KEY}\n\n{KEY}\n");
        for value in [json!(two), json!([KEY, KEY])] {
            let keys: SshKeys = from_value(value).unwrap();
            assert_eq!(keys.lines(), format!("{KEY}\n{KEY}"));
        }
    }

    #[test]
    fn what_is_no_public_key_is_refused_and_not_quoted() {
        for text in [
            "hunter2",
            "ssh-rsa hunter2",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2",
            "",
        ] {
            let error = from_value::<SshKeys>(json!(text)).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
