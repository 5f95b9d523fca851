//! The known word that an unknown one probably means.

use strsim::osa_distance;

#[cfg(test)]
mod tests;

/// How many letters may be wrong, missing, too many, or swapped with their neighbour.
/// Limit (Definitions): wrong letters of a word for which a known one is suggested.
const DISTANCE_MAX: usize = 2;

/// Longer words are not compared letter by letter: no known word is near, and the work is quadratic in the
/// length.
/// Limit (Definitions): characters of a word that is compared with known ones.
const WORD_MAX: usize = 100;

/// The known word that is nearest to an unknown one, if one is near. Case and separators decide only between
/// equally near candidates; after that, the first known one wins.
pub fn nearest_known_word<'a, S: AsRef<str> + ?Sized + 'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a S>,
) -> Option<&'a str> {
    if word.is_empty() || word.chars().count() > WORD_MAX {
        return None;
    }
    let plain_word = normalize_word(word);
    let scored = candidates.into_iter().map(AsRef::as_ref).filter_map(|candidate| {
        if candidate.len() > WORD_MAX {
            return None;
        }
        let distance = osa_distance(&plain_word, &normalize_word(candidate));
        // A short word is near to every other short word, which does not help.
        let bound = DISTANCE_MAX.min(candidate.chars().count() / 2);
        let score = (distance, osa_distance(word, candidate));
        (distance <= bound).then_some((score, candidate))
    });
    scored.min_by_key(|(score, _)| *score).map(|(_, candidate)| candidate)
}

/// Without case and separators.
fn normalize_word(word: &str) -> String {
    word.chars()
        .filter(|letter| !matches!(letter, '_' | '-' | ' ' | '.'))
        .flat_map(char::to_lowercase)
        .collect()
}
