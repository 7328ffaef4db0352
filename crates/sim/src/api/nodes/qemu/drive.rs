//! The property strings of disks and CD-ROM drives.

use super::patterns;
use crate::schema::property::Alias;
use crate::schema::{Param, Properties, flag, format, int, number, properties, text};

/// `pve-volume-id-or-qm-path`: a volume, a path of the host, or the words `none` and `cdrom`.
fn volume_or_path(text: &str) -> Result<(), String> {
    if matches!(text, "none" | "cdrom") {
        return Ok(());
    }
    volume_or_absolute_path(text)
}

fn volume_or_absolute_path(text: &str) -> Result<(), String> {
    if text.starts_with('/') {
        return Ok(());
    }
    format::volume_id(text)
}

const FILE: Param = text("file").is(volume_or_path);
const SIZE: Param = text("size").is(format::disk_size).optional();
const IMPORT_FROM: Param = text("import-from").is(volume_or_absolute_path).optional();
const FORMAT: Param = text("format")
    .one_of(&["raw", "qcow", "qed", "qcow2", "vmdk", "cloop"])
    .optional();

const ALIASES: &[Alias] = &[
    Alias {
        names: &["volume"],
        value: "file",
        key: None,
    },
    Alias {
        names: &["bps_rd_length"],
        value: "bps_rd_max_length",
        key: None,
    },
    Alias {
        names: &["bps_wr_length"],
        value: "bps_wr_max_length",
        key: None,
    },
    Alias {
        names: &["iops_rd_length"],
        value: "iops_rd_max_length",
        key: None,
    },
    Alias {
        names: &["iops_wr_length"],
        value: "iops_wr_max_length",
        key: None,
    },
];

/// What drives of every bus have.
const COMMON: &[Param] = &[
    FILE,
    SIZE,
    IMPORT_FROM,
    FORMAT,
    text("aio")
        .one_of(&["native", "threads", "io_uring"])
        .optional(),
    flag("backup").optional(),
    int("bps").optional(),
    int("bps_max_length").min(1).optional(),
    int("bps_rd").optional(),
    int("bps_rd_max_length").min(1).optional(),
    int("bps_wr").optional(),
    int("bps_wr_max_length").min(1).optional(),
    text("cache")
        .one_of(&["none", "writethrough", "writeback", "unsafe", "directsync"])
        .optional(),
    flag("detect_zeroes").optional(),
    text("discard").one_of(&["ignore", "on"]).optional(),
    int("iops").optional(),
    int("iops_max").optional(),
    int("iops_max_length").min(1).optional(),
    int("iops_rd").optional(),
    int("iops_rd_max").optional(),
    int("iops_rd_max_length").min(1).optional(),
    int("iops_wr").optional(),
    int("iops_wr_max").optional(),
    int("iops_wr_max_length").min(1).optional(),
    number("mbps").optional(),
    number("mbps_max").optional(),
    number("mbps_rd").optional(),
    number("mbps_rd_max").optional(),
    number("mbps_wr").optional(),
    number("mbps_wr_max").optional(),
    text("media").one_of(&["cdrom", "disk"]).optional(),
    flag("replicate").optional(),
    text("rerror")
        .one_of(&["ignore", "report", "stop"])
        .optional(),
    text("serial").is(format::urlencoded).longest(60).optional(),
    flag("shared").optional(),
    flag("snapshot").optional(),
    text("werror")
        .one_of(&["enospc", "ignore", "report", "stop"])
        .optional(),
];

const SSD: Param = flag("ssd").optional();
const WWN: Param = text("wwn").matching(patterns::world_wide_name).optional();
const IOTHREAD: Param = flag("iothread").optional();
const READ_ONLY: Param = flag("ro").optional();

pub(super) static IDE: Properties = properties(&[
    text("model").is(format::urlencoded).longest(120).optional(),
    SSD,
    WWN,
])
.and(COMMON)
.default_key("file")
.aliases(ALIASES);

pub(super) static SATA: Properties = properties(&[SSD, WWN])
    .and(COMMON)
    .default_key("file")
    .aliases(ALIASES);

pub(super) static SCSI: Properties = properties(&[
    IOTHREAD,
    text("product").matching(patterns::product).optional(),
    int("queues").min(2).optional(),
    READ_ONLY,
    flag("scsiblock").optional(),
    SSD,
    text("vendor").matching(patterns::vendor).optional(),
    WWN,
])
.and(COMMON)
.default_key("file")
.aliases(ALIASES);

