//! A recorded request as it is sent in this run: with its names, credentials and files.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::Runner;
use crate::call::Identity;
use crate::http::Request;
use crate::replay::exchange::Exchange;
use crate::worlds;

impl Runner<'_> {
    /// The request as it was sent; `None` if its credentials were never made.
    pub(super) fn request(&self, exchange: &Exchange) -> Option<Request> {
        let changes = self
            .script
            .request
            .get(&exchange.id)
            .cloned()
            .unwrap_or_default();
        let mut target = exchange
            .prefix
            .clone()
            .unwrap_or_else(|| "/api2/json".to_owned());
        target += &self.renamed(&exchange.path);
        let pairs = |pairs: &[(String, String)]| {
            let sent = pairs.iter().map(|(name, value)| {
                let value = changes
                    .form
                    .get(name)
                    .map_or_else(|| self.renamed(value), |text| self.filled(text));
                (name.clone(), value)
            });
            let sent: Vec<_> = sent.collect();
            encode(
                sent.iter()
                    .map(|(name, value)| (name.as_str(), value.as_str())),
            )
        };
        if !exchange.query.is_empty() {
            target = format!("{target}?{}", pairs(&exchange.query));
        }
        let mut headers = match &changes.headers {
            Some(given) => given
                .iter()
                .map(|(name, value)| (name.clone(), self.filled(value)))
                .collect(),
            None => self.credentials(&exchange.auth)?,
        };
        let mut body = bytes(exchange.raw_body.as_deref().unwrap_or_default());
        let mut content_type = exchange.content_type.clone();
        if !exchange.form.is_empty() {
            body = pairs(&exchange.form).into_bytes();
            content_type = Some("application/x-www-form-urlencoded".to_owned());
        }
        if let Some(framing) = &exchange.framing {
            let text = |key: &str| framing[key].as_str().unwrap_or_default();
            let file = text("body").replace("<36870 bytes>", &uploaded_file());
            body = file.into_bytes();
            content_type = Some(text("content-type").to_owned());
        }
        headers.extend(upgrade_headers(exchange));
        headers.extend(content_type.map(|kind| ("content-type".to_owned(), kind)));
        Some(Request {
            endpoint: exchange
                .endpoint
                .clone()
                .unwrap_or_else(|| "pve1".to_owned()),
            method: exchange.method.clone(),
            target,
            headers,
            body,
            form: None,
        })
    }

    /// Replaces recorded names by those of this run, and placeholders by something that fits.
    fn renamed(&self, text: &str) -> String {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let mut text = text.to_owned();
        for (recorded, name) in self
            .names
            .iter()
            .filter(|(recorded, _)| recorded.starts_with("UPID:"))
        {
            text = text.replace(recorded.as_str(), name);
            text = text.replace(&recorded.replace(':', "%3A"), name);
        }
        match text.as_str() {
            "<password>" => worlds::ROOT_PASSWORD.to_owned(),
            "<ssh-key>" => "ssh-ed25519%20AAAAC3NzaC1lZDI1NTE5AAAAIA%20a%40b".to_owned(),
            _ => text,
        }
    }

    /// Fills in `$ticket`, `$csrf` and `$secret`; `$vncticket WHO PATH` becomes a ticket for a console.
    fn filled(&self, text: &str) -> String {
        let world = &self.cluster.world;
        if let Some((who, path)) = text
            .strip_prefix("$vncticket ")
            .and_then(|rest| rest.split_once(' '))
        {
            return world
                .signer
                .vnc_ticket(&Identity::parse(who), path, world.now);
        }
        let secret = world
            .access
            .token(&Identity::parse("root@pam!mcp"))
            .map_or("", |token| &token.secret);
        text.replace("$ticket", &world.signer.ticket("root@pam", world.now))
            .replace("$csrf", &world.signer.csrf("root@pam", world.now))
            .replace("$secret", secret)
    }

    fn credentials(&self, auth: &str) -> Option<Vec<(String, String)>> {
        match auth {
            "root-ticket" => Some(vec![
                ("cookie".to_owned(), self.filled("PVEAuthCookie=$ticket")),
                ("csrfpreventiontoken".to_owned(), self.filled("$csrf")),
            ]),
            "root-token" => self.token_headers("root@pam!mcp"),
            "bob-token" => self.token_headers("bob@pve!mcp"),
            "carol-token" => self.token_headers("carol@pve!t1"),
            "erin-token" => self.token_headers("erin@pve!t1"),
            _ => Some(Vec::new()),
        }
    }

    pub(super) fn token_headers(&self, who: &str) -> Option<Vec<(String, String)>> {
        let token = self.cluster.world.access.token(&Identity::parse(who))?;
        let value = format!("PVEAPIToken={who}={}", token.secret);
        Some(vec![("authorization".to_owned(), value)])
    }
}

/// A body that was recorded with one character for each byte.
fn bytes(recorded: &str) -> Vec<u8> {
    let byte = |character| u8::try_from(u32::from(character)).ok();
    let bytes: Option<_> = recorded.chars().map(byte).collect();
    bytes.unwrap_or_else(|| recorded.as_bytes().to_vec())
}

/// The headers that ask for a websocket, if the request does; the key was not recorded.
fn upgrade_headers(exchange: &Exchange) -> Vec<(String, String)> {
    let sent = exchange.request_headers.iter();
    let mut headers: Vec<_> = sent
        .filter_map(|(name, value)| Some((name.to_lowercase(), value.clone()?)))
        .collect();
    if !headers.is_empty() {
        let key = "cmVjb3JkZWQga2V5Li4uLg==";
        headers.push(("sec-websocket-key".to_owned(), key.to_owned()));
    }
    headers
}

/// The file that the recorded uploads sent: an empty ISO image.
fn uploaded_file() -> String {
    let mut file = "\0".repeat(32768) + "\u{1}CD001";
    file += &"\0".repeat(4096);
    file
}

pub(super) fn encode<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let encoded = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
    let pairs: Vec<String> = pairs
        .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
        .collect();
    pairs.join("&")
}
