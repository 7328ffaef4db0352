//! What a resource shows: what is so, and apart from it what is so just now (usage, uptime), which changes all the time
//! and is no news.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Value, json};

/// What came of looking at a resource.
pub(in crate::mcp) enum Seen {
    /// All that it shows.
    Whole(View),
    /// As much as could be read, with what could not.
    InPart(View),
    /// There is no such thing.
    Absent,
    /// Nothing could be read, for this reason.
    Unreadable(String),
}

/// What a resource shows.
pub(in crate::mcp) struct View {
    shown: Value,
    now: Value,
}

impl View {
    /// With everything that others chose made harmless.
    pub(super) fn new(mut shown: Value, now: Value) -> Self {
        if let Value::Object(object) = &mut shown {
            tools::clean::object(object);
        }
        Self { shown, now }
    }

    /// As JSON text.
    pub(super) fn text(&self) -> String {
        let mut all = self.shown.clone();
        if let (Value::Object(all), false) = (&mut all, self.now.is_null()) {
            all.insert("now".to_owned(), self.now.clone());
        }
        format!("{all:#}")
    }
}

impl Seen {
    /// Stands for what is shown: another one is news. `None` if that cannot be told at the moment.
    pub(in crate::mcp) fn digest(&self) -> Option<u64> {
        let shown = match self {
            Self::Whole(view) => &view.shown,
            Self::Absent => &json!(null),
            Self::InPart(_) | Self::Unreadable(_) => return None,
        };
        let mut hasher = DefaultHasher::new();
        shown.to_string().hash(&mut hasher);
        Some(hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_shown_and_is_no_news() {
        let view =
            |status: &str, cpu: f64| View::new(json!({"status": status}), json!({"cpu": cpu}));
        assert!(view("running", 0.5).text().contains("\"cpu\": 0.5"));
        let digest = |view| Seen::Whole(view).digest();
        assert_eq!(digest(view("running", 0.5)), digest(view("running", 0.9)));
        assert_ne!(digest(view("running", 0.5)), digest(view("stopped", 0.5)));
        assert_ne!(digest(view("running", 0.5)), Seen::Absent.digest());
        assert_eq!(Seen::InPart(view("running", 0.5)).digest(), None);
    }
}
