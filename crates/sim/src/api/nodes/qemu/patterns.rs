//! Small formats and patterns that only options of virtual machines have.

use crate::call::split_list;
use crate::world::config::is_drive_key;

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `pve-cpuset`: `0,5,8-11`.
pub(super) fn cpu_set(text: &str) -> Result<(), String> {
    if !text.is_empty() && text.split(',').all(is_range) {
        Ok(())
    } else {
        Err("unable to parse cpuset option".to_owned())
    }
}

fn is_range(text: &str) -> bool {
    match text.split_once('-') {
        Some((first, last)) => is_number(first) && is_number(last),
        None => is_number(text),
    }
}

/// Numbers and ranges: `2;5;8-11`, as VLAN trunks and NUMA nodes are written.
pub(super) fn ranges(text: &str) -> bool {
    text.split(';').all(is_range)
}

/// `pve-qm-bootdisk`.
pub(super) fn boot_disk(text: &str) -> Result<(), String> {
    if is_drive_key(text) && !text.starts_with("unused") {
        Ok(())
    } else {
        Err(format!("invalid boot disk '{text}'"))
    }
}

/// `pve-qm-bootdev`: what may stand in the boot order.
pub(super) fn boot_device(text: &str) -> Result<(), String> {
    let family = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let bootable = ["ide", "sata", "scsi", "virtio", "net", "usb", "hostpci"];
    if bootable.contains(&family) && super::options::exists(text) {
        Ok(())
    } else {
        Err(format!("invalid boot device '{text}'"))
    }
}

/// The old boot order: letters for floppy, disk, CD-ROM, network.
pub(super) fn boot_letters(text: &str) -> bool {
    (1..=4).contains(&text.len()) && text.chars().all(|c| "acdn".contains(c))
}

/// `pve-hotplug-features`.
pub(super) fn hotplug(text: &str) -> Result<(), String> {
    let features = ["network", "disk", "cpu", "memory", "usb", "cloudinit"];
    let unknown = split_list(text).find(|feature| !features.contains(feature));
    match unknown {
        Some(_) if matches!(text, "0" | "1") => Ok(()),
        Some(feature) => Err(format!("invalid hotplug feature '{feature}'")),
        None => Ok(()),
    }
}

/// `pve-phys-bits`.
pub(super) fn address_bits(text: &str) -> Result<(), String> {
    let bits = text.parse::<u8>();
    if text == "host" || bits.is_ok_and(|bits| (8..=64).contains(&bits)) {
        Ok(())
    } else {
        Err("value must be an integer between 8 and 64 or 'host'".to_owned())
    }
}

/// `/dev/parport0` or `/dev/usb/lp0`.
pub(super) fn parallel_port(text: &str) -> bool {
    ["/dev/parport", "/dev/usb/lp"]
        .iter()
        .any(|start| text.strip_prefix(start).is_some_and(is_number))
}

/// A socket or a device of the host.
pub(super) fn serial_port(text: &str) -> bool {
    text == "socket"
        || text
            .strip_prefix("/dev/")
            .is_some_and(|name| !name.is_empty())
}

/// `now`, `2006-06-17` or `2006-06-17T16:01:21`.
pub(super) fn start_date(text: &str) -> bool {
    let parts = |text: &str, separator, widths: [usize; 3]| {
        let parts: Vec<&str> = text.split(separator).collect();
        parts.len() == 3
            && parts
                .iter()
                .zip(widths)
                .all(|(part, width)| is_number(part) && part.len() <= width)
    };
    let (date, time) = text.split_once('T').unwrap_or((text, "0:0:0"));
    text == "now" || (parts(date, '-', [4, 2, 2]) && parts(time, ':', [2, 2, 2]))
}

/// A UUID, or `1` to make one, or `0` for none.
pub(super) fn generation_id(text: &str) -> bool {
    matches!(text, "0" | "1") || uuid(text)
}

/// A UUID.
pub(super) fn uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let widths = [8, 4, 4, 4, 12];
    parts.len() == widths.len()
        && parts
            .iter()
            .zip(widths)
            .all(|(part, width)| is_hex(part, width))
}

/// Text in base64.
pub(super) fn base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/');
    !body.is_empty() && text.len() - body.len() <= 2 && body.chars().all(word)
}

