//! Who setup is to the cluster: somebody who logs in once, or a token that is there already. A password is sent and forgotten.

use pve::{Challenge, Credentials, Entry, Factor, Host, IdError, Settings, TokenId, Trust};
use secrecy::{ExposeSecret as _, SecretString};
use tools::fault::{Fault, Kind, explain};

use super::look::unreached;
use super::talk::Talk;
use super::wishes::Wishes;
use crate::cli::{out, person};

/// How often a person may mistype.
const TRIES: usize = 3;

/// The way in.
#[derive(Debug)]
pub struct Entered {
    /// What reaches the cluster.
    pub settings: Settings,
    /// The token that was given, with its secret.
    pub token: Option<(TokenId, SecretString)>,
}

/// Logs in, or takes the token.
pub async fn enter(
    hosts: Vec<Host>,
    trust: Trust,
    wishes: &Wishes,
    talk: Talk,
) -> Result<Entered, Fault> {
    let settings = |credentials| Settings {
        trust: trust.clone(),
        ..Settings::new(hosts.clone(), credentials)
    };
    let said = wishes.user.is_some() || wishes.password.is_some() || wishes.token.is_some();
    let ways = [
        "log in once, and let setup make a token for oxmox".to_owned(),
        "use an API token that is there already".to_owned(),
    ];
    let by_token = wishes.token.is_some()
        || (!said && talk.choose("How does oxmox get in?", &ways, 0).await? == 1);
    if by_token {
        return given_token(&settings, wishes, talk).await;
    }
    let user = match &wishes.user {
        Some(user) => user.clone(),
        None => {
            talk.line(
                "Who logs in, this once",
                Some("root@pam"),
                "--user root@pam",
            )
            .await?
        }
    };
    // Good for one try: PVE locks a factor that is answered wrong too often.
    let mut code = wishes.totp.clone();
    for _ in 1..TRIES {
        match log_in(&settings, &user, (wishes, &mut code), talk).await {
            // Somebody who typed it can type it again.
            Err(fault) if fault.kind == Kind::Forbidden && wishes.password.is_none() => {
                out::fault(&fault);
            }
            result => return result,
        }
    }
    log_in(&settings, &user, (wishes, &mut code), talk).await
}

async fn log_in(
    settings: &impl Fn(Credentials) -> Settings,
    user: &str,
    (wishes, code): (&Wishes, &mut Option<SecretString>),
    talk: Talk,
) -> Result<Entered, Fault> {
    let password = match &wishes.password {
        Some(password) => password.clone(),
        None => {
            talk.secret(
                &format!("Password of {user}"),
                "--password-stdin or --password-file FILE",
            )
            .await?
        }
    };
    let user = user.to_owned();
    let with_password = settings(Credentials::Password {
        user: user.clone(),
        password: password.clone().into(),
    });
    let mut hidden = vec![password.clone()];
    let entry = pve::log_in(&with_password).await;
    let credentials = match entry.map_err(|error| refused_login(&with_password, wishes, &error))? {
        Entry::In(credentials) => credentials,
        Entry::Half(challenge) => {
            let factor = factor(&user, &challenge, (wishes, code.take()), talk).await?;
            let (Factor::Totp(code) | Factor::Recovery(code)) = &factor;
            hidden.push(code.clone());
            let answer = pve::answer_challenge(&with_password, &challenge, &factor).await;
            answer.map_err(|error| refused_factor((&with_password, wishes), &factor, &error))?
        }
    };
    Ok(Entered {
        settings: Settings {
            hidden,
            ..settings(credentials)
        },
        token: None,
    })
}

/// What answers the challenge, if it can be answered from a terminal.
async fn factor(
    user: &str,
    challenge: &Challenge,
    (wishes, code): (&Wishes, Option<SecretString>),
    talk: Talk,
) -> Result<Factor, Fault> {
    if challenge.totp {
        if let Some(code) = code {
            return Ok(Factor::Totp(code));
        }
        let or = if challenge.recovery {
            ", or one of the recovery keys"
        } else {
            ""
        };
        let question = format!("Code of {user}'s authenticator{or}");
        let answer = talk.secret(&question, "--totp CODE").await?;
        return Ok(if challenge.recovery && !is_code(&answer) {
            Factor::Recovery(answer)
        } else {
            Factor::Totp(answer)
        });
    }
    if challenge.recovery && person::is_there() {
        let question = format!("One of {user}'s recovery keys, which is used up by it");
        let flag = match &wishes.undone {
            Some(_) => "--user USER@REALM --totp CODE",
            None => "--token USER!NAME",
        };
        let key = talk.secret(&question, flag).await?;
        return Ok(Factor::Recovery(key));
    }
    let (what, besides) = if challenge.recovery {
        let what = format!("{user} has a second factor that takes a browser or a recovery key");
        (
            what,
            "run setup at a terminal, which asks for a recovery key; or ",
        )
    } else {
        let asked = match challenge.others.as_slice() {
            [] => "one".to_owned(),
            others => others.join(" or "),
        };
        let what = format!("{user} has a second factor that takes a browser: {asked}");
        (what, "")
    };
    let or = match &wishes.undone {
        Some(cluster) => format!(
            "log in as a user with TOTP: `{} --user USER@REALM --totp CODE`",
            wishes.commands.undo(cluster)
        ),
        None => format!(
            "make a token in PVE's web interface (Datacenter > Permissions > API Tokens), give it rights there, and run \
             `{}`; or log in as a user with TOTP",
            wishes.commands.with("setup --token USER!NAME")
        ),
    };
    Err(Fault::new(Kind::Failed, what).hint(format!("{besides}{or}")))
}

