//! Turning a plain change into a plan: what is there before, what is sent, what must be there afterwards, how to go back.

use pve::Request;
use secrecy::SecretString;
use serde_json::{Value, json};

use super::arg::Kind as ArgKind;
use super::entry::{Entry, Shown};
use super::place::{Place, shown};
use super::{Arg, Plain, Told, fill, path, word};
use crate::context::Context;
use crate::fault::{Fault, Kind};
use crate::plan::{Check, Effect, Expect, Impact, Plan, Step, Trace, parts};
use crate::spec::Risk;
use crate::tool::Object;
use crate::words;

/// What a plain change does.
#[derive(Debug)]
pub(super) enum Act {
    /// Not said yet; a sweep refuses such a tool.
    Undeclared,
    /// Makes an entry that the caller names.
    Creates(Entry),
    /// Makes an entry that gets a number.
    Adds(Entry),
    /// Alters settings.
    Edits(Entry),
    /// Takes an entry away.
    Removes(Entry),
    /// Sets something going: the sentence that says what, and on which entry.
    Does(&'static str, Entry),
}

impl Plain {
    /// It makes an entry that the caller names.
    pub(crate) const fn creates(mut self, entry: Entry) -> Self {
        self.work = super::Work::Does(Act::Creates(entry));
        self
    }

    /// It makes an entry that PVE numbers.
    pub(crate) const fn adds(mut self, entry: Entry) -> Self {
        self.work = super::Work::Does(Act::Adds(entry));
        self
    }

    /// It alters settings.
    pub(crate) const fn edits(mut self, entry: Entry) -> Self {
        self.work = super::Work::Does(Act::Edits(entry));
        self
    }

    /// It takes an entry away.
    pub(crate) const fn removes(mut self, entry: Entry) -> Self {
        self.work = super::Work::Does(Act::Removes(entry));
        self
    }

    /// It sets something going. The sentence may hold `{arguments}`.
    pub(crate) const fn does(mut self, says: &'static str, entry: Entry) -> Self {
        self.work = super::Work::Does(Act::Does(says, entry));
        self
    }
}

impl Plain {
    /// The arguments of which an empty text takes away what is there.
    pub(crate) fn emptied(&self) -> Vec<&'static str> {
        let super::Work::Does(Act::Edits(entry)) = &self.work else {
            return Vec::new();
        };
        let emptied = self.args.iter().filter(|arg| entry.empties(arg));
        emptied.map(|arg| arg.name).collect()
    }
}

/// A change that is being planned.
pub(super) struct Planning<'a> {
    pub(super) tool: &'a Plain,
    pub(super) values: &'a Object,
    pub(super) place: &'a Place,
    pub(super) entry: &'a Entry,
    /// The worst that its request can do.
    risk: Risk,
}

impl Plain {
    pub(super) async fn plan(
        &self,
        act: &Act,
        mut values: Object,
        cx: &Context,
    ) -> Result<Plan, Fault> {
        let place = self.place(&mut values, cx).await?;
        if let Some((name, at, field)) = self.finds {
            let found: Result<Value, _> = place.cluster.pve.get(path(at, &values)).await;
            match found {
                Ok(item) => drop(values.insert(name.to_owned(), json!(word(item.get(field))))),
                Err(error) if error.status() == Some(403) => return Err(error.into()),
                // What is missing is told with what there is, below.
                Err(_) => {}
            }
        }
        let mut plan = Plan::new(&self.spec, &place.cluster.name, "");
        if let Some(guest) = &place.guest {
            let config = guest.config().await?;
            guest.bind(&mut plan, &config);
        }
        self.bind_named(&values, cx, &mut plan).await?;
        plan.needs = self.needed(&values);
        let request = self.request(&values, |arg, value| {
            if arg.address && arg.hides(value) {
                plan.secret_address(&word(Some(value)))
            } else if arg.hides(value) {
                plan.secret(arg.name, SecretString::from(word(Some(value))))
            } else {
                super::arg::value(value)
            }
        });
        let risk = crate::risk::worst_risk(&request);
        self.bind_stranded(&values, &place.cluster, risk, &mut plan)
            .await?;
        let (Act::Creates(entry)
        | Act::Adds(entry)
        | Act::Edits(entry)
        | Act::Removes(entry)
        | Act::Does(_, entry)) = act
        else {
            return Err(Fault::new(
                Kind::Internal,
                "a change that says not what it does",
            ));
        };
        let planning = Planning {
            tool: self,
            values: &values,
            place: &place,
            entry,
            risk,
        };
        planning.refuse_ignored()?;
        let mut step = Step::request(planning.says(act), request);
        planning.fill_in(act, &mut plan, &mut step).await?;
        if let (Some(node), [_, ..]) = (values.get("node"), self.tasks) {
            step = step.task(Trace {
                node: word(Some(node))
                    .parse()
                    .map_err(|error| Fault::bad_input(format!("argument `node`: {error}")))?,
                vmid: place.guest.as_ref().map(|guest| guest.at.vmid),
                types: self.tasks.iter().map(|kind| (*kind).to_owned()).collect(),
            });
        }
        step = match self.answer {
            Told::Nowhere => step,
            Told::InOutcome => step.shows(),
            Told::InFile => step.confides(planning.name()),
        };
        plan.summary.clone_from(&step.says);
        plan.steps.push(step);
        Ok(plan)
    }
}

