//! What a POST adds to a list and a DELETE takes out of it. Some entries are known by a name that the caller chose, some by
//! one that PVE makes, and some by their place, which moves with what comes before them.

use pve::Method as Verb;
use serde_json::{Value, json};

use super::effect::{Before, Effects, SHOWN, call};
use crate::clean;
use crate::plan::{Check, Effect, Expect, Guard, Impact, Plan, Undo};
use crate::tool::Object;
use crate::words;

/// The capture of entries that are known by their place.
const PLACE: &str = "pos";

/// How what a POST makes is known.
enum Made {
    /// By its place: PVE puts it first, and looks at no place that it is given.
    First,
    /// By this id of this kind.
    As(String, String),
    /// By an id of this kind that PVE makes of this one.
    Like(String, String),
    /// By a name that PVE makes of what it is told: the list has one more of them.
    Volume(String),
}

/// What the path calls a volume.
const VOLUME: &str = "volume";
/// What lists call it.
const VOLID: &str = "volid";

impl Effects<'_> {
    pub(super) fn added(&self, plan: &mut Plan) -> Option<Check> {
        let made = self.made();
        match &made {
            Some(Made::First) => {
                if self.sent.has(PLACE) {
                    plan.warnings.push(format!(
                        "PVE ignores {PLACE} here and puts a new rule first; PUT to its path with moveto moves it"
                    ));
                }
                if !self.sent.has("enable") {
                    plan.warnings.push(
                        "PVE puts a rule out of force that it is not told to enable: send enable: 1"
                            .to_owned(),
                    );
                }
                plan.impact
                    .push(Impact::new(Effect::Created, "rule", "the first of them"));
                self.undo_making("0", plan);
            }
            Some(Made::As(name, id)) => {
                if plan.impact.is_empty() {
                    plan.impact
                        .push(Impact::new(Effect::Created, name, words::clip(id, SHOWN)));
                }
                self.undo_making(id, plan);
            }
            Some(Made::Like(name, id)) => {
                plan.impact
                    .push(Impact::new(Effect::Created, name, words::clip(id, SHOWN)));
                plan.undo = Undo::Impossible {
                    because: "PVE makes its id: the list tells what to delete".to_owned(),
                };
            }
            Some(Made::Volume(name)) => {
                plan.impact.push(Impact::new(
                    Effect::Created,
                    VOLUME,
                    words::clip(name, SHOWN),
                ));
                plan.undo = Undo::Impossible {
                    because: "PVE makes its name, which is its answer: DELETE it at its own path"
                        .to_owned(),
                };
            }
            None => {}
        }
        let before = self.before.as_ref()?;
        let expect = self.listed(made, before)?;
        let mut check = Check::list(before.request.clone(), "it is listed", Expect::Free);
        check.expect = expect;
        Some(check.guessed())
    }

    /// Deleting it takes it back, where it can be deleted and is no guest, which has a tool of its own for that.
    fn undo_making(&self, id: &str, plan: &mut Plan) {
        let can_be_deleted = self.below().any(|(_, verb)| verb == Verb::Delete);
        if can_be_deleted && plan.made().next().is_none() {
            let path = format!("{}/{}", self.found.path(), pve::encode_segment(id));
            plan.undo = call(Verb::Delete, &path, Object::new());
        }
    }

    /// What the list shows then.
    fn listed(&self, made: Option<Made>, before: &Before<'_>) -> Option<Vec<Expect>> {
        let rows = before.rows()?;
        let returns = &before.method.returns;
        let is_shown = |name: &String| {
            returns.fields.contains(name) || rows.iter().any(|row| row.get(name).is_some())
        };
        let given = || {
            let given = self.settings().filter(|(name, value)| {
                name.as_str() != PLACE && is_shown(name) && pve::lenient::as_text(value).is_some()
            });
            given.map(|(name, value)| (name.clone(), value.clone()))
        };
        let key = |name: String| {
            let key = returns.row_key.clone();
            key.or_else(|| is_shown(&name).then_some(name))
        };
        let come = |field: &str| {
            let known = rows.iter().filter_map(|row| row.get(field).cloned());
            Expect::Added(field.to_owned(), known.collect())
        };
        match made {
            Some(Made::First) => {
                let so = given().map(|(name, value)| Expect::Is(name, value));
                let first = Expect::Row(PLACE.to_owned(), json!(0), so.collect());
                Some(vec![come(PLACE), first])
            }
            Some(Made::Like(name, _)) => Some(vec![come(&key(name)?)]),
            // Its size is written otherwise there, and rounded.
            Some(Made::Volume(_)) => Some(vec![come(VOLID)]),
            Some(Made::As(name, id)) => Some(vec![Expect::Like(vec![(key(name)?, json!(id))])]),
            None => {
                let so: Vec<_> = given()
                    .map(|(name, value)| self.expected(&name, &value))
                    .collect();
                (!so.is_empty()).then(|| vec![Expect::SomeRow(so)])
            }
        }
    }

    /// The captures of the methods right below, with their verbs.
    fn below(&self) -> impl Iterator<Item = (&str, Verb)> {
        let above = &self.found.method.path;
        self.schema.methods().iter().filter_map(move |method| {
            let (parent, last) = method.path.rsplit_once('/')?;
            let name = last.strip_prefix('{')?.strip_suffix('}')?;
            (parent == above).then_some((name, method.verb))
        })
    }

    fn made(&self) -> Option<Made> {
        let (name, _) = self.below().next()?;
        if name == PLACE {
            return Some(Made::First);
        }
        if name == VOLUME {
            return self.sent.shown_text("filename").map(Made::Volume);
        }
        let id = self.sent.shown_text(name)?;
        // What cannot stand in a path is not what PVE calls it there.
        Some(if id.contains(['/', ' ']) {
            Made::Like(name.to_owned(), id)
        } else {
            Made::As(name.to_owned(), id)
        })
    }

    /// What the list calls the entry that is deleted, and its id.
    fn deleted(&self) -> Option<(&str, String, &str)> {
        let (name, id) = self.found.captures.last()?;
        // What a path below ends in is not always what is deleted: `/nodes/{node}/subscription`.
        if !self.found.method.path.ends_with(&format!("{{{name}}}")) {
            return None;
        }
        let key = self.before.as_ref();
        let key = key.and_then(|before| before.method.returns.row_key.clone());
        let field = key.unwrap_or_else(|| match name.as_str() {
            VOLUME => VOLID.to_owned(),
            other => other.to_owned(),
        });
        Some((name, field, id))
    }

    /// The row of the entry that is deleted.
    pub(super) fn row(&self) -> Option<&Value> {
        let (_, field, id) = self.deleted()?;
        let mut rows = self.before.as_ref()?.rows()?.iter();
        rows.find(|row| row.get(&field).and_then(pve::lenient::as_text).as_deref() == Some(id))
    }

    pub(super) fn removed(&self, plan: &mut Plan) -> Option<Check> {
        let (name, field, id) = self.deleted()?;
        let row = self.row();
        if plan.impact.iter().all(|item| item.id != *id) {
            let gone = Impact::new(Effect::Destroyed, name, words::clip(id, SHOWN));
            plan.impact.push(match row {
                Some(row) => gone.note(brief(row, &self.found.method.path)),
                None => gone,
            });
        }
        let before = self.before.as_ref()?;
        let (rows, _) = (before.rows()?, row?);
        let (says, gone) = if name == PLACE {
            plan.guards.push(same_places(before, rows));
            // The rules after it move up: the highest place is free then.
            let places = rows.iter().filter_map(|row| row.get(PLACE)?.as_i64());
            let highest = places.max()?;
            ("there is one less".to_owned(), json!(highest))
        } else {
            (format!("{id} is not listed any more"), json!(id))
        };
        let gone = Expect::Unlisted(field, gone);
        Some(Check::list(before.request.clone(), says, gone).guessed())
    }
}

/// What is known by its place is another thing once the list has changed.
fn same_places(before: &Before<'_>, rows: &[Value]) -> Guard {
    let fields = rows.iter().filter_map(Value::as_object);
    let mut fields: Vec<&str> = fields
        .flat_map(|row| row.keys().map(String::as_str))
        .filter(|field| *field != "digest")
        .collect();
    fields.sort_unstable();
    fields.dedup();
    let says = format!("what is listed at {}", before.request.path);
    Guard::same_rows(says, before.request.clone(), &fields, rows)
}

/// What a row held, without secrets.
fn brief(row: &Value, path: &str) -> String {
    let mut row = row.clone();
    clean::answer(&mut row, path);
    words::clip(&row.to_string(), 200)
}
