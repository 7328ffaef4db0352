//! The known word that an unknown one may be.

use super::terms::Terms;
use super::vocabulary::Vocabulary;

/// Shorter beginnings than this stand for too many words.
const SHORTEST_BEGINNING: usize = 4;

/// The known stem that was probably meant by `word`, which no document and no saying has: one that it begins
/// (`notif`), else one that is a slip or two away. `frequency` decides between equals.
pub(super) fn nearest<'a>(
    word: &str,
    terms: &'a Terms,
    vocabulary: &'a Vocabulary,
    frequency: &dyn Fn(&str) -> usize,
) -> Option<&'a str> {
    let known = || terms.stems().chain(vocabulary.known());
    let often = |stem: &&str| frequency(stem);
    if word.len() >= SHORTEST_BEGINNING {
        let begun = known().filter(|stem| stem.starts_with(word));
        // Fewer letters left to guess is the better guess; the rest of the key makes the choice the same every time.
        if let Some(found) = begun.min_by_key(|stem| (stem.len(), usize::MAX - often(stem), *stem))
        {
            return Some(found);
        }
    }
    let slips = slips(word)?;
    let first = word.chars().next()?;
    known()
        .filter(|stem| stem.len().abs_diff(word.len()) <= slips && stem.len() >= 3)
        .filter_map(|stem| {
            // A slip in the first letter is rare, and counts twice.
            let beginning = usize::from(!stem.starts_with(first));
            if beginning + 1 > slips {
                return None;
            }
            let distance = strsim::osa_distance(word, stem) + beginning;
            (distance <= slips).then_some((distance, usize::MAX - often(&stem), stem))
        })
        .min()
        .map(|(_, _, stem)| stem)
}

/// How many slips of the finger a word of this length may have.
fn slips(word: &str) -> Option<usize> {
    match word.len() {
        4..=6 => Some(1),
        7..=32 => Some(2),
        // Short words are near to too many; and comparing takes time with the square of the length.
        _ => None,
    }
}

/// The two known stems that an unknown word is made of (`datastore`).
pub(super) fn halves(word: &str, is_known: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    const SHORTEST_HALF: usize = 4;
    word.char_indices()
        .map(|(at, _)| word.split_at(at))
        .filter(|(left, right)| left.len() >= SHORTEST_HALF && right.len() >= SHORTEST_HALF)
        .find(|(left, right)| is_known(left) && is_known(right))
}
