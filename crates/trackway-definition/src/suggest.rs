//! What somebody probably meant by a word that is not known.

#[cfg(test)]
mod tests;

/// How many letters may be wrong, missing, too many, or swapped with their neighbour.
/// Limit (Definitions): wrong letters of a word for which a known one is suggested.
const DISTANCE_MAX: usize = 2;

/// Longer words are not compared letter by letter: no known word comes near, and the work grows with the
/// square of the length.
/// Limit (Definitions): characters of a word that is compared with known ones.
const WORD_MAX: usize = 100;

/// The known word that is nearest to an unknown one, if any is near. Words that differ only in case and
/// in what joins their parts come first; among equals, the first that is known.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.is_empty() || word.chars().count() > WORD_MAX {
        return None;
    }
    let plain = plain(word);
    let mut best: Option<(usize, &str)> = None;
    for candidate in known {
        if candidate.len() > WORD_MAX {
            continue;
        }
        let distance = if plain == self::plain(candidate) { 0 } else { distance(word, candidate) };
        // A short word is near to every other short word, which helps nobody.
        let bound = DISTANCE_MAX.min(candidate.chars().count() / 2);
        if distance <= bound && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Without case and without what joins the parts of a word.
fn plain(word: &str) -> String {
    word.chars()
        .filter(|letter| !matches!(letter, '_' | '-' | ' ' | '.'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Edit distance in which neighbours that are swapped count once (optimal string alignment).
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    if left.len().abs_diff(right.len()) > DISTANCE_MAX {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for row in 1..=left.len() {
        let mut line = vec![row; right.len() + 1];
        for column in 1..=right.len() {
            let same = left[row - 1] == right[column - 1];
            let mut least = (above[column - 1] + usize::from(!same))
                .min(above[column] + 1)
                .min(line[column - 1] + 1);
            let swapped = row > 1
                && column > 1
                && left[row - 1] == right[column - 2]
                && left[row - 2] == right[column - 1];
            if swapped {
                least = least.min(before[column - 2] + 1);
            }
            line[column] = least;
        }
        before = std::mem::replace(&mut above, line);
    }
    above[right.len()]
}
