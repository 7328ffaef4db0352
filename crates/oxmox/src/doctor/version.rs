//! Whether the cluster's version is one that oxmox was built for.

use pve::Version;

use super::finding::Finding;

const CHECK: &str = "version";

pub(super) fn check(version: &Version) -> Finding {
    if version.at_least(8, 4) {
        return Finding::ok(CHECK, format!("PVE {version}"));
    }
    let what = format!("PVE {version}: oxmox reads it, and changes PVE 8.4 and newer only");
    let way = match version.major {
        8.. => "`apt update && apt dist-upgrade` on one node after the other",
        7 => "`pve7to8 --full` on a node says what is in the way to PVE 8",
        _ => "one major version after the other, for which there is no shorter way",
    };
    Finding::warning(CHECK, what).hint(format!("a person has to upgrade the cluster: {way}"))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    #[test]
    fn older_ones_are_for_reading() {
        let level = |major, minor| {
            let text = format!("{major}.{minor}");
            check(&Version { major, minor, text }).level
        };
        assert_eq!(level(9, 1), Level::Ok);
        assert_eq!(level(8, 4), Level::Ok);
        assert_eq!(level(8, 3), Level::Warning);
    }

    #[test]
    fn each_has_its_own_way_to_a_newer_one() {
        let hint = |major, minor| {
            let text = format!("{major}.{minor}");
            check(&Version { major, minor, text }).hint.unwrap()
        };
        let minor = hint(8, 3);
        assert!(
            minor.contains("dist-upgrade") && !minor.contains("pve8to9"),
            "{minor}"
        );
        assert!(hint(7, 4).contains("`pve7to8 --full`"));
        assert!(!hint(6, 4).contains("pve7to8"));
    }
}
