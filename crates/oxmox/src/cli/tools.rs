//! `oxmox tools`: what a model is offered.

use tools::fault::Fault;
use tools::registry::Registry;
use tools::rights::Rights;

use super::exit::Exit;
use super::global::Global;
use super::out;
use crate::config::ClusterConfig;
use crate::mcp;

/// Lists the tools that a client would see
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print them as `tools/list` answers, schemas included
    #[arg(long)]
    json: bool,
}

/// Lists them. Nothing is contacted, and no secret is fetched.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Fault> {
    let config = global.load()?;
    let clusters = config
        .clusters
        .iter()
        .map(|cluster| cluster.name.clone())
        .collect();
    let registry = Registry::new(&config.toolsets, config.most(), clusters).with(config.choices);
    let keys = config.clusters.iter().map(ClusterConfig::rights_key);
    let unlisted = Rights::cached(keys.collect(), Some(&config.state_dir)).unlisted();
    if args.json {
        out::json(&mcp::tools_json(&registry, &unlisted))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = registry
        .tools()
        .filter(|tool| !unlisted.contains_key(tool.spec().name))
        .map(|tool| {
            let spec = tool.spec();
            [spec.name, spec.risk.word(), spec.title].map(str::to_owned)
        })
        .collect();
    out::table(&tools::words::table(
        ["tool", "worst risk", "what it does"],
        &rows,
    ))?;
    let left_out = registry.tools().count() - rows.len();
    if left_out > 0 {
        let tools = tools::words::count(left_out, "tool");
        out::hint(format_args!(
            "left out: {tools} that the token has no privilege for; `oxmox doctor --json` names them"
        ));
    }
    out::hint("`oxmox call TOOL --help` shows what one takes");
    Ok(Exit::Done)
}
