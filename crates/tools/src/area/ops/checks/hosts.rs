//! What each node tells of itself: updates and certificates.

use pve::NodeName;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{days, finding};
use crate::area::ops::ask;
use crate::area::ops::code::{CERTIFICATE_DAYS, Code, Severity};
use crate::area::ops::estate::Estate;
use crate::area::ops::report::{Gap, Report, Subject};
use crate::words;

/// Asks every online node for a list; the others are noted.
async fn ask_nodes<T: DeserializeOwned>(
    estate: &Estate,
    code: Code,
    below: &'static str,
    report: &mut Report,
) -> Vec<(NodeName, Vec<T>)> {
    for node in estate.offline() {
        report.missed(&[code], Gap::offline(node));
    }
    let online: Vec<_> = estate.online().cloned().collect();
    let answers = ask::each(online, |node| {
        let cluster = estate.cluster.clone();
        async move {
            let answer = cluster.pve.list(format!("/nodes/{node}/{below}")).await;
            (node, answer)
        }
    })
    .await;
    let mut lists = Vec::new();
    for (node, answer) in answers {
        match answer {
            Ok(list) => lists.push((node, list)),
            Err(error) => report.missed(&[code], Gap::of(&error, node.as_str())),
        }
    }
    lists
}

/// Nodes with packages that have a newer version.
pub(super) async fn updates(estate: &Estate, report: &mut Report) {
    let code = Code::UpdatePending;
    for (node, packages) in ask_nodes::<Value>(estate, code, "apt/update", report).await {
        if packages.is_empty() {
            continue;
        }
        let names: Vec<_> = packages
            .iter()
            .filter_map(|package| package["Package"].as_str())
            .map(|name| words::clip(name, 40))
            .collect();
        let what = format!(
            "{} pending: {}",
            words::count(packages.len(), "update"),
            crate::area::ops::report::some_of(&names)
        );
        let found = finding(estate, code, Subject::Node(node), what);
        report.found(found.weighing(u64::try_from(packages.len()).unwrap_or_default()));
    }
}

#[derive(Deserialize)]
struct Certificate {
    #[serde(default)]
    filename: String,
    #[serde(default, deserialize_with = "pve::lenient::opt_u64")]
    notafter: Option<u64>,
}

/// Nodes with a certificate that has ended or is about to. The one that is nearest to its end is named.
pub(super) async fn certificates(estate: &Estate, report: &mut Report) {
    let code = Code::CertificateExpiring;
    let lists = ask_nodes::<Certificate>(estate, code, "certificates/info", report).await;
    for (node, certificates) in lists {
        let ending = certificates
            .iter()
            .filter_map(|certificate| {
                let end = i64::try_from(certificate.notafter?).ok()?;
                Some((end, certificate))
            })
            .min_by_key(|(end, _)| *end);
        let Some((end, certificate)) = ending else {
            continue;
        };
        let left = days(estate.now, end);
        if left >= CERTIFICATE_DAYS {
            continue;
        }
        let name = words::clip(&certificate.filename, 40);
        let (severity, what) = if end <= estate.now {
            let what = format!("{name} ended {} days ago", days(end, estate.now));
            (Severity::Critical, what)
        } else {
            (Severity::Warning, format!("{name} ends in {left} days"))
        };
        let urgency = u64::try_from(CERTIFICATE_DAYS - left).unwrap_or_default();
        let found = finding(estate, code, Subject::Node(node), what);
        report.found(found.of_severity(severity).weighing(urgency));
    }
}
