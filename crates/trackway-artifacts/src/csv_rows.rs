//! A table of comma-separated values as rows of named values.

use csv::{ReaderBuilder, StringRecord};
use serde_json::{Map, Value};

use crate::ContentError;

/// Limit (Artifacts): columns of a CSV file that is read as a value.
const COLUMNS_MAX: usize = 1_000;

/// Limit (Artifacts): rows of a CSV file that is read as a value.
const ROWS_MAX: usize = 100_000;

/// Each row repeats the names of the columns, so a small file with long names could become a large value.
/// Limit (Artifacts): bytes of a CSV file's rows as a value.
const ROWS_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The separators in use; the first wins if two are equally frequent.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

/// The rows of a table whose first line names the columns. All values are text. Empty lines are left out.
pub(crate) fn parse_csv_rows(text: &str) -> Result<Vec<Value>, ContentError> {
    let mut reader = ReaderBuilder::new().delimiter(guess_delimiter(text)).from_reader(text.as_bytes());
    let columns = reader.headers().map_err(malformed)?.clone();
    check_columns(&columns)?;
    let names_bytes: usize = columns.iter().map(str::len).sum();
    let (mut rows, mut bytes) = (Vec::new(), 0);
    for record in reader.records() {
        let record = record.map_err(malformed)?;
        bytes += names_bytes + record.as_slice().len();
        if rows.len() == ROWS_MAX {
            return Err(ContentError::TooManyValues { what: "rows", max: ROWS_MAX });
        }
        if bytes > ROWS_BYTES_MAX {
            return Err(ContentError::TooManyValues { what: "bytes", max: ROWS_BYTES_MAX });
        }
        let values = record.iter().map(|value| Value::String(value.to_owned()));
        let row: Map<String, Value> = columns.iter().map(str::to_owned).zip(values).collect();
        rows.push(Value::Object(row));
    }
    Ok(rows)
}

/// Two columns of one name would lose the values of the first.
fn check_columns(columns: &StringRecord) -> Result<(), ContentError> {
    if columns.len() > COLUMNS_MAX {
        return Err(ContentError::TooManyValues { what: "columns", max: COLUMNS_MAX });
    }
    let mut known = std::collections::HashSet::new();
    for (index, name) in columns.iter().enumerate() {
        let number = index + 1;
        if name.trim().is_empty() {
            return Err(bad_columns(format!("column {number} has no name in the first line")));
        }
        if !known.insert(name) {
            return Err(bad_columns(format!("column {number} has the same name as another: {name:?}")));
        }
    }
    Ok(())
}

/// The separator that is most frequent in the first line, outside of quotes.
fn guess_delimiter(text: &str) -> u8 {
    let (mut counts, mut is_quoted) = ([0_usize; DELIMITERS.len()], false);
    for byte in text.bytes() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted && counts.iter().any(|count| *count > 0) => break,
            byte if !is_quoted => {
                if let Some(index) = DELIMITERS.iter().position(|delimiter| *delimiter == byte) {
                    counts[index] += 1;
                }
            }
            _ => {}
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let index = counts.iter().position(|count| *count == most).unwrap_or(0);
    DELIMITERS[index]
}

fn bad_columns(reason: String) -> ContentError {
    ContentError::Malformed { format: "CSV", reason }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used as the argument of map_err")]
fn malformed(error: csv::Error) -> ContentError {
    ContentError::Malformed { format: "CSV", reason: error.to_string() }
}

#[cfg(test)]
mod tests;
