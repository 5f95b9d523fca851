//! Expressions as they stand in WorkRail's texts, in the words of the template language.
//!
//! They are written as in JavaScript: `items.length`, `itemIndex + 1`, `(a / b).toFixed(1)`.

use crate::template::template_fault;

/// Deeper expressions are left alone; the bound keeps the parser's stack small.
/// Limit (Definitions): depth of an expression in a WorkRail template.
const DEEPEST: usize = 24;

/// Longer ones are text that happens to stand in braces.
/// Limit (Definitions): characters of an expression in a WorkRail template.
const LONGEST: usize = 1000;

/// None where it is no expression.
pub(super) fn translate(source: &str) -> Option<String> {
    let source = source.trim();
    if source.is_empty() || source.len() > LONGEST {
        return None;
    }
    let readable =
        |expression: &String| template_fault(&format!("{{{{ {expression} }}}}")).is_none();
    // What is written in the template language already is taken as it is.
    spoken(source).filter(readable).or_else(|| Some(source.to_owned()).filter(readable))
}

fn spoken(source: &str) -> Option<String> {
    let mut parser = Parser { rest: tokens(source)?.into_iter().peekable(), depth: 0 };
    let expression = parser.choice()?;
    parser.rest.next().is_none().then_some(expression.text)
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    /// A number or a quoted text, as written.
    Value(String),
    Mark(&'static str),
}

/// Longer marks first, so that they are not read as two.
const MARKS: [&str; 24] = [
    "===", "!==", "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "!", "(",
    ")", "[", "]", ".", ",", "?", ":",
];

fn tokens(source: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = source.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_digit() {
            let number = |c: char| c.is_ascii_digit() || c == '.';
            let length = rest.find(|c| !number(c)).unwrap_or(rest.len());
            tokens.push(Token::Value(rest[..length].to_owned()));
            length
        } else if first.is_ascii_alphabetic() || first == '_' {
            let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let length = rest.find(|c| !name(c)).unwrap_or(rest.len());
            tokens.push(Token::Name(rest[..length].to_owned()));
            length
        } else if first == '\'' || first == '"' {
            let length = rest[1..].find(first)? + 2;
            // An escape would have to be understood.
            if rest[..length].contains('\\') {
                return None;
            }
            tokens.push(Token::Value(rest[..length].to_owned()));
            length
        } else {
            let mark = MARKS.into_iter().find(|mark| rest.starts_with(mark))?;
            tokens.push(Token::Mark(mark));
            mark.len()
        };
        rest = rest[length..].trim_start();
    }
    Some(tokens)
}

/// A translated part; `loose` where something that follows a dot needs it in brackets.
struct Part {
    text: String,
    loose: bool,
}

struct Parser {
    rest: std::iter::Peekable<std::vec::IntoIter<Token>>,
    depth: usize,
}

/// Operators of two sides from the loosest to the tightest, and what they are called here.
const OPERATORS: [&[(&str, &str)]; 6] = [
    &[("||", "or")],
    &[("&&", "and")],
    &[("===", "=="), ("!==", "!="), ("==", "=="), ("!=", "!=")],
    &[("<=", "<="), (">=", ">="), ("<", "<"), (">", ">")],
    &[("+", "+"), ("-", "-")],
    &[("*", "*"), ("/", "/"), ("%", "%")],
];

impl Parser {
    fn takes(&mut self, mark: &str) -> bool {
        self.rest.next_if(|token| matches!(token, Token::Mark(found) if *found == mark)).is_some()
    }

    fn choice(&mut self) -> Option<Part> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let mut part = self.sides(0)?;
        if self.takes("?") {
            let yes = self.choice()?.text;
            if !self.takes(":") {
                return None;
            }
            let no = self.choice()?.text;
            part = loose(format!("({yes} if {} else {no})", part.text));
        }
        self.depth -= 1;
        Some(part)
    }

    fn sides(&mut self, level: usize) -> Option<Part> {
        let Some(operators) = OPERATORS.get(level) else { return self.single() };
        let mut left = self.sides(level + 1)?;
        while let Some((_, word)) = operators.iter().find(|(mark, _)| self.takes(mark)) {
            let right = self.sides(level + 1)?;
            left = loose(format!("{} {word} {}", left.text, right.text));
        }
        Some(left)
    }

    fn single(&mut self) -> Option<Part> {
        for (mark, word) in [("!", "not "), ("-", "-")] {
            if self.takes(mark) {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return None;
                }
                let inner = self.single()?;
                self.depth -= 1;
                return Some(loose(format!("({word}{})", inner.text)));
            }
        }
        let mut part = match self.rest.next()? {
            Token::Name(name) => {
                Part { text: if name == "null" { "none".to_owned() } else { name }, loose: false }
            }
            Token::Value(value) => Part { text: value, loose: false },
            Token::Mark("(") => {
                let inner = self.choice()?;
                self.takes(")").then(|| Part { text: format!("({})", inner.text), loose: false })?
            }
            Token::Mark(_) => return None,
        };
        loop {
            if self.takes(".") {
                let Token::Name(name) = self.rest.next()? else { return None };
                part = self.member(part, &name)?;
            } else if self.takes("[") {
                let index = self.choice()?;
                if !self.takes("]") {
                    return None;
                }
                part = Part { text: format!("{}[{}]", bound(part), index.text), loose: false };
            } else {
                return Some(part);
            }
        }
    }

    /// What follows a dot: a field, or one of the few functions that have a counterpart.
    fn member(&mut self, base: Part, name: &str) -> Option<Part> {
        let base = bound(base);
        if !self.takes("(") {
            return Some(match name {
                "length" => loose(format!("{base}|length")),
                _ => Part { text: format!("{base}.{name}"), loose: false },
            });
        }
        let mut arguments = Vec::new();
        while !self.takes(")") {
            if !arguments.is_empty() && !self.takes(",") {
                return None;
            }
            arguments.push(self.choice()?.text);
        }
        let filter = match (name, arguments.as_slice()) {
            ("toFixed", []) => "fixed(0)".to_owned(),
            ("toFixed", [digits]) => format!("fixed({digits})"),
            ("join", []) => "join(',')".to_owned(),
            ("join", [separator]) => format!("join({separator})"),
            ("toUpperCase", []) => "upper".to_owned(),
            ("toLowerCase", []) => "lower".to_owned(),
            ("trim", []) => "trim".to_owned(),
            ("toString", []) => "string".to_owned(),
            _ => return None,
        };
        Some(loose(format!("{base}|{filter}")))
    }
}

fn loose(text: String) -> Part {
    Part { text, loose: true }
}

fn bound(part: Part) -> String {
    if part.loose { format!("({})", part.text) } else { part.text }
}
