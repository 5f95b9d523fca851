//! What somebody may have meant.

/// The known word that is closest to what was written, where one is close enough to be meant.
pub fn closest<'a>(written: &str, known: &'a [String]) -> Option<&'a str> {
    // One slip per three letters; more is another word.
    let slips_max = (written.chars().count() / 3).max(1);
    let scored = known.iter().map(|word| (distance(written, word), word));
    let (slips, word) = scored.min()?;
    (slips <= slips_max).then_some(word)
}

/// Letters to insert, drop, change or swap with their neighbour to get from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let changed = usize::from(a[i - 1] != b[j - 1]);
                let mut least =
                    (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + changed);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(rows[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let known =
            ["approve", "echo", "fails", "family", "invest", "ledger", "review"].map(String::from);
        for (written, meant) in [
            ("ecko", Some("echo")),
            ("ehco", Some("echo")),
            ("reveiw", Some("review")),
            ("fail", Some("fails")),
            ("invst", Some("invest")),
            ("deploy", None),
            ("", None),
        ] {
            assert_eq!(closest(written, &known), meant, "{written}");
        }
    }
}
