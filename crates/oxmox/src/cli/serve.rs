//! `oxmox` and `oxmox serve`: the MCP server.

use std::io::{self, IsTerminal as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;
use tools::engine::Engine;
use tools::fault::{Fault, Kind};

use super::exit::Exit;
use super::global::Global;
use super::notify::{self, News};
use super::out;
use super::recovery;
use super::reload::Reload;
use super::rights;
use super::runtime::{self, Threads};
use crate::config::Environment;
use crate::http::{Live, Settings, TlsFiles};
use crate::session::Session;
use crate::{http, mcp};

/// How long the end waits for changes that are being applied.
const PATIENCE: Duration = Duration::from_secs(30);

/// Serves MCP, on stdio unless told otherwise
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Serve Streamable HTTP at http://ADDR/mcp instead of stdio
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub http: Option<SocketAddr>,
    /// The server's certificate in PEM, with the chain that leads to it
    #[arg(long, value_name = "FILE", requires_all = ["http", "tls_key"])]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's key in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
}

impl Args {
    /// The settings with what the command line says about them.
    pub(super) fn over(&self, mut settings: Settings) -> Settings {
        if let (Some(cert), Some(key)) = (self.tls_cert.clone(), self.tls_key.clone()) {
            settings.tls = Some(TlsFiles { cert, key });
        }
        settings
    }
}

/// Where to listen, as people write it: `127.0.0.1:8765`, `localhost:8765`, or `8765` on this machine.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let here = |port: &str| Some(SocketAddr::from(([127, 0, 0, 1], port.parse().ok()?)));
    let found = text.parse().ok().or_else(|| match text.split_once(':') {
        None => here(text),
        Some(("localhost", port)) => here(port),
        Some(_) => None,
    });
    found.ok_or_else(|| "an address and a port are needed, such as 127.0.0.1:8765".to_owned())
}

/// Serves until the client leaves or a signal comes.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Fault> {
    Environment::of_process().refuse_other_server()?;
    match args.http {
        Some(address) => runtime::block_on(Threads::Several, over_http(address, args, global)),
        None => runtime::block_on(Threads::One, over_stdio(global)),
    }
}

async fn over_stdio(global: &Global) -> Result<Exit, Fault> {
    let session = global.session().await?;
    if io::stdin().is_terminal() {
        out::say("oxmox speaks MCP on stdin and stdout, and waits for a client to do so.");
        out::hint("`oxmox --help` shows what else it does; Ctrl-C ends it");
    }
    let stop = runtime::stop_signal();
    let recovering = tokio::spawn(recovery::keep_closing(session.engine.clone()));
    let learning = learn_rights(&session);
    mcp::serve_stdio(session.engine.clone(), stop)
        .await
        .map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
    recovering.abort();
    drop(learning);
    finish(&session.engine, global.program()).await;
    Ok(Exit::Done)
}

async fn over_http(address: SocketAddr, args: &Args, global: &Global) -> Result<Exit, Fault> {
    let session = global.session().await?;
    let live = Live::new(&args.over(session.http.clone()))?.for_clusters(session.clusters.clone());
    let listener = listen(address).await?;
    let bound = listener.local_addr().unwrap_or(address);
    let scheme = live.scheme();
    let (live, seen) = watch::channel(Arc::new(live));
    let reload = Reload {
        engine: session.engine.clone(),
        live,
    };
    let begun = || out::say(format_args!("MCP is served at {scheme}://{bound}/mcp"));
    let _learning = learn_rights(&session);
    let served = serve(
        session.engine.clone(),
        listener,
        seen,
        global.program(),
        begun,
    );
    tokio::select! {
        // In this order: whoever hears that it is ready may send the signal at once.
        biased;
        () = reload.on_signal(args, global) => {}
        ended = served => ended?,
    }
    Ok(Exit::Done)
}

/// Learns in the background what the tokens may do. The demo's may do all, and its cluster is a new one each time.
fn learn_rights(session: &Session) -> Option<AbortOnDropHandle<()>> {
    let learning = || tokio::spawn(rights::learn(session.engine.clone(), tokio::time::sleep));
    (session.simulator.is_none()).then(|| AbortOnDropHandle::new(learning()))
}

