//! The value of a constant, computed from its text and formatted for people.

use anyhow::{Result, bail};

use super::rust_constants::Constant;

/// How many constants may refer to each other; more is a cycle.
const HOPS_MAX: usize = 8;

/// Numbers are exact up to 2^53, which no limit reaches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Millis(f64),
    Range(f64, f64),
}

pub(super) fn evaluate(constant: &Constant<'_>, all: &[Constant<'_>]) -> Result<Value> {
    evaluate_with_hops(constant, all, HOPS_MAX)
}

fn evaluate_with_hops(constant: &Constant<'_>, all: &[Constant<'_>], hops: usize) -> Result<Value> {
    let Some(hops) = hops.checked_sub(1) else { bail!("constants that are made of each other") };
    let known = ConstantScope { at: constant, all, hops };
    let text = constant.value.as_str();
    if let Some((low, high)) = text.split_once("..=") {
        return Ok(Value::Range(known.calculate(low)?, known.calculate(high)?));
    }
    let units = [
        ("Duration::from_millis(", 1.0),
        ("Duration::from_secs(", 1_000.0),
        ("Duration::from_mins(", 60_000.0),
        ("Duration::from_hours(", 3_600_000.0),
    ];
    for (call, unit) in units {
        if let Some(count) = text.strip_prefix(call).and_then(|rest| rest.strip_suffix(')')) {
            return Ok(Value::Millis(known.calculate(count)? * unit));
        }
    }
    match known.resolve_constant(text)? {
        Some(value) => Ok(value),
        None => Ok(Value::Number(known.calculate(text)?)),
    }
}

/// The constants that a value may refer to, from the position of one of them.
struct ConstantScope<'a> {
    at: &'a Constant<'a>,
    all: &'a [Constant<'a>],
    hops: usize,
}

impl ConstantScope<'_> {
    /// Numbers and names with operators between them, which are applied from left to right: sums and
    /// products may be mixed only with brackets.
    fn calculate(&self, text: &str) -> Result<f64> {
        let has = |operators: [&str; 2]| operators.iter().any(|operator| text.contains(operator));
        if has([" + ", " - "]) && has([" * ", " / "]) && !text.starts_with('(') {
            return self.unreadable_value();
        }
        let text = text.replace(['(', ')'], " ");
        let mut words = text.split_whitespace();
        let mut total = self.parse_number(words.next().unwrap_or_default())?;
        while let Some(operator) = words.next() {
            let word = words.next().unwrap_or_default();
            total = match operator {
                "as" => total,
                "+" => total + self.parse_number(word)?,
                "-" => total - self.parse_number(word)?,
                "*" => total * self.parse_number(word)?,
                "/" => (total / self.parse_number(word)?).floor(),
                _ => return self.unreadable_value(),
            };
        }
        Ok(total)
    }

    fn parse_number(&self, word: &str) -> Result<f64> {
        if let Ok(number) = word.replace('_', "").parse() {
            return Ok(number);
        }
        match self.resolve_constant(word)? {
            Some(Value::Number(number)) => Ok(number),
            _ => self.unreadable_value(),
        }
    }

    /// Another constant: of this file, or else the only one of this crate, or else the only one of all.
    fn resolve_constant(&self, path: &str) -> Result<Option<Value>> {
        let name = path.rsplit("::").next().unwrap_or_default();
        let named: Vec<_> = self.all.iter().filter(|constant| constant.name == name).collect();
        let nearer: [fn(&str) -> &str; 3] =
            [|path| path, |path| path.split("/src/").next().unwrap_or(path), |_| ""];
        for place in nearer {
            let here: Vec<_> = named.iter().filter(|c| place(c.path) == place(self.at.path)).collect();
            if let [constant] = here[..] {
                return evaluate_with_hops(constant, self.all, self.hops).map(Some);
            }
        }
        if named.is_empty() {
            return Ok(None);
        }
        bail!("more than one constant is called `{name}`: write the number")
    }

    fn unreadable_value<T>(&self) -> Result<T> {
        bail!("the value `{}` is neither a literal nor simple arithmetic", self.at.value)
    }
}

impl Value {
    /// The value in the unit of the constant's name or description.
    pub(super) fn format_for_people(self, name: &str, text: &str) -> String {
        match self {
            Self::Millis(millis) => format_duration(millis),
            Self::Number(number) => format_with_unit(number, name, text),
            Self::Range(low, high) => {
                format!("{} to {}", format_with_unit(low, name, text), format_with_unit(high, name, text))
            }
        }
    }
}

fn format_with_unit(number: f64, name: &str, text: &str) -> String {
    let named = |word: &str| name.split('_').any(|part| part == word);
    let said = |word: &str| text.split(|c: char| !c.is_alphabetic()).any(|part| part == word);
    if named("KIB") {
        format_bytes(number * 1_024.0)
    } else if named("BYTES") || said("bytes") {
        format_bytes(number)
    } else if named("MS") || named("MILLIS") {
        format_duration(number)
    } else if named("SECONDS") || named("SECS") || said("seconds") {
        format_duration(number * 1_000.0)
    } else if named("DAYS") {
        format_duration(number * DAY)
    } else if named("CHARS") {
        format_count(number, "character")
    } else if named("TOKENS") {
        format_count(number, "token")
    } else {
        group_digits(number)
    }
}

fn format_bytes(number: f64) -> String {
    let units = [("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1_024.0)];
    match units.iter().find(|(_, size)| number >= *size && number % size == 0.0) {
        Some((unit, size)) => format!("{} {unit}", group_digits(number / size)),
        None => format_count(number, "byte"),
    }
}

const DAY: f64 = 86_400_000.0;

fn format_duration(millis: f64) -> String {
    let units = [("h", 3_600_000.0), ("min", 60_000.0), ("s", 1_000.0)];
    if millis >= DAY && millis % DAY == 0.0 {
        return format_count(millis / DAY, "day");
    }
    match units.iter().find(|(_, size)| millis >= *size && millis % size == 0.0) {
        Some((unit, size)) => format!("{} {unit}", group_digits(millis / size)),
        None => format!("{} ms", group_digits(millis)),
    }
}

#[expect(clippy::float_cmp, reason = "exactly one, written as a literal")]
fn format_count(number: f64, what: &str) -> String {
    let ending = if number == 1.0 { "" } else { "s" };
    format!("{} {what}{ending}", group_digits(number))
}

/// Digits in groups of three.
fn group_digits(number: f64) -> String {
    let digits = number.to_string();
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}
