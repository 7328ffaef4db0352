//! From a method of PVE's API to a document.

use std::collections::{HashMap, HashSet};

use pve::Method as Verb;

use super::document::{Document, Field};
use super::everyday;
use super::token::joined;

/// A method of PVE's API, as its schema has it.
#[derive(Debug, Clone)]
pub struct ApiMethod<'a> {
    /// GET, POST, PUT or DELETE.
    pub verb: Verb,
    /// With placeholders: `/nodes/{node}/qemu/{vmid}`.
    pub path: &'a str,
    /// PVE's name of it.
    pub name: &'a str,
    /// PVE's words about it.
    pub description: &'a str,
    /// Names of the parameters, and PVE's words about each.
    pub parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> From<&'a pve::apidoc::Method> for ApiMethod<'a> {
    fn from(method: &'a pve::apidoc::Method) -> Self {
        let parameters = method.parameters.iter();
        Self {
            verb: method.verb,
            path: &method.path,
            name: &method.name,
            description: &method.description,
            parameters: parameters
                .map(|parameter| (parameter.name.as_str(), parameter.description.as_str()))
                .collect(),
        }
    }
}

/// Reading a path that only leads on is hardly ever what was meant.
const DIRECTORY: f32 = -2.5;
/// PVE says that this should not be used, or not by people.
const DISCOURAGED: f32 = -1.0;
/// Each step down a path makes it a little less plain.
const STEP_DOWN: f32 = -0.12;

/// Segments that say where something is rather than what: no request need name them.
const TRANSPARENT: [&str; 5] = ["nodes", "cluster", "access", "config", "status"];

/// A document for each method, in the same order. All at once, since the others at a path and beneath it tell what
/// reading it gives.
pub fn methods(methods: &[ApiMethod<'_>]) -> Vec<Document> {
    let all = Paths::of(methods);
    methods.iter().map(|method| all.document(method)).collect()
}

/// What the paths of an API tell together.
struct Paths<'a> {
    /// With something beneath them.
    parents: HashSet<&'a str>,
    /// With one of many beneath them.
    lists: HashSet<&'a str>,
    /// What is sent to change what is there.
    settings: HashMap<&'a str, &'a ApiMethod<'a>>,
}

impl<'a> Paths<'a> {
    fn of(methods: &'a [ApiMethod<'_>]) -> Self {
        let paths = || methods.iter().map(|method| method.path);
        let puts = methods.iter().filter(|method| method.verb == Verb::Put);
        Self {
            parents: paths()
                .filter_map(|path| Some(path.rsplit_once('/')?.0))
                .collect(),
            lists: paths()
                .filter_map(|path| Some(path.rsplit_once("/{")?.0))
                .collect(),
            settings: puts.map(|method| (method.path, method)).collect(),
        }
    }

    fn document(&self, method: &ApiMethod<'_>) -> Document {
        let mut document = document(method);
        if method.verb != Verb::Get {
            return document;
        }
        // What can be set here is what is read here.
        if let Some(settings) = self.settings.get(method.path) {
            document = with_parameters(document, settings);
        }
        let words = method.description.trim().to_ascii_lowercase();
        let is_index = words.is_empty() || words.contains("index");
        if is_index && self.parents.contains(method.path) && !self.lists.contains(method.path) {
            document = document.likelier(DIRECTORY);
        }
        document
    }
}

fn document(method: &ApiMethod<'_>) -> Document {
    let segments: Vec<&str> = method
        .path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .collect();
    let subject = segments
        .iter()
        .rposition(|segment| !segment.starts_with('{'));
    let is_one = subject.is_some_and(|at| at + 1 < segments.len());
    let mut document = Document::default()
        .verb(method.verb)
        .one(is_one)
        .with(Field::Name, method.name)
        .with(Field::Description, method.description);
    for (at, segment) in segments.iter().enumerate() {
        document = document.likelier(STEP_DOWN);
        if !segment.starts_with('{') {
            let field = if Some(at) == subject {
                Field::Subject
            } else {
                Field::Place
            };
            document = at_place(document, field, &segments[..=at], segment);
        }
    }
    // What is said for all of them is said for one.
    let of_all = subject
        .filter(|_| is_one)
        .map(|at| everyday::place(&segments[..=at]));
    let of_this = everyday::method(method.verb, &segments);
    for said in of_all.into_iter().flatten().chain(of_this) {
        document = document.with(Field::Everyday, said);
    }
    let words = method.description.to_ascii_lowercase();
    let warnings = ["deprecated", "internal use", "do not use"];
    if warnings.iter().any(|warning| words.contains(warning)) {
        document = document.likelier(DISCOURAGED);
    }
    with_parameters(document, method)
}

/// With what a fixed segment of its path tells; `path` ends in it.
fn at_place(mut document: Document, field: Field, path: &[&str], segment: &str) -> Document {
    document = document.with(field, segment);
    if segment.contains(['-', '_']) {
        document = document.with(field, joined(segment));
    }
    if TRANSPARENT.contains(&segment) {
        return document;
    }
    let mut names = everyday::beneath(path);
    names.push(segment);
    document = document.within(names.join(" "));
    for must in everyday::must(path) {
        document = document.within(must);
    }
    document
}

fn with_parameters(mut document: Document, method: &ApiMethod<'_>) -> Document {
    for (name, description) in &method.parameters {
        document = document.with(Field::Parameters, *name);
        // Of a placeholder, PVE says what the path has said.
        if !method.path.contains(&format!("{{{name}}}")) {
            document = document.with(Field::ParameterText, *description);
        }
    }
    document
}
