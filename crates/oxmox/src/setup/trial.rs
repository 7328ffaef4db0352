//! Whether a token gets in as oxmox will, at every address, and may do there what it was given.

use std::path::Path;

use pve::{Credentials, Host, Reader, Settings, TokenId};
use secrecy::SecretString;
use tools::fault::{Fault, Kind, explain};
use tools::rights::{Key, Rights};
use tools::words;

use super::facts;
use super::role::Grant;

/// What the token has to show.
pub struct Trial {
    /// How the cluster will be reached. The credentials in it are somebody else's.
    pub settings: Settings,
    /// The token.
    pub token: TokenId,
    /// What it must be able to do; `None`: whatever it can.
    pub grant: Option<Grant>,
}

impl Trial {
    /// Tries it. Answers what a person should know though it works.
    pub async fn run(&self, secret: &SecretString) -> Result<Vec<String>, Fault> {
        let Some((first, others)) = self.settings.hosts.split_first() else {
            return Ok(Vec::new());
        };
        let reader = self.reader(vec![first.clone()], secret)?;
        reader.version().await.map_err(|error| Fault {
            message: format!(
                "{} does not get in at {first}: {}",
                self.token,
                explain(&error)
            ),
            ..Fault::from(error)
        })?;
        if let Some(grant) = &self.grant {
            self.may(grant, &reader).await?;
        }
        let mut notes = Vec::new();
        for host in others {
            notes.extend(self.not_at(host, secret).await);
        }
        Ok(notes)
    }

    fn reader(&self, hosts: Vec<Host>, secret: &SecretString) -> Result<Reader, Fault> {
        let settings = Settings {
            hosts,
            credentials: Credentials::Token {
                user: self.token.user.clone(),
                name: self.token.name.clone(),
                secret: secret.clone().into(),
            },
            ..self.settings.clone()
        };
        Ok(pve::connect(settings)?.0)
    }

    /// A role that was given need not arrive: a token has no more than its user, and a rule below hides one above.
    async fn may(&self, grant: &Grant, reader: &Reader) -> Result<(), Fault> {
        for path in &grant.paths {
            let held = facts::held_on(reader, path).await?;
            let lacks = grant.privileges.iter().filter(|it| !held.has(path, it));
            let lacks: Vec<_> = lacks.copied().collect();
            if !lacks.is_empty() {
                let what = format!(
                    "{} has the role {} on {path}, and lacks {} there all the same",
                    self.token,
                    grant.role,
                    words::list(&lacks)
                );
                return Err(Fault::new(Kind::Forbidden, what).hint(format!(
                    "other rules on {path} or below it for {} or its groups take it away: see Datacenter > Permissions, and \
                     run setup again without them",
                    self.token.user
                )));
            }
        }
        Ok(())
    }

    async fn not_at(&self, host: &Host, secret: &SecretString) -> Option<String> {
        let reader = self.reader(vec![host.clone()], secret).ok()?;
        let error = reader.version().await.err()?;
        Some(format!(
            "{} does not get in at {host}, which stands in for the first: {}",
            self.token,
            explain(&error)
        ))
    }

    /// What oxmox left on disk about the rights of this token is brought up to date, so that the next client gets the right
    /// list of tools at once.
    pub async fn remember(&self, cluster: &str, secret: &SecretString, state: &Path) {
        let Ok(reader) = self.reader(self.settings.hosts.clone(), secret) else {
            return;
        };
        let rights = Rights::cached(vec![Key::of(cluster, &reader)], Some(state));
        // What is not known is asked for by whoever starts next.
        let _ = rights
            .learn([(cluster, &reader)].into_iter(), crate::session::now())
            .await;
    }
}
