//! `[clusters.NAME]` from the flags of `oxmox cluster add`.

use toml_edit::{Array, Table, Value, value};
use tools::fault::Fault;

use super::add::Args;
use crate::config::host_entry;
use crate::keep::Keep;

/// The keys in the order of the documentation. Whether they fit together is for the one who reads the configuration.
pub(super) fn of(args: &Args, kept: Option<&Keep>) -> Result<Table, Fault> {
    let mut section = Table::new();
    let hosts: Array = args.host.iter().map(|text| host(text)).collect();
    section.insert("hosts", value(hosts));
    let texts = [
        ("ca_file", &args.ca_file),
        ("token", &args.token),
        ("token_secret_file", &args.token_secret_file),
        ("token_secret_env", &args.token_secret_env),
        ("user", &args.user),
        ("password_file", &args.password_file),
        ("password_env", &args.password_env),
        ("default_node", &args.default_node),
        ("default_storage", &args.default_storage),
        ("mode", &args.cluster_mode),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            section.insert(key, value(absolute(key, text)?));
        }
    }
    for (key, words) in [
        (
            "token_secret_command",
            args.token_secret_command.as_deref().unwrap_or_default(),
        ),
        (
            "password_command",
            args.password_command.as_deref().unwrap_or_default(),
        ),
        ("tags", &args.tags),
    ] {
        if !words.is_empty() {
            section.insert(key, value(words.iter().collect::<Array>()));
        }
    }
    if let Some(keep) = kept {
        let whose = if args.token.is_some() {
            "token_secret"
        } else {
            "password"
        };
        let (key, item) = keep.reference().entry(whose);
        section.insert(&key, item);
    }
    if let Some(seconds) = args.answer_within {
        section.insert("timeout", value(i64::from(seconds)));
    }
    Ok(section)
}

/// `pve1:8006`, or `pve1:8006=AA:BB:…` with the fingerprint of its certificate.
fn host(text: &str) -> Value {
    match text.split_once('=') {
        None => host_entry(text, None),
        Some((host, pin)) => host_entry(host, Some(pin)),
    }
}

/// A file on the command line is where the person stands, and in the configuration where that file is.
fn absolute(key: &str, text: &str) -> Result<String, Fault> {
    if !key.ends_with("_file") || text.starts_with("~/") {
        return Ok(text.to_owned());
    }
    let path =
        std::path::absolute(text).map_err(|error| Fault::bad_input(format!("{key}: {error}")))?;
    path.into_os_string()
        .into_string()
        .map_err(|_| Fault::bad_input(format!("{key}: the path is not UTF-8")))
}
