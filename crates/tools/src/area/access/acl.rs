//! Access rules: who has which role where.

use pve::Request;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::{Cluster, Context, arguments};
use crate::deed::Deed;
use crate::fault::{Fault, Kind};
use crate::plain::{Need, Plain, only_cluster, read};
use crate::plan::{Check, Effect, Expect, Impact, Needs, Plan, Step, Undo, parts};
use crate::preview::missing_privileges;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Change, Changes, Tool};
use crate::words;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&GET, &Change::<UpdateAcl>::NEW];

/// Where PVE lists its rules.
const RULES: &str = "/access/acl";
/// How many of a role's privileges are told.
const TOLD: usize = 200;

const GET: Plain = read(Toolset::Access, "get_acl", "List access rules", RULES)
    .says(
        "Lists the access rules of a cluster: which user, group or token has which role on which path, and whether it reaches below (propagate).\n\nget_permissions tells what follows from them for one user. Rules that the token may not see are left out. Needs Sys.Audit on /access for all of them.",
    )
    .needs(Need::On("/access", "Sys.Audit"))
    .rows(&["path", "type", "ugid", "roleid", "propagate"])
    .examples(&[Example {
        ask: "Who may do what on this cluster?",
        args: "{}",
    }]);

/// Gives roles to users, groups or API tokens on a path and below it; with delete, takes them away.
///
/// Each named role is given to each named one; get_acl shows the rules there are, list_roles what a role allows,
/// get_permissions the result. Give the narrowest role on the narrowest path. Taking the role of oxmox's own token shuts it
/// out. It asks for a confirmation. Needs Permissions.Modify on the path. Undo: the same call with delete turned round.
#[derive(Debug, Deserialize, JsonSchema)]
struct UpdateAcl {
    /// Where, such as /vms/105, /pool/lab or /storage/nas.
    path: String,
    /// Roles, separated by commas.
    roles: String,
    /// Users, separated by commas.
    users: Option<String>,
    /// Groups, separated by commas.
    groups: Option<String>,
    /// Tokens such as bob@pve!ci, separated by commas.
    tokens: Option<String>,
    /// Whether it holds below the path; true if left out.
    propagate: Option<bool>,
    /// Take the roles away instead.
    #[serde(default)]
    delete: bool,
}

/// One rule that a call is about, and how it stands now.
struct Rule {
    kind: &'static str,
    subject: String,
    role: String,
    /// Whether it reaches below its path, if there is one.
    before: Option<bool>,
}

