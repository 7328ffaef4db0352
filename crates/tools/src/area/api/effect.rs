//! What a write changes, how that is read back, and what takes it back, as far as the schema tells: a PUT shows in the GET
//! of its path, what a POST adds and a DELETE removes in the list above it.

use pve::apidoc::{Format, Found, Method, Schema};
use pve::{Method as Verb, Reader, Request};
use serde_json::{Value, json};

use super::risk::{self, Class};
use crate::clean;
use crate::plan::{Check, Effect, Expect, Impact, Plan, Undo, parts};
use crate::spec::Risk;
use crate::tool::Object;
use crate::words;

/// Characters that a preview shows of a value.
const SHOWN: usize = 80;

/// A write and what can be read about it.
pub(super) struct Effects<'a> {
    found: &'a Found<'a>,
    params: &'a Object,
    schema: &'a Schema,
    /// The read that shows it, and what it answered before.
    shown: Option<(Request, &'a Method, Value)>,
}

impl<'a> Effects<'a> {
    /// Looks at how things stand. What cannot be read is left unverified, and why is a warning.
    pub(super) async fn of(
        pve: &Reader,
        found: &'a Found<'a>,
        (params, schema): (&'a Object, &'a Schema),
        plan: &mut Plan,
    ) -> Self {
        let mut effects = Self {
            found,
            params,
            schema,
            shown: None,
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
            Ok(answer) => effects.shown = Some((request, method, answer)),
            Err(error) => plan.warnings.push(format!(
                "what becomes of it cannot be read back: {}",
                crate::fault::explain(&error)
            )),
        }
        effects
    }

