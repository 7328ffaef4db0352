//! Parameters checked as PVE will check them, and the request that they make.

use std::fmt;

use serde_json::{Map, Value as Json};

use super::format;
use super::property;
use super::{Format, Found, Kind, Method, Parameter};
use crate::lenient::{as_bool, as_f64, as_text};
use crate::request::{Request, Value};

/// How many near names are told.
const NEAR: usize = 3;

/// Longer than any name; what is longer looks like none.
const LONGEST_NAME: usize = 100;

/// One thing that PVE would refuse.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The parameter.
    pub parameter: String,
    /// What is wrong with it.
    pub wrong: Wrong,
}

/// What is wrong with a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Wrong {
    /// There is none of that name; these look alike.
    Unknown(Vec<String>),
    /// It must be given.
    Missing,
    /// It stands in the path, with another value.
    InPath,
    /// It is of another type.
    Type(Kind),
    /// It is a list of nothing.
    Empty,
    /// It is less than this.
    TooSmall(f64),
    /// It is more than this.
    TooLarge(f64),
    /// It has fewer characters than this.
    TooShort(usize),
    /// It has more characters than this.
    TooLong(usize),
    /// It is none of these.
    Choice(Vec<String>),
    /// It does not look as it must.
    Format(String),
    /// It comes only with this one.
    Requires(String),
}

impl Found<'_> {
    /// What PVE would refuse of these parameters and of what the path names.
    pub fn check(&self, params: &Map<String, Json>) -> Vec<Problem> {
        self.request(params).err().unwrap_or_default()
    }

    /// The request with these parameters, or everything that PVE would refuse. A null counts as left out.
    pub fn request(&self, params: &Map<String, Json>) -> Result<Request, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut request = Request::new(self.method.verb, self.path());
        for (name, value) in &self.captures {
            let wrong = self
                .method
                .parameter(name)
                .and_then(|parameter| values(parameter, &Json::from(value.as_str())).err());
            problems.extend(wrong.map(|wrong| problem(name, wrong)));
        }
        for (name, value) in params.iter().filter(|(_, value)| !value.is_null()) {
            match self.value_of(name, value) {
                Ok(values) => {
                    for value in values {
                        request = request.with(name, value);
                    }
                }
                Err(wrong) => problems.push(problem(name, wrong)),
            }
        }
        problems.extend(self.lacking(params));
        if problems.is_empty() {
            Ok(request)
        } else {
            Err(problems)
        }
    }

    fn value_of(&self, name: &str, value: &Json) -> Result<Vec<Value>, Wrong> {
        if let Some(in_path) = self.capture(name) {
            return match as_text(value) {
                Some(text) if text == in_path => Ok(Vec::new()),
                _ => Err(Wrong::InPath),
            };
        }
        match self.method.parameter(name) {
            Some(parameter) => values(parameter, value),
            None if self.method.takes_others => as_text(value)
                .map(|text| vec![text.into()])
                .ok_or(Wrong::Type(Kind::Text)),
            None => Err(Wrong::Unknown(near(self.method, name))),
        }
    }

    /// What must be there and is not.
    fn lacking(&self, params: &Map<String, Json>) -> Vec<Problem> {
        let is_given = |name: &str| {
            self.capture(name).is_some() || params.get(name).is_some_and(|it| !it.is_null())
        };
        let required = self
            .method
            .parameters
            .iter()
            .filter(|it| !it.optional && it.family().is_none() && !is_given(&it.name))
            .map(|it| problem(&it.name, Wrong::Missing));
        let given = params.keys().filter(|name| is_given(name));
        let requiring = given.filter_map(|name| {
            let other = self.method.parameter(name)?.requires.as_ref()?;
            (!is_given(other)).then(|| problem(name, Wrong::Requires(other.clone())))
        });
        required.chain(requiring).collect()
    }
}

fn problem(parameter: &str, wrong: Wrong) -> Problem {
    Problem {
        parameter: parameter.to_owned(),
        wrong,
    }
}

/// The names of parameters that look like this one.
fn near(method: &Method, name: &str) -> Vec<String> {
    let names = method.own_parameters().map(|it| it.name.as_str());
    nearest(name, names)
}

/// The words that look most like this one, the nearest first.
pub(super) fn nearest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> Vec<String> {
    if word.len() > LONGEST_NAME {
        return Vec::new();
    }
    let mut near: Vec<(usize, &str)> = words
        .map(|known| {
            let (plain, wanted) = (known.trim_end_matches("[n]"), word.to_lowercase());
            let distance = strsim::damerau_levenshtein(plain, &wanted);
            let inside = wanted.len() > 2 && (plain.contains(&wanted) || wanted.contains(plain));
            (if inside { distance.min(1) } else { distance }, known)
        })
        .filter(|(distance, known)| *distance <= known.len().min(word.len()) / 3 + 1)
        .collect();
    near.sort_unstable();
    let words = near.into_iter().take(NEAR).map(|(_, word)| word.to_owned());
    words.collect()
}

