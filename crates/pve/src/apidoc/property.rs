//! Property strings checked by the keys they may have: `virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=20`.

use super::Parameter;
use super::check::{check_text, nearest};

/// What is wrong with a property string, if anything.
pub(super) fn check(keys: &[Parameter], text: &str) -> Result<(), String> {
    let mut given: Vec<&str> = Vec::new();
    let mut set = |key| {
        if given.contains(&key) {
            return Err(format!("it has {key} twice"));
        }
        given.push(key);
        Ok(())
    };
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        let (key, value) = if let Some((key, value)) = part.split_once('=') {
            (named(keys, key.trim())?, value)
        } else {
            let default = keys.iter().find(|key| key.is_default_key);
            let lacks = || format!("`{part}` lacks a key; {}", all(keys));
            (default.ok_or_else(lacks)?, part)
        };
        set(&key.name)?;
        let meant = match &key.alias {
            Some(alias) => {
                set(alias)?;
                if let Some(name) = &key.key_alias {
                    set(name)?;
                }
                keys.iter().find(|key| key.name == *alias).unwrap_or(key)
            }
            None => key,
        };
        check_text(meant, value).map_err(|wrong| format!("{}: {wrong}", key.name))?;
    }
    for key in keys {
        let is_given = given.contains(&key.name.as_str());
        if !is_given && !key.optional && key.alias.is_none() {
            return Err(format!("it lacks {}", example(key)));
        }
        if let Some(other) = key.requires.as_deref()
            && is_given
            && !given.contains(&other)
        {
            return Err(format!("{} comes only together with {other}", key.name));
        }
    }
    Ok(())
}

fn named<'a>(keys: &'a [Parameter], name: &str) -> Result<&'a Parameter, String> {
    keys.iter().find(|key| key.name == name).ok_or_else(|| {
        let near = nearest(name, keys.iter().map(|key| key.name.as_str()));
        if near.is_empty() {
            format!("it has no key {name}; {}", all(keys))
        } else {
            format!("it has no key {name}; there is {}", near.join(", "))
        }
    })
}

fn all(keys: &[Parameter]) -> String {
    let names = keys.iter().filter(|key| key.alias.is_none());
    let names: Vec<_> = names.map(|key| key.name.as_str()).take(30).collect();
    format!("its keys are {}", names.join(", "))
}

fn example(key: &Parameter) -> String {
    match key.choices.as_slice() {
        [first, ..] => format!("{}=<value>, for example {}={first}", key.name, key.name),
        [] => format!("{}=<value>", key.name),
    }
}
