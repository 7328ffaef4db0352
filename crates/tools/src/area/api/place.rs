//! Where a path leads: to which cluster, and to which of its methods.

use std::sync::Arc;

use pve::apidoc::{Found, Method, NearMiss, Problem, Schema, Wrong};
use pve::{Method as Verb, NodeName};

use crate::clean;
use crate::context::{Cluster, Context};
use crate::fault::{Fault, Kind};
use crate::words;

/// Parameters that a message names at most.
const NAMED: usize = 30;

/// The cluster that a path is of: the one with the node in it, or the only one.
pub(super) async fn cluster(cx: &Context, path: &str) -> Result<Arc<Cluster>, Fault> {
    let path = path.trim().trim_start_matches("/api2/json");
    let below = path.trim_start_matches('/').strip_prefix("nodes/");
    let name = below.and_then(|below| below.split('/').next());
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        let node = NodeName::new(name).map_err(|error| Fault::bad_input(error.to_string()))?;
        let (cluster, is_online) = cx.node(&node).await?;
        return if is_online {
            Ok(cluster)
        } else {
            let message = format!("node {node} is offline");
            Err(Fault::new(Kind::Unreachable, message)
                .hint("try again when it is back, or name another node"))
        };
    }
    match cx.clusters.as_slice() {
        [only] => Ok(only.clone()),
        several => {
            let names: Vec<_> = several.iter().map(|it| it.name.as_str()).collect();
            Err(Fault::bad_input("the path does not tell which cluster")
                .hint(format!("say cluster: one of {}", words::list(&names))))
        }
    }
}

/// The method behind a verb and a path, or what there is instead.
pub(super) fn find<'a>(schema: &'a Schema, verb: Verb, path: &str) -> Result<Found<'a>, Fault> {
    let shown = words::clip(path, 120);
    schema.find(verb, path).map_err(|miss| match miss {
        NearMiss::BadPath(why) => bad_path(&why),
        NearMiss::Verbs(verbs) => {
            let verbs: Vec<_> = verbs.iter().map(|verb| verb.as_str()).collect();
            let message = format!("{shown} does not take {verb}, only {}", words::list(&verbs));
            let writes: Vec<_> = verbs.into_iter().filter(|verb| *verb != "GET").collect();
            Fault::bad_input(message).hint(if verb == Verb::Get {
                format!("write_proxmox_api sends {}", words::list(&writes))
            } else {
                "read_proxmox_api sends GET; check the path".to_owned()
            })
        }
        NearMiss::Paths(near) => {
            let message = format!("this cluster's API has no path {shown}");
            Fault::new(Kind::NotFound, message).hint(if near.is_empty() {
                "search_proxmox_api finds methods by what they do".to_owned()
            } else {
                format!(
                    "there is {}; search_proxmox_api finds methods by what they do",
                    words::list(&near)
                )
            })
        }
    })
}

/// A path that could mean something else than it says.
pub(super) fn bad_path(why: &str) -> Fault {
    Fault::bad_input(format!("path: {why}")).hint(
        "send a path such as \"/nodes/pve1/qemu/105/config\", with what it is asked in params",
    )
}

/// Everything that PVE would refuse of the parameters, and what the method takes.
pub(super) fn wrong(method: &Method, problems: &[Problem]) -> Fault {
    let said = |problem: &Problem| match &problem.wrong {
        // The words about a form may hold a part of what was sent.
        Wrong::Format(why)
            if clean::is_secret_at(&problem.parameter, &method.path)
                || clean::has_password(why) =>
        {
            format!("{}: it does not look as it must", problem.parameter)
        }
        _ => problem.to_string(),
    };
    let said: Vec<_> = problems.iter().map(said).collect();
    Fault::bad_input(format!(
        "{method} would be refused: {}",
        words::clip(&said.join("; "), 1_500)
    ))
    .hint(takes(method))
}

/// "it takes name, and optionally force, purge"
fn takes(method: &Method) -> String {
    let (optional, required): (Vec<_>, Vec<_>) =
        method.own_parameters().partition(|it| it.optional);
    let named = |list: &[&pve::apidoc::Parameter]| -> String {
        let names: Vec<_> = list.iter().take(NAMED).map(|it| it.name.as_str()).collect();
        let more = match list.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}", names.join(", "))
    };
    match (required.is_empty(), optional.is_empty()) {
        (true, true) => "it takes no params".to_owned(),
        (false, true) => format!("it takes {}", named(&required)),
        (true, false) => format!("all optional: {}", named(&optional)),
        (false, false) => format!(
            "it takes {}, and optionally {}",
            named(&required),
            named(&optional)
        ),
    }
}
