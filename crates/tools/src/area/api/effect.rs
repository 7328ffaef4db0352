//! What a write changes, how that is read back, and what takes it back, as far as the schema tells: a PUT shows in the GET
//! of its path, what a POST adds and a DELETE removes in the list above it.

use pve::apidoc::{Format, Found, Method, Schema};
use pve::{Method as Verb, Reader, Request};
use serde_json::{Value, json};

use super::read;
use super::sent::Sent;
use crate::clean;
use crate::plan::{Check, Effect, Expect, Impact, Plan, Undo, parts};
use crate::tool::Object;
use crate::words;

/// Characters that a preview shows of a value.
pub(super) const SHOWN: usize = 80;

/// A write and what can be read about it.
pub(super) struct Effects<'a> {
    pub(super) found: &'a Found<'a>,
    pub(super) sent: &'a Sent,
    pub(super) schema: &'a Schema,
    pub(super) before: Option<Before<'a>>,
}

/// The read that shows what a write changes, and what it answered before.
pub(super) struct Before<'a> {
    pub(super) request: Request,
    pub(super) method: &'a Method,
    /// As PVE answered: to compare with.
    pub(super) raw: Value,
    /// Without secrets: to be shown and written back.
    clean: Value,
}

impl Before<'_> {
    /// The rows, where it is a list.
    pub(super) fn rows(&self) -> Option<&[Value]> {
        self.raw.as_array().map(Vec::as_slice)
    }
}

impl<'a> Effects<'a> {
    /// Looks at how things stand. What cannot be read is left unverified, and why is a warning.
    pub(super) async fn of(
        pve: &Reader,
        found: &'a Found<'a>,
        (sent, schema): (&'a Sent, &'a Schema),
        plan: &mut Plan,
    ) -> Self {
        let mut effects = Self {
            found,
            sent,
            schema,
            before: None,
        };
        let template = match found.method.verb {
            Verb::Get => None,
            Verb::Put | Verb::Post => Some((found.method.path.as_str(), found.path())),
            Verb::Delete => parent(&found.method.path).zip(found_parent(found)),
        };
        let Some((template, path)) = template else {
            return effects;
        };
        let reads = schema
            .method(Verb::Get, template)
            .filter(|method| is_plain(method));
        let Some(method) = reads else {
            return effects;
        };
        let request = Request::get(path);
        match pve.get::<Value>(request.clone()).await {
            Ok(raw) => {
                let mut clean = raw.clone();
                clean::answer(&mut clean, template);
                effects.before = Some(Before {
                    request,
                    method,
                    raw,
                    clean,
                });
            }
            Err(error) => plan.warnings.push(format!(
                "what becomes of it cannot be read back: {}",
                crate::fault::explain(&error)
            )),
        }
        effects
    }

    /// The digest of what was read, which PVE compares with before it writes. A list has it in each of its rows.
    pub(super) fn digest(&self) -> Option<String> {
        self.found.method.parameter("digest")?;
        let before = self.before.as_ref()?;
        let digest = match self.found.method.verb {
            Verb::Delete => self.row()?.get("digest")?,
            _ => before.raw.get("digest")?,
        };
        let digest = digest.as_str()?;
        (!self.sent.has("digest")).then(|| digest.to_owned())
    }

    /// Tells the plan what is affected and what takes it back, and gives what is read afterwards.
    pub(super) fn tell(&self, plan: &mut Plan) -> Option<Check> {
        match self.found.method.verb {
            Verb::Get => None,
            Verb::Put => self.changed(plan),
            Verb::Post => self.added(plan),
            Verb::Delete => self.removed(plan),
        }
    }

    /// The parameters that say what something becomes.
    pub(super) fn settings(&self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        const HOW: [&str; 6] = [
            "background_delay",
            "delete",
            "digest",
            "force",
            "moveto",
            "regenerate",
        ];
        let given = self.sent.shown();
        given.filter(|(name, _)| !HOW.contains(&name.as_str()))
    }

