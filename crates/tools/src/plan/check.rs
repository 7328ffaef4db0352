//! A question put to PVE whose answer is already known if the change worked.

use pve::{GuestKind, GuestRef, Request, Vmid};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::reading::{has_parts, parts, reads_as};

/// A read and what it must show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What is then true, for people: "VM 300 exists and is unlocked".
    pub says: String,
    /// The read.
    pub read: Request,
    /// All that it must show.
    pub expect: Vec<Expect>,
    /// Whether it may take a while to become true after the request is done (a guest that HA starts).
    pub settles: bool,
    /// Whether it is only likely to follow from the request. If it does not hold, nothing is known to have failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guessed: bool,
    /// What another read must show besides, looked at once this one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub and: Option<Box<Check>>,
}

/// What a read must show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// This field has this value; null stands for "absent". PVE writes the same number as a number here and as text there, so
    /// what is compared is how it reads.
    Is(String, Value),
    /// This field is there and has another value than this one.
    Not(String, Value),
    /// The read answers a list, and one of its rows has this value in this field.
    Listed(String, Value),
    /// The read answers a list, and one of its rows has each of these values in these fields.
    Like(Vec<(String, Value)>),
    /// The read answers a list, and none of its rows has this value in this field.
    Unlisted(String, Value),
    /// The read answers a list, and one of its rows has none of these values in this field: it has come since.
    Added(String, Vec<Value>),
    /// The read answers a list, and none of its rows has this field.
    Nowhere(String),
    /// This field, a property string or a list, has each of these parts. PVE sorts them and adds its own: an address, a size.
    Has(String, Vec<String>),
    /// This field is a list of these and nothing else.
    Only(String, Vec<String>),
    /// This field is absent, empty or a no.
    Off(String),
    /// The read answers a list, and its row with this value in this field shows all of these.
    Row(String, Value, Vec<Expect>),
    /// The read answers a list, and one of its rows shows all of these.
    SomeRow(Vec<Expect>),
    /// The read answers a list, and none of its rows shows all of these.
    NoRow(Vec<Expect>),
    /// This field is a list or an object of its own, and shows all of these.
    Within(String, Vec<Expect>),
    /// `/cluster/nextid` says that the id is free. It answers every user, so a guest hidden by a missing privilege
    /// never looks like a deleted one.
    Free,
}

impl Check {
    /// No guest of either kind has this id any more.
    pub fn free(vmid: Vmid) -> Self {
        Self {
            says: format!("no guest has the id {vmid}"),
            read: Request::get("/cluster/nextid").with("vmid", vmid),
            expect: vec![Expect::Free],
            settles: false,
            guessed: false,
            and: None,
        }
    }

    /// The guest's `status/current` or `config` shows this.
    pub fn guest(at: &GuestRef, part: &str, says: impl Into<String>, expect: Vec<Expect>) -> Self {
        Self {
            says: says.into(),
            read: Request::get(at.path(part)),
            expect,
            settles: false,
            guessed: false,
            and: None,
        }
    }

    /// A guest that is made is there under this name, and complete: PVE keeps a lock on it until its disks are. The name
    /// tells it from one that somebody else has made under the same id.
    pub fn made(at: &GuestRef, label: &str, name: Option<&str>) -> Self {
        let key = match at.kind {
            GuestKind::Qemu => "name",
            GuestKind::Lxc => "hostname",
        };
        let name = name.map(|name| Expect::Is(key.to_owned(), name.into()));
        let unlocked = Expect::Is("lock".to_owned(), Value::Null);
        let expect = name.into_iter().chain([unlocked]).collect();
        Self::guest(
            at,
            "config",
            format!("{label} exists and is unlocked"),
            expect,
        )
    }

    /// It may take a while after the request is done.
    #[must_use]
    pub fn settles(mut self, settles: bool) -> Self {
        self.settles = settles;
        self
    }

    /// A list of PVE has such rows, or no such rows.
    pub fn list(read: Request, says: impl Into<String>, expect: Expect) -> Self {
        Self {
            says: says.into(),
            read,
            expect: vec![expect],
            settles: false,
            guessed: false,
            and: None,
        }
    }

    /// It is only likely to follow from the request.
    #[must_use]
    pub fn guessed(mut self) -> Self {
        self.guessed = true;
        self
    }

    /// And another read must show what it expects.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.and = Some(Box::new(match self.and.take() {
            Some(next) => next.and(other),
            None => other,
        }));
        self
    }

    /// This read and those that follow it.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |check| check.and.as_deref())
    }

    /// All that is then true, in one sentence.
    pub fn sentence(&self) -> String {
        let says: Vec<_> = self.all().map(|check| check.says.as_str()).collect();
        crate::words::list(&says)
    }

    /// Whether PVE's answer shows what is expected.
    pub fn holds(&self, answer: &Value) -> bool {
        self.expect.iter().all(|expect| expect.is_shown_by(answer))
    }
}

