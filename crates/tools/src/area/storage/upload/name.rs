//! What a file may be called on a storage. PVE turns other characters into `_` and refuses other endings, but only after
//! it has received the whole file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::words;

/// The longest name that PVE takes.
const LONGEST: usize = 255;

/// What a file is, in PVE's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Content {
    Iso,
    Vztmpl,
    Import,
}

impl Content {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Iso => "iso",
            Self::Vztmpl => "vztmpl",
            Self::Import => "import",
        }
    }

    /// What many of them are called.
    pub(super) fn nouns(self) -> &'static str {
        match self {
            Self::Iso => "ISO images",
            Self::Vztmpl => "container templates",
            Self::Import => "images for import",
        }
    }

    fn endings(self, with_tar: bool) -> &'static [&'static str] {
        const TEMPLATES: &[&str] = &[".tar.gz", ".tar.xz", ".tar.zst", ".tar.bz2", ".tar"];
        match self {
            Self::Iso => &[".iso", ".img"],
            Self::Vztmpl if with_tar => TEMPLATES,
            Self::Vztmpl => &TEMPLATES[..4],
            Self::Import => &[".ova", ".qcow2", ".raw", ".vmdk"],
        }
    }

    /// Refuses a name that PVE would refuse or change. `with_tar`: this PVE takes templates that are not compressed.
    pub(super) fn check(self, name: &str, with_tar: bool) -> Result<(), Fault> {
        let wrong = |what: String| {
            let name = words::clip(name, 80);
            Fault::bad_input(format!("argument `filename`: \"{name}\" {what}"))
        };
        let kept = normal(name);
        if kept != name {
            let hint = format!("send filename: \"{}\"", words::clip(&kept, LONGEST));
            return Err(wrong("would be kept under another name".to_owned()).hint(hint));
        }
        if name.len() > LONGEST {
            return Err(wrong("is too long".to_owned()).hint("a name has at most 255 characters"));
        }
        // PVE looks at the case of an ending only where a disk image is imported.
        let compared = match self {
            Self::Import => name.to_owned(),
            _ => name.to_ascii_lowercase(),
        };
        let endings = self.endings(with_tar);
        let fits = |end: &&str| compared.strip_suffix(end).is_some_and(|it| !it.is_empty());
        if endings.iter().any(fits) {
            return Ok(());
        }
        let hint = format!("it ends in one of {}", endings.join(", "));
        Err(wrong(format!("is no name for {}", self.nouns())).hint(hint))
    }
}

/// The name that PVE makes of it.
fn normal(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    last.chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_as_pve_takes_them() {
        for (content, name) in [
            (Content::Iso, "a.iso"),
            (Content::Iso, "A.IMG"),
            (Content::Vztmpl, "a_1.0_amd64.tar.zst"),
            (Content::Vztmpl, "a.tar"),
            (Content::Import, "a.qcow2"),
        ] {
            assert!(content.check(name, true).is_ok(), "{name}");
        }
        let before_9_1 = Content::Vztmpl.check("a.tar", false).unwrap_err();
        let hint = "it ends in one of .tar.gz, .tar.xz, .tar.zst, .tar.bz2";
        assert_eq!(before_9_1.hint.as_deref(), Some(hint));
    }

    #[test]
    fn what_pve_would_change_or_refuse_is_told_with_what_to_send() {
        for (content, name, hint) in [
            (
                Content::Iso,
                "has space.iso",
                "send filename: \"has_space.iso\"",
            ),
            (Content::Iso, "../evil.iso", "send filename: \"evil.iso\""),
            (Content::Iso, "a.qcow2", "it ends in one of .iso, .img"),
            (Content::Iso, ".iso", "it ends in one of .iso, .img"),
            (
                Content::Import,
                "a.QCOW2",
                "it ends in one of .ova, .qcow2, .raw, .vmdk",
            ),
        ] {
            let fault = content.check(name, true).unwrap_err();
            assert_eq!(fault.hint.as_deref(), Some(hint), "{fault}");
        }
        let long = format!("{}.iso", "a".repeat(255));
        assert!(Content::Iso.check(&long, true).is_err());
    }
}
