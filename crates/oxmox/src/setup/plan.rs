//! What setup is about to do, as data: shown first, and then done as shown.

use pve::{Request, TokenId, encode_segment};
use tools::keys;

use super::facts::{Accounts, Rule};
use super::inherited;
use super::made::{Made, acl};
use super::remembered;
use super::role::{self, Grant, USER};
use super::tokens::Choice;
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
    pub made: Made,
}

/// What nothing would bring back: sent last, when everything else has shown that it works.
#[derive(Debug, Clone)]
pub struct Last {
    /// What it does.
    pub says: String,
    /// What is there no more then.
    pub gone: Made,
}

/// Everything, in order.
#[derive(Debug)]
pub struct Plan {
    /// The cluster's name in the configuration.
    pub cluster: String,
    /// The token that oxmox will use.
    pub token: TokenId,
    /// On the cluster.
    pub steps: Vec<Step>,
    /// There, too, when everything is done.
    pub last: Vec<Last>,
    /// What is there already, as it should be.
    pub stays: Vec<String>,
    /// What a person should know before saying yes.
    pub notes: Vec<String>,
    /// Where the secret goes; `None`: it stays where it is.
    pub secret: Option<Keep>,
    /// The secrets of earlier tokens, which go when everything is done.
    pub superseded: Vec<Keep>,
    /// The certificate of the cluster's authority; one that is no longer asked goes.
    pub authority: Option<Draft>,
    /// The configuration file.
    pub config: Draft,
    /// The files of clients.
    pub clients: Vec<(Client, Draft)>,
}

impl Plan {
    /// Whether there is anything to do.
    pub fn is_empty(&self) -> bool {
        let is_quiet = self.steps.is_empty() && self.last.is_empty();
        let is_kept = self.secret.is_none() && self.superseded.is_empty();
        is_quiet && is_kept && self.files().next().is_none()
    }

    /// The files that change, in the order in which they are written. Clients come last: they start what the others describe.
    pub fn files(&self) -> impl Iterator<Item = &Draft> {
        let clients = self.clients.iter().map(|(_, draft)| draft);
        let authority = |goes: bool| {
            let authority = self.authority.iter();
            authority.filter(move |draft| draft.after.is_none() == goes)
        };
        // Whatever the configuration names is there as long as it does.
        let own = authority(false)
            .chain([&self.config])
            .chain(authority(true));
        own.chain(clients).filter(|draft| draft.is_change())
    }

    /// The clients whose files change.
    pub fn entered(&self) -> impl Iterator<Item = &(Client, Draft)> {
        let clients = self.clients.iter();
        clients.filter(|(_, draft)| draft.is_change())
    }
}

/// What is to be done on the cluster.
#[derive(Debug, Default)]
pub struct Remote {
    /// First.
    pub steps: Vec<Step>,
    /// When everything is done.
    pub last: Vec<Last>,
    /// What is there already, as it should be.
    pub stays: Vec<String>,
}

/// What the cluster needs so that this token has these rights, and no more.
pub fn remote(accounts: &Accounts, grant: &Grant, choice: &Choice) -> Remote {
    let (mut steps, mut stays) = (Vec::new(), Vec::new());
    match role(accounts, grant) {
        Some(step) => steps.push(step),
        None => stays.push(format!("the role {} holds what it should", grant.role)),
    }
    if accounts.users.contains_key(USER) {
        stays.push(format!("the user {USER}"));
    } else {
        steps.push(Step {
            says: format!("make the user {USER}, who has no password and cannot log in"),
            request: Request::post("/access/users")
                .with("userid", USER)
                .with("comment", "oxmox: the owner of its tokens"),
            made: Made::User {
                name: USER.to_owned(),
            },
        });
    }
    let id = format!("{USER}!{}", choice.name);
    if choice.is_kept {
        stays.push(format!("the token {id}, whose secret is known here"));
    } else {
        steps.push(token(&choice.name));
    }
    for path in &grant.paths {
        let lacks = |who: &str| !accounts.has_rule(path, who, &grant.role);
        let users: Vec<_> = [USER]
            .into_iter()
            .filter(|who| lacks(who))
            .map(str::to_owned)
            .collect();
        let tokens: Vec<_> = Some(id.clone())
            .filter(|id| !choice.is_kept || lacks(id))
            .into_iter()
            .collect();
        steps.extend(kept_on(accounts, path, (&users, &tokens), &grant.role));
        match rule(path, &grant.role, users, tokens) {
            Some(step) => steps.push(step),
            None => stays.push(format!(
                "the role {} on {path} for user and token",
                grant.role
            )),
        }
    }
    let replaced = choice.replaced.iter().map(|(name, why)| Last {
        says: format!("remove the token {USER}!{name}: {why}, and {id} takes its place"),
        gone: Made::Token {
            user: USER.to_owned(),
            name: name.clone(),
            mark: None,
        },
    });
    Remote {
        last: replaced.chain(too_much(accounts, grant, &id)).collect(),
        steps,
        stays,
    }
}