impl Expect {
    fn is_shown_by(&self, answer: &Value) -> bool {
        let field = |name: &str| answer.get(name).unwrap_or(&Value::Null);
        match self {
            Expect::Is(name, value) => reads_as(field(name), value),
            Expect::Not(name, value) => !field(name).is_null() && !reads_as(field(name), value),
            Expect::Listed(name, value) => answer
                .as_array()
                .is_some_and(|rows| has_row(rows, name, value)),
            Expect::Like(fields) => answer.as_array().is_some_and(|rows| {
                let is_so =
                    |row: &Value, (name, value): &(String, Value)| is_called(row, name, value);
                let mut rows = rows.iter();
                rows.any(|row| fields.iter().all(|field| is_so(row, field)))
            }),
            Expect::Unlisted(name, value) => answer
                .as_array()
                .is_some_and(|rows| !has_row(rows, name, value)),
            Expect::Added(name, known) => answer.as_array().is_some_and(|rows| {
                rows.iter()
                    .filter_map(|row| row.get(name))
                    .any(|value| !known.contains(value))
            }),
            Expect::Nowhere(name) => answer
                .as_array()
                .is_some_and(|rows| rows.iter().all(|row| row.get(name).is_none())),
            Expect::Has(name, wanted) => has_parts(&parts(field(name)), wanted),
            Expect::Only(name, wanted) => {
                let found = parts(field(name));
                found.len() == wanted.len() && has_parts(&found, wanted)
            }
            Expect::Off(name) => is_off(field(name)),
            Expect::Row(name, id, expect) => answer
                .as_array()
                .and_then(|rows| rows.iter().find(|row| is_called(row, name, id)))
                .is_some_and(|row| shows(row, expect)),
            Expect::SomeRow(expect) => answer
                .as_array()
                .is_some_and(|rows| rows.iter().any(|row| shows(row, expect))),
            Expect::NoRow(expect) => answer
                .as_array()
                .is_some_and(|rows| !rows.iter().any(|row| shows(row, expect))),
            Expect::Within(name, expect) => shows(field(name), expect),
            Expect::Free => true,
        }
    }
}

impl Check {
    /// Whether this refusal is PVE's way of saying that the id is taken.
    pub fn is_taken(&self, error: &pve::Error) -> bool {
        self.expect.contains(&Expect::Free) && error.status() == Some(400)
    }
}

fn shows(row: &Value, expect: &[Expect]) -> bool {
    expect.iter().all(|expect| expect.is_shown_by(row))
}

fn has_row(rows: &[Value], field: &str, value: &Value) -> bool {
    rows.iter().any(|row| is_called(row, field, value))
}

fn is_called(row: &Value, field: &str, value: &Value) -> bool {
    row.get(field).is_some_and(|found| reads_as(found, value))
}

fn is_off(value: &Value) -> bool {
    pve::lenient::as_text(value).is_none_or(|text| matches!(text.trim(), "" | "0"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn backups(known: &[&str]) -> Check {
        let known = known.iter().map(|volid| json!(volid)).collect();
        let read = Request::get("/nodes/pve1/storage/nas/content");
        Check::list(
            read,
            "there is a new backup",
            Expect::Added("volid".to_owned(), known),
        )
    }

    #[test]
    fn only_a_row_that_was_not_there_counts_as_added() {
        let check = backups(&["a", "b"]);
        assert!(!check.holds(&json!([{"volid": "a"}, {"volid": "b"}])));
        assert!(
            !check.holds(&json!([{"volid": "b"}, {"name": "c"}])),
            "pruned"
        );
        assert!(check.holds(&json!([{"volid": "b"}, {"volid": "c"}])));
        assert!(!check.holds(&json!(null)), "no list at all");
    }

    #[test]
    fn a_row_counts_only_if_all_of_it_fits() {
        let is = |field: &str, value: &str| Expect::Is(field.to_owned(), json!(value));
        let fits = || vec![is("path", "/vms"), is("ugid", "bob@pve")];
        let rows = json!([{"path": "/vms", "ugid": "amy@pve"}, {"path": "/", "ugid": "bob@pve"}]);
        assert!(!Expect::SomeRow(fits()).is_shown_by(&rows));
        assert!(Expect::NoRow(fits()).is_shown_by(&rows));
        let rows = json!([{"path": "/vms", "ugid": "bob@pve"}]);
        assert!(Expect::SomeRow(fits()).is_shown_by(&rows));
        assert!(!Expect::NoRow(fits()).is_shown_by(&rows));
        let hidden = json!(null);
        assert!(
            !Expect::NoRow(fits()).is_shown_by(&hidden),
            "no list at all"
        );
    }

    /// PVE refuses an id that is taken by 400, and by that it refuses other things, too.
    #[test]
    fn only_an_id_that_was_to_be_free_is_called_taken() {
        let refusal = |status| pve::Error::Status {
            status,
            reason: "VM 300 already exists".to_owned(),
            message: None,
            errors: std::collections::BTreeMap::new(),
            from_pve: true,
        };
        let free = Check::list(Request::get("/cluster/nextid"), "", Expect::Free);
        assert!(free.is_taken(&refusal(400)));
        assert!(!free.is_taken(&refusal(500)));
        assert!(!backups(&[]).is_taken(&refusal(400)));
    }

    #[test]
    fn checks_follow_each_other_in_order() {
        let check = |says: &str| Check::list(Request::get("/x"), says, Expect::Free);
        let chain = check("a").and(check("b")).and(check("c"));
        assert_eq!(chain.sentence(), "a, b and c");
    }
}
