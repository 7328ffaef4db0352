//! Whether the cluster's version is one that oxmox was built for.

use pve::Version;

use super::finding::Finding;

const CHECK: &str = "version";

pub(super) fn check(version: &Version) -> Finding {
    if version.at_least(8, 4) {
        return Finding::ok(CHECK, format!("PVE {version}"));
    }
    let what = format!("PVE {version}: oxmox reads it, and changes PVE 8.4 and newer only");
    Finding::warning(CHECK, what).hint("a person has to upgrade the cluster: `pve7to8` or `pve8to9` on a node says what is in the way")
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
}
