//! From a host's name to its addresses.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::lookup_host;
use tokio::time::timeout;

use crate::error::Error;
use crate::settings::Host;

/// The addresses of a host. On its own and not as a part of connecting, since a machine without a name server would else
/// be told that the host is silent.
pub(super) async fn addresses(host: &Host, limit: Duration) -> Result<Vec<SocketAddr>, Error> {
    let unknown = |what: String, source| Error::NeverSent {
        host: host.to_string(),
        what,
        source,
    };
    match timeout(limit, lookup_host((host.name.as_str(), host.port))).await {
        Ok(Ok(found)) => Ok(found.collect()),
        Ok(Err(error)) => {
            let what = "its address was not found".to_owned();
            Err(unknown(what, Some(Arc::new(error))))
        }
        Err(_) => {
            let what = format!("no name server told its address within {limit:?}");
            Err(unknown(what, None))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::look::look;
    use crate::settings::Trust;

    fn host(name: &str) -> Host {
        name.parse().unwrap()
    }

    /// Whether nobody answers in time or somebody says that there is no such name: it is the name that is missing.
    #[tokio::test]
    async fn a_name_without_an_address_is_not_a_silent_host() {
        let error = look(&host("nowhere.invalid"), &Trust::System, Duration::ZERO).await;
        let said = error.unwrap_err().to_string();
        assert!(
            said.contains("nowhere.invalid:8006 was not reached"),
            "{said}"
        );
        assert!(said.contains("its address"), "{said}");
    }

    #[tokio::test]
    async fn an_address_needs_no_name_server() {
        let found = addresses(&host("127.0.0.1"), Duration::ZERO).await;
        assert_eq!(found.unwrap(), ["127.0.0.1:8006".parse().unwrap()]);
    }
}
