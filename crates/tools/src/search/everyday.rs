//! What people say for the methods of PVE's API. The words are data in `everyday.txt`; its head tells the format.

use std::collections::HashMap;
use std::sync::LazyLock;

use pve::Method as Verb;

/// The lines of the data by the last segment of their paths, which tells most of them apart.
static LINES: LazyLock<HashMap<&str, Vec<Line>>> = LazyLock::new(|| {
    let mut lines: HashMap<&str, Vec<Line>> = HashMap::new();
    for line in include_str!("everyday.txt").lines().filter_map(Line::parse) {
        lines
            .entry(line.segments.last().copied().unwrap_or_default())
            .or_default()
            .push(line);
    }
    lines
});

/// One line of the data.
#[derive(Debug)]
struct Line {
    verbs: Vec<Verb>,
    kind: Kind,
    segments: Vec<&'static str>,
    /// The path is given from its root, not by its end.
    whole: bool,
    words: &'static str,
}

/// What the words of a line are for.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// They are said for the methods.
    Said,
    /// They tell that something beneath is meant.
    In,
    /// Unless one of them is said, nothing beneath is likely to be meant.
    Must,
}

impl Line {
    fn parse(line: &'static str) -> Option<Self> {
        let line = line.trim();
        if line.starts_with('#') {
            return None;
        }
        let (what, words) = line.split_once(':')?;
        let (path, verbs) = what
            .split_whitespace()
            .partition::<Vec<_>, _>(|word| word.contains('/'));
        let path = path.first()?;
        let kind = match verbs[..] {
            ["IN"] => Kind::In,
            ["MUST"] => Kind::Must,
            _ => Kind::Said,
        };
        Some(Self {
            verbs: verbs.into_iter().filter_map(verb).collect(),
            kind,
            whole: !path.starts_with('*'),
            segments: segments(path.trim_start_matches('*')).collect(),
            words: words.trim(),
        })
    }

    fn fits(&self, path: &[&str]) -> bool {
        let Some(start) = path.len().checked_sub(self.segments.len()) else {
            return false;
        };
        (start == 0 || !self.whole)
            && path[start..]
                .iter()
                .zip(&self.segments)
                .all(|(part, wanted)| part == wanted || (part.starts_with('{') && *wanted == "{}"))
    }
}

/// What people say for this verb on this path.
pub(super) fn method(verb: Verb, path: &[&str]) -> Vec<&'static str> {
    said(path, |line| {
        line.kind == Kind::Said && (line.verbs.is_empty() || line.verbs.contains(&verb))
    })
}

/// What people say for the place that a path is, whatever is done there.
pub(super) fn place(path: &[&str]) -> Vec<&'static str> {
    said(path, |line| {
        line.kind == Kind::Said && line.verbs.is_empty()
    })
}

/// What in a request tells that it means something at this path or beneath it.
pub(super) fn beneath(path: &[&str]) -> Vec<&'static str> {
    said(path, |line| {
        line.kind != Kind::Must && line.verbs.is_empty()
    })
}

/// Words of which a request would say one if it meant something at this path or beneath it.
pub(super) fn must(path: &[&str]) -> Vec<&'static str> {
    said(path, |line| line.kind == Kind::Must)
}

fn said(path: &[&str], wanted: impl Fn(&Line) -> bool) -> Vec<&'static str> {
    let last = path.last().map_or("", |segment| {
        if segment.starts_with('{') {
            "{}"
        } else {
            segment
        }
    });
    let lines = LINES.get(last).into_iter().flatten();
    lines
        .filter(|line| wanted(line) && line.fits(path))
        .map(|line| line.words)
        .collect()
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

pub(super) fn verb(name: &str) -> Option<Verb> {
    Some(match name {
        "GET" => Verb::Get,
        "POST" => Verb::Post,
        "PUT" => Verb::Put,
        "DELETE" => Verb::Delete,
        _ => return None,
    })
}

/// The lines that are for none of these methods.
#[cfg(test)]
pub(super) fn unused(methods: &[(Verb, &str)]) -> Vec<String> {
    let is_for = |line: &Line, (verb, path): &(Verb, &str)| {
        let path: Vec<_> = segments(path).collect();
        // A place may be one that has no method itself.
        let reaches = |length: &usize| line.fits(&path[..*length]);
        match line.verbs[..] {
            [] => (1..=path.len()).any(|length| reaches(&length)),
            _ => line.verbs.contains(verb) && line.fits(&path),
        }
    };
    let lines = LINES.values().flatten();
    let unused = lines.filter(|line| !methods.iter().any(|method| is_for(line, method)));
    unused
        .map(|line| format!("{:?} {}", line.verbs, line.segments.join("/")))
        .collect()
}