impl Planning<'_> {
    async fn fill_in(&self, act: &Act, plan: &mut Plan, step: &mut Step) -> Result<(), Fault> {
        let name = self.name();
        match act {
            Act::Undeclared => {}
            Act::Creates(_) => {
                let rows = self.rows().await?;
                if self.row(&rows).is_some() {
                    let message = format!("{} {name} exists already", self.entry.what);
                    return Err(Fault::new(Kind::Conflict, message)
                        .hint("choose another name, or change the one that is there"));
                }
                plan.impact
                    .push(self.impact(Effect::Created, self.hidden_words()));
                plan.names.push(self.unique_name().await);
                plan.undo = self.undo_making();
                step.after = self.is_listed(true);
            }
            Act::Adds(_) => {
                let rows = self.rows().await?;
                plan.impact
                    .push(self.impact(Effect::Created, Some(self.sent_words())));
                plan.undo = self.undo_making();
                step.after = self.entry.listed.map(|(list, field)| {
                    let known = rows.iter().filter_map(|row| row.get(field).cloned());
                    let expect = Expect::Added(field.to_owned(), known.collect());
                    let says = format!("there is one more {}", self.entry.what);
                    Check::list(Request::get(path(list, self.values)), says, expect)
                });
            }
            Act::Edits(_) => {
                let old = self.before(plan).await?;
                let changes = self.changes(&old);
                plan.impact
                    .push(self.impact(Effect::Changed, Some(changes)));
                plan.undo = self.undo_edit(&old);
                step.after = match (self.reads_so(), self.has_members()) {
                    (Some(settings), Some(members)) => Some(settings.and(members)),
                    (settings, members) => settings.or(members),
                };
            }
            Act::Removes(_) => {
                let rows = self.rows().await?;
                let old = self.existing(&rows, plan).await?;
                plan.impact
                    .push(self.impact(Effect::Destroyed, Some(in_words(&old))));
                plan.undo = self.undo_removal(&old);
                plan.warnings.extend(self.not_brought_back(&old).await);
                plan.blockers.extend(self.content().await);
                self.hold_positions(plan, &rows);
                step.after = if self.entry.numbered {
                    self.one_less(&rows)
                } else {
                    self.is_listed(false)
                };
            }
            Act::Does(..) => {
                if self.entry.listed.is_some() {
                    let rows = self.rows().await?;
                    self.existing(&rows, plan).await?;
                }
                let effect = match self.risk {
                    Risk::Disrupt => Effect::Interrupted,
                    Risk::Destroy => Effect::Destroyed,
                    _ => Effect::Changed,
                };
                plan.impact.push(self.impact(effect, None));
                plan.undo = self.undo_making();
                step.after = match self.entry.settled {
                    Some((list, view, field)) => {
                        let read = Request::get(path(list, self.values)).with(view, true);
                        let says = format!("nothing of {} is pending", self.entry.what);
                        Some(Check::list(read, says, Expect::Nowhere(field.to_owned())))
                    }
                    None if self.entry.shown == Shown::InRowLater => {
                        self.reads_so().map(|check| check.settles(true))
                    }
                    None => None,
                };
            }
        }
        Ok(())
    }

    /// What its row in the list has for a name.
    pub(super) fn id(&self) -> Option<Value> {
        match self.entry.called {
            Some((template, _)) => Some(json!(fill(template, self.values))),
            None => self.values.get(*self.entry.id.last()?).cloned(),
        }
    }

    /// Refuses what PVE would not look at.
    fn refuse_ignored(&self) -> Result<(), Fault> {
        let given: Vec<_> = self.altering().collect();
        match given.iter().find(|(arg, _)| arg.alone) {
            Some((arg, _)) if given.len() > 1 || !self.cleared().is_empty() => {
                let message = format!("argument `{}` goes alone", arg.name);
                Err(Fault::bad_input(message).hint(format!(
                    "PVE ignores all other settings beside {}: send it in a call of its own",
                    arg.name
                )))
            }
            _ => Ok(()),
        }
    }

    /// "bob@pve", "bob@pve/backup"
    pub(super) fn name(&self) -> String {
        words::clip(&self.whole_name(), 80)
    }

    /// The same, however long.
    pub(super) fn whole_name(&self) -> String {
        if let Some((template, _)) = self.entry.called {
            return fill(template, self.values);
        }
        let words = self.entry.id.iter().map(|id| word(self.values.get(*id)));
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        words.join("/")
    }

    /// " of VM 105 (staging)", " on node pve1"
    pub(super) fn whose(&self) -> String {
        match (&self.place.guest, self.values.get("node")) {
            (Some(guest), _) => format!(" of {}", guest.label()),
            (None, Some(node)) if !self.entry.id.contains(&"node") => {
                format!(" on node {}", word(Some(node)))
            }
            _ => String::new(),
        }
    }

    /// One sentence.
    fn says(&self, act: &Act) -> String {
        let (what, name, whose) = (self.entry.what, self.name(), self.whose());
        let named = format!("{what} {name}");
        let named = named.trim_end();
        match act {
            Act::Creates(_) => format!("Create {named}{whose}"),
            Act::Adds(_) => format!("Add a {what}{whose}"),
            Act::Edits(_) => format!("Change {named}{whose}"),
            Act::Removes(_) => format!("Delete {named}{whose}"),
            Act::Does(says, _) => format!(
                "{}{}",
                fill(says, self.values),
                match &self.place.guest {
                    Some(_) => whose,
                    None => String::new(),
                }
            ),
            Act::Undeclared => String::new(),
        }
    }

    fn impact(&self, effect: Effect, note: Option<String>) -> Impact {
        let name = self.name();
        let whose = self.whose();
        let whose = whose.trim_start_matches(" of ").trim_start_matches(" on ");
        let id = match (name.as_str(), whose) {
            ("", "") => format!("of cluster {}", self.place.cluster.name),
            ("", whose) => whose.to_owned(),
            _ => name,
        };
        let impact = Impact::new(effect, self.entry.what, id);
        match note.filter(|note| !note.is_empty()) {
            Some(note) => impact.note(note),
            None => impact,
        }
    }

    /// The arguments that alter something, with their values.
    pub(super) fn altering(&self) -> impl Iterator<Item = (&Arg, &Value)> {
        let tool = self.tool;
        tool.args
            .iter()
            .filter(move |arg| !tool.captures(arg) && !self.entry.id.contains(&arg.name))
            .filter(|arg| arg.sent != "delete")
            .filter_map(|arg| Some((arg, self.values.get(arg.name)?)))
    }

    /// The settings that are taken away.
    pub(super) fn cleared(&self) -> Vec<String> {
        let clears = self
            .tool
            .args
            .iter()
            .any(|arg| arg.sent == "delete" && matches!(arg.kind, ArgKind::List));
        match self.values.get("delete") {
            Some(keys) if clears => parts(keys),
            _ => Vec::new(),
        }
    }

    /// "comment: unset → web servers, enable: 0 → 1"
    fn changes(&self, old: &Object) -> String {
        let was = |name: &str| old.get(name).map_or_else(|| "unset".to_owned(), shown);
        let mut changes: Vec<String> = self
            .altering()
            .map(|(arg, value)| {
                if arg.secret {
                    format!("{}: a secret is set", arg.sent)
                } else {
                    format!("{}: {} → {}", arg.sent, was(arg.sent), shown(value))
                }
            })
            .collect();
        changes.extend(
            self.cleared()
                .iter()
                .map(|key| format!("{key}: {} → unset", was(key))),
        );
        words::clip(&changes.join(", "), 400)
    }

    /// What can be told of addresses whose request is not shown: "url: https://joe:<redacted>@host/a.iso".
    fn hidden_words(&self) -> Option<String> {
        let words = self
            .altering()
            .filter(|(arg, value)| arg.address && arg.hides(value));
        let words: Vec<_> = words
            .map(|(arg, value)| format!("{}: {}", arg.sent, shown(value)))
            .collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// "type: in, action: ACCEPT"
    fn sent_words(&self) -> String {
        let words = self.altering().filter(|(arg, _)| !arg.secret);
        let words: Vec<_> = words
            .map(|(arg, value)| format!("{}: {}", arg.sent, shown(value)))
            .collect();
        words::clip(&words.join(", "), 400)
    }
}

/// A row in words, for who is to agree to its end.
fn in_words(row: &Object) -> String {
    let fields = row.iter().filter(|(name, value)| {
        *name != "digest" && !value.is_object() && !crate::clean::is_secret(name)
    });
    let words: Vec<_> = fields
        .map(|(name, value)| format!("{name}: {}", shown(value)))
        .collect();
    words::clip(&words.join(", "), 300)
}
