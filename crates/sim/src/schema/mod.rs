//! Parameter schemas as constants, and their verification in PVE's words.
//!
//! A route lists [`Param`]s built by [`text`], [`int`], [`number`], [`flag`] and [`list`]. Named formats stand in
//! [`mod@format`], property strings (`virtio,bridge=vmbr0`) in [`property`], parameters that many routes share in
//! [`common`]. What a guest option means stays with the guest; here only its form is checked.

pub mod common;
pub mod firewall;
pub mod format;
pub(crate) mod names;
pub mod network;
pub mod property;
mod verify;

pub use property::{Properties, properties};
pub use verify::{MISSING, check_value, verify};

/// One parameter. All fields are plain data, so that the tables can be read and compared with PVE's own schema.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Param {
    /// Its name; for a family like `net0`, `net1` the part before the number.
    pub name: &'static str,
    /// For a family the number of members, else 0.
    pub count: u16,
    /// Its JSON type.
    pub kind: Kind,
    /// May be left out.
    pub optional: bool,
    /// How the text must look.
    pub format: Option<Format>,
    /// A regular expression in PVE, a predicate here.
    pub pattern: Option<fn(&str) -> bool>,
    /// Least and greatest length of the text.
    pub length: (Option<usize>, Option<usize>),
    /// Least and greatest number.
    pub range: (Option<i64>, Option<i64>),
    /// The only values allowed; empty for any.
    pub one_of: &'static [&'static str],
    /// Another parameter that must be sent with it.
    pub requires: Option<&'static str>,
}

/// The JSON types that PVE's parameters have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number.
    Integer,
    /// A number with a fraction.
    Number,
    /// `0` or `1`.
    Boolean,
    /// Several texts.
    Array,
}

impl Kind {
    /// The name in `type check ('integer') failed`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array => "array",
        }
    }
}

/// A check on the text of one value; the error is what follows `invalid format - `.
pub type Check = fn(&str) -> Result<(), String>;

/// How a text must look.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// One value.
    One(Check),
    /// Several values in one text (`a,b c`), or in an array.
    List(Check),
    /// `key=value,key=value`.
    Properties(&'static Properties),
}

/// A text.
pub const fn text(name: &'static str) -> Param {
    Param::new(name, Kind::Text)
}

/// A whole number.
pub const fn int(name: &'static str) -> Param {
    Param::new(name, Kind::Integer)
}

/// A number.
pub const fn number(name: &'static str) -> Param {
    Param::new(name, Kind::Number)
}

/// A boolean.
pub const fn flag(name: &'static str) -> Param {
    Param::new(name, Kind::Boolean)
}

/// An array of texts.
pub const fn list(name: &'static str) -> Param {
    Param::new(name, Kind::Array)
}

impl Param {
    const fn new(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            count: 0,
            kind,
            optional: false,
            format: None,
            pattern: None,
            length: (None, None),
            range: (None, None),
            one_of: &[],
            requires: None,
        }
    }

    /// May be left out.
    pub const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// Must look like this.
    pub const fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Must be one value of this form.
    pub const fn is(self, check: Check) -> Self {
        self.format(Format::One(check))
    }

    /// Must be a list of values of this form.
    pub const fn list_of(self, check: Check) -> Self {
        self.format(Format::List(check))
    }

    /// Must be a property string of this form.
    pub const fn properties(self, properties: &'static Properties) -> Self {
        self.format(Format::Properties(properties))
    }

    /// Must match.
    pub const fn matching(mut self, pattern: fn(&str) -> bool) -> Self {
        self.pattern = Some(pattern);
        self
    }

    /// At least this number.
    pub const fn min(mut self, min: i64) -> Self {
        self.range.0 = Some(min);
        self
    }

    /// At most this number.
    pub const fn max(mut self, max: i64) -> Self {
        self.range.1 = Some(max);
        self
    }

    /// At least this many characters.
    pub const fn shortest(mut self, length: usize) -> Self {
        self.length.0 = Some(length);
        self
    }

    /// At most this many characters.
    pub const fn longest(mut self, length: usize) -> Self {
        self.length.1 = Some(length);
        self
    }

    /// One of these values.
    pub const fn one_of(mut self, values: &'static [&'static str]) -> Self {
        self.one_of = values;
        self
    }

    /// Only together with that parameter.
    pub const fn requires(mut self, other: &'static str) -> Self {
        self.requires = Some(other);
        self
    }

    /// A family of `count` parameters: `net0` up to `net{count - 1}`.
    pub const fn times(mut self, count: u16) -> Self {
        self.count = count;
        self
    }

    /// Whether this schema is the one for a parameter of that name.
    pub fn covers(&self, name: &str) -> bool {
        match (self.count, name.strip_prefix(self.name)) {
            (_, None) => false,
            (0, Some(rest)) => rest.is_empty(),
            (count, Some(rest)) => {
                let plain = rest == "0" || !rest.starts_with('0');
                plain
                    && rest.bytes().all(|byte| byte.is_ascii_digit())
                    && rest.parse::<u16>().is_ok_and(|index| index < count)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_covers_its_members_only() {
        let net = text("net").times(32);
        assert!(net.covers("net0") && net.covers("net31"));
        for name in ["net", "net32", "net01", "net-1", "nets0", "net1x"] {
            assert!(!net.covers(name), "{name}");
        }
    }
}