    fn changed(&self, plan: &mut Plan) -> Option<Check> {
        let old = self.before.as_ref().and_then(|it| it.clean.as_object());
        let deleted = self.sent.unset();
        let was = |name: &str| match old {
            None => "not known".to_owned(),
            Some(old) => old
                .get(name)
                .map_or_else(|| "unset".to_owned(), |value| words::value(value, SHOWN)),
        };
        for name in &deleted {
            plan.impact.push(
                Impact::new(Effect::Changed, "setting", words::clip(name, SHOWN))
                    .note(format!("{} -> unset", was(name))),
            );
        }
        let (before, old) = (self.before.as_ref()?, old?);
        let mut expect = Vec::new();
        for (name, new) in self.settings() {
            plan.impact
                .push(Impact::new(Effect::Changed, "setting", name).note(format!(
                    "{} -> {}",
                    was(name),
                    words::value(new, SHOWN)
                )));
            if old.contains_key(name) || before.method.returns.fields.contains(name) {
                expect.push(self.expected(name, new));
            }
        }
        let gone = |name: &String| Expect::Is(name.clone(), Value::Null);
        expect.extend(deleted.iter().map(gone));
        plan.undo = self.back(old, &deleted);
        (!expect.is_empty()).then(|| {
            let mut check = Check::list(before.request.clone(), "it reads back so", Expect::Free);
            check.expect = expect;
            check.guessed()
        })
    }

    /// How PVE will write it back, as far as it can be told.
    pub(super) fn expected(&self, name: &str, value: &Value) -> Expect {
        let parameter = self.found.method.parameter(name);
        let several = match parameter.and_then(|it| it.format.as_ref()) {
            Some(Format::Properties(_)) => true,
            Some(Format::Named(form)) => form.ends_with("list"),
            None => value.is_array(),
        };
        if several {
            let words = match value {
                Value::Array(items) => items.iter().filter_map(pve::lenient::as_text).collect(),
                one => parts(one),
            };
            return Expect::Has(name.to_owned(), words);
        }
        Expect::Is(name.to_owned(), value.clone())
    }

    /// The call that writes back what was there.
    fn back(&self, old: &Object, deleted: &[String]) -> Undo {
        let impossible = |because: &str| Undo::Impossible {
            because: because.to_owned(),
        };
        if self.sent.has("moveto") {
            return impossible("it has another place in the list then");
        }
        if self.sent.hides() {
            return impossible("what was there before is a secret");
        }
        let names = self.settings().map(|(name, _)| name).chain(deleted);
        let (mut again, mut unset) = (Object::new(), Vec::new());
        for name in names {
            match old.get(name) {
                Some(value) if value.to_string().contains(clean::REDACTED) => {
                    return impossible("what was there before is a secret");
                }
                Some(value) if !value.is_array() && !value.is_object() => {
                    again.insert(name.clone(), value.clone());
                }
                None => unset.push(name.as_str()),
                Some(_) => return impossible("PVE shows it in another form than it takes it"),
            }
        }
        if !unset.is_empty() {
            if self.found.method.parameter("delete").is_none() {
                return impossible("it was not set before, and PVE cannot unset it");
            }
            again.insert("delete".to_owned(), unset.join(",").into());
        }
        if again.is_empty() {
            return impossible("nothing is known that takes it back");
        }
        call(Verb::Put, &self.found.path(), again)
    }
}

/// Whether a method is a look that takes nothing but its path.
fn is_plain(method: &Method) -> bool {
    read::is_read(&method.path) && method.own_parameters().all(|it| it.optional)
}

fn parent(template: &str) -> Option<&str> {
    template
        .rsplit_once('/')
        .map(|(above, _)| above)
        .filter(|above| !above.is_empty())
}

fn found_parent(found: &Found<'_>) -> Option<String> {
    parent(&found.path()).map(str::to_owned)
}

/// A call of our own.
pub(super) fn call(verb: Verb, path: &str, params: Object) -> Undo {
    let mut arguments =
        crate::context::arguments([("method", json!(verb.as_str())), ("path", json!(path))]);
    if !params.is_empty() {
        arguments.insert("params".to_owned(), Value::Object(params));
    }
    Undo::Call {
        tool: super::write::NAME.to_owned(),
        arguments,
    }
}
