//! The value of a constant, worked out from its text and written for people.

use anyhow::{Result, bail};

use super::source::Constant;

/// How many constants may be made of each other; more is a circle.
const HOPS_MAX: usize = 8;

/// Numbers are exact up to 2^53, which no limit reaches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Millis(f64),
    Range(f64, f64),
}

pub(super) fn evaluate(constant: &Constant<'_>, all: &[Constant<'_>]) -> Result<Value> {
    value_of(constant, all, HOPS_MAX)
}

fn value_of(constant: &Constant<'_>, all: &[Constant<'_>], hops: usize) -> Result<Value> {
    let Some(hops) = hops.checked_sub(1) else { bail!("constants that are made of each other") };
    let mut parser = Parser { rest: &constant.value, at: constant, all, hops };
    let value = parser.whole()?;
    if !parser.rest.trim().is_empty() {
        bail!("the value `{}` is more than simple arithmetic", constant.value);
    }
    Ok(value)
}

struct Parser<'a> {
    rest: &'a str,
    at: &'a Constant<'a>,
    all: &'a [Constant<'a>],
    hops: usize,
}

impl Parser<'_> {
    fn whole(&mut self) -> Result<Value> {
        let low = self.sum()?;
        if !self.eat("..=") {
            return Ok(low);
        }
        match (low, self.sum()?) {
            (Value::Number(low), Value::Number(high)) => Ok(Value::Range(low, high)),
            _ => self.unreadable(),
        }
    }

    fn sum(&mut self) -> Result<Value> {
        let mut left = self.product()?;
        loop {
            left = if self.eat("+") {
                join(left, self.product()?, |a, b| a + b)?
            } else if self.eat("-") {
                join(left, self.product()?, |a, b| a - b)?
            } else {
                return Ok(left);
            };
        }
    }

    fn product(&mut self) -> Result<Value> {
        let mut left = self.atom()?;
        loop {
            left = if self.eat("*") {
                join(left, self.atom()?, |a, b| a * b)?
            } else if self.eat("/") {
                let quotient = |a: f64, b: f64| (a / b).floor();
                join(left, self.atom()?, quotient)?
            } else if self.eat("as ") {
                self.word();
                left
            } else {
                return Ok(left);
            };
        }
    }

    fn atom(&mut self) -> Result<Value> {
        if self.eat("(") {
            let inner = self.sum()?;
            return if self.eat(")") { Ok(inner) } else { self.unreadable() };
        }
        let word = self.word();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return self.number(&word);
        }
        let name = word.rsplit("::").next().unwrap_or_default();
        let unit = match name {
            "from_millis" => 1.0,
            "from_secs" => 1_000.0,
            "from_mins" => 60_000.0,
            "from_hours" => 3_600_000.0,
            _ => return self.named(name),
        };
        if !self.eat("(") {
            return self.unreadable();
        }
        let Value::Number(count) = self.sum()? else { return self.unreadable() };
        if self.eat(")") { Ok(Value::Millis(count * unit)) } else { self.unreadable() }
    }

    fn number(&self, word: &str) -> Result<Value> {
        let digits = word.replace('_', "");
        let types = ["usize", "u8", "u16", "u32", "u64", "i64", "f64"];
        let suffix = types.iter().find_map(|suffix| digits.strip_suffix(suffix));
        match suffix.unwrap_or(&digits).parse() {
            Ok(number) => Ok(Value::Number(number)),
            Err(_) => self.unreadable(),
        }
    }

    /// Another constant: of this file, or else the only one of this crate, or else of all.
    fn named(&self, name: &str) -> Result<Value> {
        let named: Vec<_> = self.all.iter().filter(|constant| constant.name == name).collect();
        let nearer: [fn(&str) -> &str; 3] =
            [|path| path, |path| path.split("/src/").next().unwrap_or(path), |_| ""];
        for place in nearer {
            let here: Vec<_> =
                named.iter().filter(|c| place(c.path) == place(self.at.path)).collect();
            if let [constant] = here[..] {
                return value_of(constant, self.all, self.hops);
            }
        }
        match named.len() {
            0 => self.unreadable(),
            _ => bail!("more than one constant is called `{name}`: write the number"),
        }
    }

    fn unreadable<T>(&self) -> Result<T> {
        bail!("the value `{}` is neither a literal nor simple arithmetic", self.at.value)
    }

    fn eat(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// A number, a name or a path of names; a range's dots are no part of a number.
    fn word(&mut self) -> String {
        let text = self.rest.trim_start();
        let end = text
            .char_indices()
            .find(|(at, c)| match c {
                '.' => text[at + 1..].starts_with('.'),
                c => !(c.is_ascii_alphanumeric() || *c == '_' || *c == ':'),
            })
            .map_or(text.len(), |(at, _)| at);
        self.rest = &text[end..];
        text[..end].to_owned()
    }
}

fn join(left: Value, right: Value, with: fn(f64, f64) -> f64) -> Result<Value> {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => Ok(Value::Number(with(a, b))),
        (Value::Millis(a), Value::Number(b)) => Ok(Value::Millis(with(a, b))),
        _ => bail!("the value joins two that have different units"),
    }
}

impl Value {
    /// The value in the unit that the constant's name or the text beside it tells.
    pub(super) fn readable(self, name: &str, text: &str) -> String {
        match self {
            Self::Millis(millis) => duration(millis),
            Self::Number(number) => unit(number, name, text),
            Self::Range(low, high) => {
                format!("{} to {}", unit(low, name, text), unit(high, name, text))
            }
        }
    }
}

fn unit(number: f64, name: &str, text: &str) -> String {
    let named = |word: &str| name.split('_').any(|part| part == word);
    let said = |word: &str| text.split(|c: char| !c.is_alphabetic()).any(|part| part == word);
    if named("KIB") {
        bytes(number * 1_024.0)
    } else if named("BYTES") || said("bytes") {
        bytes(number)
    } else if named("MS") || named("MILLIS") {
        duration(number)
    } else if named("SECONDS") || named("SECS") || said("seconds") {
        duration(number * 1_000.0)
    } else if named("DAYS") {
        duration(number * DAY)
    } else if named("CHARS") {
        counted(number, "character")
    } else if named("TOKENS") {
        counted(number, "token")
    } else {
        grouped(number)
    }
}

fn bytes(number: f64) -> String {
    let units = [("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1_024.0)];
    match units.iter().find(|(_, size)| number >= *size && number % size == 0.0) {
        Some((unit, size)) => format!("{} {unit}", grouped(number / size)),
        None => counted(number, "byte"),
    }
}

const DAY: f64 = 86_400_000.0;

fn duration(millis: f64) -> String {
    let units = [("h", 3_600_000.0), ("min", 60_000.0), ("s", 1_000.0)];
    if millis >= DAY && millis % DAY == 0.0 {
        return counted(millis / DAY, "day");
    }
    match units.iter().find(|(_, size)| millis >= *size && millis % size == 0.0) {
        Some((unit, size)) => format!("{} {unit}", grouped(millis / size)),
        None => format!("{} ms", grouped(millis)),
    }
}

#[expect(clippy::float_cmp, reason = "exactly one, written as a literal")]
fn counted(number: f64, what: &str) -> String {
    let ending = if number == 1.0 { "" } else { "s" };
    format!("{} {what}{ending}", grouped(number))
}

/// Digits in groups of three.
fn grouped(number: f64) -> String {
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
