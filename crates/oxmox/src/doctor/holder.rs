//! Who lacks a right, and whom it has to be given to: a token has never more than its user.

use std::collections::BTreeSet;

use pve::{Permissions, TokenId};

use crate::setup::role::USER;

/// Who lacks it.
pub(super) enum Holder {
    /// A user.
    User(String),
    /// A token.
    Token {
        /// `bob@pve!ci`
        id: TokenId,
        /// Whether it has rights of its own, as far as that is told.
        separated: Option<bool>,
        /// What its user may do, as far as that is told.
        user_held: Option<Permissions>,
    },
}

impl Holder {
    pub(super) fn is_token(&self) -> bool {
        matches!(self, Self::Token { .. })
    }

    /// Whether `oxmox setup` made it.
    pub(super) fn is_of_setup(&self) -> bool {
        matches!(self, Self::Token { id, .. } if id.user == USER)
    }

    /// Whose rights count: those that are given have to reach all of them.
    pub(super) fn subjects<'a>(&'a self, held: &'a Permissions) -> Subjects<'a> {
        match self {
            Self::User(user) => Subjects::user(user, held),
            Self::Token {
                id,
                separated: Some(false),
                ..
            } => Subjects::user(&id.user, held),
            Self::Token { id, user_held, .. } => {
                let user = id.user.as_str();
                let user_held = match user_held {
                    // Nobody has to give anything to the one who may do everything.
                    _ if user == "root@pam" => None,
                    // Setup gives them the same.
                    None if user == USER => Some(held),
                    told => told.as_ref(),
                };
                Subjects {
                    token: Some((id, held)),
                    user: user_held.map(|held| (user, held)),
                }
            }
        }
    }

    /// What to know about the line.
    pub(super) fn caution(&self) -> Option<String> {
        let Self::Token {
            id,
            separated: separated @ (Some(true) | None),
            user_held: None,
        } = self
        else {
            return None;
        };
        let user = id.user.as_str();
        if ["root@pam", USER].contains(&user) {
            return None;
        }
        let whole = if separated.is_none() {
            "; where the token has no rights of its own (privsep 0), only the user's count"
        } else {
            ""
        };
        Some(format!(
            "a token has no more than its user, and what {user} may do is not to be seen: where {user} lacks the same, give it by \
             --users {user}, in a role that also holds what {user} has on that path now (`pveum user permissions {user}`), \
             for it replaces that{whole}"
        ))
    }
}

/// A token, its user, or both, with what they hold.
pub(super) struct Subjects<'a> {
    token: Option<(&'a TokenId, &'a Permissions)>,
    user: Option<(&'a str, &'a Permissions)>,
}

impl<'a> Subjects<'a> {
    fn user(user: &'a str, held: &'a Permissions) -> Self {
        Self {
            token: None,
            user: Some((user, held)),
        }
    }

    /// Whether what is given on `/` stops above this path, for one of them.
    pub(super) fn have_their_own(&self, path: &str) -> bool {
        let both = [
            self.token.map(|(_, held)| held),
            self.user.map(|(_, held)| held),
        ];
        let mut held = (both.into_iter().flatten()).map(|held| (held.on(path), held.on("/")));
        held.any(|(here, above)| !here.is_empty() && here != above)
    }

    /// The roles on this path, with whom they are for.
    pub(super) fn roles(
        &self,
        path: &str,
        lacking: &BTreeSet<&'a str>,
        above: &BTreeSet<&'a str>,
    ) -> Vec<Grant<'a>> {
        let mut grants = Vec::new();
        if let Some((id, held)) = self.token {
            let mut privileges = lacking.clone();
            // A role on a path replaces those from above, so that what comes from there has to be in it.
            if path != "/" && (!above.is_empty() || !held.on("/").is_empty()) {
                privileges.extend(held.on(path));
                privileges.extend(above);
            }
            grants.push(Grant {
                role: role_for(path),
                privileges,
                flags: format!("--tokens '{id}'"),
            });
        }
        if let Some((user, held)) = self.user {
            let lacks = |grant: &Grant<'_>| !grant.privileges.iter().all(|it| held.has(path, it));
            let mut privileges = match grants.first() {
                Some(of_token) if lacks(of_token) => of_token.privileges.clone(),
                Some(_) => return grants,
                None => lacking.union(above).copied().collect(),
            };
            // What a user is given replaces also what comes from groups.
            privileges.extend(held.on(path));
            let flags = format!("--users {user}");
            match grants.first_mut() {
                Some(of_token) if of_token.privileges == privileges => {
                    of_token.flags = format!("{flags} {}", of_token.flags);
                }
                of_token => {
                    let of_user = if of_token.is_some() { "-user" } else { "" };
                    grants.push(Grant {
                        role: format!("{}{of_user}", role_for(path)),
                        privileges,
                        flags,
                    });
                }
            }
        }
        grants
    }
}

/// A role, and whom it is for.
pub(super) struct Grant<'a> {
    pub(super) role: String,
    pub(super) privileges: BTreeSet<&'a str>,
    pub(super) flags: String,
}

/// `oxmox-vms-100` for `/vms/100`: what is given on one path is not given on another by the same role.
fn role_for(path: &str) -> String {
    let words: String = path
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let name = words.trim_matches('-');
    format!("oxmox-more{}{name}", if name.is_empty() { "" } else { "-" })
}
