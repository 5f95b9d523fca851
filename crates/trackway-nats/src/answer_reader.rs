//! Puts the parts of an answer together, whatever order and repetition they arrive in.
//!
//! A request that a node took and did not finish is delivered again, and executed again: the same subject
//! then has parts of two executions. A reader keeps to the one that it began with.

use crate::envelope::AnswerPart;

/// Reads the parts of one answer.
#[derive(Debug, Default)]
pub(crate) struct AnswerReader {
    current: Option<CurrentExecution>,
}

#[derive(Debug)]
struct CurrentExecution {
    execution: String,
    next_index: u64,
}

/// What a part means for the reader.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PartMeaning {
    Next(Box<AnswerPart>),
    /// Seen before, or of an execution that is not read.
    Ignored,
    /// The rest of the answer will not come: a part is missing, or the node has begun again.
    Broken(&'static str),
}

impl AnswerReader {
    pub(crate) fn accept_part(&mut self, part: AnswerPart) -> PartMeaning {
        let Some(current) = &mut self.current else {
            if part.index != 0 || part.head.is_none() {
                return PartMeaning::Ignored;
            }
            self.current = Some(CurrentExecution { execution: part.execution.clone(), next_index: 1 });
            return PartMeaning::Next(Box::new(part));
        };
        if part.execution != current.execution {
            return match part.index {
                0 => PartMeaning::Broken("the node began the request again"),
                _ => PartMeaning::Ignored,
            };
        }
        match part.index.cmp(&current.next_index) {
            std::cmp::Ordering::Less => PartMeaning::Ignored,
            std::cmp::Ordering::Greater => PartMeaning::Broken("a part of the answer is missing"),
            std::cmp::Ordering::Equal => {
                current.next_index += 1;
                PartMeaning::Next(Box::new(part))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, StatusCode};

    use super::*;
    use crate::envelope::AnswerHead;

    fn part(execution: &str, index: u64) -> AnswerPart {
        let head = AnswerHead { node: "n".to_owned(), status: StatusCode::OK, headers: HeaderMap::new() };
        AnswerPart {
            execution: execution.to_owned(),
            index,
            head: (index == 0).then_some(Box::new(head)),
            event_id: None,
            payload: Bytes::new(),
            end: None,
        }
    }

    /// What happens to each part: `+` next, `-` ignored, `!` broken.
    fn check(parts: &[(&str, u64)], expected: &str) {
        let mut reader = AnswerReader::default();
        let meanings =
            parts.iter().map(|(execution, index)| match reader.accept_part(part(execution, *index)) {
                PartMeaning::Next(_) => '+',
                PartMeaning::Ignored => '-',
                PartMeaning::Broken(_) => '!',
            });
        assert_eq!(meanings.collect::<String>(), expected, "{parts:?}");
    }

    #[test]
    fn parts_are_taken_in_order_once_and_of_one_execution() {
        check(&[("a", 0), ("a", 1), ("a", 2)], "+++");
        check(&[("a", 0), ("a", 0), ("a", 1), ("a", 0)], "+-+-");
        check(&[("a", 0), ("a", 2)], "+!");
        check(&[("a", 0), ("b", 0)], "+!");
        check(&[("a", 0), ("b", 1), ("a", 1)], "+-+");
        check(&[("a", 1), ("b", 0), ("b", 1)], "-++");
    }
}
