//! What was asked, for tests that want to know; not all of it, for a simulator may run for weeks.

use crate::call::Given;
use crate::cluster::Logged;

/// More entries than this are not kept,
const MOST: usize = 100_000;
/// nor more bytes.
const MOST_BYTES: usize = 64 << 20;

/// What a log holds.
pub(crate) trait Entry {
    /// About how much memory it takes.
    fn bytes(&self) -> usize;
}

/// The newest entries.
#[derive(Debug)]
pub(crate) struct Log<T> {
    entries: Vec<T>,
    bytes: usize,
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            bytes: 0,
        }
    }
}

impl<T: Entry> Log<T> {
    /// Adds an entry. When there is too much, the older half goes.
    pub(crate) fn add(&mut self, entry: T) {
        self.bytes += entry.bytes();
        self.entries.push(entry);
        while self.entries.len() > MOST || (self.bytes > MOST_BYTES && self.entries.len() > 1) {
            self.entries.drain(..self.entries.len() / 2);
            self.bytes = self.entries.iter().map(Entry::bytes).sum();
        }
    }

    pub(crate) fn entries(&self) -> &[T] {
        &self.entries
    }

    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        self.entries.last_mut()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Entry for String {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.len()
    }
}

impl Entry for Logged {
    fn bytes(&self) -> usize {
        let given = |given: &Given| match given {
            Given::Text(text) => text.bytes(),
            Given::List(items) => items.iter().map(Entry::bytes).sum(),
            Given::Hash | Given::Null => 0,
        };
        let params = self.params.iter();
        let params =
            params.map(|(name, value)| size_of::<(String, Given)>() + name.len() + given(value));
        size_of::<Self>() + self.path.len() + params.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(log: &Log<String>) -> &str {
        log.entries().last().expect("an entry")
    }

    #[test]
    fn many_entries_push_the_oldest_out() {
        let mut log = Log::default();
        for number in 0..=MOST {
            log.add(number.to_string());
        }
        assert_eq!(log.entries().len(), MOST / 2 + 1);
        assert_eq!(last(&log), MOST.to_string());
    }

    #[test]
    fn large_entries_do_so_earlier() {
        let mut log = Log::default();
        for number in 0..1000 {
            log.add("a".repeat(1 << 19) + &number.to_string());
            assert!(log.bytes <= MOST_BYTES, "{}", log.bytes);
        }
        assert!(log.entries().len() > 60, "{}", log.entries().len());
        assert!(last(&log).ends_with("a999"));
    }
}
