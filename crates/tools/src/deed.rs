//! What a tool does, told by what it sends: declared with each tool that has code of its own, so that a rule about the tool
//! holds for whatever sends the same.

use std::borrow::Cow;

use pve::{Method, Request, Value};

use crate::plan::Action;

/// One way to do what a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// A method of PVE's API.
    Sends {
        /// Its verb.
        verb: Method,
        /// Its path. `{}` is any word; `{guest}` is `qemu/{}` or `lxc/{}`.
        path: &'static str,
        /// When it counts.
        when: When,
    },
    /// Keys on a VM's console.
    Keys,
    /// A line on a guest's terminal.
    TerminalLine,
    /// A program at the prompt of a container's terminal.
    TerminalExec,
}

/// When a method is what a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Whatever goes along.
    Always,
    /// Where this parameter goes along.
    Has(&'static str),
    /// Where it does not.
    Lacks(&'static str),
    /// Where it has one of these values.
    Is(&'static str, &'static [&'static str]),
}

impl Deed {
    pub(crate) const fn get(path: &'static str) -> Self {
        Self::sends(Method::Get, path, When::Always)
    }

    pub(crate) const fn post(path: &'static str) -> Self {
        Self::sends(Method::Post, path, When::Always)
    }

    pub(crate) const fn put(path: &'static str) -> Self {
        Self::sends(Method::Put, path, When::Always)
    }

    pub(crate) const fn delete(path: &'static str) -> Self {
        Self::sends(Method::Delete, path, When::Always)
    }

    /// One of these simple commands of a guest's agent, by PVE's method for any of them.
    pub(crate) const fn agent(commands: &'static [&'static str]) -> Self {
        Self::post("/nodes/{}/{guest}/agent").when(When::Is("command", commands))
    }

    /// The same method, but only then.
    #[must_use]
    pub(crate) const fn when(self, when: When) -> Self {
        match self {
            Self::Sends { verb, path, .. } => Self::sends(verb, path, when),
            other => other,
        }
    }

    const fn sends(verb: Method, path: &'static str, when: When) -> Self {
        Self::Sends { verb, path, when }
    }

    /// Whether this is it.
    pub(crate) fn is(self, action: &Action) -> bool {
        match self {
            Self::Keys => matches!(action, Action::Keys(_)),
            Self::TerminalLine => matches!(action, Action::TerminalLine(_)),
            Self::TerminalExec => matches!(action, Action::TerminalExec(_)),
            Self::Sends { verb, path, when } => method_of(action).is_some_and(|request| {
                verb == request.method && fits(&request.path, path) && when.holds(&request)
            }),
        }
    }
}

/// The request that is all an action does to PVE; none where that only opens a console, which by itself does nothing.
pub(crate) fn method_of(action: &Action) -> Option<Cow<'_, Request>> {
    match action {
        Action::Keys(_) | Action::TerminalLine(_) | Action::TerminalExec(_) => None,
        Action::Request(_)
        | Action::Upload(_)
        | Action::Download(_)
        | Action::AgentExec(_)
        | Action::AgentFile(_) => Some(action.request()),
    }
}

impl When {
    pub(crate) fn holds(self, request: &Request) -> bool {
        match self {
            Self::Always => true,
            Self::Has(name) => request.param(name).is_some(),
            Self::Lacks(name) => request.param(name).is_none(),
            Self::Is(name, values) => {
                let value = request.param(name).map(Value::to_string);
                value.is_some_and(|value| values.contains(&value.as_str()))
            }
        }
    }
}

/// Whether a path is of this form.
pub(crate) fn fits(path: &str, form: &str) -> bool {
    let (mut words, mut forms) = (path.split('/'), form.split('/'));
    loop {
        match (words.next(), forms.next()) {
            (None, None) => return true,
            (Some("qemu" | "lxc"), Some("{guest}")) => {
                if words.next().is_none() {
                    return false;
                }
            }
            (Some(_), Some("{guest}")) => return false,
            (Some(word), Some(form)) if form.starts_with('{') && !word.is_empty() => {}
            (Some(word), Some(form)) if word == form => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use pve::apidoc::Schema;

    use super::*;

    #[test]
    fn a_path_fits_its_form_and_no_other() {
        let guest = "/nodes/{}/{guest}/status/stop";
        assert!(fits("/nodes/pve1/qemu/105/status/stop", guest));
        assert!(fits("/nodes/pve1/lxc/200/status/stop", guest));
        for other in [
            "/nodes/pve1/qemu/105/status/start",
            "/nodes/pve1/qemu/105/status/stop/x",
            "/nodes/pve1/qemu/105/status",
            "/nodes/pve1/storage/105/status/stop",
            "/nodes/pve1/qemu",
        ] {
            assert!(!fits(other, guest), "{other}");
        }
        assert!(fits("/nodes/pve1/qemu/105", "/nodes/{}/{guest}"));
        assert!(!fits("/nodes/pve1/qemu", "/nodes/{}/{guest}"));
    }

    /// A misspelt path or value would be one that no rule ever meets.
    #[test]
    fn what_is_declared_is_a_method_of_pve() {
        let schemas = crate::reference::schemas();
        if schemas.is_empty() {
            return;
        }
        for tool in crate::registry::all() {
            for deed in tool.deeds() {
                let mut methods = schemas.iter().flat_map(Schema::methods);
                let known = methods.any(|method| is_method(*deed, method));
                assert!(known, "{}: {deed:?}", tool.spec().name);
            }
        }
    }

    fn is_method(deed: Deed, method: &pve::apidoc::Method) -> bool {
        let Deed::Sends { verb, path, when } = deed else {
            return true;
        };
        verb == method.verb
            && fits(&method.path, path)
            && match when {
                When::Always => true,
                When::Has(name) | When::Lacks(name) => method.parameter(name).is_some(),
                When::Is(name, values) => {
                    let choices = method.parameter(name).map(|it| &it.choices);
                    let mut values = values.iter().map(|&value| value.to_owned());
                    choices.is_some_and(|known| values.all(|value| known.contains(&value)))
                }
            }
    }
}
