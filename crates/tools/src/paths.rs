//! Patterns over paths of PVE's API: `*` is one part, `**` at the end are any number of parts. They fit templates
//! (`/nodes/{node}/qemu`) and paths that are filled in alike.

/// Whether a path fits a pattern.
pub(crate) fn fits(pattern: &str, path: &str) -> bool {
    let mut parts = path.split('/').skip(1).filter(|part| !part.is_empty());
    for wanted in pattern.split('/').skip(1) {
        match (wanted, parts.next()) {
            ("**", _) => return true,
            ("*", Some(_)) => {}
            (word, Some(part)) if word == part => {}
            _ => return false,
        }
    }
    parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_what_they_say() {
        assert!(fits("/nodes/*/qemu", "/nodes/{node}/qemu"));
        assert!(!fits("/nodes/*/qemu", "/nodes/{node}/qemu/{vmid}"));
        assert!(fits("/access/**", "/access") && fits("/access/**", "/access/acl"));
        assert!(!fits("/access/**", "/cluster"));
        assert!(fits("/**", "/pools"));
    }
}
