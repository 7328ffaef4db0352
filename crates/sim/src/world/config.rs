//! A guest's configuration: the lines of its file as text, and the few questions everybody asks about them.

use std::collections::BTreeMap;

/// More volumes than this are not kept as unused.
const MAX_UNUSED: u16 = 256;

/// Keys and values of one config. The digest is not part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config(BTreeMap<String, String>);

/// A disk, mount point or drive in a config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drive<'a> {
    /// `scsi0`, `rootfs`, ...
    pub key: &'a str,
    /// `local-lvm:vm-100-disk-0`, `none`, `cdrom`, or a host path.
    pub volume: &'a str,
    /// What follows the volume, without the leading comma.
    pub options: &'a str,
}

impl Drive<'_> {
    /// The value of one option.
    pub fn option(&self, name: &str) -> Option<&str> {
        property(self.options, name)
    }

    /// The size in bytes that the config states; 0 if it states none.
    pub fn size(&self) -> u64 {
        self.option("size").and_then(parse_size).unwrap_or_default()
    }

    /// CD-ROM drives, cloud-init among them, are not disks.
    pub fn is_cdrom(&self) -> bool {
        self.option("media") == Some("cdrom")
    }

    /// The storage, if the drive is a volume of one.
    pub fn storage(&self) -> Option<&str> {
        self.volume.split_once(':').map(|(storage, _)| storage)
    }
}

impl Config {
    /// The text of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// The number of a key.
    pub fn int(&self, key: &str) -> Option<u64> {
        self.get(key)?.parse().ok()
    }

    /// Whether a boolean key is set.
    pub fn flag(&self, key: &str) -> bool {
        self.get(key) == Some("1")
    }

    /// Sets a key.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.0.insert(key.into(), value.into());
    }

    /// Sets a key as a file gives it back: an empty text is a blank then, and an empty description is none.
    pub fn store(&mut self, key: &str, value: &str) {
        match (key, value) {
            ("description", "") => {
                self.remove(key);
            }
            (_, "") => self.set(key, " "),
            _ => self.set(key, value),
        }
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &str) -> Option<String> {
        self.0.remove(key)
    }

    /// All keys and values, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// All drives: disks, CD-ROMs, mount points, unused volumes.
    pub fn drives(&self) -> impl Iterator<Item = Drive<'_>> {
        self.iter()
            .filter(|(key, _)| is_drive_key(key))
            .map(|(key, value)| {
                let (volume, options) = value.split_once(',').unwrap_or((value, ""));
                let volume = volume.strip_prefix("file=").unwrap_or(volume);
                Drive {
                    key,
                    volume: volume.strip_prefix("volume=").unwrap_or(volume),
                    options,
                }
            })
    }

    /// The drive of a key.
    pub fn drive(&self, key: &str) -> Option<Drive<'_>> {
        self.drives().find(|drive| drive.key == key)
    }

    /// Notes a volume under the first free `unused` key, unless it is noted already.
    pub fn add_unused(&mut self, volid: &str) {
        let keys = || (0..MAX_UNUSED).map(|number| format!("unused{number}"));
        if keys().any(|key| self.get(&key) == Some(volid)) {
            return;
        }
        if let Some(free) = keys().find(|key| self.get(key).is_none()) {
            self.set(free, volid);
        }
    }

    /// Forgets `unused` volumes that a drive uses again.
    pub fn forget_unused_in_use(&mut self) {
        let (unused, used): (Vec<Drive<'_>>, Vec<Drive<'_>>) = self
            .drives()
            .partition(|drive| drive.key.starts_with("unused"));
        let stale: Vec<String> = unused
            .iter()
            .filter(|drive| used.iter().any(|other| other.volume == drive.volume))
            .map(|drive| drive.key.to_owned())
            .collect();
        for key in stale {
            self.remove(&key);
        }
    }

    /// The file's text, without its snapshots.
    pub fn to_text(&self) -> String {
        let lines: Vec<String> = self
            .iter()
            .map(|(key, value)| format!("{key}: {value}\n"))
            .collect();
        lines.concat()
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Config {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(pairs: T) -> Self {
        Self(
            pairs
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        )
    }
}

/// Whether a key names a drive.
pub fn is_drive_key(key: &str) -> bool {
    let family = key.trim_end_matches(|c: char| c.is_ascii_digit());
    let numbered = [
        "ide", "sata", "scsi", "virtio", "efidisk", "tpmstate", "mp", "unused",
    ];
    key == "rootfs" || (family != key && numbered.contains(&family))
}

/// The value of a key in `a=b,c=d`.
pub fn property<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.split(',')
        .find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}

/// Bytes of `32G`, `4M`, `1500M`, `512K`, `1T` or a plain number.
pub fn parse_size(text: &str) -> Option<u64> {
    let (number, shift) = match text.chars().last()? {
        'K' => (&text[..text.len() - 1], 10),
        'M' => (&text[..text.len() - 1], 20),
        'G' => (&text[..text.len() - 1], 30),
        'T' => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let part = (u128::from(fraction.parse::<u64>().ok()?) << shift) / scale;
    let bytes = (u128::from(whole.parse::<u64>().ok()?) << shift) + part;
    u64::try_from(bytes).ok()
}

/// The shortest exact way to write a size: `32G`, `1500M`.
pub fn format_size(bytes: u64) -> String {
    let units = [(40, "T"), (30, "G"), (20, "M"), (10, "K")];
    let exact = units
        .iter()
        .find(|(shift, _)| bytes != 0 && bytes.is_multiple_of(1 << shift));
    exact.map_or_else(
        || bytes.to_string(),
        |(shift, unit)| format!("{}{unit}", bytes >> shift),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("32G"), Some(32 << 30));
        assert_eq!(parse_size("1.5G"), Some(3 << 29));
        assert_eq!(parse_size("1.0009765625G"), Some(1025 << 20));
        assert_eq!(parse_size("x"), None);
        assert_eq!(parse_size("99999999999999999999T"), None);
        assert_eq!(parse_size("99999999999T"), None);
        assert_eq!(format_size(1500 << 20), "1500M");
        assert_eq!(format_size(2 << 30), "2G");
    }

    #[test]
    fn a_volume_is_unused_once_and_not_while_in_use() {
        let mut config = Config::default();
        config.add_unused("a:1");
        config.add_unused("a:2");
        config.add_unused("a:1");
        assert_eq!(config.iter().count(), 2);
        config.set("scsi0", "a:1,size=1G");
        config.forget_unused_in_use();
        assert_eq!(
            (config.get("unused0"), config.get("unused1")),
            (None, Some("a:2"))
        );
    }

    #[test]
    fn drives_are_told_from_other_keys() {
        let config: Config = [
            ("scsi0", "local:1/d,size=2G"),
            ("scsihw", "lsi"),
            ("ide2", "none,media=cdrom"),
        ]
        .into_iter()
        .collect();
        let keys: Vec<_> = config.drives().map(|drive| drive.key).collect();
        assert_eq!(keys, ["ide2", "scsi0"]);
        assert_eq!(
            config.drive("scsi0").map(|drive| drive.size()),
            Some(2 << 30)
        );
    }
}
