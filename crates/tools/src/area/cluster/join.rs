//! join_cluster

use pve::Request;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::json;

use crate::context::{Cluster, Context};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::Need;
use crate::plain::only_cluster;
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Undo};
use crate::spec::{Example, Risk, Spec, Special, Toolset, Wants};
use crate::tool::Changes;
use crate::words;

/// Makes the node that oxmox is connected to, one that is in no cluster, a member of another cluster.
///
/// get_cluster_join_info, asked there, has address and fingerprint. The node's own configuration is replaced by the
/// cluster's: users, tokens, storages, jobs; its services restart with a new certificate. Refused while it has guests.
/// A person confirms. Needs root@pam itself, with its password: PVE lets no API token do it. Undo: none.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct JoinCluster {
    /// Address of a member of the cluster.
    hostname: String,
    /// SHA-256 fingerprint of its certificate.
    fingerprint: String,
    /// Password of root@pam there.
    #[schemars(with = "String")]
    password: SecretString,
    /// Number that the node gets; 0 for the next.
    #[serde(default)]
    nodeid: u32,
    /// Take the place of a member of the same name.
    #[serde(default)]
    force: bool,
}

impl Changes for JoinCluster {
    const SPEC: Spec = Spec {
        name: "join_cluster",
        title: "Join a cluster",
        toolset: Toolset::Cluster,
        risk: Risk::Grant,
        idempotent: false,
        special: Special {
            always: true,
            wants: &[Wants::Login, Wants::NoCluster],
            ..Special::NONE
        },
        needs: Need::On("/", "Sys.Audit"),
        examples: &[Example {
            ask: "Add this new node to the cluster at home",
            args: r#"{"hostname": "192.168.1.11", "fingerprint": "AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA:AA", "password": "its root password"}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/cluster/config/join")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        if let Err(error) = self.fingerprint.parse::<pve::Fingerprint>() {
            let message = format!("argument `fingerprint`: {error}");
            return Err(Fault::bad_input(message)
                .hint("get_cluster_join_info, asked at the cluster, has it as pve_fp"));
        }
        let cluster = only_cluster(cx, Self::SPEC.name)?;
        require_root(&cluster)?;
        let node = Standing::of(&cluster).await?;
        let hostname = words::clip(&self.hostname, 100);
        let summary = format!("Join node {} to the cluster of {hostname}", node.name);
        let mut plan = Plan::new(&Self::SPEC, &cluster.name, summary);
        node.tell(&mut plan);
        plan.warnings.push(
            "the node shows another certificate afterwards: where oxmox pins the old one, a person has to change the pin"
                .to_owned(),
        );
        plan.needs = Needs::on("/", "Sys.Audit");
        plan.undo = Undo::Impossible {
            because: "a node leaves a cluster by being installed anew".to_owned(),
        };
        let step = self.step(&mut plan);
        plan.steps.push(step);
        Ok(plan)
    }
}

impl JoinCluster {
    /// The task runs on the node that is asked. What comes of it is read there, as far as the node still lets us in.
    fn step(self, plan: &mut Plan) -> Step {
        let password = plan.secret("password", self.password);
        let request = Request::post("/cluster/config/join")
            .with("hostname", self.hostname)
            .with("fingerprint", self.fingerprint)
            .with("password", password)
            .maybe("nodeid", (self.nodeid > 0).then(|| i64::from(self.nodeid)))
            .maybe("force", self.force.then_some(true));
        let is = |field: &str, value| Expect::Is(field.to_owned(), value);
        let member = vec![is("type", json!("cluster")), is("quorate", json!(1))];
        let status = Request::get("/cluster/status");
        let check = Check::list(
            status,
            "the node is in a cluster that has quorum",
            Expect::SomeRow(member),
        );
        Step::request(plan.summary.clone(), request).after(check.settles(true))
    }
}

fn require_root(cluster: &Cluster) -> Result<(), Fault> {
    let who = cluster.pve.identity();
    if who == "root@pam" && cluster.pve.opens_terminals() {
        return Ok(());
    }
    Err(Fault::refused(format!(
        "PVE lets only root@pam itself do it, logged in with a password, not {who}"
    ))
    .hint(format!(
        "a person configures {} with user root@pam and password_file, or runs pvecm add at the node",
        cluster.name
    )))
}

/// The node that is asked, and what keeps it from joining.
struct Standing {
    name: String,
    /// The cluster that it is in.
    member_of: Option<String>,
    guests: usize,
}

impl Standing {
    async fn of(cluster: &Cluster) -> Result<Self, Fault> {
        let status = cluster.pve.cluster_status().await?;
        let rows = cluster.pve.resources().await?;
        let local = status.nodes.iter().find(|node| node.local);
        Ok(Self {
            name: local.map_or_else(|| cluster.name.clone(), |node| node.name.to_string()),
            member_of: status.name,
            guests: rows.iter().filter(|row| row.vmid.is_some()).count(),
        })
    }

    fn tell(&self, plan: &mut Plan) {
        let gone = Impact::new(
            Effect::Destroyed,
            "configuration",
            format!("of node {}", self.name),
        );
        plan.impact.push(gone.note(
            "users, tokens, storages, jobs and firewall rules of /etc/pve; those of the cluster hold then",
        ));
        let services = Impact::new(
            Effect::Interrupted,
            "services",
            format!("of node {}", self.name),
        );
        plan.impact.push(services.note("PVE's own, while it joins"));
        if let Some(name) = &self.member_of {
            plan.blockers.push(Blocker::new(
                format!(
                    "the node is in the cluster {} already",
                    words::clip(name, 60)
                ),
                "connect oxmox to a node that is in none",
            ));
        }
        if self.guests > 0 {
            let guests = words::count(self.guests, "guest");
            plan.blockers.push(Blocker::new(
                format!("the node has {guests}, whose configuration would be gone"),
                "move them to another machine first, or restore them from backups afterwards",
            ));
        }
    }
}
