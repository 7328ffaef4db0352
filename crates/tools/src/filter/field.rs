//! The fields of the filter language, and what each is compared with.

use super::value::Pattern;
use crate::fault::Fault;
use crate::schema;
use crate::words;

/// A field that holds text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Of a guest; also of a node, storage or pool, and a volume's file name.
    Name,
    /// PVE's id of the entry: `qemu/100`, `storage/pve1/local`, `nas:iso/debian.iso`.
    Id,
    /// One of a guest's tags.
    Tag,
    /// The pool.
    Pool,
    /// The node.
    Node,
    /// `running`, `stopped`, `online`, `available`, …, and `template`.
    Status,
    /// `qemu`, `lxc`, `node`, …
    Type,
    /// The storage.
    Storage,
    /// What a storage may hold, or what kind of content a volume is.
    Content,
    /// The lock on a guest.
    Lock,
    /// The state under high availability.
    Ha,
}

/// A field that holds a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// A guest's number.
    Vmid,
    /// Percent of its CPUs in use.
    Cpu,
    /// Percent of its memory in use.
    Mem,
    /// Percent of its disk in use.
    Disk,
    /// Seconds since its start.
    Uptime,
    /// Bytes of disk.
    Size,
    /// When it was made, in Unix seconds.
    Created,
}

/// Either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// One that holds text.
    Word(Word),
    /// One that holds a number.
    Measure(Measure),
}

const WORDS: &[Word] = &[
    Word::Name,
    Word::Id,
    Word::Tag,
    Word::Pool,
    Word::Node,
    Word::Status,
    Word::Type,
    Word::Storage,
    Word::Content,
    Word::Lock,
    Word::Ha,
];

const MEASURES: &[Measure] = &[
    Measure::Vmid,
    Measure::Cpu,
    Measure::Mem,
    Measure::Disk,
    Measure::Uptime,
    Measure::Size,
    Measure::Created,
];

impl Word {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Id => "id",
            Self::Tag => "tag",
            Self::Pool => "pool",
            Self::Node => "node",
            Self::Status => "status",
            Self::Type => "type",
            Self::Storage => "storage",
            Self::Content => "content",
            Self::Lock => "lock",
            Self::Ha => "ha",
        }
    }

    /// Names and ids are found by a part of them, everything else by the whole.
    pub(super) fn pattern(self, value: &str) -> Pattern {
        match self {
            Self::Name | Self::Id => Pattern::part(value),
            Self::Type => Pattern::whole(match value.to_ascii_lowercase().as_str() {
                "vm" => "qemu",
                "ct" | "container" => "lxc",
                _ => value,
            }),
            _ => Pattern::whole(value),
        }
    }
}

impl Measure {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vmid => "vmid",
            Self::Cpu => "cpu",
            Self::Mem => "mem",
            Self::Disk => "disk",
            Self::Uptime => "uptime",
            Self::Size => "size",
            Self::Created => "created",
        }
    }

    /// What may stand behind it.
    pub(super) fn example(self) -> &'static str {
        match self {
            Self::Vmid => "vmid:105, vmid:100-199 or vmid>500",
            Self::Cpu => "cpu>80, in percent",
            Self::Mem => "mem>90, in percent",
            Self::Disk => "disk>85, in percent",
            Self::Uptime => "uptime>7d, in s, m, h, d or w",
            Self::Size => "size>100G, in bytes or K, M, G, T",
            Self::Created => "created<2026-10-01",
        }
    }
}

impl Field {
    /// The field of that name; `value` is for the error, which says what was probably meant.
    pub(super) fn find(name: &str, value: &str) -> Result<Self, Fault> {
        let word = WORDS.iter().find(|word| word.name() == name);
        let measure = MEASURES.iter().find(|measure| measure.name() == name);
        match (word, measure) {
            (Some(word), _) => Ok(Self::Word(*word)),
            (None, Some(measure)) => Ok(Self::Measure(*measure)),
            (None, None) => Err(unknown(name, value)),
        }
    }
}

fn unknown(name: &str, value: &str) -> Fault {
    let texts: Vec<_> = WORDS.iter().map(|word| word.name()).collect();
    let numbers: Vec<_> = MEASURES.iter().map(|measure| measure.name()).collect();
    let all = texts.iter().chain(&numbers).copied();
    let near = schema::nearest(name, all);
    let number = MEASURES.iter().find(|it| Some(it.name()) == near);
    let meant = match (near, number) {
        (_, Some(number)) => format!("did you mean {}? ", number.example()),
        (Some(near), _) => format!("did you mean {near}:{}? ", words::clip(value, 40)),
        (None, _) => String::new(),
    };
    Fault::bad_input(format!(
        "filter: there is no field \"{}\"",
        words::clip(name, 40)
    ))
    .hint(format!(
        "{meant}the fields are {} with a value, and {} with a number",
        texts.join(", "),
        numbers.join(", ")
    ))
}
