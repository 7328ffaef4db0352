//! Where a cluster is, who we are to it, and how its certificate is trusted.
//!
//! Plain data: the file and the environment that it comes from are the binary's matter.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::id::IdError;
use crate::secret::Secret;
use crate::tally::Tally;

/// Everything needed to talk to one cluster.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The nodes to talk to, best first. Only these are ever contacted.
    pub hosts: Vec<Host>,
    /// Who we are.
    pub credentials: Credentials,
    /// How the certificate of a host without a pin is checked.
    pub trust: Trust,
    /// How long to wait for what.
    pub timeouts: Timeouts,
    /// The `User-Agent` header.
    pub user_agent: String,
    /// An answer larger than this is an error instead of memory.
    pub max_answer_bytes: usize,
    /// Secrets that PVE has been told before, such as the password of a login: they are in no error either, whoever repeats them.
    pub hidden: Vec<SecretString>,
    /// Where requests are counted; settings for another identity at the same cluster count there, too.
    pub tally: Arc<Tally>,
}

impl Settings {
    /// Settings with system roots, the usual timeouts and limits.
    pub fn new(hosts: Vec<Host>, credentials: Credentials) -> Self {
        Self {
            hosts,
            credentials,
            trust: Trust::System,
            timeouts: Timeouts::default(),
            user_agent: concat!("oxmox/", env!("CARGO_PKG_VERSION")).to_owned(),
            max_answer_bytes: 64 * 1024 * 1024,
            hidden: Vec::new(),
            tally: Arc::default(),
        }
    }
}

/// One node's API endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Name or address, without brackets.
    pub name: String,
    /// The port, 8006 unless told otherwise.
    pub port: u16,
    /// The fingerprint its certificate must have; wins over [`Trust`].
    pub pin: Option<Fingerprint>,
}

impl Host {
    /// PVE's port.
    pub const DEFAULT_PORT: u16 = 8006;

    /// The same host with a pin.
    #[must_use]
    pub fn with_pin(mut self, pin: Fingerprint) -> Self {
        self.pin = Some(pin);
        self
    }
}

/// `name:port`, an IPv6 address in brackets.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(':') {
            write!(f, "[{}]:{}", self.name, self.port)
        } else {
            write!(f, "{}:{}", self.name, self.port)
        }
    }
}

impl FromStr for Host {
    type Err = IdError;

    /// Takes `pve1`, `pve1:8006`, `https://pve1:8006/`, `::1` and `[::1]:8006`.
    fn from_str(text: &str) -> Result<Self, IdError> {
        // Not quoted: people paste addresses with a password in them.
        let wrong = |why: &str| {
            IdError::new(format!(
                "this is not a host: {why}; write it as \"pve1\" or \"pve1:8006\""
            ))
        };
        let trimmed = text.trim();
        if trimmed.starts_with("http://") {
            return Err(wrong("PVE speaks only https"));
        }
        let authority = trimmed.strip_prefix("https://").unwrap_or(trimmed);
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        if authority.contains(['/', '@', '?', '#']) {
            return Err(wrong("only a name and a port are allowed"));
        }
        let (name, port) =
            split_port(authority).ok_or_else(|| wrong("the brackets do not match"))?;
        let port = match port {
            None => Self::DEFAULT_PORT,
            Some(digits) => digits
                .parse()
                .ok()
                .filter(|port| *port != 0)
                .ok_or_else(|| wrong("the port is not a number from 1 to 65535"))?,
        };
        if rustls::pki_types::ServerName::try_from(name).is_err() {
            return Err(wrong("the name is neither a host name nor an IP address"));
        }
        Ok(Self {
            name: name.to_owned(),
            port,
            pin: None,
        })
    }
}

fn split_port(authority: &str) -> Option<(&str, Option<&str>)> {
    if let Some(bracketed) = authority.strip_prefix('[') {
        let (name, rest) = bracketed.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((name, Some(port))),
            None if rest.is_empty() => Some((name, None)),
            None => None,
        };
    }
    match authority.split_once(':') {
        // More than one colon: an IPv6 address without brackets.
        Some((_, rest)) if rest.contains(':') => Some((authority, None)),
        Some((name, port)) => Some((name, Some(port))),
        None => Some((authority, None)),
    }
}

