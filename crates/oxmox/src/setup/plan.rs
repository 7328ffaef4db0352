//! What setup is about to do, as data: shown first, and then done as shown.

use pve::{Request, encode_segment};

use super::facts::{Accounts, Rule};
use super::journal::Made;
use super::role::{self, Grant, USER};
use crate::clients::Client;
use crate::files::Draft;
use crate::keep::Keep;

/// One request to the cluster.
#[derive(Debug, Clone)]
pub struct Step {
    /// What it does.
    pub says: String,
    /// What is sent.
    pub request: Request,
    /// What has to be taken back, should it come to that.
    pub made: Option<Made>,
}

/// Everything, in order.
#[derive(Debug)]
pub struct Plan {
    /// The cluster's name in the configuration.
    pub cluster: String,
    /// The token that oxmox will use.
    pub token: String,
    /// On the cluster.
    pub steps: Vec<Step>,
    /// What is there already, as it should be.
    pub stays: Vec<String>,
    /// What a person should know before saying yes.
    pub notes: Vec<String>,
    /// Where the secret goes; `None`: it stays where it is.
    pub secret: Option<Keep>,
    /// The certificate of the cluster's authority.
    pub authority: Option<Draft>,
    /// The configuration file.
    pub config: Draft,
    /// The files of clients.
    pub clients: Vec<(Client, Draft)>,
}

impl Plan {
    /// Whether there is anything to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.secret.is_none() && self.files().next().is_none()
    }

    /// The files that change, in the order in which they are written. Clients come last: they start what the others describe.
    pub fn files(&self) -> impl Iterator<Item = &Draft> {
        let clients = self.clients.iter().map(|(_, draft)| draft);
        let first = self.authority.iter().chain([&self.config]);
        first.chain(clients).filter(|draft| draft.is_change())
    }

    /// The clients whose files change.
    pub fn entered(&self) -> impl Iterator<Item = &(Client, Draft)> {
        let clients = self.clients.iter();
        clients.filter(|(_, draft)| draft.is_change())
    }
}

/// What the cluster needs so that this token has these rights, and no more.
pub fn remote(
    accounts: &Accounts,
    grant: &Grant,
    token: &str,
    is_kept: bool,
) -> (Vec<Step>, Vec<String>) {
    let (mut steps, mut stays) = (Vec::new(), Vec::new());
    match role(accounts, grant) {
        Some(step) => steps.push(step),
        None => stays.push(format!("the role {} holds what it should", grant.role)),
    }
    let known = accounts.users.get(USER);
    if known.is_some() {
        stays.push(format!("the user {USER}"));
    } else {
        steps.push(Step {
            says: format!("make the user {USER}, who has no password and cannot log in"),
            request: Request::post("/access/users")
                .with("userid", USER)
                .with("comment", "oxmox: the owner of its tokens"),
            made: Some(Made::User {
                name: USER.to_owned(),
            }),
        });
    }
    let is_there = known.is_some_and(|tokens| tokens.contains(token));
    let path = format!("/access/users/{}/token/{token}", encode_segment(USER));
    if is_there && is_kept {
        stays.push(format!(
            "the token {USER}!{token}, whose secret is known here"
        ));
    } else {
        if is_there {
            steps.push(Step {
                says: format!("remove the token {USER}!{token}: its secret is lost, and whatever still uses it stops working"),
                request: Request::delete(path.clone()),
                made: None,
            });
        }
        steps.push(Step {
            says: format!("make the token {USER}!{token}, which has rights of its own and never more than its user"),
            request: Request::post(path)
                .with("privsep", 1)
                .with("comment", format!("oxmox on {token}")),
            made: Some(Made::Token {
                user: USER.to_owned(),
                name: token.to_owned(),
            }),
        });
    }
    let id = format!("{USER}!{token}");
    for path in &grant.paths {
        let lacks = |who: &str| !accounts.has_rule(path, who, &grant.role);
        let users: Vec<_> = [USER]
            .into_iter()
            .filter(|who| lacks(who))
            .map(str::to_owned)
            .collect();
        // The rights of a token that is made anew went with the old one.
        let is_new = !(is_there && is_kept);
        let tokens: Vec<_> = Some(id.clone())
            .filter(|id| is_new || lacks(id))
            .into_iter()
            .collect();
        match rule(path, &grant.role, users, tokens) {
            Some(step) => steps.push(step),
            None => stays.push(format!(
                "the role {} on {path} for user and token",
                grant.role
            )),
        }
    }
    if is_there && is_kept {
        steps.extend(too_much(accounts, grant, &id));
    }
    (steps, stays)
}

