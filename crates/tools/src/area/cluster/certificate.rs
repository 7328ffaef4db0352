//! order_node_certificate

use pve::{NodeName, Request};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::{Cluster, Context};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need;
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo, parts};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::words;

/// The file of a certificate that is not the cluster's own.
const FILE: &str = "pveproxy-ssl.pem";

/// Orders a TLS certificate for a node's web interface from its ACME authority, and waits for it.
///
/// The node's configuration names the domains (get_node_config), list_acme_accounts the accounts. The authority must
/// reach the node as its plugin demands. The web interface restarts and shows the new certificate: whoever pinned the old
/// one, oxmox too, is shut out until the pin is changed. It asks for a confirmation. Needs Sys.Modify on /nodes/NAME. Undo:
/// none.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct OrderCertificate {
    /// The node.
    node: NodeName,
    /// Replace the one that was ordered or uploaded before.
    #[serde(default)]
    force: bool,
}

impl Changes for OrderCertificate {
    const SPEC: Spec = Spec {
        name: "order_node_certificate",
        title: "Order a node's certificate",
        toolset: Toolset::Cluster,
        risk: Risk::Destroy,
        idempotent: false,
        special: Special::NONE,
        needs: need::node("Sys.Modify"),
        examples: &[Example {
            ask: "Get pve2 a certificate that browsers trust",
            args: r#"{"node": "pve2"}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/certificates/acme/certificate")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let cluster = cx.online_node(&self.node).await?;
        let info = Request::get(format!("/nodes/{}/certificates/info", self.node));
        let rows: Vec<Value> = cluster.pve.list(info.clone()).await?;
        let old = rows.iter().find(|row| row["filename"] == FILE);
        let summary = format!("Order a certificate for node {}", self.node);
        let mut plan = Plan::new(&Self::SPEC, &cluster.name, summary);
        self.tell_effects(old, &mut plan);
        if let Some(setup) = Setup::of(&cluster, &self.node).await? {
            setup.tell(&self.node, &mut plan);
        }
        warn_of_pins(&cluster, &self.node, &mut plan);
        plan.needs = Needs::on(format!("/nodes/{}", self.node), "Sys.Modify");
        plan.undo = Undo::Impossible {
            because: "the certificate before it is not kept".to_owned(),
        };
        plan.steps.push(self.step(&plan.summary, info, old));
        Ok(plan)
    }
}

impl OrderCertificate {
    fn tell_effects(&self, old: Option<&Value>, plan: &mut Plan) {
        let web = Impact::new(Effect::Interrupted, "web interface", self.node.to_string());
        plan.impact.push(web.note("pveproxy restarts"));
        let Some(old) = old else { return };
        let text = |name: &str| old.get(name).and_then(pve::lenient::as_text);
        let issuer = words::clip(&text("issuer").unwrap_or_default(), 100);
        if self.force {
            let gone = Impact::new(Effect::Destroyed, "certificate", FILE);
            plan.impact.push(gone.note(format!("issued by {issuer}")));
        } else {
            plan.blockers.push(Blocker::new(
                format!("the node has a certificate of its own already, issued by {issuer}"),
                "send force: true if it is to be replaced",
            ));
        }
    }

    fn step(&self, says: &str, info: Request, old: Option<&Value>) -> Step {
        let path = format!("/nodes/{}/certificates/acme/certificate", self.node);
        let request = Request::post(path).maybe("force", self.force.then_some(true));
        let is_file = Expect::Is("filename".to_owned(), json!(FILE));
        let is_new =
            old.map(|old| Expect::Not("fingerprint".to_owned(), old["fingerprint"].clone()));
        let expect = Expect::SomeRow([is_file].into_iter().chain(is_new).collect());
        let there = format!("node {} has the new certificate", self.node);
        Step::request(says, request)
            .task(Trace {
                node: self.node.clone(),
                vmid: None,
                types: vec!["acmenewcert".to_owned()],
            })
            .after(Check::list(info, there, expect))
    }
}

/// What the node's configuration says about its certificate, and the accounts that there are.
struct Setup {
    account: String,
    domains: Vec<String>,
    accounts: Vec<String>,
}

impl Setup {
    /// As far as it can be seen: the configuration takes Sys.Audit, which ordering does not.
    async fn of(cluster: &Cluster, node: &NodeName) -> Result<Option<Self>, Fault> {
        let config = format!("/nodes/{node}/config");
        let Ok(config) = cluster.pve.get::<Value>(config).await else {
            return Ok(None);
        };
        let option = |name: &str| config.get(name).and_then(pve::lenient::as_text);
        let acme = option("acme").unwrap_or_default();
        let part = |key: &str| {
            let mut parts = acme.split(',').filter_map(|part| part.split_once('='));
            parts
                .find(|(name, _)| *name == key)
                .map(|(_, text)| text.to_owned())
        };
        let mut domains = part("domains").map_or_else(Vec::new, |text| parts(&json!(text)));
        let more = (0..6).filter_map(|number| option(&format!("acmedomain{number}")));
        domains.extend(more.filter_map(|text| {
            let first = text.split(',').next()?;
            Some(first.trim_start_matches("domain=").to_owned())
        }));
        let accounts: Vec<Value> = cluster.pve.list("/cluster/acme/account").await?;
        let name = |row: &Value| row.get("name").and_then(pve::lenient::as_text);
        Ok(Some(Self {
            account: part("account").unwrap_or_else(|| "default".to_owned()),
            domains,
            accounts: accounts.iter().filter_map(name).collect(),
        }))
    }

    fn tell(&self, node: &NodeName, plan: &mut Plan) {
        let account = words::clip(&self.account, 60);
        if self.domains.is_empty() {
            plan.blockers.push(Blocker::new(
                format!("the configuration of node {node} names no domain"),
                "write_proxmox_api with PUT /nodes/NODE/config and acme \"domains=NAME\" names one",
            ));
        } else {
            let names = words::clip(&words::list(&self.domains), 300);
            let made = Impact::new(Effect::Created, "certificate", names);
            plan.impact.push(made.note(format!("by account {account}")));
        }
        if !self.accounts.contains(&self.account) {
            plan.blockers.push(Blocker::new(
                format!("there is no ACME account {account}"),
                "register_acme_account makes one; list_acme_accounts has those that there are",
            ));
        }
    }
}

/// A pin is a promise that the certificate stays.
fn warn_of_pins(cluster: &Cluster, node: &NodeName, plan: &mut Plan) {
    let pinned = cluster.pve.hosts().iter().filter(|host| host.pin.is_some());
    let hosts: Vec<_> = pinned.map(ToString::to_string).collect();
    if !hosts.is_empty() {
        plan.warnings.push(format!(
            "oxmox pins the certificates of {}; if {node} is one of them, it is not reached any more until a person changes its pin",
            words::clip(&words::list(&hosts), 200)
        ));
    }
}