    /// The digest of what was read, which PVE compares with before it writes.
    pub(super) fn digest(&self) -> Option<String> {
        self.found.method.parameter("digest")?;
        let (_, _, answer) = self.shown.as_ref()?;
        let digest = answer.get("digest")?.as_str()?;
        (!self.params.contains_key("digest")).then(|| digest.to_owned())
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
    fn settings(&self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        const HOW: [&str; 4] = ["delete", "digest", "force", "background_delay"];
        let given = self.params.iter();
        given.filter(|(name, value)| {
            !value.is_null()
                && !HOW.contains(&name.as_str())
                && self.found.capture(name).is_none()
                && !self.is_secret(name)
        })
    }

    fn is_secret(&self, name: &str) -> bool {
        clean::is_secret_parameter(name, &self.found.method.path)
    }

    /// The settings that `delete` names.
    fn deleted(&self) -> Vec<String> {
        let listed = self.params.get("delete").filter(|it| !it.is_boolean());
        listed.map(parts).unwrap_or_default()
    }

    fn changed(&self, plan: &mut Plan) -> Option<Check> {
        let (request, method, answer) = self.shown.as_ref()?;
        let old = answer.as_object()?;
        let deleted = self.deleted();
        let mut expect = Vec::new();
        for (name, new) in self.settings() {
            let was = old.get(name).map_or_else(|| "unset".to_owned(), shown);
            plan.impact.push(
                Impact::new(Effect::Changed, "setting", name)
                    .note(format!("{was} -> {}", shown(new))),
            );
            if old.contains_key(name) || method.returns.fields.contains(name) {
                expect.push(self.expected(name, new));
            }
        }
        for name in &deleted {
            let was = old.get(name).map_or_else(|| "unset".to_owned(), shown);
            plan.impact.push(
                Impact::new(Effect::Destroyed, "setting", name).note(format!("{was} -> unset")),
            );
            expect.push(Expect::Is(name.clone(), Value::Null));
        }
        if !deleted.is_empty() {
            plan.risk = plan.risk.max(Risk::Destroy);
        }
        plan.undo = self.back(old, &deleted);
        (!expect.is_empty()).then(|| {
            let mut check = Check::list(request.clone(), "it reads back so", Expect::Free);
            check.expect = expect;
            check.guessed()
        })
    }

    /// How PVE will write it back, as far as it can be told.
    fn expected(&self, name: &str, value: &Value) -> Expect {
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
        let has_secret = self.params.keys().any(|name| self.is_secret(name));
        if has_secret {
            return impossible("what was there before is a secret");
        }
        let names = self.settings().map(|(name, _)| name).chain(deleted);
        let (mut again, mut unset) = (Object::new(), Vec::new());
        for name in names {
            match old.get(name) {
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

    fn added(&self, plan: &mut Plan) -> Option<Check> {
        let below = self.child();
        if let Some((name, id, can_be_deleted)) = &below {
            if plan.impact.is_empty() {
                plan.impact
                    .push(Impact::new(Effect::Created, name, words::clip(id, SHOWN)));
            }
            if *can_be_deleted && plan.made().next().is_none() {
                let path = format!("{}/{}", self.found.path(), pve::encode_segment(id));
                plan.undo = call(Verb::Delete, &path, Object::new());
            }
        }
        let (request, method, answer) = self.shown.as_ref()?;
        let rows = answer.as_array()?;
        let is_shown = |name: &String| {
            method.returns.fields.contains(name) || rows.iter().any(|row| row.get(name).is_some())
        };
        let fields = if let Some((name, id, _)) = below {
            let field = method.returns.row_key.clone();
            let field = field.or_else(|| is_shown(&name).then_some(name));
            vec![(field?, json!(id))]
        } else {
            let given = self
                .settings()
                .filter(|(name, value)| is_shown(name) && pve::lenient::as_text(value).is_some());
            given
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        };
        (!fields.is_empty())
            .then(|| Check::list(request.clone(), "it is listed", Expect::Like(fields)).guessed())
    }

    /// The name and the id of what a POST to a list makes, and whether it can be deleted by it.
    fn child(&self) -> Option<(String, String, bool)> {
        let above = &self.found.method.path;
        let mut below = self.schema.methods().iter().filter_map(|method| {
            let (parent, last) = method.path.rsplit_once('/')?;
            let name = last.strip_prefix('{')?.strip_suffix('}')?;
            (parent == above).then_some((name, method.verb))
        });
        let (name, _) = below.next()?;
        let id = self.params.get(name).and_then(pve::lenient::as_text)?;
        let template = format!("{above}/{{{name}}}");
        let can_be_deleted = self.schema.method(Verb::Delete, &template).is_some();
        Some((name.to_owned(), id, can_be_deleted))
    }

    fn removed(&self, plan: &mut Plan) -> Option<Check> {
        let (name, id) = self.found.captures.last()?;
        // What a path below ends in is not always what is deleted: `/nodes/{node}/subscription`.
        if !self.found.method.path.ends_with(&format!("{{{name}}}")) {
            return None;
        }
        let shown = self.shown.as_ref();
        let field = shown.and_then(|(_, method, _)| method.returns.row_key.clone());
        let field = field.unwrap_or_else(|| match name.as_str() {
            "volume" => "volid".to_owned(),
            other => other.to_owned(),
        });
        let rows = shown.and_then(|(_, _, answer)| answer.as_array());
        let row = rows
            .into_iter()
            .flatten()
            .find(|row| row.get(&field).and_then(pve::lenient::as_text).as_deref() == Some(id));
        if plan.impact.iter().all(|item| item.id != *id) {
            let gone = Impact::new(Effect::Destroyed, name, words::clip(id, SHOWN));
            plan.impact.push(match row {
                Some(row) => gone.note(brief(row, &self.found.method.path)),
                None => gone,
            });
        }
        // The rules after a rule move up: that its place is taken says nothing.
        let (request, ..) = shown.filter(|_| row.is_some() && name != "pos")?;
        let gone = Expect::Unlisted(field, json!(id));
        Some(
            Check::list(
                request.clone(),
                format!("{id} is not listed any more"),
                gone,
            )
            .guessed(),
        )
    }
}

/// Whether a method is a look that takes nothing but its path.
fn is_plain(method: &Method) -> bool {
    risk::class(Verb::Get, &method.path) == Class::Does(Risk::Read)
        && method.own_parameters().all(|it| it.optional)
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
fn call(verb: Verb, path: &str, params: Object) -> Undo {
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

fn shown(value: &Value) -> String {
    let text = pve::lenient::as_text(value).unwrap_or_else(|| value.to_string());
    words::clip(&text, SHOWN)
}

/// What a row held, without secrets.
fn brief(row: &Value, path: &str) -> String {
    let mut row = row.clone();
    clean::answer(&mut row, path);
    words::clip(&row.to_string(), 200)
}
