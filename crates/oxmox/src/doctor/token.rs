//! Who we are to the cluster, and until when.

use pve::{Credentials, Reader, Request, TokenId};
use serde_json::Value;
use tools::words;

use super::finding::Finding;

const CHECK: &str = "token";

/// What is nearer is told, so that nobody is surprised by it.
const SOON: i64 = 14 * 86_400;

/// What PVE tells of a token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct About {
    /// In Unix seconds; 0: never.
    expires: i64,
    /// Whether it has rights of its own, and not its user's.
    pub(super) separated: Option<bool>,
}

/// Not everybody may look at their own token, and that says nothing against it.
pub(super) async fn look(pve: &Reader, credentials: &Credentials) -> About {
    let Credentials::Token { user, name, .. } = credentials else {
        return About::default();
    };
    let (user, token) = (pve::encode_segment(user), pve::encode_segment(name));
    let request = Request::get(format!("/access/users/{user}/token/{token}"));
    let told: Value = pve.get(request).await.unwrap_or_default();
    let expires = told.get("expire").and_then(pve::lenient::as_u64);
    About {
        expires: i64::try_from(expires.unwrap_or_default()).unwrap_or(i64::MAX),
        separated: told.get("privsep").and_then(pve::lenient::as_bool),
    }
}

/// Told only after a host let us in.
pub(super) fn check(who: &str, credentials: &Credentials, about: About) -> Finding {
    match credentials {
        Credentials::Token { user, name, .. } => {
            judge(&TokenId::new(user, name), about, crate::session::now())
        }
        Credentials::Password { .. } => {
            Finding::ok(CHECK, format!("{who} is let in, by its password"))
        }
        Credentials::Ticket { .. } => Finding::ok(CHECK, format!("{who} is let in, by its ticket")),
    }
}

fn judge(who: &TokenId, about: About, now: i64) -> Finding {
    let About { expires, separated } = about;
    let rights = match separated {
        Some(true) => ", with rights of its own",
        Some(false) => ", with all rights of its user",
        None => "",
    };
    if expires == 0 {
        return Finding::ok(CHECK, format!("{who} is let in{rights}"));
    }
    let what = format!("{who} is let in{rights}, until {}", words::time(expires));
    if expires - now < SOON {
        let TokenId { user, name } = who;
        return Finding::warning(CHECK, what).hint(format!(
            "`pveum user token modify {user} {name} --expire 0` lets it last"
        ));
    }
    Finding::ok(CHECK, what)
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    #[test]
    fn one_that_ends_soon_is_told() {
        let about = |expires, separated| About { expires, separated };
        let found = judge(&TokenId::new("bob@pve", "ci"), about(0, Some(true)), 0);
        assert_eq!(found.says, "bob@pve!ci is let in, with rights of its own");
        let far = judge(&TokenId::new("bob@pve", "ci"), about(90 * 86_400, None), 0);
        assert_eq!(far.level, Level::Ok);
        let soon = judge(&TokenId::new("bob@pve", "ci"), about(86_400, None), 0);
        assert_eq!(soon.level, Level::Warning);
        let hint = soon.hint.unwrap();
        assert!(
            hint.contains("pveum user token modify bob@pve ci --expire 0"),
            "{hint}"
        );
    }
}
