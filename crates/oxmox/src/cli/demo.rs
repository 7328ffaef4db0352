//! `oxmox demo`: everything on a simulated cluster, with nothing to configure.

use std::net::{Ipv4Addr, SocketAddr};

use tools::engine::State;
use tools::fault::Fault;

use super::exit::Exit;
use super::global::Global;
use super::runtime::{self, Threads};
use super::{out, serve, tour};
use crate::http::{self, Live};
use crate::session::Session;

/// Where the demo is served if nobody says otherwise and the port is free.
const USUAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8765);

/// Serves MCP over HTTP on a simulated cluster, and says what to try
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to serve [default: 127.0.0.1:8765, or any free port]
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
    /// Play a short session by itself, and end
    #[arg(long)]
    tour: bool,
}

/// Serves until a signal comes, or plays the tour.
pub fn run(args: &Args, mut global: Global) -> Result<Exit, Fault> {
    global.demo = true;
    if args.tour {
        return runtime::block_on(Threads::One, tour::run(&global));
    }
    if let Some(address) = args.http {
        serve::require_loopback(address)?;
    }
    runtime::block_on(Threads::Several, serve_demo(args.http, &global))
}

async fn serve_demo(wanted: Option<SocketAddr>, global: &Global) -> Result<Exit, Fault> {
    let config = global.load()?;
    let session = Session::demo(&config, State::Dir(config.state_dir.clone())).await?;
    let listener = match wanted {
        Some(address) => serve::listen(address).await?,
        None => match serve::listen(USUAL).await {
            Ok(listener) => listener,
            Err(_) => serve::listen(SocketAddr::new(USUAL.ip(), 0)).await?,
        },
    };
    let address = listener.local_addr().unwrap_or(USUAL);
    let live = http::unchanging(Live::default());
    serve::serve(
        session.engine.clone(),
        listener,
        live,
        global.program(),
        || welcome(&format!("http://{address}/mcp")),
    )
    .await?;
    Ok(Exit::Done)
}

fn welcome(url: &str) {
    out::say(format_args!(
        "A simulated cluster of three nodes is served to MCP clients at {url}\nNothing real is touched, and it is gone with this process."
    ));
    out::heading("Connect a client");
    out::say(format_args!(
        "Claude Code:  claude mcp add --transport http oxmox-demo {url}\nOthers:       {{\"mcpServers\": {{\"oxmox-demo\": {{\"type\": \"http\", \"url\": \"{url}\"}}}}}}"
    ));
    out::heading("Then ask it");
    out::say(
        "- Which guests run in production, and is any of them not backed up?\n\
         - Clone VM 105 to 300, start the copy and press ctrl-alt-delete on its console.\n\
         - What would be lost if VM 105 were deleted? Then delete it.",
    );
    out::heading("When it asks for your yes");
    out::say(
        "Your client shows the question itself if it can. If not, at the page below, or in another terminal:\n\
         oxmox --demo approve       lists what waits\n\
         oxmox --demo approve ID    shows it and asks you\n\
         oxmox --demo audit         shows what was done",
    );
    out::say("\nCtrl-C ends it.\n");
}