/// Serves HTTP until a signal comes, then waits for what is being applied. `begun` is told once it may be served: whoever
/// comes is answered from then on.
pub async fn serve(
    engine: Arc<Engine>,
    listener: TcpListener,
    live: watch::Receiver<Arc<Live>>,
    program: &str,
    begun: impl FnOnce(),
) -> Result<(), Fault> {
    let stop = runtime::stop_signal();
    let service = http::Service::open(engine.clone(), listener, live, stop.clone())
        .await
        .map_err(|error| in_words(&error))?;
    begun();
    service.announce();
    let ending = stop.clone();
    let telling = tokio::spawn(async move {
        ending.cancelled().await;
        notify::tell(News::Stopping);
    });
    let recovering = tokio::spawn(recovery::keep_closing(engine.clone()));
    notify::tell(News::Ready);
    let served = service.run().await;
    recovering.abort();
    // Where nobody is connected, the end may come before that task had its turn.
    if stop.is_cancelled() {
        let _ = telling.await;
    }
    served.map_err(|error| in_words(&error))?;
    finish(&engine, program).await;
    Ok(())
}

/// A listener at this address.
pub async fn listen(address: SocketAddr) -> Result<TcpListener, Fault> {
    TcpListener::bind(address).await.map_err(|error| {
        let fault = Fault::new(Kind::Failed, format!("cannot listen on {address}: {error}"));
        match error.kind() {
            io::ErrorKind::AddrInUse => {
                fault.hint("somebody listens there already; with port 0 a free one is taken")
            }
            io::ErrorKind::AddrNotAvailable => fault.hint("it is none of this machine's addresses"),
            _ => fault,
        }
    })
}

/// Refuses an address that other machines can reach, for what asks nobody who they are.
pub fn require_loopback(address: SocketAddr) -> Result<(), Fault> {
    if address.ip().to_canonical().is_loopback() {
        return Ok(());
    }
    let what = format!(
        "{address} can be reached from other machines, and nobody is asked here who they are"
    );
    Err(Fault::bad_input(what).hint(format!("serve on 127.0.0.1:{}", address.port())))
}

/// The fault that a person is told of.
fn in_words(error: &http::Error) -> Fault {
    match error {
        http::Error::NotLoopback(address) => Fault::bad_input(error.to_string()).hint(format!(
            "give out a token first (`oxmox token add NAME`), or serve on 127.0.0.1:{}",
            address.port()
        )),
        http::Error::ForOthers => Fault::bad_input(error.to_string())
            .hint("give out a token first: `oxmox token add NAME`"),
        http::Error::Unencrypted(address) => Fault::bad_input(error.to_string()).hint(format!(
            "name a certificate (tls_cert and tls_key in [http], or --tls-cert and --tls-key); or say `behind_proxy = true` \
             there if a proxy in front speaks TLS; or serve on 127.0.0.1:{}",
            address.port()
        )),
        http::Error::Store(fault) => fault.clone(),
        http::Error::Socket(_) => Fault::new(Kind::Failed, error.to_string()),
    }
}

async fn finish(engine: &Engine, program: &str) {
    if !engine.drain(PATIENCE).await {
        out::warn(
            "changes were still being applied: what PVE has started goes on, later steps are not sent",
        );
        out::hint(format_args!("`{program} audit` shows them as open"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_as_people_write_it() {
        for (text, meant) in [
            ("127.0.0.1:8765", "127.0.0.1:8765"),
            ("localhost:8765", "127.0.0.1:8765"),
            ("8765", "127.0.0.1:8765"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:8765", "[::1]:8765"),
        ] {
            assert_eq!(address(text).unwrap().to_string(), meant);
        }
        for wrong in [
            "",
            ":8765",
            "127.0.0.1",
            "localhost",
            "example.com:80",
            "99999",
        ] {
            assert!(address(wrong).unwrap_err().contains("127.0.0.1:8765"));
        }
    }
}
