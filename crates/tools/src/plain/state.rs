//! How things are before a plain change, and what must be so after it.

use pve::{NodeName, Request, StorageStatus};
use serde_json::{Value, json};

use super::arg::Kind as ArgKind;
use super::change::Planning;
use super::entry::Shown;
use super::{Arg, path, word};
use crate::fault::{Fault, Kind};
use crate::plan::{Check, Expect, Guard, Plan, parts, volume_name};
use crate::preview::missing_privileges;
use crate::tool::Object;
use crate::words;

impl Planning<'_> {
    /// The list that the entry stands in.
    pub(super) async fn rows(&self) -> Result<Vec<Value>, Fault> {
        let Some((list, _)) = self.entry.listed else {
            return Ok(Vec::new());
        };
        let pve = &self.place.cluster.pve;
        match pve.list(path(list, self.values)).await {
            Ok(rows) => Ok(rows),
            Err(error) => {
                let needs = self.tool.needed(self.values);
                Err(crate::preview::refused(error, &needs, pve).await)
            }
        }
    }

    /// What it is called among what nobody else may make meanwhile.
    pub(super) async fn unique_name(&self) -> String {
        let name = self.whole_name();
        let node = word(self.values.get("node")).parse::<NodeName>();
        let (Some((_, "volid")), Ok(node)) = (self.entry.listed, node) else {
            return format!("{} {name}{}", self.entry.what, self.whose());
        };
        let storage = word(self.values.get("storage"));
        let storages = self.place.cluster.pve.storages(&node).await;
        // What cannot be seen counts as one for all nodes.
        let is_own = |it: &StorageStatus| it.storage == storage && !it.shared;
        let is_own = storages.is_ok_and(|storages| storages.iter().any(is_own));
        volume_name(&name, &node, !is_own)
    }

    pub(super) fn row<'r>(&self, rows: &'r [Value]) -> Option<&'r Value> {
        let (_, field) = self.entry.listed?;
        let name = word(self.id().as_ref());
        rows.iter().find(|row| word(row.get(field)) == name)
    }

    /// Its row, or a fault that names those there are.
    pub(super) async fn existing(&self, rows: &[Value], plan: &Plan) -> Result<Object, Fault> {
        let Some((_, field)) = self.entry.listed else {
            return Ok(Object::new());
        };
        if let Some(Value::Object(row)) = self.row(rows) {
            return Ok(without_secrets(row.clone(), self.tool.path));
        }
        let what = self.entry.what;
        let message = format!("there is no {what} {}{}", self.name(), self.whose());
        let names: Vec<_> = rows
            .iter()
            .map(|row| word(row.get(field)))
            .take(20)
            .collect();
        let missing = missing_privileges(plan, &self.place.cluster.pve).await;
        Err(
            Fault::new(Kind::NotFound, message).hint(match names.as_slice() {
                _ if !missing.is_empty() => {
                    format!("it may be hidden: the token lacks {}", missing.join(", "))
                }
                [] => "there is none at all".to_owned(),
                names => format!("there are {}", words::clip(&words::list(names), 300)),
            }),
        )
    }

    /// The settings as they are.
    pub(super) async fn before(&self, plan: &mut Plan) -> Result<Object, Fault> {
        let rows = self.rows().await?;
        let row = self.existing(&rows, plan).await?;
        self.hold_positions(plan, &rows);
        if self.entry.shown != Shown::Apart {
            return Ok(row);
        }
        match self.place.cluster.pve.get(self.read_path()).await? {
            Value::Object(item) => Ok(without_secrets(item, self.tool.path)),
            _ => Ok(Object::new()),
        }
    }

    fn read_path(&self) -> String {
        path(self.entry.read_at.unwrap_or(self.tool.path), self.values)
    }

    /// What is known by its number is another thing once the list has changed.
    pub(super) fn hold_positions(&self, plan: &mut Plan, rows: &[Value]) {
        if let (true, Some((list, _))) = (self.entry.numbered, self.entry.listed) {
            let mut fields: Vec<&str> = rows
                .iter()
                .filter_map(Value::as_object)
                .flat_map(|row| row.keys().map(String::as_str))
                .filter(|field| *field != "digest")
                .collect();
            fields.sort_unstable();
            fields.dedup();
            let says = format!("the {}s{}", self.entry.what, self.whose());
            let read = Request::get(path(list, self.values));
            plan.guards
                .push(Guard::same_rows(says, read, &fields, rows));
        }
    }

    pub(super) fn is_listed(&self, there: bool) -> Option<Check> {
        let (list, field) = self.entry.listed?;
        let id = self.id()?;
        let (what, name) = (self.entry.what, self.name());
        let (says, expect) = if there {
            (
                format!("{what} {name} is there"),
                Expect::Listed(field.to_owned(), id),
            )
        } else {
            (
                format!("{what} {name} is gone"),
                Expect::Unlisted(field.to_owned(), id),
            )
        };
        Some(Check::list(
            Request::get(path(list, self.values)),
            says,
            expect,
        ))
    }

    /// Of a numbered list the highest number goes, whichever was deleted.
    pub(super) fn one_less(&self, rows: &[Value]) -> Option<Check> {
        let (list, field) = self.entry.listed?;
        let highest = rows
            .iter()
            .filter_map(|row| row.get(field)?.as_i64())
            .max()?;
        let says = format!("there is one {} less", self.entry.what);
        let expect = Expect::Unlisted(field.to_owned(), json!(highest));
        Some(Check::list(
            Request::get(path(list, self.values)),
            says,
            expect,
        ))
    }

    /// What the settings must read like afterwards.
    pub(super) fn reads_so(&self) -> Option<Check> {
        let adds = self.values.get("append") == Some(&Value::Bool(true));
        let mut expect: Vec<Expect> = self
            .altering()
            .filter(|(arg, value)| arg.compared && !arg.hides(value))
            .map(|(arg, value)| arg.expect(value, adds))
            .collect();
        let cleared = self.cleared();
        expect.extend(
            cleared
                .iter()
                .map(|key| Expect::Is(key.clone(), Value::Null)),
        );
        if expect.is_empty() {
            return None;
        }
        let says = format!("{} {} reads as it was sent", self.entry.what, self.name());
        let says = says.replace("  ", " ");
        if self.entry.shown == Shown::Apart {
            let read = Request::get(self.read_path());
            return Some(Check {
                expect,
                ..Check::list(read, says, Expect::Free)
            });
        }
        let (list, field) = self.entry.listed?;
        let id = self.id()?;
        let row = Expect::Row(field.to_owned(), id, expect);
        Some(Check::list(
            Request::get(path(list, self.values)),
            says,
            row,
        ))
    }
}