/// Who we are to PVE.
#[derive(Debug, Clone)]
pub enum Credentials {
    /// An API token.
    Token {
        /// The user with its realm, `root@pam`.
        user: String,
        /// The token's own name, the part after `!`.
        name: String,
        /// The secret that PVE showed once.
        secret: Secret,
    },
    /// A user with a password: a ticket is fetched, and renewed well before it ends.
    Password {
        /// The user with its realm, `root@pam`.
        user: String,
        /// The password.
        password: Secret,
    },
    /// A user who has logged in already, by [`log_in`](crate::log_in): good for two hours, and renewed as long as it is used.
    Ticket {
        /// The user with its realm, `root@pam`.
        user: String,
        /// The ticket.
        ticket: SecretString,
        /// What a change made with it has to carry.
        csrf: SecretString,
    },
}

impl Credentials {
    /// `root@pam!mcp` for a token, `root@pam` for a user.
    pub fn id(&self) -> String {
        match self {
            Self::Token { user, name, .. } => format!("{user}!{name}"),
            Self::Password { user, .. } | Self::Ticket { user, .. } => user.clone(),
        }
    }

    /// Fetches the secret, if it is not here yet: for whoever wants to know whether it can be had, and nothing else.
    pub async fn fetch(&self) -> Result<(), Error> {
        match self.secret() {
            Some(secret) => secret.get().await.map(drop),
            None => Ok(()),
        }
    }

    /// What may have to be fetched; a ticket is here.
    pub(crate) fn secret(&self) -> Option<&Secret> {
        match self {
            Self::Token { secret, .. } => Some(secret),
            Self::Password { password, .. } => Some(password),
            Self::Ticket { .. } => None,
        }
    }
}

/// How a certificate without a pin is checked. There is no way to turn the check off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// By the system's roots.
    System,
    /// By a PEM file, such as a copy of the cluster's `/etc/pve/pve-root-ca.pem`.
    CaFile(PathBuf),
    /// By what such a file would hold.
    CaText(String),
}

/// How long to wait for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeouts {
    /// For the TCP connection and the TLS handshake together.
    pub connect: Duration,
    /// For a whole answer. PVE itself waits 3 s before a 401 and 30 s for a dead node, so less makes its errors unreadable.
    pub answer: Duration,
    /// Requests that were never sent are repeated until this has passed.
    pub retry: Duration,
    /// A ticket older than this is renewed; PVE ends it after two hours.
    pub ticket_renewal: Duration,
    /// The longest pause between two looks at a running task.
    pub task_poll: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            answer: Duration::from_secs(45),
            retry: Duration::from_secs(10),
            ticket_renewal: Duration::from_hours(1),
            task_poll: Duration::from_secs(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, u16) {
        let host: Host = text.parse().unwrap();
        (host.name, host.port)
    }

    #[test]
    fn hosts_are_taken_as_people_write_them() {
        let pve1 = ("pve1".to_owned(), 8006);
        for text in [
            "pve1",
            "pve1:8006",
            "https://pve1:8006/",
            "https://pve1",
            " pve1 ",
        ] {
            assert_eq!(parts(text), pve1, "{text}");
        }
        assert_eq!(parts("10.0.0.1:443"), ("10.0.0.1".to_owned(), 443));
        for text in ["[::1]:8006", "::1", "[::1]", "https://[::1]:8006/"] {
            assert_eq!(parts(text), ("::1".to_owned(), 8006), "{text}");
        }
        assert_eq!("[::1]".parse::<Host>().unwrap().to_string(), "[::1]:8006");
    }

    #[test]
    fn what_is_not_a_host_is_refused_with_the_reason() {
        for (bad, why) in [
            ("http://pve1", "only https"),
            ("https://pve1/api2", "only a name and a port"),
            ("root@pve1", "only a name and a port"),
            ("pve1:0", "the port"),
            ("pve1:99999", "the port"),
            ("[::1", "brackets"),
            ("", "neither"),
            ("a b", "neither"),
        ] {
            let text = bad.parse::<Host>().unwrap_err().to_string();
            assert!(text.contains(why), "{bad}: {text}");
        }
    }

    #[test]
    fn a_wrong_host_is_not_quoted() {
        for text in [
            "https://root:canary@pve1",
            "root@pam!x=canary",
            "pve1:canary",
            "http://canary",
        ] {
            let told = text.parse::<Host>().unwrap_err().to_string();
            assert!(!told.contains("canary"), "{told}");
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let settings = Settings::new(
            vec!["pve1".parse().unwrap()],
            Credentials::Password {
                user: "root@pam".to_owned(),
                password: "canary".into(),
            },
        );
        assert!(!format!("{settings:?}").contains("canary"));
    }
}
