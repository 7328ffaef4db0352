//! The toolset `access`: who may log in, with what, and what they may do.

pub(super) mod acl;
pub(super) mod groups;
pub(super) mod realms;
pub(super) mod roles;
pub(super) mod tokens;
pub(super) mod users;

use crate::plain::{Arg, Need, text};
use crate::spec::Risk;

/// Whom a call is about.
const USER: Arg = text("userid", "The user as name@realm, such as bob@pve.")
    .required()
    .shaped(is_user);
/// Administering users. PVE is content with less: the same on one of the user's groups. Whoever holds it makes tokens for any
/// user and so can do what they can: no role for less holds it, though it takes as much to note what somebody's name is.
const MODIFY_USERS: Need = Need::At(Risk::Grant, &Need::On("/access/groups", "User.Modify"));
/// Reading about users.
const SEE_USERS: Need = Need::Any(&[Need::On("/access/groups", "Sys.Audit"), MODIFY_USERS]);
/// Making and removing users of a realm.
const ALLOCATE_USER: Need = Need::All(&[
    Need::On("/access/realm/{userid|realm}", "Realm.AllocateUser"),
    MODIFY_USERS,
]);

fn is_user(text: &str) -> bool {
    let is_realm = |realm: &str| {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        !realm.is_empty() && realm.chars().all(word)
    };
    text.rsplit_once('@')
        .is_some_and(|(name, realm)| !name.is_empty() && !name.contains('!') && is_realm(realm))
}

#[cfg(test)]
mod tests {
    use super::is_user;

    #[test]
    fn a_user_has_a_realm_and_is_no_token() {
        for text in ["bob@pve", "bob@home.lan@ldap-1"] {
            assert!(is_user(text), "{text}");
        }
        for text in ["bob", "@pve", "bob@", "bob@pve!ci", "bob@p/ve"] {
            assert!(!is_user(text), "{text}");
        }
    }
}