impl Planning<'_> {
    /// What the members of the entry must be afterwards.
    pub(super) fn has_members(&self) -> Option<Check> {
        let &(list, by, field) = self.entry.members?;
        let is_out = self.values.get("delete") == Some(&Value::Bool(true));
        let member = |(arg, value): (&Arg, &Value)| Some((arg.member?, parts(value)));
        let named = self.altering().filter_map(member);
        let expect = named.flat_map(|(name, ids)| {
            ids.into_iter().map(move |id| {
                let (name, id) = (name.to_owned(), json!(id));
                if is_out {
                    Expect::Unlisted(name, id)
                } else {
                    Expect::Listed(name, id)
                }
            })
        });
        let expect: Vec<_> = expect.collect();
        if expect.is_empty() {
            return None;
        }
        let id = self.id()?;
        let read = Request::get(path(list, self.values)).with(by, word(Some(&id)));
        let says = format!("{} {} has its members so", self.entry.what, self.name());
        let row = Expect::Row(
            by.to_owned(),
            id,
            vec![Expect::Within(field.to_owned(), expect)],
        );
        Some(Check::list(read, says, row))
    }
}

/// What was there, to be shown and to be written back.
fn without_secrets(item: Object, path: &str) -> Object {
    let mut item = Value::Object(item);
    crate::clean::answer(&mut item, path);
    match item {
        Value::Object(item) => item,
        _ => Object::new(),
    }
}

impl Arg {
    /// What PVE shows of a value that it took, or added to what was there.
    fn expect(&self, value: &Value, adds: bool) -> Expect {
        let name = self.sent.to_owned();
        match (self.kind, value) {
            (ArgKind::Flag, Value::Bool(false)) => Expect::Off(name),
            (_, Value::String(text)) if text.is_empty() => Expect::Off(name),
            (ArgKind::List, value) if adds => Expect::Has(name, parts(value)),
            (ArgKind::List, value) => Expect::Only(name, parts(value)),
            (_, value) => Expect::Is(name, value.clone()),
        }
    }
}
