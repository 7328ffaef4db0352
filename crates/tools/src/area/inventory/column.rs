//! The fields of a row.

use std::borrow::Cow;

use pve::{GuestKind, ResourceKind};
use serde_json::{Value, json};

use super::item::{Item, Thing};
use crate::fault::Fault;
use crate::filter::{Facts as _, Measure};
use crate::tool::Object;
use crate::{schema, words};

/// A field that a row can show and that a list can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Id,
    Type,
    Name,
    Node,
    Cluster,
    Status,
    Vmid,
    Cpu,
    Mem,
    Memory,
    Disk,
    Size,
    Uptime,
    Tags,
    Pool,
    Lock,
    Ha,
    Plugin,
    Content,
    Created,
    Parent,
    Ram,
    Protected,
    Notes,
    Guests,
}

use Column::{
    Cluster, Content, Cpu, Created, Disk, Guests, Ha, Id, Lock, Mem, Memory, Name, Node, Notes,
    Parent, Plugin, Pool, Protected, Ram, Size, Status, Tags, Type, Uptime, Vmid,
};

/// All of them with their names and JSON types, in the order in which errors name them.
const ALL: &[(Column, &str, &str)] = &[
    (Id, "id", "string"),
    (Type, "type", "string"),
    (Name, "name", "string"),
    (Node, "node", "string"),
    (Cluster, "cluster", "string"),
    (Status, "status", "string"),
    (Vmid, "vmid", "integer"),
    (Cpu, "cpu", "integer"),
    (Mem, "mem", "integer"),
    (Memory, "memory", "integer"),
    (Disk, "disk", "integer"),
    (Size, "size", "integer"),
    (Uptime, "uptime", "integer"),
    (Tags, "tags", "string"),
    (Pool, "pool", "string"),
    (Lock, "lock", "string"),
    (Ha, "ha", "string"),
    (Plugin, "plugin", "string"),
    (Content, "content", "string"),
    (Created, "created", "string"),
    (Parent, "parent", "string"),
    (Ram, "ram", "boolean"),
    (Protected, "protected", "boolean"),
    (Notes, "notes", "string"),
    (Guests, "guests", "integer"),
];

/// What a field holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell<'a> {
    Nothing,
    Text(Cow<'a, str>),
    Number(u32),
    Percent(f64),
    Bytes(u64),
    Seconds(u64),
    /// Unix seconds.
    Time(u64),
    Yes,
}

/// The longest text of a row's own, and of one that somebody wrote.
const LONG: usize = 200;
const SHORT: usize = 48;

impl Column {
    /// The field of that name, for the argument that named it.
    pub(super) fn find(name: &str, argument: &str) -> Result<Self, Fault> {
        let name = name.trim();
        if let Some((column, ..)) = ALL.iter().find(|(_, known, _)| *known == name) {
            return Ok(*column);
        }
        let names: Vec<_> = ALL.iter().map(|(_, known, _)| *known).collect();
        let meant = match schema::nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean {near}? "),
            None => String::new(),
        };
        Err(Fault::bad_input(format!(
            "{argument}: there is no field \"{}\"",
            words::clip(name, 40)
        ))
        .hint(format!("{meant}the fields are {}", names.join(", "))))
    }

    pub(super) fn name(self) -> &'static str {
        ALL.iter()
            .find(|(column, ..)| *column == self)
            .map_or("", |(_, name, _)| name)
    }

    /// A row's schema: any of the fields may be there, none has to.
    pub(super) fn schema() -> Object {
        let properties = ALL
            .iter()
            .map(|(_, name, kind)| ((*name).to_owned(), json!({ "type": kind })));
        Object::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), Value::Object(properties.collect())),
        ])
    }

    /// Whether it is another one at every look.
    pub(super) fn moves(self) -> bool {
        matches!(self, Cpu | Mem | Disk | Uptime)
    }

    /// What the item has in this field.
    pub(super) fn of<'a>(self, item: &Item<'a>) -> Cell<'a> {
        match self {
            Cluster => Cell::Text(Cow::Borrowed(item.cluster)),
            Cpu => percent(item, Measure::Cpu),
            Mem => percent(item, Measure::Mem),
            Disk => percent(item, Measure::Disk),
            _ => match &item.thing {
                Thing::Resource(_, guests) if self == Guests => {
                    guests.map_or(Cell::Nothing, Cell::Number)
                }
                Thing::Shared(_, nodes) if self == Node => text_of(match nodes.as_slice() {
                    [_, _, _, _, ..] => format!("{} nodes", nodes.len()),
                    few => few
                        .iter()
                        .map(|node| node.as_str())
                        .collect::<Vec<_>>()
                        .join(","),
                }),
                Thing::Resource(row, _) | Thing::Shared(row, _) => of_resource(self, row),
                Thing::Volume { .. } => of_volume(self, &item.thing),
                Thing::Snapshot { .. } => of_snapshot(self, &item.thing),
            },
        }
    }
}

fn percent<'a>(item: &Item<'a>, measure: Measure) -> Cell<'a> {
    item.number(measure).map_or(Cell::Nothing, Cell::Percent)
}

