//! What a script says of itself: comments and variables at its beginning. It is shell, and is not run to find out.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::words;

/// What is known of a script without running it.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Header {
    /// The application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) app: Option<String>,
    /// Cores of the guest that it makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cores: Option<u32>,
    /// Its memory in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) memory: Option<u32>,
    /// Its disk in GB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) disk: Option<u32>,
    /// Its system, with the version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) os: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unprivileged: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tags: Vec<String>,
    /// Where the application comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) author: Option<String>,
}

impl Header {
    pub(super) fn of(script: &str) -> Self {
        let variable = |name: &str| variable(script, name);
        let number = |name: &str| {
            let digits = variable(name)?;
            digits.trim_end_matches(['G', 'g']).parse().ok()
        };
        let os = variable("var_os").map(|os| match variable("var_version") {
            Some(version) => format!("{os} {version}"),
            None => os.to_owned(),
        });
        let tags = variable("var_tags").unwrap_or_default();
        Self {
            app: variable("APP").map(kept),
            cores: number("var_cpu").or_else(|| number("CORE_COUNT")),
            memory: number("var_ram").or_else(|| number("RAM_SIZE")),
            disk: number("var_disk").or_else(|| number("DISK_SIZE")),
            os: os.as_deref().map(kept),
            unprivileged: variable("var_unprivileged").map(|value| value == "1"),
            tags: tags
                .split([';', ','])
                .filter(|tag| !tag.is_empty())
                .map(kept)
                .collect(),
            source: comment(script, "Source:").map(kept),
            author: comment(script, "Author:").map(kept),
        }
    }

    /// `2 cores, 2048 MiB, 8 GB, debian 13`
    pub(super) fn size(&self) -> String {
        let parts = [
            self.cores.map(|cores| words::count(cores as usize, "core")),
            self.memory.map(|memory| format!("{memory} MiB")),
            self.disk.map(|disk| format!("{disk} GB")),
            self.os.clone(),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

fn kept(text: &str) -> String {
    words::clip(text, 160)
}

/// The value of the first plain assignment: `NAME="value"` or `name="${name:-value}"`. What is computed is not known.
fn variable<'a>(script: &'a str, name: &str) -> Option<&'a str> {
    script.lines().find_map(|line| {
        let value = line.trim().strip_prefix(name)?.strip_prefix('=')?;
        let value = value.trim_matches(['"', '\'']);
        let default = value
            .strip_prefix("${")
            .and_then(|value| value.strip_suffix('}'));
        let value = match default {
            Some(default) => default.split_once(":-")?.1,
            None => value,
        };
        (!value.is_empty() && !value.contains(['$', '`'])).then_some(value)
    })
}

/// What a comment of the first lines says after this word.
fn comment<'a>(script: &'a str, word: &str) -> Option<&'a str> {
    let comments = script
        .lines()
        .take(20)
        .filter_map(|line| line.strip_prefix('#'));
    let mut said = comments.filter_map(|line| line.trim().strip_prefix(word));
    said.next().map(str::trim)
}

/// The machines that a script's text names as ones to fetch from.
pub(super) fn hosts(script: &str) -> BTreeSet<String> {
    let addresses = script.split("https://").skip(1);
    let addresses = addresses.chain(script.split("http://").skip(1));
    let host = |rest: &str| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '-'));
        let host = &rest[..end.unwrap_or(rest.len())];
        (host.contains('.') && host.len() <= 100).then(|| host.to_ascii_lowercase())
    };
    addresses.filter_map(host).take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_and_vms_say_what_they_need() {
        let container = "# Author: somebody\n# Source: https://example.org/\nAPP=\"Notes\"\nvar_tags=\"${var_tags:-office;text}\"\nvar_cpu=\"${var_cpu:-2}\"\nvar_ram=\"${var_ram:-1024}\"\nvar_disk=\"${var_disk:-8}\"\nvar_os=\"${var_os:-debian}\"\nvar_version=\"${var_version:-13}\"\nvar_unprivileged=\"${var_unprivileged:-1}\"\n";
        let header = Header::of(container);
        assert_eq!(header.app.as_deref(), Some("Notes"));
        assert_eq!(header.tags, ["office", "text"]);
        assert_eq!(header.size(), "2 cores, 1024 MiB, 8 GB, debian 13");
        assert_eq!(header.unprivileged, Some(true));
        assert_eq!(header.source.as_deref(), Some("https://example.org/"));

        let vm = "DISK_SIZE=\"32G\"\n  CORE_COUNT=\"2\"\n  RAM_SIZE=\"4096\"\n";
        assert_eq!(Header::of(vm).size(), "2 cores, 4096 MiB, 32 GB");
    }

    #[test]
    fn what_is_computed_is_not_known() {
        let header = Header::of("APP=\"$(curl x)\"\nvar_cpu=\"$CORES\"\nvar_os=`uname`\n");
        assert_eq!(header, Header::default());
        assert_eq!(Header::of("\u{fffd}\0 ={${:-}"), Header::default());
    }

    #[test]
    fn hosts_are_named_once() {
        let script = "curl https://Example.org/a; wget \"https://example.org/b\" http://other.net:80/ https://$HOST/";
        let hosts: Vec<_> = hosts(script).into_iter().collect();
        assert_eq!(hosts, ["example.org", "other.net"]);
    }
}
