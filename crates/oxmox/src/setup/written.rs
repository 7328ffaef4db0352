//! The files of a person that setup has written, by all that it takes to put back exactly what they held: as long as nobody
//! else wrote them, nobody's work is lost by that. One list for all clusters, since these share files.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tools::fault::{Fault, Kind};
use tools::keys;

use crate::clients::Before;
use crate::files::Draft;

/// What a file held, to know it again by; `None`: there was none. What it says may be a secret of others, and is not told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Mark(Option<String>);

impl Mark {
    fn of(text: Option<&str>) -> Self {
        Self(text.map(|text| keys::hex(&Sha256::digest(text.as_bytes()))))
    }
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// Where it is.
    pub path: PathBuf,
    /// What it held before the first run.
    before: Mark,
    /// Where that is kept, if there was anything. Certain to be there when the file holds something else.
    pub copy: Option<PathBuf>,
    /// What setup made of it, in any run. All of them: whoever is killed has written the last one, or the one before.
    wrote: Vec<Mark>,
    /// Whether somebody else wrote it between two runs: their work is in all that came after.
    is_mixed: bool,
    /// What others made of it, the newest last, where setup has replaced that whole: copies.
    #[serde(default)]
    edited: Vec<PathBuf>,
    /// What it said of oxmox before the first run, if it is a client's.
    pub entry: Option<Before>,
}

/// All of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written(Vec<Touched>);

impl Touched {
    fn is_ours(&self, now: &Mark) -> bool {
        !self.is_mixed && (*now == self.before || self.wrote.contains(now))
    }

    /// The copies that are still there, with what they hold.
    pub fn kept(&self) -> Vec<(PathBuf, String)> {
        let copies = self.copy.iter().chain(&self.edited);
        let copies = copies.filter_map(|copy| Some((copy.clone(), read(copy)?)));
        copies.collect()
    }
}

fn read(copy: &Path) -> Option<String> {
    std::fs::read_to_string(copy).ok()
}

impl Written {
    fn path(state: &Path) -> PathBuf {
        state.join("setup").join("written")
    }

    /// As far as it is known.
    pub fn read(state: &Path) -> Result<Self, Fault> {
        let draft = Draft::open(&Self::path(state))?;
        let Some(text) = &draft.before else {
            return Ok(Self::default());
        };
        serde_json::from_str(text).map_err(|error| {
            let what = format!("{} is not understood: {error}", draft.path.display());
            Fault::new(Kind::Failed, what).hint(
                "remove it: what setup entered in files is then taken out of them one by one, where else they would be \
                 put back as they were",
            )
        })
    }

    /// Writes it down; nothing is no file.
    pub fn write(&self, state: &Path) -> Result<(), Fault> {
        let draft = Draft::open(&Self::path(state))?.private();
        if self.0.is_empty() {
            return draft.gone().write();
        }
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
        draft.holding(text + "\n").write()
    }

    /// What is known of this file.
    pub fn of(&self, path: &Path) -> Option<&Touched> {
        self.0.iter().find(|touched| touched.path == path)
    }

    /// Whether somebody had something in this file, before setup or in between, that comes back when all is taken back.
    pub fn is_owed(&self, path: &Path) -> bool {
        let touched = self.of(path);
        touched.is_some_and(|it| it.copy.is_some() || !it.edited.is_empty())
    }

    /// Whether somebody else has written this file since setup did.
    pub fn is_edited(&self, draft: &Draft) -> bool {
        let now = Mark::of(draft.before.as_deref());
        (self.of(&draft.path)).is_some_and(|touched| !touched.is_ours(&now))
    }

    /// Whether this file holds what setup made of it, and not what was there before, or what others did.
    pub fn holds_own(&self, draft: &Draft) -> bool {
        let now = Mark::of(draft.before.as_deref());
        let touched = self.of(&draft.path);
        touched.is_some_and(|it| !it.is_mixed && now != it.before && it.wrote.contains(&now))
    }

    /// Setup is about to write this. What the file said of oxmox counts if it is the first time.
    pub fn about_to(&mut self, draft: &Draft, entry: Option<Before>) {
        if draft.keeps_copy() && self.is_edited(draft) {
            self.replace(draft);
        } else if self.of(&draft.path).is_some() {
            self.rewrite(draft);
        } else if !draft.again {
            self.0.push(Touched {
                path: draft.path.clone(),
                before: Mark::of(draft.before.as_deref()),
                copy: draft.keeps_copy().then(|| draft.backup()),
                wrote: vec![Mark::of(draft.after.as_deref())],
                is_mixed: false,
                edited: Vec::new(),
                entry,
            });
        }
        // One that was written before such things were written down: what it held first is not known any more.
    }

    /// The same of a file that is known, and stays so.
    pub fn rewrite(&mut self, draft: &Draft) {
        let now = Mark::of(draft.before.as_deref());
        self.known(draft, |touched| touched.is_mixed = !touched.is_ours(&now));
    }

    /// The same of one that others have written since, and that is ours as a whole from now on: their work is in a copy.
    fn replace(&mut self, draft: &Draft) {
        let copy = draft.backup();
        self.known(draft, |touched| {
            touched.is_mixed = false;
            touched.edited.retain(|known| *known != copy);
            touched.edited.push(copy);
        });
    }

    fn known(&mut self, draft: &Draft, note: impl FnOnce(&mut Touched)) {
        let after = Mark::of(draft.after.as_deref());
        let mut known = self.0.iter_mut();
        let Some(touched) = known.find(|touched| touched.path == draft.path) else {
            return;
        };
        note(touched);
        if !touched.wrote.contains(&after) {
            touched.wrote.push(after);
        }
    }

    /// Whether a file shall hold what it held before the first run.
    pub fn is_as_at_first(&self, draft: &Draft) -> bool {
        let after = Mark::of(draft.after.as_deref());
        (self.of(&draft.path)).is_some_and(|touched| touched.before == after)
    }

    /// The file with exactly what it held before, if nobody else wrote it since and that is still there. What others made of
    /// it in between counts for more than what was there first.
    pub fn put_back(&self, draft: &Draft) -> Option<Draft> {
        let touched = self.of(&draft.path)?;
        let now = Mark::of(draft.before.as_deref());
        if !touched.is_ours(&now) {
            return None;
        }
        let draft = draft.clone();
        if let Some(theirs) = touched.edited.iter().rev().find_map(|copy| read(copy)) {
            return Some(draft.holding(theirs));
        }
        if now == touched.before {
            let before = draft.before.clone();
            return Some(Draft {
                after: before,
                ..draft
            });
        }
        if touched.before == Mark(None) {
            return Some(draft.gone());
        }
        let text = read(touched.copy.as_ref()?)?;
        (Mark::of(Some(&text)) == touched.before).then(|| draft.holding(text))
    }

    /// Forgets the files that hold what they held before: whoever meant to write them was killed. Answers them.
    pub fn forget_untouched(&mut self) -> Vec<Touched> {
        let is_untouched = |touched: &Touched| {
            let now = read(&touched.path);
            Mark::of(now.as_deref()) == touched.before && touched.edited.is_empty()
        };
        let all = std::mem::take(&mut self.0).into_iter();
        let (untouched, rest) = all.partition(is_untouched);
        self.0 = rest;
        untouched
    }

    /// It is as it was, or setup has no part in it any more.
    pub fn forget(&mut self, path: &Path) -> Option<Touched> {
        let at = self.0.iter().position(|touched| touched.path == path)?;
        Some(self.0.remove(at))
    }
}
