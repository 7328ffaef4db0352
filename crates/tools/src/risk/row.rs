//! The form of the risk table: a row for each method, a rule for each parameter that it takes.

use pve::Method;

use super::setting::Setting;
use crate::spec::Risk;

/// A method of the API, or several that do the same, and what each of their parameters does.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) verb: Method,
    /// Templates; `{guest}` stands for `qemu/{vmid}` and `lxc/{vmid}`.
    pub(crate) paths: &'static [&'static str],
    /// What the method does whatever goes along.
    pub(crate) base: Risk,
    /// Why that is so, for the person who approves: "stops the guest".
    pub(crate) why: &'static str,
    /// The rules for its parameters. The first one that names a parameter decides.
    pub(crate) rules: &'static [&'static [Rule]],
    /// What the parameters do together, or by being absent.
    pub(crate) whole: Option<fn(&Params<'_>) -> Option<Finding>>,
    /// What it does comes or goes on later, by a schedule or at the next start: how things are now lowers nothing.
    pub(crate) later: bool,
}

/// What some parameters do beyond what their method does without them.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Names of parameters, or of keys in a property string. `scsi[n]` is any of a numbered family.
    pub(crate) names: &'static [&'static str],
    pub(crate) level: Level,
}

/// What a value does.
#[derive(Debug)]
pub(crate) enum Level {
    /// This, whatever the value.
    Is(Risk, &'static str),
    /// This, unless the value is a flag that is off.
    On(Risk, &'static str),
    /// This, unless the value is a flag that is on.
    Off(Risk, &'static str),
    /// Access to the guest: a grant, unless the guest is created by the same plan.
    Credential(&'static str),
    /// What the function finds in the value; nothing is safe.
    By(fn(&str) -> Option<Finding>),
    /// A property string.
    Properties(&'static Properties),
    /// A setting of a guest, judged with what was set before.
    Setting(fn(&Setting<'_>) -> Option<Finding>),
    /// The names of parameters that are unset: each is judged by its own rule.
    Unsets,
}

/// The keys of a property string.
#[derive(Debug)]
pub(crate) struct Properties {
    /// The key of a value that is written without one.
    pub(crate) default: Option<&'static str>,
    /// The rules for its keys. [`Level::Properties`], `Setting` and `Unsets` have no meaning here.
    pub(crate) keys: &'static [Rule],
}

/// A risk that was found, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) risk: Risk,
    pub(crate) why: &'static str,
    /// Whether it is power over the node, and not over the guest alone.
    pub(crate) over_node: bool,
}

/// The parameters of a request, to be judged together.
pub(crate) struct Params<'a>(pub(super) &'a [(String, String)]);

impl Params<'_> {
    /// The last value of this name: the one that PVE takes where it takes one.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let mut all = self.0.iter().rev();
        all.find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether it is sent, and not known to be off.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        let text = self.text(name);
        text.is_some_and(|text| super::property::flag(text) != Some(false))
    }
}

impl Rule {
    /// Whether it is the one for a parameter of this name.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.names.iter().any(|pattern| is_named(pattern, name))
    }
}

/// Whether a name is this one, or one of this numbered family.
fn is_named(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix("[n]") {
        None => pattern == name,
        Some(stem) => name.strip_prefix(stem).is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
        }),
    }
}

impl Row {
    /// The rule for a parameter.
    pub(crate) fn rule(&self, name: &str) -> Option<&'static Rule> {
        let mut rules = self.rules.iter().flat_map(|rules| rules.iter());
        rules.find(|rule| rule.names(name))
    }

    /// With what the parameters do together.
    pub(crate) const fn whole(mut self, whole: fn(&Params<'_>) -> Option<Finding>) -> Self {
        self.whole = Some(whole);
        self
    }

    /// Done later, or for longer than a guest is stopped.
    pub(crate) const fn later(mut self) -> Self {
        self.later = true;
        self
    }
}

pub(crate) const fn row(
    verb: Method,
    paths: &'static [&'static str],
    (base, why): (Risk, &'static str),
    rules: &'static [&'static [Rule]],
) -> Row {
    Row {
        verb,
        paths,
        base,
        why,
        rules,
        whole: None,
        later: false,
    }
}

/// These do nothing beyond what the method does.
pub(crate) const fn safe(names: &'static [&'static str]) -> Rule {
    is(names, Risk::Read, "")
}

/// These do this, whatever their value.
pub(crate) const fn is(names: &'static [&'static str], risk: Risk, why: &'static str) -> Rule {
    Rule {
        names,
        level: Level::Is(risk, why),
    }
}

/// These do this unless they are off.
pub(crate) const fn on(names: &'static [&'static str], risk: Risk, why: &'static str) -> Rule {
    Rule {
        names,
        level: Level::On(risk, why),
    }
}

/// These do this unless they are on.
pub(crate) const fn off(names: &'static [&'static str], risk: Risk, why: &'static str) -> Rule {
    Rule {
        names,
        level: Level::Off(risk, why),
    }
}

/// These give access to the guest.
pub(crate) const fn credential(names: &'static [&'static str], why: &'static str) -> Rule {
    Rule {
        names,
        level: Level::Credential(why),
    }
}

/// These do what the function finds.
pub(crate) const fn by(names: &'static [&'static str], judge: fn(&str) -> Option<Finding>) -> Rule {
    Rule {
        names,
        level: Level::By(judge),
    }
}

/// These are property strings.
pub(crate) const fn properties(
    names: &'static [&'static str],
    properties: &'static Properties,
) -> Rule {
    Rule {
        names,
        level: Level::Properties(properties),
    }
}

/// These are settings of a guest, judged with what was set before.
pub(crate) const fn setting(
    names: &'static [&'static str],
    judge: fn(&Setting<'_>) -> Option<Finding>,
) -> Rule {
    Rule {
        names,
        level: Level::Setting(judge),
    }
}

/// The parameter that names others to be unset.
pub(crate) const UNSETS: Rule = Rule {
    names: &["delete"],
    level: Level::Unsets,
};

/// What a value is found to do.
#[expect(
    clippy::unnecessary_wraps,
    reason = "what a judging function returns beside `None`"
)]
pub(crate) const fn found(risk: Risk, why: &'static str) -> Option<Finding> {
    Some(Finding {
        risk,
        why,
        over_node: false,
    })
}

/// The same for power over the node that a guest runs on.
#[expect(
    clippy::unnecessary_wraps,
    reason = "what a judging function returns beside `None`"
)]
pub(crate) const fn over_node(why: &'static str) -> Option<Finding> {
    Some(Finding {
        risk: Risk::Grant,
        why,
        over_node: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_numbers() {
        assert!(is_named("scsi[n]", "scsi0") && is_named("scsi[n]", "scsi30"));
        assert!(!is_named("scsi[n]", "scsi") && !is_named("scsi[n]", "scsihw"));
        assert!(is_named("scsihw", "scsihw") && !is_named("scsihw", "scsihw0"));
    }
}