pub(super) static VIRTIO: Properties = properties(&[IOTHREAD, READ_ONLY])
    .and(COMMON)
    .default_key("file")
    .aliases(ALIASES);

pub(super) static EFI: Properties = properties(&[
    FILE,
    SIZE,
    IMPORT_FROM,
    FORMAT,
    text("efitype").one_of(&["2m", "4m"]).optional(),
    text("ms-cert")
        .one_of(&["2011", "2023", "2023w", "2023k"])
        .optional(),
    flag("pre-enrolled-keys").optional(),
])
.default_key("file")
.aliases(ALIASES);

pub(super) static TPM: Properties = properties(&[
    FILE,
    SIZE,
    IMPORT_FROM,
    text("format").one_of(&["raw", "qcow2", "vmdk"]).optional(),
    text("version").one_of(&["v1.2", "v2.0"]).optional(),
])
.default_key("file")
.aliases(ALIASES);

pub(super) static UNUSED: Properties = properties(&[text("file").is(format::volume_id)])
    .default_key("file")
    .aliases(ALIASES);

/// The form of the drive with this key.
pub(super) fn form(key: &str) -> Option<&'static Properties> {
    let family = key.trim_end_matches(|c: char| c.is_ascii_digit());
    match family {
        "ide" => Some(&IDE),
        "sata" => Some(&SATA),
        "scsi" => Some(&SCSI),
        "virtio" => Some(&VIRTIO),
        "efidisk" => Some(&EFI),
        "tpmstate" => Some(&TPM),
        "unused" => Some(&UNUSED),
        _ => None,
    }
}

/// A drive as a call asks for it or a config holds it: the keys and values of its property string.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    pub(super) key: String,
    form: &'static Properties,
    pairs: Vec<(String, String)>,
}

/// Limits that cannot be given together: a total, and one for reading or writing alone.
const CONFLICTS: &[(&str, &str)] = &[
    ("mbps", "mbps_rd"),
    ("mbps", "mbps_wr"),
    ("iops", "iops_rd"),
    ("iops", "iops_wr"),
];

impl Spec {
    /// Reads a drive; `None` if its options contradict each other.
    pub(super) fn parse(key: &str, text: &str) -> Option<Self> {
        let form = form(key)?;
        let pairs = form.split(text).ok()?;
        let spec = Self {
            key: key.to_owned(),
            form,
            pairs: pairs
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
        };
        let has = |name: &str| spec.get(name).is_some();
        let conflict = CONFLICTS.iter().any(|(one, other)| has(one) && has(other));
        let for_disks = has("snapshot") || has("format") || key.starts_with("virtio");
        let wrong = conflict || (spec.is_cdrom() && for_disks);
        (!wrong).then_some(spec)
    }

    /// The value of one key.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let pair = self.pairs.iter().find(|(key, _)| key == name);
        pair.map(|(_, value)| value.as_str())
    }

    /// Sets a key.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.pairs.push((name.to_owned(), value.to_owned()));
    }

    /// Removes a key.
    pub(super) fn remove(&mut self, name: &str) {
        self.pairs.retain(|(key, _)| key != name);
    }

    /// The volume, path or word that it holds.
    pub(super) fn file(&self) -> &str {
        self.get("file").unwrap_or_default()
    }

    /// The storage and the gibibytes, if a new disk is asked for: `local:8`.
    pub(super) fn new_disk(&self) -> Option<(&str, &str)> {
        let (storage, size) = self.file().split_once(':')?;
        let number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
        let fits = match size.split_once('.') {
            Some((whole, part)) => number(whole) && number(part),
            None => number(size),
        };
        (fits && !storage.contains('/')).then_some((storage, size))
    }

    /// A cloud-init drive, made or to be made.
    pub(super) fn is_cloudinit(&self) -> bool {
        let Some((_, name)) = self.file().split_once(':') else {
            return false;
        };
        let file = name.rsplit('/').next().unwrap_or_default();
        let stem = file.split('.').next().unwrap_or_default();
        stem == "cloudinit" || (stem.starts_with("vm-") && stem.ends_with("-cloudinit"))
    }

    /// A CD-ROM drive, cloud-init included.
    pub(super) fn is_cdrom(&self) -> bool {
        self.get("media") == Some("cdrom")
    }

    /// As configs hold it.
    pub(super) fn print(&self) -> String {
        let pairs: Vec<(&str, &str)> = self
            .pairs
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        self.form.join(&pairs)
    }
}

/// Whether an option is a drive; unused volumes are none.
pub(super) fn is_drive(key: &str) -> bool {
    !key.starts_with("unused") && form(key).is_some() && super::options::exists(key)
}
