//! A path of the API taken apart as PVE takes it apart: decoded first, then split.

/// A path that fits a template, and what stands in the places of the template's `{names}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiPath {
    /// The template, such as `/nodes/{node}/{guest}/config`. `{guest}` stands for `qemu/{vmid}` and `lxc/{vmid}`.
    pub(crate) template: &'static str,
    values: Vec<(&'static str, String)>,
}

/// Places that take the rest of a path, slashes included: PVE splits no further there.
const TO_THE_END: &[&str] = &["volume", "cidr"];

impl ApiPath {
    /// The path, if it fits this template.
    pub(crate) fn fit(template: &'static str, path: &str) -> Option<Self> {
        // PVE decodes a path before it splits it: an encoded slash is a slash.
        let decoded = pve::decode_value(path);
        let mut parts = decoded.strip_prefix('/')?.split('/');
        let mut values = Vec::new();
        for place in template.strip_prefix('/')?.split('/') {
            let part = parts.next().filter(|part| !part.is_empty())?;
            match place.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
                None if place == part => {}
                None => return None,
                Some("guest") => {
                    let kind = ["qemu", "lxc"].into_iter().find(|kind| *kind == part)?;
                    let vmid = parts.next().filter(|part| !part.is_empty())?;
                    values.push(("kind", kind.to_owned()));
                    values.push(("vmid", vmid.to_owned()));
                }
                Some(name) if TO_THE_END.contains(&name) => {
                    let rest = parts.by_ref().fold(part.to_owned(), |mut rest, part| {
                        rest.push('/');
                        rest.push_str(part);
                        rest
                    });
                    values.push((name, rest));
                }
                Some(name) => values.push((name, part.to_owned())),
            }
        }
        parts.next().is_none().then_some(Self { template, values })
    }

    /// What stands in the place of this name. `{guest}` has two: `kind` and `vmid`.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        let mut values = self.values.iter();
        values
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_fits_its_template_and_no_other() {
        let stop = "/nodes/{node}/{guest}/status/stop";
        let fit = ApiPath::fit(stop, "/nodes/pve1/lxc/200/status/stop").unwrap();
        assert_eq!(fit.value("node"), Some("pve1"));
        assert_eq!(fit.value("kind"), Some("lxc"));
        assert_eq!(fit.value("vmid"), Some("200"));
        for other in [
            "/nodes/pve1/lxc/200/status/start",
            "/nodes/pve1/lxc/200/status/stop/",
            "/nodes/pve1/lxc/200/status",
            "/nodes//lxc/200/status/stop",
            "/nodes/pve1/storage/200/status/stop",
            "nodes/pve1/lxc/200/status/stop",
        ] {
            assert_eq!(ApiPath::fit(stop, other), None, "{other}");
        }
    }

    #[test]
    fn an_encoded_slash_is_a_slash() {
        let stop = "/nodes/{node}/{guest}/status/stop";
        let fit = ApiPath::fit(stop, "/nodes/pve1%2Fqemu/105/status%2fstop").unwrap();
        assert_eq!(fit.value("vmid"), Some("105"));
        let volume = "/nodes/{node}/storage/{storage}/content/{volume}";
        let fit = ApiPath::fit(volume, "/nodes/a/storage/nas/content/nas:iso%2Fx.iso").unwrap();
        assert_eq!(fit.value("volume"), Some("nas:iso/x.iso"));
    }
}