fn text(text: Option<&str>) -> Cell<'_> {
    match text.map(str::trim) {
        None | Some("") => Cell::Nothing,
        Some(text) => Cell::Text(Cow::Borrowed(text)),
    }
}

fn text_of<'a>(text: String) -> Cell<'a> {
    Cell::Text(Cow::Owned(text))
}

fn flag<'a>(flag: bool) -> Cell<'a> {
    if flag { Cell::Yes } else { Cell::Nothing }
}

fn of_resource(column: Column, row: &pve::Resource) -> Cell<'_> {
    let guest = row.kind.guest_kind().is_some();
    let node = row.node.as_ref().map(pve::NodeName::as_str);
    match column {
        Id => match row.kind {
            ResourceKind::Qemu | ResourceKind::Lxc => match row.vmid {
                Some(vmid) => text_of(vmid.to_string()),
                None => text(row.id.as_deref()),
            },
            ResourceKind::Node => text(node),
            ResourceKind::Storage => text(row.storage.as_deref()),
            ResourceKind::Pool => text(row.pool.as_deref()),
            _ => text(row.id.as_deref()),
        },
        Type => text(Some(row.kind.as_str())),
        Name if guest => text(row.name.as_deref()),
        Node if row.kind != ResourceKind::Node => text(node),
        Status if row.template => text(Some("template")),
        Status => text(row.status.as_deref()),
        Vmid => row
            .vmid
            .map_or(Cell::Nothing, |vmid| Cell::Number(vmid.get())),
        Memory => row.maxmem.map_or(Cell::Nothing, Cell::Bytes),
        Size => row.maxdisk.map_or(Cell::Nothing, Cell::Bytes),
        Uptime => row
            .uptime
            .filter(|up| *up > 0)
            .map_or(Cell::Nothing, Cell::Seconds),
        Tags => text(row.tags.as_deref()),
        Pool if guest => text(row.pool.as_deref()),
        Lock => text(row.lock.as_deref()),
        Ha => text(row.hastate.as_deref()),
        Plugin => text(row.plugintype.as_deref()),
        Content => text(row.content.as_deref()),
        _ => Cell::Nothing,
    }
}

fn of_volume<'a>(column: Column, thing: &Thing<'a>) -> Cell<'a> {
    let Thing::Volume {
        volume,
        place,
        guest,
    } = thing
    else {
        return Cell::Nothing;
    };
    match column {
        Id => text(Some(&volume.volid)),
        Type | Content => text(volume.content.as_deref()),
        Vmid => volume
            .vmid
            .map_or(Cell::Nothing, |vmid| Cell::Number(vmid.get())),
        Name | Tags | Pool => guest.map_or(Cell::Nothing, |guest| of_resource(column, guest)),
        Node => text(place.node().map(pve::NodeName::as_str)),
        Size => volume.size.map_or(Cell::Nothing, Cell::Bytes),
        Created => volume.ctime.map_or(Cell::Nothing, Cell::Time),
        Parent => text(volume.parent.as_deref()),
        Protected => flag(volume.protected),
        Notes => text(volume.notes.as_deref()),
        _ => Cell::Nothing,
    }
}

fn of_snapshot<'a>(column: Column, thing: &Thing<'a>) -> Cell<'a> {
    let Thing::Snapshot { entry, guest } = thing else {
        return Cell::Nothing;
    };
    match column {
        Id => text(Some(&entry.name)),
        Type => text(Some("snapshot")),
        Created => entry.snaptime.map_or(Cell::Nothing, Cell::Time),
        Parent => text(entry.parent.as_deref()),
        Ram => flag(entry.vmstate && guest.kind.guest_kind() == Some(GuestKind::Qemu)),
        Notes => text(entry.description.as_deref()),
        Vmid | Name | Node | Status | Tags | Pool | Lock | Ha => of_resource(column, guest),
        _ => Cell::Nothing,
    }
}

impl Cell<'_> {
    /// For programs. Percent in whole numbers, sizes in bytes, times as text.
    pub(super) fn json(&self) -> Option<Value> {
        Some(match self {
            Self::Nothing => return None,
            Self::Text(text) => words::clip(text, LONG).into(),
            Self::Number(number) => (*number).into(),
            Self::Percent(share) => whole(*share).into(),
            Self::Bytes(number) | Self::Seconds(number) => (*number).into(),
            Self::Time(unix) => time(*unix).into(),
            Self::Yes => true.into(),
        })
    }

    /// For reading. An id is never cut: it is what the next call needs.
    pub(super) fn shown(&self, column: Column) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Text(text) if column == Id => words::clip(text, LONG),
            Self::Text(text) => words::clip(text, SHORT),
            Self::Number(number) => number.to_string(),
            Self::Percent(share) => format!("{} %", whole(*share)),
            Self::Bytes(bytes) => words::size(*bytes),
            Self::Seconds(seconds) => words::duration(*seconds),
            Self::Time(unix) => time(*unix),
            Self::Yes => "yes".to_owned(),
        }
    }
}

fn time(unix: u64) -> String {
    words::time(i64::try_from(unix).unwrap_or(i64::MAX))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped; a share is shown in whole percent"
)]
fn whole(share: f64) -> u32 {
    share.clamp(0.0, 100_000.0).round() as u32
}