impl Changes for UpdateAcl {
    const SPEC: Spec = Spec {
        name: "update_acl",
        title: "Give or take roles",
        toolset: Toolset::Access,
        risk: Risk::Grant,
        idempotent: true,
        special: Special::ALWAYS,
        needs: Need::On("/{path}", "Permissions.Modify"),
        examples: &[
            Example {
                ask: "Let bob look at the lab pool",
                args: r#"{"path": "/pool/lab", "roles": "PVEAuditor", "users": "bob@pve"}"#,
            },
            Example {
                ask: "Take alice's view of everything away",
                args: r#"{"path": "/", "roles": "PVEAuditor", "users": "alice@pve", "delete": true}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::put("/access/acl")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let cluster = only_cluster(cx, Self::SPEC.name)?;
        let path = normalized(&self.path)?;
        let allowed = self.allowed(&cluster).await?;
        let rows: Vec<Value> = cluster.pve.list(RULES).await?;
        let rules = self.rules(&path, &rows)?;
        // To take a rule away can hand out as much as to give one: a rule hides those of the paths above and, if it is a user's,
        // those of its groups, and NoAccess hides all.
        let mut plan = Plan::new(&Self::SPEC, &cluster.name, self.says(&path));
        plan.needs = Needs::on(path.as_str(), "Permissions.Modify");
        if self.delete && rules.iter().all(|rule| rule.before.is_none()) {
            let missing = missing_privileges(&plan, &cluster.pve).await;
            let message = format!("there is no such rule on {path}");
            return Err(
                Fault::new(Kind::NotFound, message).hint(if missing.is_empty() {
                    "get_acl shows those there are".to_owned()
                } else {
                    format!("it may be hidden: the token lacks {}", missing.join(", "))
                }),
            );
        }
        for rule in &rules {
            let privileges = allowed.iter().find(|(role, _)| *role == rule.role);
            let note = privileges.map(|(_, privileges)| words::clip(privileges, TOLD));
            plan.impact
                .push(rule.impact(&self, &path, note.unwrap_or_default()));
        }
        plan.undo = self.undo(&path, &rules);
        let after = Check {
            expect: rules.iter().map(|rule| rule.expect(&self, &path)).collect(),
            ..Check::list(
                Request::get(RULES),
                if self.delete {
                    "the rules are gone"
                } else {
                    "the rules are there"
                },
                Expect::Free,
            )
        };
        plan.steps
            .push(Step::request(self.says(&path), self.request(&path)).after(after));
        Ok(plan)
    }
}

impl UpdateAcl {
    fn propagates(&self) -> bool {
        self.propagate.unwrap_or(true)
    }

    fn says(&self, path: &str) -> String {
        let whom: Vec<_> = self.subjects().into_iter().map(|(_, name)| name).collect();
        let (verb, to) = if self.delete {
            ("Take", "from")
        } else {
            ("Give", "to")
        };
        let roles = words::list(&split(Some(&self.roles)));
        words::clip(
            &format!("{verb} {roles} on {path} {to} {}", words::list(&whom)),
            300,
        )
    }

    fn request(&self, path: &str) -> Request {
        Request::put(RULES)
            .with("path", path)
            .with("roles", self.roles.as_str())
            .maybe("users", self.users.as_deref())
            .maybe("groups", self.groups.as_deref())
            .maybe("tokens", self.tokens.as_deref())
            .maybe("propagate", self.propagate)
            .maybe("delete", self.delete.then_some(true))
    }

    fn subjects(&self) -> Vec<(&'static str, String)> {
        let kinds = [
            ("user", &self.users),
            ("group", &self.groups),
            ("token", &self.tokens),
        ];
        let named = |(kind, names): (&'static str, &Option<String>)| {
            let names = split(names.as_deref());
            names.into_iter().map(move |name| (kind, name))
        };
        kinds.into_iter().flat_map(named).collect()
    }

    /// What the roles allow. All of them must exist.
    async fn allowed(&self, cluster: &Cluster) -> Result<Vec<(String, String)>, Fault> {
        let rows: Vec<Value> = cluster.pve.list("/access/roles").await?;
        let text = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
        let known: Vec<_> = rows
            .iter()
            .map(|row| (text(row, "roleid"), text(row, "privs")))
            .collect();
        for role in split(Some(&self.roles)) {
            if !known.iter().any(|(name, _)| *name == role) {
                let names: Vec<_> = known.iter().map(|(name, _)| name.as_str()).collect();
                let message = format!("there is no role {}", words::clip(&role, 60));
                return Err(Fault::new(Kind::NotFound, message).hint(format!(
                    "there are {}",
                    words::clip(&words::list(&names), 400)
                )));
            }
        }
        Ok(known)
    }

    /// Every role for everybody.
    fn rules(&self, path: &str, rows: &[Value]) -> Result<Vec<Rule>, Fault> {
        let (roles, subjects) = (split(Some(&self.roles)), self.subjects());
        if roles.is_empty() || subjects.is_empty() {
            return Err(Fault::bad_input("it is not said who gets what")
                .hint("send roles, and at least one of users, groups and tokens"));
        }
        let mut all = Vec::new();
        for role in &roles {
            for (kind, subject) in &subjects {
                let row = rows.iter().find(|row| {
                    let is = |field: &str, value: &str| row[field] == value;
                    is("path", path)
                        && is("type", kind)
                        && is("ugid", subject)
                        && is("roleid", role)
                });
                all.push(Rule {
                    kind,
                    subject: subject.clone(),
                    role: role.clone(),
                    before: row.map(|row| pve::lenient::as_bool(&row["propagate"]).unwrap_or(true)),
                });
            }
        }
        Ok(all)
    }

    /// The same call turned round, where it gives back just what was.
    fn undo(&self, path: &str, rules: &[Rule]) -> Undo {
        let before = rules[0].before;
        let fits = rules.iter().all(|rule| rule.before == before);
        if !fits || (self.delete == before.is_none()) {
            return Undo::Impossible {
                because: "some of these rules were there before and others were not".to_owned(),
            };
        }
        let mut call = arguments([("path", json!(path)), ("roles", json!(self.roles))]);
        let whom = [
            ("users", &self.users),
            ("groups", &self.groups),
            ("tokens", &self.tokens),
        ];
        for (name, value) in whom {
            if let Some(value) = value {
                call.insert(name.to_owned(), json!(value));
            }
        }
        match before {
            Some(propagate) => call.insert("propagate".to_owned(), json!(propagate)),
            None => call.insert("delete".to_owned(), json!(true)),
        };
        Undo::Call {
            tool: Self::SPEC.name.to_owned(),
            arguments: call,
        }
    }
}

impl Rule {
    fn impact(&self, call: &UpdateAcl, path: &str, note: String) -> Impact {
        let effect = match (call.delete, self.before) {
            (true, _) => Effect::Destroyed,
            (false, None) => Effect::Created,
            (false, Some(_)) => Effect::Changed,
        };
        let id = format!("{} for {} {} on {path}", self.role, self.kind, self.subject);
        Impact::new(effect, "rule", words::clip(&id, 200)).note(note)
    }

    fn expect(&self, call: &UpdateAcl, path: &str) -> Expect {
        let is = |field: &str, value: &str| Expect::Is(field.to_owned(), json!(value));
        let mut row = vec![
            is("path", path),
            is("type", self.kind),
            is("ugid", &self.subject),
            is("roleid", &self.role),
        ];
        if call.delete {
            return Expect::NoRow(row);
        }
        row.push(if call.propagates() {
            Expect::Is("propagate".to_owned(), json!(1))
        } else {
            Expect::Off("propagate".to_owned())
        });
        Expect::SomeRow(row)
    }
}

/// The names in a list.
fn split(text: Option<&str>) -> Vec<String> {
    text.map(|text| parts(&json!(text))).unwrap_or_default()
}

/// A path as PVE writes it.
fn normalized(path: &str) -> Result<String, Fault> {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/');
    if !path.starts_with('/') || !path.chars().all(word) {
        let message = format!("argument `path`: {} is no path", words::clip(path, 60));
        return Err(Fault::bad_input(message)
            .hint("send / or one such as /vms/105, /pool/lab, /storage/nas, /nodes/pve1"));
    }
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
    Ok(format!("/{}", parts.join("/")))
}
