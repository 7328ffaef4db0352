//! A rule about a tool is one about what it does: each tool that changes something is known by what it sends.

use tools::policy::{Mode, deeds};
use tools::registry;
use tools::spec::Risk;
use tools::tool::Ran;

use crate::house::{House, object};

/// Tools that are about any method, or hand on to the tool whose plan it is.
const OTHERS: &[&str] = &["write_proxmox_api", "manage_proxmox_vm"];

#[test]
fn a_tool_that_thinks_says_what_it_does() {
    for tool in registry::all() {
        let spec = tool.spec();
        let is_other = tool.alias_of().is_some() || tool.relays() || OTHERS.contains(&spec.name);
        let thinks = spec.risk > Risk::Read && tool.methods().is_empty() && !is_other;
        assert_eq!(thinks, !tool.deeds().is_empty(), "{}", spec.name);
    }
}

#[tokio::test]
async fn a_tool_is_known_by_what_it_sends() {
    let house = House::in_mode(Mode::Trusted).await;
    let mut unknown = Vec::new();
    for (tool, args) in super::changes() {
        let name = tool.spec().name;
        // Of a template a VM is made by cloning it.
        let clones = name == "create_proxmox_vm" && object(args).contains_key("template");
        if OTHERS.contains(&name) || clones || tool.alias_of().is_some() || tool.relays() {
            continue;
        }
        let Ok(Ran::Plan(plan)) = tool.run(object(args), &house.context()).await else {
            panic!("{name} {args} gave no plan");
        };
        let sent: Vec<_> = plan
            .requests()
            .map(|request| format!("{} {}", request.method, request.path))
            .collect();
        let proper = plan.proper.as_deref().unwrap_or(name);
        if !sent.is_empty() && !deeds(&plan).contains(proper) {
            unknown.push(format!("{name} {args}: {sent:?} is {:?}", deeds(&plan)));
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}
