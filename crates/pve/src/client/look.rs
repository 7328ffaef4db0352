//! A look at a host's certificate, for a person to decide about it. Nothing is sent, and nothing is trusted.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

pub use super::tls::Presented;

use super::{lookup, tls};
use crate::error::{Cause, Error};
use crate::settings::{Host, Trust};

/// Asks a host for its certificate, and hangs up as soon as it has come. A pin has no part in it.
pub async fn look(host: &Host, trust: &Trust, limit: Duration) -> Result<Presented, Error> {
    let never_sent = |what: String, source: Option<Cause>| Error::NeverSent {
        host: host.to_string(),
        what,
        source,
    };
    let last = tls::Last::default();
    let (noted, to, trust) = (last.clone(), host.clone(), trust.clone());
    let config = tokio::task::spawn_blocking(move || tls::look_config_for(&to, &trust, noted));
    let config = config.await.map_err(|_| Error::Build {
        what: "the TLS settings could not be loaded".to_owned(),
    })??;
    let name = ServerName::try_from(host.name.clone()).map_err(|_| Error::Build {
        what: "this is not a host name".to_owned(),
    })?;
    let end = Instant::now() + limit;
    let addresses = lookup::addresses(host, limit).await?;
    let talk = async {
        let tcp = TcpStream::connect(addresses.as_slice()).await;
        let tcp =
            tcp.map_err(|error| never_sent("the connection failed".into(), Some(Arc::new(error))))?;
        Ok::<_, Error>(TlsConnector::from(config).connect(name, tcp).await)
    };
    let ended = timeout_at(end, talk).await;
    let ended =
        ended.map_err(|_| never_sent(format!("no connection within {limit:?}"), None))??;
    match (last.presented(), ended) {
        (Some(presented), _) => Ok(presented),
        (None, Err(error)) => {
            let what = "it does not speak TLS".to_owned();
            Err(never_sent(what, Some(Arc::new(error))))
        }
        (None, Ok(_)) => Err(never_sent("it presented no certificate".to_owned(), None)),
    }
}