/// Codes are digits; recovery keys have letters and dashes.
fn is_code(answer: &SecretString) -> bool {
    let text = answer.expose_secret().trim();
    text.chars().all(|letter| letter.is_ascii_digit())
}

async fn given_token(
    settings: &impl Fn(Credentials) -> Settings,
    wishes: &Wishes,
    talk: Talk,
) -> Result<Entered, Fault> {
    let id = match &wishes.token {
        Some(id) => id.clone(),
        None => {
            talk.line("The token's name, like root@pam!oxmox", None, "--token")
                .await?
        }
    };
    let id: TokenId = id.parse().map_err(|error: IdError| {
        Fault::bad_input(error.to_string())
            .hint("it has a user, a realm and a name, root@pam!oxmox; its secret is asked for, or comes by --token-secret-stdin or --token-secret-file")
    })?;
    let secret = match &wishes.token_secret {
        Some(secret) => secret.clone(),
        None => {
            talk.secret(
                &format!("Secret of {id}"),
                "--token-secret-stdin or --token-secret-file FILE",
            )
            .await?
        }
    };
    let credentials = Credentials::Token {
        user: id.user.clone(),
        name: id.name.clone(),
        secret: secret.clone().into(),
    };
    let settings = settings(credentials);
    let (reader, _) = pve::connect(settings.clone())?;
    reader.version().await.map_err(|error| match error {
        error if error.is_refused_login() => Fault::new(Kind::Forbidden, format!("PVE refused the token {id}")).hint(
            "check name and secret: PVE shows the secret once, when the token is made; a lost one takes a new token",
        ),
        other => lost(&settings, wishes, &other),
    })?;
    Ok(Entered {
        settings,
        token: Some((id, secret)),
    })
}

fn refused_login(settings: &Settings, wishes: &Wishes, error: &pve::Error) -> Fault {
    let user = settings.credentials.id();
    match error {
        error if error.is_refused_login() => Fault::new(Kind::Forbidden, format!("PVE refused the login of {user}")).hint(
            "PVE does not say which of them is wrong: the name, the realm (pam: accounts of the node, pve: PVE's own) or the password",
        ),
        other => lost(settings, wishes, other),
    }
}

fn refused_factor(
    (settings, wishes): (&Settings, &Wishes),
    factor: &Factor,
    error: &pve::Error,
) -> Fault {
    if !error.is_refused_login() {
        return lost(settings, wishes, error);
    }
    match factor {
        Factor::Recovery(_) => Fault::new(
            Kind::Forbidden,
            "the password is right, and PVE refused the recovery key",
        )
        .hint("each of them is good for one login: take another one, and type it with its dashes"),
        Factor::Totp(_) => Fault::new(Kind::Forbidden, "the password is right, and PVE refused the code").hint(
            "a code is good for half a minute and once: wait for the next one, and check the clock of the device; after \
             too many wrong ones PVE locks the factor, and an administrator unlocks it",
        ),
    }
}

/// Neither in nor refused: the connection.
fn lost(settings: &Settings, wishes: &Wishes, error: &pve::Error) -> Fault {
    match (error, settings.hosts.first()) {
        (pve::Error::Fingerprint(untrusted), _) => {
            let what = format!(
                "{} presents another certificate than the one that was accepted: {}; nothing was sent",
                untrusted.host, untrusted.presented
            );
            Fault::new(Kind::Refused, what).hint(format!(
                "it was renewed, several machines answer under this address, or somebody is in between: find out which; \
                 `{} --pin FINGERPRINT` accepts a new one",
                wishes.command(&untrusted.host)
            ))
        }
        (pve::Error::NeverSent { .. }, Some(host)) => unreached(host, error),
        (pve::Error::Auth { .. }, _) => Fault::new(Kind::Failed, explain(error)).hint(
            "this says nothing of the password: PVE, or something before it, did not end the login; look what answers there, \
             and run the same command again",
        ),
        // What answers there does not speak as PVE does.
        (
            pve::Error::Decode { .. }
            | pve::Error::Status {
                status: 300..500,
                errors: _,
                ..
            },
            Some(host),
        ) => {
            let what = format!(
                "{host} does not answer as Proxmox VE does: {}",
                explain(error)
            );
            Fault::new(Kind::Unreachable, what)
                .hint("something else answers there: name a node of the cluster and its port, usually 8006")
        }
        _ => Fault::new(Kind::Unreachable, explain(error))
            .hint("run the same command again when the cluster answers"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_certificate_is_accepted_by_the_command_that_met_it() {
        let untrusted = pve::Untrusted {
            host: "pve1:8006".to_owned(),
            presented: pve::Fingerprint::of_der(b"x"),
            pinned: None,
            problem: "it is another one".to_owned(),
        };
        let error = pve::Error::Fingerprint(Box::new(untrusted));
        let credentials = Credentials::Ticket {
            user: "root@pam".to_owned(),
            ticket: "x".into(),
            csrf: "x".into(),
        };
        let settings = Settings::new(Vec::new(), credentials);
        for (undone, command) in [
            (None, "`oxmox setup --host pve1:8006 --pin FINGERPRINT`"),
            (
                Some("home"),
                "`oxmox setup --undo --name home --pin FINGERPRINT`",
            ),
        ] {
            let wishes = Wishes {
                undone: undone.map(str::to_owned),
                ..Wishes::default()
            };
            let hint = lost(&settings, &wishes, &error).hint.unwrap_or_default();
            assert!(hint.contains(command), "{hint}");
        }
    }
}