/// `pc`, `q35`, `virt`, or one of them with a version: `pc-q35-9.2+pve1`.
pub(super) fn machine_type(text: &str) -> bool {
    if matches!(text, "pc" | "q35" | "virt") {
        return true;
    }
    let families = ["pc-i440fx-", "pc-q35-", "virt-", "pc-"];
    let version = families.iter().find_map(|start| text.strip_prefix(start));
    let Some(version) = version else {
        return false;
    };
    let version = version.strip_suffix(".pxe").unwrap_or(version);
    let (version, fix) = version.split_once("+pve").unwrap_or((version, "0"));
    is_number(fix) && version.contains('.') && version.split('.').all(is_number)
}

/// `0x` and 16 hexadecimal digits.
pub(super) fn world_wide_name(text: &str) -> bool {
    text.get(..18)
        .and_then(|start| start.strip_prefix("0x"))
        .is_some_and(|digits| is_hex(digits, 16))
}

/// `1234:5678`, a port like `1-1.2`, or `spice`.
pub(super) fn usb_host(text: &str) -> bool {
    let id = |text: &str| is_hex(text.strip_prefix("0x").unwrap_or(text), 4);
    let port = |(bus, path): (&str, &str)| is_number(bus) && path.split('.').all(is_number);
    text.eq_ignore_ascii_case("spice")
        || text
            .split_once(':')
            .is_some_and(|(vendor, product)| id(vendor) && id(product))
        || text.split_once('-').is_some_and(port)
}

/// One or more PCI addresses: `01:00.0;01:00.1`.
pub(super) fn pci_addresses(text: &str) -> bool {
    let lower = |text: &str| !text.chars().any(|c| c.is_ascii_uppercase());
    text.split(';').all(|address| {
        let (slot, function) = address.rsplit_once('.').unwrap_or((address, "0"));
        let parts: Vec<&str> = slot.split(':').collect();
        let short = match parts[..] {
            [bus, device] => is_hex(bus, 2) && is_hex(device, 2),
            [domain, bus, device] => {
                domain.len() >= 4
                    && is_hex(domain, domain.len())
                    && is_hex(bus, 2)
                    && is_hex(device, 2)
            }
            _ => false,
        };
        short && is_hex(function, 1) && lower(address)
    })
}

/// `0x10de`.
pub(super) fn pci_id(text: &str) -> bool {
    text.strip_prefix("0x").is_some_and(|id| is_hex(id, 4))
}

/// CPU flags to turn on and off: `+aes;-pcid`.
pub(super) fn cpu_flags(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.split(';').all(|flag| {
        flag.strip_prefix(['+', '-'])
            .is_some_and(|name| !name.is_empty() && name.chars().all(word))
    })
}

/// What may not stand in a file name given to QEMU.
pub(super) fn rom_file(text: &str) -> bool {
    !text.is_empty() && !text.contains([',', ';'])
}

/// The type of a mediated device.
pub(super) fn mediated_type(text: &str) -> bool {
    !text.is_empty() && !text.contains(['/', '.', ':'])
}

/// Letters, digits and dashes.
pub(super) fn plain_name(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !text.is_empty() && text.chars().all(word)
}

/// What a SCSI disk says of its maker, up to 8 characters.
pub(super) fn vendor(text: &str) -> bool {
    inquiry(text, 8)
}

/// What a SCSI disk says of itself, up to 16 characters.
pub(super) fn product(text: &str) -> bool {
    inquiry(text, 16)
}

fn inquiry(text: &str, longest: usize) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ' ');
    text.len() <= longest && text.chars().all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_types() {
        for good in [
            "q35",
            "pc-i440fx-10.0",
            "pc-q35-9.2+pve1",
            "virt-10.0",
            "pc-9.2.pxe",
        ] {
            assert!(machine_type(good), "{good}");
        }
        for bad in ["zzz", "pc-q35-", "pc-q35-9", "q35-9.2"] {
            assert!(!machine_type(bad), "{bad}");
        }
    }

    #[test]
    fn devices_of_the_host() {
        assert!(usb_host("1234:5678") && usb_host("1-1.2") && usb_host("spice"));
        assert!(!usb_host("x") && !usb_host("123:5678"));
        assert!(pci_addresses("00:1f.0") && pci_addresses("0000:01:00.0;0000:01:00.1"));
        assert!(!pci_addresses("00:1F.0") && !pci_addresses("1f.0"));
    }

    #[test]
    fn dates() {
        assert!(start_date("now") && start_date("2006-06-17T16:01:21"));
        assert!(!start_date("2006") && !start_date("2006-06-17T16"));
    }
}
