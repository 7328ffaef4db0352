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
    /// With the names of what stands there: `/nodes/{node}/qemu/{vmid}`.
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
pub fn methods<'a>(methods: &[ApiMethod<'a>]) -> Vec<Document<'a>> {
    let all = Paths::of(methods);
    methods.iter().map(|method| all.document(method)).collect()
}

/// What the paths of an API tell together.
struct Paths<'a, 'm> {
    /// With something beneath them.
    parents: HashSet<&'a str>,
    /// With one of many beneath them.
    lists: HashSet<&'a str>,
    /// What is sent to change what is there.
    settings: HashMap<&'a str, &'m ApiMethod<'a>>,
}

impl<'a, 'm> Paths<'a, 'm> {
    fn of(methods: &'m [ApiMethod<'a>]) -> Self {
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

    fn document(&self, method: &ApiMethod<'a>) -> Document<'a> {
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

fn document<'a>(method: &ApiMethod<'a>) -> Document<'a> {
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
        if segment.starts_with('{') {
            // `{vmid}`: a request that names a guest means something of that guest.
            document = document.with(Field::Place, *segment);
        } else {
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
fn at_place<'a>(
    mut document: Document<'a>,
    field: Field,
    path: &[&str],
    segment: &'a str,
) -> Document<'a> {
    document = document.with(field, segment);
    if segment.contains(['-', '_']) {
        document = document.with(field, joined(segment));
    }
    if TRANSPARENT.contains(&segment) {
        return document;
    }
    let names = everyday::beneath(path).join(" ");
    // Of `remote_migrate`, naming one word is half of naming it.
    let words: Vec<&str> = segment.split(['-', '_']).collect();
    for word in &words {
        let share = 1.0 / f32::from(u8::try_from(words.len()).unwrap_or(u8::MAX));
        document = document.within(share, format!("{word} {} {names}", joined(segment)));
    }
    for must in everyday::must(path) {
        document = document.within(1.0, must);
    }
    document
}

fn with_parameters<'a>(mut document: Document<'a>, method: &ApiMethod<'a>) -> Document<'a> {
    for (name, description) in &method.parameters {
        document = document.with(Field::Parameters, *name);
        // PVE describes what stands in the path again, and says nothing new of it.
        if !method.path.contains(&format!("{{{name}}}")) {
            document = document.with(Field::ParameterText, *description);
        }
    }
    document
}
