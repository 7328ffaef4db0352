//! ACME: where certificates come from.

use pve::Method;

use super::certificate::OrderCertificate;
use crate::plain::{Arg, Need, Plain, an, change, read, text};
use crate::spec::{Example, Risk, Toolset, Wants};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &ACCOUNTS,
    &ACCOUNT,
    &REGISTER,
    &PLUGINS,
    &PLUGIN,
    &DIRECTORIES,
    &TERMS,
    &Change::<OrderCertificate>::NEW,
];

const MODIFY: Need = Need::On("/", "Sys.Modify");

const ACCOUNTS: Plain = read(
    Toolset::Cluster,
    "list_acme_accounts",
    "List ACME accounts",
    "/cluster/acme/account",
)
.says(
    "Lists the accounts at certificate authorities that nodes can order certificates with, by name.\n\nget_acme_account shows what is behind a name, register_acme_account makes one. list_acme_plugins shows how a node proves its name. Any login may see the list.",
)
.rows(&["name"])
.examples(&[Example {
    ask: "Is there an account for Let's Encrypt?",
    args: "{}",
}]);

const NAME: Arg = text("name", "The account's name; default.").otherwise("\"default\"");

const ACCOUNT: Plain = read(
    Toolset::Cluster,
    "get_acme_account",
    "Show an ACME account",
    "/cluster/acme/account/{name}",
)
.says(
    "Shows one account at a certificate authority: its contacts, the authority, the terms that were agreed to.\n\nlist_acme_accounts has the names, and any login may see those. PVE shows the rest to root@pam alone and lets no API token look: the cluster must be configured with user root@pam and its password.",
)
.takes(&[NAME])
.wants(&[Wants::Login])
.item(&["directory", "location", "tos", "account"])
.examples(&[Example {
    ask: "Which mail address stands behind our certificates?",
    args: "{}",
}]);

const REGISTER: Plain = change(
    (Toolset::Cluster, Risk::Grant),
    "register_acme_account",
    "Register an ACME account",
    Method::Post,
    "/cluster/acme/account",
)
.says(
    "Registers an account at a certificate authority, so that nodes can order certificates (order_node_certificate).\n\nWith tos_url you agree to the authority's terms in a person's name (get_acme_tos has the address); Let's Encrypt refuses without. It asks for a confirmation. Needs root@pam itself, with its password: PVE lets no API token do it. Undo: none.",
)
.takes(&[
    text("contact", "Mail addresses, separated by commas.").required().not_kept(),
    text("directory", "The authority's address; Let's Encrypt's.").not_kept(),
    NAME,
    text("tos_url", "Address of its terms: agrees to them.").address().not_kept(),
])
.wants(&[Wants::Login])
.creates(
    an("ACME account", &["name"])
        .listed("/cluster/acme/account", "name")
        .not_undone("a person deactivates an account at its authority, in the web interface"),
)
.examples(&[Example {
    ask: "Register us with Let's Encrypt's staging, for a trial",
    args: r#"{"contact": "admin@example.org", "name": "staging", "directory": "https://acme-staging-v02.api.letsencrypt.org/directory", "tos_url": "https://letsencrypt.org/documents/LE-SA-v1.5-February-24-2025.pdf"}"#,
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