/// A value as it is sent, one or, for a list, several.
fn values(parameter: &Parameter, value: &Json) -> Result<Vec<Value>, Wrong> {
    match (parameter.kind, value) {
        // No item is no parameter, and a list in one text would be an empty one: PVE takes both for "all of them".
        (kind, Json::Array(items))
            if items.is_empty() && (kind == Kind::Array || parameter.is_list()) =>
        {
            Err(Wrong::Empty)
        }
        (Kind::Array, Json::Array(items)) => {
            let text = Parameter::default();
            let item = parameter.items.as_deref().unwrap_or(&text);
            let sent = items.iter().map(|value| values(item, value));
            Ok(sent.collect::<Result<Vec<_>, _>>()?.concat())
        }
        (Kind::Array, Json::Object(_)) => Err(Wrong::Type(Kind::Array)),
        (Kind::Array, one) => {
            let text = Parameter::default();
            values(parameter.items.as_deref().unwrap_or(&text), one)
        }
        // A list in one text may be given as a list.
        (Kind::Text, Json::Array(items)) if parameter.is_list() => {
            let words: Option<Vec<_>> = items.iter().map(as_text).collect();
            let joined = words.ok_or(Wrong::Type(Kind::Text))?.join(",");
            check_text(parameter, &joined)?;
            Ok(vec![joined.into()])
        }
        (Kind::Boolean, value) => {
            let flag = as_bool(value).ok_or(Wrong::Type(Kind::Boolean))?;
            Ok(vec![flag.into()])
        }
        (_, value) => {
            let text = as_text(value).ok_or(Wrong::Type(parameter.kind))?;
            check_text(parameter, &text)?;
            let number = (parameter.kind == Kind::Integer).then(|| text.trim().parse::<i64>());
            Ok(vec![match number {
                Some(Ok(number)) => number.into(),
                _ => text.into(),
            }])
        }
    }
}

/// Checks one value in its written form.
pub(super) fn check_text(parameter: &Parameter, text: &str) -> Result<(), Wrong> {
    match parameter.kind {
        Kind::Integer if text.trim().parse::<i64>().is_err() => {
            return Err(Wrong::Type(Kind::Integer));
        }
        Kind::Integer | Kind::Number => {
            let number = as_f64(&Json::from(text)).ok_or(Wrong::Type(parameter.kind))?;
            if let Some(least) = parameter.minimum.filter(|least| number < *least) {
                return Err(Wrong::TooSmall(least));
            }
            if let Some(most) = parameter.maximum.filter(|most| number > *most) {
                return Err(Wrong::TooLarge(most));
            }
        }
        Kind::Boolean if as_bool(&Json::from(text)).is_none() => {
            return Err(Wrong::Type(Kind::Boolean));
        }
        _ => {}
    }
    let length = text.chars().count();
    if let Some(least) = parameter.shortest.filter(|least| length < *least) {
        return Err(Wrong::TooShort(least));
    }
    if let Some(most) = parameter.longest.filter(|most| length > *most) {
        return Err(Wrong::TooLong(most));
    }
    if !parameter.choices.is_empty() && !parameter.choices.iter().any(|it| it == text) {
        return Err(Wrong::Choice(parameter.choices.clone()));
    }
    match &parameter.format {
        Some(Format::Named(name)) => format::check(name, text).map_err(Wrong::Format),
        Some(Format::Properties(keys)) => property::check(keys, text).map_err(Wrong::Format),
        None => Ok(()),
    }
}

impl Parameter {
    /// Whether its text is a list: `a,b c`.
    fn is_list(&self) -> bool {
        matches!(&self.format, Some(Format::Named(name)) if name.ends_with("list"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.parameter, self.wrong)
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(near) if near.is_empty() => f.write_str("there is no such parameter"),
            Self::Unknown(near) => write!(
                f,
                "there is no such parameter; there is {}",
                near.join(", ")
            ),
            Self::Missing => f.write_str("must be given"),
            Self::InPath => f.write_str("stands in the path, with another value"),
            Self::Type(kind) => write!(f, "must be a {}", kind.noun()),
            Self::Empty => f.write_str("the list is empty: name at least one, or leave it out"),
            Self::TooSmall(least) => write!(f, "must be at least {least}"),
            Self::TooLarge(most) => write!(f, "must be at most {most}"),
            Self::TooShort(least) => write!(f, "must have at least {least} characters"),
            Self::TooLong(most) => write!(f, "must have at most {most} characters"),
            Self::Choice(allowed) => write!(f, "must be one of {}", allowed.join(", ")),
            Self::Format(why) => f.write_str(why),
            Self::Requires(other) => write!(f, "comes only together with {other}"),
        }
    }
}