/// Roles of ours that the token has from an earlier run, and that go beyond what is wanted now. The user keeps them: another
/// machine's token may live on them. Last, since it is what no failure could bring back.
fn too_much(accounts: &Accounts, grant: &Grant, id: &str) -> Vec<Step> {
    let is_ours = |rule: &Rule| rule.ugid == id && role::is_own(&rule.roleid);
    let is_wanted = |rule: &Rule| rule.roleid == grant.role && grant.paths.contains(&rule.path);
    let rules = accounts.rules.iter();
    let rules = rules.filter(|rule| is_ours(rule) && !is_wanted(rule));
    let step = |rule: &Rule| Step {
        says: format!("take the role {} on {} from {id}", rule.roleid, rule.path),
        request: Request::put("/access/acl")
            .with("path", rule.path.as_str())
            .with("roles", rule.roleid.as_str())
            .with("tokens", id)
            .with("delete", 1),
        made: None,
    };
    rules.map(step).collect()
}

/// The role holds exactly what it should: one that kept what an earlier run was asked for would hand it out again, to
/// everybody who has it.
fn role(accounts: &Accounts, grant: &Grant) -> Option<Step> {
    let wanted: Vec<&str> = grant.privileges.iter().copied().collect();
    let name = grant.role.as_str();
    let Some(held) = accounts.roles.get(name) else {
        return Some(Step {
            says: format!("make the role {name} with {} privileges", wanted.len()),
            request: Request::post("/access/roles")
                .with("roleid", name)
                .with("privs", wanted.join(",")),
            made: Some(Made::Role {
                name: name.to_owned(),
                before: None,
            }),
        });
    };
    let lacking = wanted.iter().copied().filter(|it| !held.contains(*it));
    let lacking: Vec<&str> = lacking.collect();
    let beyond = held.iter().map(String::as_str);
    let beyond: Vec<&str> = beyond.filter(|it| !wanted.contains(it)).collect();
    let mut says = Vec::new();
    if !lacking.is_empty() {
        says.push(format!("add to the role {name}: {}", lacking.join(", ")));
    }
    if !beyond.is_empty() {
        says.push(format!("take from the role {name}: {}", beyond.join(", ")));
    }
    (!says.is_empty()).then(|| Step {
        says: says.join("; "),
        request: Request::put(format!("/access/roles/{name}")).with("privs", wanted.join(",")),
        made: Some(Made::Role {
            name: name.to_owned(),
            before: Some(held.iter().cloned().collect()),
        }),
    })
}

fn rule(path: &str, role: &str, users: Vec<String>, tokens: Vec<String>) -> Option<Step> {
    if users.is_empty() && tokens.is_empty() {
        return None;
    }
    let list = |names: &[String]| (!names.is_empty()).then(|| names.join(","));
    let whom: Vec<_> = users.iter().chain(&tokens).map(String::as_str).collect();
    Some(Step {
        says: format!("give the role {role} on {path} to {}", whom.join(" and ")),
        request: Request::put("/access/acl")
            .with("path", path)
            .with("roles", role)
            .maybe("users", list(&users))
            .maybe("tokens", list(&tokens))
            .with("propagate", 1),
        made: Some(Made::Rule {
            path: path.to_owned(),
            role: role.to_owned(),
            users,
            tokens,
        }),
    })
}