fn token(name: &str) -> Step {
    let mark = keys::short_id();
    Step {
        says: format!(
            "make the token {USER}!{name}, which has rights of its own and never more than its user"
        ),
        request: Request::post(format!(
            "/access/users/{}/token/{name}",
            encode_segment(USER)
        ))
        .with("privsep", 1)
        .with("comment", remembered::comment(name, &mark)),
        made: Made::Token {
            user: USER.to_owned(),
            name: name.to_owned(),
            mark: Some(mark),
        },
    }
}

/// What these have on a path from above goes on there beside the role that they are given: see [`inherited`]. First, so that
/// they have it all the time. What setup itself gave a token above is taken from it anyway, where it is too much.
fn kept_on(
    accounts: &Accounts,
    path: &str,
    (users, tokens): (&[String], &[String]),
    given: &str,
) -> Vec<Step> {
    let step = |who: &String, role: &str, is_token: bool| {
        let whom = vec![who.clone()];
        let (users, tokens) = if is_token {
            (Vec::new(), whom)
        } else {
            (whom, Vec::new())
        };
        Step {
            says: format!(
                "give the role {role} on {path} to {who}, which has it there from above: {given} alone would take its place"
            ),
            request: acl(path, role, &users, &tokens).with("propagate", 1),
            made: Made::rule(path, role, users, tokens),
        }
    };
    let mut steps = Vec::new();
    for who in users {
        let kept = inherited::at_stake(accounts, who, path).into_iter();
        steps.extend(
            kept.filter(|role| *role != given)
                .map(|role| step(who, role, false)),
        );
    }
    for who in tokens {
        let kept = inherited::of_others(inherited::at_stake(accounts, who, path));
        steps.extend(kept.map(|role| step(who, role, true)));
    }
    steps
}

/// Roles of setup's own that the token has from an earlier run, and that go beyond what is wanted now. The user keeps them:
/// another machine's token may live on them. Roles that somebody else gave are theirs to take.
fn too_much<'a>(
    accounts: &'a Accounts,
    grant: &'a Grant,
    id: &'a str,
) -> impl Iterator<Item = Last> + 'a {
    let is_ours = move |rule: &&Rule| rule.ugid == id && role::is_own(&rule.roleid);
    let is_wanted =
        move |rule: &&Rule| rule.roleid == grant.role && grant.paths.contains(&rule.path);
    let rules = accounts.rules.iter().filter(is_ours);
    let rules = rules.filter(move |rule| !is_wanted(rule));
    rules.map(move |rule| Last {
        says: format!("take the role {} on {} from {id}", rule.roleid, rule.path),
        gone: Made::rule(&rule.path, &rule.roleid, Vec::new(), vec![id.to_owned()]),
    })
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
            made: Made::Role {
                name: name.to_owned(),
                before: None,
            },
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
        made: Made::Role {
            name: name.to_owned(),
            before: Some(held.iter().cloned().collect()),
        },
    })
}

fn rule(path: &str, role: &str, users: Vec<String>, tokens: Vec<String>) -> Option<Step> {
    if users.is_empty() && tokens.is_empty() {
        return None;
    }
    let whom: Vec<_> = users.iter().chain(&tokens).map(String::as_str).collect();
    Some(Step {
        says: format!("give the role {role} on {path} to {}", whom.join(" and ")),
        request: acl(path, role, &users, &tokens).with("propagate", 1),
        made: Made::rule(path, role, users, tokens),
    })
}
