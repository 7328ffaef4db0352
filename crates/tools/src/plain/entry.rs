//! What a plain change makes, alters or takes away.

use super::Arg;
use super::content::Content;
use crate::tool::Object;

/// An entry of one of PVE's lists, or a page of settings.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub(crate) struct Entry {
    /// "user"
    pub(super) what: &'static str,
    /// The arguments that name it, the last of them its name in the list.
    pub(super) id: &'static [&'static str],
    /// Its name in the list where PVE makes it of several arguments, and what the tool that takes it back calls that.
    pub(super) called: Option<(&'static str, &'static str)>,
    /// The list that it stands in, and the field with its name.
    pub(super) listed: Option<(&'static str, &'static str)>,
    /// Where its settings are read, if not at the tool's own path.
    pub(super) read_at: Option<&'static str>,
    pub(super) shown: Shown,
    /// Whether its name is its place in the list, so that it shifts with what comes before it.
    pub(super) numbered: bool,
    /// Whether an empty text takes a setting away.
    pub(super) emptied: bool,
    /// A list, the parameter that shows what is pending in it, and the field that no row has once nothing is.
    pub(super) settled: Option<(&'static str, &'static str, &'static str)>,
    /// A list, the parameter that picks the entry from it, and the field with its members.
    pub(super) members: Option<&'static (&'static str, &'static str, &'static str)>,
    /// What must not be in it when it is deleted.
    pub(super) content: &'static [Content],
    /// Which of its settings can be told when it is made again, if not all.
    pub(super) told: Option<fn(&Object, &str) -> bool>,
    pub(super) undo: Undone,
}

/// Where its settings are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// At a path of its own.
    Apart,
    /// In its row, because nothing else shows them.
    InRow,
    /// In its row, but what was set going shows there only in a while.
    InRowLater,
}

/// How a plain change is taken back.
#[derive(Debug, Clone, Copy)]
pub(super) enum Undone {
    /// By this tool: with the names of what was made, or with what was there before.
    By(&'static str),
    /// By the same tool, with the settings as they were.
    BySettingBack,
    /// By the same tool with `delete` turned round, where only members come or go.
    ByTurningRound,
    /// By deleting this path of the API, for which there is no tool of its own.
    ByDeleting(&'static str),
    /// Not, and why.
    Not(&'static str),
}

/// An entry of this kind, named by these arguments: `an("alias", &["name"])`.
pub(crate) const fn an(what: &'static str, id: &'static [&'static str]) -> Entry {
    Entry {
        what,
        id,
        called: None,
        listed: None,
        read_at: None,
        shown: Shown::Apart,
        numbered: false,
        emptied: false,
        settled: None,
        members: None,
        content: &[],
        told: None,
        undo: Undone::BySettingBack,
    }
}

impl Entry {
    /// It stands in this list, in the row that has its name in this field.
    pub(crate) const fn listed(mut self, list: &'static str, field: &'static str) -> Self {
        self.listed = Some((list, field));
        self
    }

    /// In the list it is called by this template over the arguments; the tool that takes it back has this argument for it.
    pub(crate) const fn called(mut self, template: &'static str, argument: &'static str) -> Self {
        self.called = Some((template, argument));
        self
    }

    /// Its settings are read here.
    pub(crate) const fn read_at(mut self, path: &'static str) -> Self {
        self.read_at = Some(path);
        self
    }

    /// Its settings are those of its row.
    pub(crate) const fn by_row(mut self) -> Self {
        self.shown = Shown::InRow;
        self
    }

    /// Its name is its place in the list.
    pub(crate) const fn numbered(mut self) -> Self {
        self.numbered = true;
        self
    }

    /// An empty text takes a setting away.
    pub(crate) const fn emptied(mut self) -> Self {
        self.emptied = true;
        self
    }

    /// Whether an empty text takes this setting away.
    pub(super) fn empties(&self, arg: &Arg) -> bool {
        self.emptied && arg.is_text() && arg.member.is_none()
    }

    /// What is set going shows in its row, but not at once.
    pub(crate) const fn settles(mut self) -> Self {
        self.shown = Shown::InRowLater;
        self
    }

    /// It is done when no row of this list, read with this switch, has this field any more.
    pub(crate) const fn settled(
        mut self,
        list: &'static str,
        view: &'static str,
        field: &'static str,
    ) -> Self {
        self.settled = Some((list, view, field));
        self
    }

    /// Its members show in this list, read with this parameter, in this field of its row. The same call with `delete`
    /// turned round takes them back.
    pub(crate) const fn members(
        mut self,
        members: &'static (&'static str, &'static str, &'static str),
    ) -> Self {
        self.members = Some(members);
        self.undo = Undone::ByTurningRound;
        self
    }

    /// PVE deletes it only when nothing of this is in it.
    pub(crate) const fn only_without(mut self, content: &'static [Content]) -> Self {
        self.content = content;
        self
    }

    /// Of what it was, only these settings can be told when it is made again; the others are no loss.
    pub(crate) const fn told_if(mut self, told: fn(&Object, &str) -> bool) -> Self {
        self.told = Some(told);
        self
    }

    /// This tool takes it back.
    pub(crate) const fn undone_by(mut self, tool: &'static str) -> Self {
        self.undo = Undone::By(tool);
        self
    }

    /// Deleting this path of the API takes it back, which no tool of its own does.
    pub(crate) const fn undone_at(mut self, path: &'static str) -> Self {
        self.undo = Undone::ByDeleting(path);
        self
    }

    /// Nothing takes it back, for this reason.
    pub(crate) const fn not_undone(mut self, because: &'static str) -> Self {
        self.undo = Undone::Not(because);
        self
    }
}
