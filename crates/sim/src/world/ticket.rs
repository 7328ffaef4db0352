//! Login tickets and the tokens against cross-site requests: signed text, as PVE makes them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

use crate::call::Identity;
use crate::clock::Time;

/// How long a ticket is good for.
const LIFETIME_SECS: u64 = 2 * 3600;
/// How long the ticket of a console is good for.
const VNC_LIFETIME_SECS: u64 = 40;

/// Makes and checks tickets. One per world: a ticket of another world is a forged one.
#[derive(Clone, Debug)]
pub struct Signer {
    key: String,
}

impl Signer {
    /// A signer with this secret.
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into() }
    }

    fn signature(&self, text: &str) -> String {
        let digest = Sha256::digest(format!("{}\0{text}", self.key));
        STANDARD_NO_PAD.encode(digest)
    }

    /// A login ticket: `PVE:root@pam:6AFA0665::SIGNATURE`.
    pub fn ticket(&self, user: &str, now: Time) -> String {
        let plain = format!("PVE:{user}:{:08X}", now.secs());
        let signature = self.signature(&plain);
        format!("{plain}::{signature}")
    }

    /// The user of a ticket that is genuine and not older than two hours.
    pub fn verify_ticket<'a>(&self, ticket: &'a str, now: Time) -> Option<&'a str> {
        let (plain, signature) = ticket.split_once("::")?;
        let (user, stamp) = plain.strip_prefix("PVE:")?.rsplit_once(':')?;
        (self.signature(plain) == signature && is_fresh(stamp, now)).then_some(user)
    }

    /// What a login gets that has yet to bring a second factor: `PVE:!tfa!CHALLENGE:6AFA0665::SIGNATURE`. It opens nothing.
    pub fn half_ticket(&self, user: &str, challenge: &str, now: Time) -> String {
        let challenge = utf8_percent_encode(challenge, NON_ALPHANUMERIC);
        let plain = format!("PVE:!tfa!{challenge}:{:08X}", now.secs());
        let signature = self.signature(&format!("{plain}:{user}"));
        format!("{plain}::{signature}")
    }

    /// Whether a half-way ticket is this user's, genuine, and not too old.
    pub fn verify_half_ticket(&self, ticket: &str, user: &str, now: Time) -> bool {
        let Some((plain, signature)) = ticket.split_once("::") else {
            return false;
        };
        let stamp = plain
            .strip_prefix("PVE:!tfa!")
            .and_then(|rest| rest.rsplit_once(':'));
        self.signature(&format!("{plain}:{user}")) == signature
            && stamp.is_some_and(|(_, stamp)| is_fresh(stamp, now))
    }

    /// The token that must accompany a change made with a ticket: `6AFA0665:SIGNATURE`.
    pub fn csrf(&self, user: &str, now: Time) -> String {
        let stamp = format!("{:08X}", now.secs());
        let signature = self.signature(&format!("{stamp}:{user}"));
        format!("{stamp}:{signature}")
    }

    /// Whether a token against cross-site requests belongs to this user and is not too old.
    pub fn verify_csrf(&self, token: &str, user: &str, now: Time) -> bool {
        token.split_once(':').is_some_and(|(stamp, signature)| {
            self.signature(&format!("{stamp}:{user}")) == signature && is_fresh(stamp, now)
        })
    }

    /// A ticket for one console: `PVEVNC:6AFA0665::SIGNATURE`.
    pub fn vnc_ticket(&self, who: &Identity, path: &str, now: Time) -> String {
        let plain = format!("PVEVNC:{:08X}", now.secs());
        let signature = self.signature(&format!("{plain}:{who}:{path}"));
        format!("{plain}::{signature}")
    }

    /// Whether the signature of a ticket is longer than any signature can be, which PVE does not take as merely wrong.
    pub fn is_oversigned(&self, ticket: &str) -> bool {
        let longest = self.signature("").len();
        let signature = ticket.split_once("::").map(|(_, signature)| signature);
        signature.is_some_and(|signature| signature.len() > longest)
    }

    /// Whether a console's ticket is of this caller, for this path, and not older than 40 seconds.
    pub fn verify_vnc_ticket(&self, ticket: &str, who: &Identity, path: &str, now: Time) -> bool {
        let Some((plain, signature)) = ticket.split_once("::") else {
            return false;
        };
        let made = plain
            .strip_prefix("PVEVNC:")
            .and_then(|stamp| u64::from_str_radix(stamp, 16).ok());
        let fresh = made.is_some_and(|made| now.secs().abs_diff(made) <= VNC_LIFETIME_SECS);
        fresh && self.signature(&format!("{plain}:{who}:{path}")) == signature
    }
}

fn is_fresh(stamp: &str, now: Time) -> bool {
    u64::from_str_radix(stamp, 16)
        .is_ok_and(|made| made <= now.secs() && now.secs() - made < LIFETIME_SECS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_are_bound_to_user_time_and_world() {
        let (here, start) = (Signer::new("a"), Time::from_secs(1_000_000));
        let ticket = here.ticket("root@pam", start);
        assert_eq!(here.verify_ticket(&ticket, start), Some("root@pam"));
        let forged = ticket.replace("root", "bob");
        assert_eq!(here.verify_ticket(&forged, start), None);
        assert_eq!(Signer::new("b").verify_ticket(&ticket, start), None);
        let late = Time::from_secs(1_000_000 + LIFETIME_SECS);
        assert_eq!(here.verify_ticket(&ticket, late), None);
    }

    #[test]
    fn the_ticket_of_a_console_is_bound_to_caller_and_path() {
        let (signer, now) = (Signer::new("a"), Time::from_secs(1_000_000));
        let (user, token) = (Identity::parse("root@pam"), Identity::parse("root@pam!mcp"));
        let ticket = signer.vnc_ticket(&token, "/vms/100", now);
        assert!(signer.verify_vnc_ticket(&ticket, &token, "/vms/100", now));
        assert!(!signer.verify_vnc_ticket(&ticket, &user, "/vms/100", now));
        assert!(!signer.verify_vnc_ticket(&ticket, &token, "/vms/101", now));
        let late = Time::from_secs(1_000_041);
        assert!(!signer.verify_vnc_ticket(&ticket, &token, "/vms/100", late));
    }

    #[test]
    fn csrf_tokens_belong_to_one_user() {
        let (signer, now) = (Signer::new("a"), Time::from_secs(1_000_000));
        let token = signer.csrf("root@pam", now);
        assert!(signer.verify_csrf(&token, "root@pam", now));
        assert!(!signer.verify_csrf(&token, "bob@pve", now));
        assert!(!signer.verify_csrf("nonsense", "root@pam", now));
    }
}
