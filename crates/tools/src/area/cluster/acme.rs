//! ACME: where certificates come from.

use crate::plain::{Need, Plain, read, text};
use crate::spec::{Example, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] =
    &[&ACCOUNTS, &PLUGINS, &PLUGIN, &DIRECTORIES, &TERMS];

const MODIFY: Need = Need::On("/", "Sys.Modify");

const ACCOUNTS: Plain = read(
    Toolset::Cluster,
    "list_acme_accounts",
    "List ACME accounts",
    "/cluster/acme/account",
)
.says(
    "Lists the accounts at certificate authorities that nodes can order certificates with, by name.\n\nWhat is behind a name only root sees, with a password: PVE lets no token look. list_acme_plugins shows how a node proves its name. Any login may see the list.",
)
.rows(&["name"])
.examples(&[Example {
    ask: "Is there an account for Let's Encrypt?",
    args: "{}",
}]);

const PLUGINS: Plain = read(
    Toolset::Cluster,
    "list_acme_plugins",
    "List ACME plugins",
    "/cluster/acme/plugins",
)
.says(
    "Lists the ways in which nodes prove to a certificate authority that a name is theirs: standalone (port 80) or by DNS.\n\nget_acme_plugin shows one, list_acme_accounts the accounts. Credentials of DNS providers are never shown. Needs Sys.Modify on /.",
)
.needs(MODIFY)
.rows(&["plugin", "type", "api", "validation-delay", "nodes", "disable"])
.examples(&[Example {
    ask: "How do nodes prove their names for certificates?",
    args: "{}",
}]);

const PLUGIN: Plain = read(
    Toolset::Cluster,
    "get_acme_plugin",
    "Show an ACME plugin",
    "/cluster/acme/plugins/{id}",
)
.says(
    "Shows one ACME plugin: its type, the DNS provider behind it, how long it waits.\n\nlist_acme_plugins has the names. Its credentials are never shown. Needs Sys.Modify on /.",
)
.takes(&[text("id", "The plugin's name.").required()])
.needs(MODIFY)
.only(&["plugin", "type", "api", "validation-delay", "nodes", "disable"])
.examples(&[Example {
    ask: "How is the plugin standalone set up?",
    args: r#"{"id": "standalone"}"#,
}]);

const DIRECTORIES: Plain = read(
    Toolset::Cluster,
    "get_acme_directories",
    "List ACME directories",
    "/cluster/acme/directories",
)
.says(
    "Lists the certificate authorities that PVE knows by address: Let's Encrypt, and its staging for trials.\n\nget_acme_tos shows the terms of the first, list_acme_accounts the accounts that are there. Any login may see it.",
)
.rows(&["name", "url"])
.examples(&[Example {
    ask: "Which certificate authorities can I register with?",
    args: "{}",
}]);

const TERMS: Plain = read(
    Toolset::Cluster,
    "get_acme_tos",
    "Show the terms of a certificate authority",
    "/cluster/acme/tos",
)
.says(
    "Tells the address of the terms of service of Let's Encrypt; the node asks there, so it needs a way out to the internet.\n\nAgreeing to them is part of registering an account. get_acme_directories lists other authorities. Any login may ask.",
)
.value("terms")
.examples(&[Example {
    ask: "Where are the terms of Let's Encrypt?",
    args: "{}",
}]);
