//! From a verb and a path to the method that answers there, or to what comes nearest.

use percent_encoding::percent_decode_str;

use super::method::capture;
use super::{Method, Schema};
use crate::encode::{check_path, encode_segment};
use crate::request::Method as Verb;

/// Captures that take the rest of the path, slashes included: `local:iso/debian.iso`, `10.0.0.0/24`.
const TAKE_REST: [&str; 2] = ["volume", "cidr"];

/// How many near paths are named.
const NEAR: usize = 3;

/// The longest path that is looked at; a volume's name is the longest part of any.
const LONGEST: usize = 2_000;
/// Longer than any path that was meant to be another one.
const LONGEST_GUESSED: usize = 200;

/// A method and what its path captured.
#[derive(Debug, Clone)]
pub struct Found<'a> {
    /// The method.
    pub method: &'a Method,
    /// Names and decoded values, in the order of the path.
    pub captures: Vec<(String, String)>,
}

/// Why nothing was found, and what there is instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NearMiss {
    /// The path could mean something else than it says.
    BadPath(String),
    /// The path answers to other verbs.
    Verbs(Vec<Verb>),
    /// Nothing is there; these paths look alike. May be empty.
    Paths(Vec<String>),
}

impl Schema {
    /// The method behind a verb and a path, which may be written with or without `/api2/json`.
    pub fn find(&self, verb: Verb, path: &str) -> Result<Found<'_>, NearMiss> {
        let parts = segments(path).map_err(NearMiss::BadPath)?;
        if let Some(found) = self.best(&parts, |method| method.verb == verb) {
            return Ok(found);
        }
        let Some(other) = self.best(&parts, |_| true) else {
            return Err(self.near(&parts));
        };
        let same = |method: &&Method| method.path == other.method.path;
        let verbs = self.methods.iter().filter(same).map(|it| it.verb);
        Err(NearMiss::Verbs(verbs.collect()))
    }

    /// The method of exactly this template.
    pub fn method(&self, verb: Verb, template: &str) -> Option<&Method> {
        let mut methods = self.methods.iter();
        methods.find(|method| method.verb == verb && method.path == template)
    }

    /// Where a word and a capture both match, the word wins, from left to right, as in PVE.
    fn best(&self, parts: &[String], wanted: impl Fn(&Method) -> bool) -> Option<Found<'_>> {
        let candidates = self.methods.iter().filter(|method| wanted(method));
        let matches = candidates.filter_map(|method| Some((method, take(&method.path, parts)?)));
        let words = |path: &str| -> Vec<bool> {
            let parts = path.split('/').map(|part| capture(part).is_none());
            parts.collect()
        };
        let (method, captures) = matches.max_by_key(|(method, _)| words(&method.path))?;
        Some(Found { method, captures })
    }

    /// The paths that look most like this one, captures taken as they were meant.
    fn near(&self, parts: &[String]) -> NearMiss {
        let wanted = parts.join("/");
        // Comparing takes the product of both lengths, for each of hundreds of paths.
        if wanted.len() > LONGEST_GUESSED {
            return NearMiss::Paths(Vec::new());
        }
        let mut near: Vec<(usize, &str)> = Vec::new();
        for method in &self.methods {
            if near.iter().any(|(_, path)| *path == method.path) {
                continue;
            }
            if template(&method.path).count().abs_diff(parts.len()) > 1 {
                continue;
            }
            let filled: Vec<&str> = template(&method.path)
                .enumerate()
                .map(|(at, part)| match (capture(part), parts.get(at)) {
                    (Some(_), Some(given)) => given,
                    _ => part,
                })
                .collect();
            let distance = strsim::damerau_levenshtein(&filled.join("/"), &wanted);
            if distance <= wanted.len() / 4 + 1 {
                near.push((distance, &method.path));
            }
        }
        near.sort_unstable();
        let names = near.into_iter().take(NEAR).map(|(_, path)| path.to_owned());
        NearMiss::Paths(names.collect())
    }
}

impl Found<'_> {
    /// What the path has for a name.
    pub fn capture(&self, name: &str) -> Option<&str> {
        let mut captures = self.captures.iter();
        captures.find_map(|(key, value)| (key == name).then_some(value.as_str()))
    }

    /// The path in its one right form: every capture encoded, no prefix, no slash at the end.
    pub fn path(&self) -> String {
        let parts = template(&self.method.path).map(|part| match capture(part) {
            Some(name) => encode_segment(self.capture(name).unwrap_or_default()),
            None => part.to_owned(),
        });
        format!("/{}", parts.collect::<Vec<_>>().join("/"))
    }
}

/// The parts of a path, decoded; refuses what could reach anything but the object that it names.
fn segments(path: &str) -> Result<Vec<String>, String> {
    let path = path.trim();
    if path.len() > LONGEST {
        return Err(format!("a path has at most {LONGEST} characters"));
    }
    let path = path.strip_prefix("/api2/json").unwrap_or(path);
    let path = path.trim_end_matches('/');
    let path = match path {
        "" => "/".to_owned(),
        path if path.starts_with('/') => path.to_owned(),
        path => format!("/{path}"),
    };
    check_path(&path)?;
    let decoded = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
    Ok(template(&path).map(decoded).collect())
}

fn template(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

/// What a template captures from the parts of a path, if it matches. A slash inside a part was written encoded, to get past
/// the template: it belongs only where slashes may stand.
fn take(path: &str, mut parts: &[String]) -> Option<Vec<(String, String)>> {
    let mut captures = Vec::new();
    let mut left = template(path).peekable();
    while let Some(part) = left.next() {
        let (given, rest) = parts.split_first()?;
        match capture(part) {
            None if part == given => parts = rest,
            None => return None,
            Some(name) if left.peek().is_none() && TAKE_REST.contains(&name) => {
                captures.push((name.to_owned(), parts.join("/")));
                parts = &[];
            }
            Some(_) if given.contains(['/', ' ']) => return None,
            Some(name) => {
                captures.push((name.to_owned(), given.clone()));
                parts = rest;
            }
        }
    }
    parts.is_empty().then_some(captures)
}
