//! Tools that are called through another one, which hands calls on.

use super::{Registry, all, is_usable};
use crate::area::lean::CallTool;
use crate::fault::Fault;
use crate::schema;
use crate::tool::{Object, Tool};

impl Registry {
    /// The tool that a call is for: the one of that name or, if that hands calls on, the one that it names.
    pub fn meant(
        &self,
        name: &mut String,
        arguments: &mut Object,
    ) -> Result<&'static dyn Tool, Fault> {
        let tool = self.find(name)?;
        if !tool.relays() {
            return Ok(tool);
        }
        let (tool, theirs) = self.handed_on(std::mem::take(arguments))?;
        tool.spec().name.clone_into(name);
        *arguments = theirs;
        Ok(tool)
    }

    /// The name and the arguments of the call that is meant, where one is handed on.
    pub(crate) fn behind(
        &self,
        name: String,
        arguments: Object,
    ) -> Result<(String, Object), Fault> {
        // Also of a plan that is only looked at.
        if let Some(tool) = all().find(|tool| tool.spec().name == name)
            && !self.choices.allow(&name)
        {
            return Err(self.off(tool));
        }
        if !all().any(|tool| tool.relays() && tool.spec().name == name) {
            return Ok((name, arguments));
        }
        let (tool, arguments) = self.handed_on(arguments)?;
        Ok((tool.spec().name.to_owned(), arguments))
    }

    /// The tool and the arguments in a call that is handed on.
    pub(crate) fn handed_on(
        &self,
        mut arguments: Object,
    ) -> Result<(&'static dyn Tool, Object), Fault> {
        let input = schema::input::<CallTool>();
        let cluster = arguments.remove("cluster").filter(|name| !name.is_null());
        schema::known(&arguments, &input)?;
        schema::coerce(&mut arguments, &input)?;
        let mut call: CallTool = schema::parse(arguments)?;
        let tool = self.reach(&call.tool)?;
        // Beside the arguments it means the same as among them.
        if let Some(cluster) = cluster {
            let inside = call.arguments.entry("cluster").or_insert(cluster.clone());
            if *inside != cluster {
                return Err(Fault::bad_input("two clusters are named")
                    .hint("send cluster once, beside the arguments or among them"));
            }
        }
        Ok((tool, call.arguments))
    }

    /// The tool of that name, of whatever toolset, as far as there is any use for it.
    pub fn reach(&self, name: &str) -> Result<&'static dyn Tool, Fault> {
        if let Some(tool) = self.reachable().find(|tool| tool.spec().name == name) {
            return Ok(tool);
        }
        let mut others = all().filter(|tool| !tool.relays());
        if let Some(tool) = others.find(|tool| tool.spec().name == name) {
            return Err(self.useless(tool));
        }
        let fault = Fault::bad_input(format!("there is no tool {}", crate::words::clip(name, 64)));
        let names = self.reachable().map(|tool| tool.spec().name);
        Err(match schema::nearest(name, names) {
            Some(near) => fault.hint(format!("did you mean {near}?")),
            None => fault.hint("search_proxmox_tools finds it by what it does"),
        })
    }

    pub(super) fn reachable(&self) -> impl Iterator<Item = &'static dyn Tool> {
        let (most, choices) = (self.most(), self.choices);
        all().filter(move |tool| {
            !tool.relays() && is_usable(most, *tool) && choices.allow(tool.spec().name)
        })
    }

    /// Whether a client can call the tool of that name, by itself or through the one that hands calls on.
    pub fn can_call(&self, name: &str) -> bool {
        self.find(name).is_ok() || self.hands_on() && self.reach(name).is_ok()
    }

    /// Whether tools that are not listed can be called.
    pub fn hands_on(&self) -> bool {
        self.tools().any(<dyn Tool>::relays)
    }
}
