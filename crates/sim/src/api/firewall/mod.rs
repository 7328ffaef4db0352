//! The firewall, which PVE has in four places with the same parts: `/cluster/firewall`, its security groups,
//! `/nodes/{node}/firewall`, and `firewall` below every guest. A handler finds out from the path which one is meant.

mod groups;
mod options;
mod rules;
mod sets;
mod tables;
mod verify;

pub use tables::{CLUSTER, LXC, NODES, QEMU};

use serde_json::{Value, json};

use crate::api::index;
use crate::call::Call;
use crate::error::{Answer, ApiError, Reply};
use crate::world::World;
use crate::world::firewall::Scope;

/// The macros that rules may name.
const MACROS: &[&str] = &[
    "Amanda",
    "Auth",
    "BGP",
    "BitTorrent",
    "BitTorrent32",
    "CVS",
    "Ceph",
    "Citrix",
    "DAAP",
    "DCC",
    "DHCPfwd",
    "DHCPv6",
    "DNS",
    "Distcc",
    "FTP",
    "Finger",
    "GNUnet",
    "GRE",
    "Git",
    "HKP",
    "HTTP",
    "HTTPS",
    "ICPV2",
    "ICQ",
    "IMAP",
    "IMAPS",
    "IPIP",
    "IPsec",
    "IPsecah",
    "IPsecnat",
    "IRC",
    "Jetdirect",
    "L2TP",
    "LDAP",
    "LDAPS",
    "MDNS",
    "MSNP",
    "MSSQL",
    "Mail",
    "Munin",
    "MySQL",
    "NNTP",
    "NNTPS",
    "NTP",
    "NeighborDiscovery",
    "OSPF",
    "OpenVPN",
    "PCA",
    "PMG",
    "POP3",
    "POP3S",
    "PPtP",
    "Ping",
    "PostgreSQL",
    "Printer",
    "RDP",
    "RIP",
    "RNDC",
    "Razor",
    "Rdate",
    "Rsync",
    "SANE",
    "SMB",
    "SMBswat",
    "SMTP",
    "SMTPS",
    "SNMP",
    "SPAMD",
    "SPICEproxy",
    "SSH",
    "SVN",
    "SixXS",
    "Squid",
    "Submission",
    "Syslog",
    "TFTP",
    "Telnet",
    "Telnets",
    "Time",
    "Trcrt",
    "VNC",
    "VNCL",
    "Web",
    "Webcache",
    "Webmin",
    "Whois",
];

/// Which configuration a call is about.
fn scope(call: &Call) -> Scope {
    if call.params.has("vmid") {
        Scope::Guest(call.vmid())
    } else if call.params.has("node") {
        Scope::Node(call.node().to_owned())
    } else if let Some(group) = call.text("group") {
        Scope::Group(group.to_owned())
    } else {
        Scope::Cluster
    }
}

/// Fails if the call was made for another version of what it changes.
fn check_digest(call: &Call, digest: &str) -> Result<(), ApiError> {
    match call.text("digest") {
        Some(sent) if sent != digest => Err(ApiError::fail(
            "detected modified configuration - file changed by other user? Try again.",
        )),
        _ => Ok(()),
    }
}

fn cluster_root(_: &mut World, _: &Call) -> Reply {
    let names = [
        "aliases", "rules", "options", "groups", "ipset", "macros", "refs",
    ];
    index("name", &names)
}

fn node_root(_: &mut World, _: &Call) -> Reply {
    index("name", &["rules", "options", "log"])
}

fn guest_root(_: &mut World, _: &Call) -> Reply {
    index("name", &["rules", "aliases", "ipset", "refs", "options"])
}

fn macros(_: &mut World, _: &Call) -> Reply {
    let entries = MACROS
        .iter()
        .map(|name| json!({ "macro": name, "descr": format!("{name} traffic") }));
    Ok(entries.collect::<Value>().into())
}

/// Nothing is ever logged: no packet passes.
fn log(_: &mut World, _: &Call) -> Reply {
    let line = json!([{ "n": 1, "t": "unable to open file - No such file or directory" }]);
    Ok(Answer::page(line, 1))
}

/// Aliases and sets that a rule may refer to: those of the cluster, of its virtual networks, and of the guest.
fn refs(world: &mut World, call: &Call) -> Reply {
    let mut found = sets::refs(&world.firewall(&Scope::Cluster), "dc", call);
    if call.text("type").is_none_or(|kind| kind == "ipset") {
        found.extend(world.sdn_vnets.keys().flat_map(|vnet| network_refs(vnet)));
    }
    if let scope @ Scope::Guest(_) = scope(call) {
        found.extend(sets::refs(&world.firewall(&scope), "guest", call));
    }
    Ok(Value::from(found).into())
}

fn network_refs(vnet: &str) -> [Value; 4] {
    let parts = [
        ("all", format!("All subnets of VNet {vnet}")),
        ("gateway", format!("All gateways of VNet {vnet}")),
        (
            "no-gateway",
            format!("All subnets of VNet {vnet}, excluding gateways"),
        ),
        ("dhcp", format!("DHCP ranges of VNet {vnet}")),
    ];
    parts.map(|(part, comment)| {
        let name = format!("{vnet}-{part}");
        json!({ "type": "ipset", "scope": "sdn", "ref": format!("+{name}"), "name": name, "comment": comment })
    })
}
