//! One rule each, held over every tool there is, from the tools' own examples on the demo world.

mod audit;
mod declared;
mod examples;
mod faults;
mod hostile;
mod privileges;
mod protected;
mod reference;
mod silent;

use tools::registry;
use tools::spec::Risk;
use tools::tool::Tool;

/// Every tool with each of its examples.
pub(crate) fn examples() -> impl Iterator<Item = (&'static dyn Tool, &'static str)> {
    registry::all().flat_map(|tool| {
        tool.spec()
            .examples
            .iter()
            .map(move |example| (tool, example.args))
    })
}

/// Those that change something.
pub(crate) fn changes() -> impl Iterator<Item = (&'static dyn Tool, &'static str)> {
    examples().filter(|(tool, _)| tool.spec().risk > Risk::Read)
}
