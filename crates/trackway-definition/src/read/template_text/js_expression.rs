//! Translates expressions in WorkRail's texts to the template language.
//!
//! They are written as in JavaScript: `items.length`, `itemIndex + 1`, `(a / b).toFixed(1)`.

use crate::template::find_template_error;

/// Deeper expressions are not translated; the limit keeps the parser's stack small.
/// Limit (Definitions): depth of an expression in a WorkRail template.
const DEEPEST: usize = 24;

/// A longer one is text that happens to be in braces.
/// Limit (Definitions): characters of an expression in a WorkRail template.
const LONGEST: usize = 1000;

/// None if it is not an expression.
pub(super) fn translate_js_expression(source: &str) -> Option<String> {
    let source = source.trim();
    if source.is_empty() || source.len() > LONGEST {
        return None;
    }
    let readable = |expression: &String| find_template_error(&format!("{{{{ {expression} }}}}")).is_none();
    // An expression that is already in the template language is kept.
    parse_and_translate_js(source).filter(readable).or_else(|| Some(source.to_owned()).filter(readable))
}

fn parse_and_translate_js(source: &str) -> Option<String> {
    let mut parser = JsExpressionParser { rest: tokenize_js(source)?.into_iter().peekable(), depth: 0 };
    let expression = parser.parse_conditional()?;
    parser.rest.next().is_none().then_some(expression.text)
}

#[derive(Debug, Clone, PartialEq)]
enum JsToken {
    Name(String),
    /// A number or a quoted text, as written.
    Value(String),
    Mark(&'static str),
}

/// Longer marks first, so that they are not read as two.
const MARKS: [&str; 24] = [
    "===", "!==", "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "!", "(", ")", "[",
    "]", ".", ",", "?", ":",
];

fn tokenize_js(source: &str) -> Option<Vec<JsToken>> {
    let mut tokens = Vec::new();
    let mut rest = source.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_digit() {
            let number = |c: char| c.is_ascii_digit() || c == '.';
            let length = rest.find(|c| !number(c)).unwrap_or(rest.len());
            tokens.push(JsToken::Value(rest[..length].to_owned()));
            length
        } else if first.is_ascii_alphabetic() || first == '_' {
            let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let length = rest.find(|c| !name(c)).unwrap_or(rest.len());
            tokens.push(JsToken::Name(rest[..length].to_owned()));
            length
        } else if first == '\'' || first == '"' {
            let length = rest[1..].find(first)? + 2;
            // Escapes are not supported.
            if rest[..length].contains('\\') {
                return None;
            }
            tokens.push(JsToken::Value(rest[..length].to_owned()));
            length
        } else {
            let mark = MARKS.into_iter().find(|mark| rest.starts_with(mark))?;
            tokens.push(JsToken::Mark(mark));
            mark.len()
        };
        rest = rest[length..].trim_start();
    }
    Some(tokens)
}

/// A translated part; `loose` if it needs brackets before a dot.
struct TranslatedJsPart {
    text: String,
    needs_parentheses: bool,
}

struct JsExpressionParser {
    rest: std::iter::Peekable<std::vec::IntoIter<JsToken>>,
    depth: usize,
}

/// Binary operators from the loosest to the tightest, and their names here.
const OPERATORS: [&[(&str, &str)]; 6] = [
    &[("||", "or")],
    &[("&&", "and")],
    &[("===", "=="), ("!==", "!="), ("==", "=="), ("!=", "!=")],
    &[("<=", "<="), (">=", ">="), ("<", "<"), (">", ">")],
    &[("+", "+"), ("-", "-")],
    &[("*", "*"), ("/", "/"), ("%", "%")],
];

impl JsExpressionParser {
    fn accept_punctuation(&mut self, mark: &str) -> bool {
        self.rest.next_if(|token| matches!(token, JsToken::Mark(found) if *found == mark)).is_some()
    }

    fn parse_conditional(&mut self) -> Option<TranslatedJsPart> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let mut part = self.parse_binary_operators(0)?;
        if self.accept_punctuation("?") {
            let yes = self.parse_conditional()?.text;
            if !self.accept_punctuation(":") {
                return None;
            }
            let no = self.parse_conditional()?.text;
            part = part_needing_parentheses(format!("({yes} if {} else {no})", part.text));
        }
        self.depth -= 1;
        Some(part)
    }

    fn parse_binary_operators(&mut self, level: usize) -> Option<TranslatedJsPart> {
        let Some(operators) = OPERATORS.get(level) else { return self.parse_unary() };
        let mut left = self.parse_binary_operators(level + 1)?;
        while let Some((_, word)) = operators.iter().find(|(mark, _)| self.accept_punctuation(mark)) {
            let right = self.parse_binary_operators(level + 1)?;
            left = part_needing_parentheses(format!("{} {word} {}", left.text, right.text));
        }
        Some(left)
    }

    fn parse_unary(&mut self) -> Option<TranslatedJsPart> {
        for (mark, word) in [("!", "not "), ("-", "-")] {
            if self.accept_punctuation(mark) {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return None;
                }
                let inner = self.parse_unary()?;
                self.depth -= 1;
                return Some(part_needing_parentheses(format!("({word}{})", inner.text)));
            }
        }
        let mut part = match self.rest.next()? {
            JsToken::Name(name) => TranslatedJsPart {
                text: if name == "null" { "none".to_owned() } else { name },
                needs_parentheses: false,
            },
            JsToken::Value(value) => TranslatedJsPart { text: value, needs_parentheses: false },
            JsToken::Mark("(") => {
                let inner = self.parse_conditional()?;
                self.accept_punctuation(")").then(|| TranslatedJsPart {
                    text: format!("({})", inner.text),
                    needs_parentheses: false,
                })?
            }
            JsToken::Mark(_) => return None,
        };
        loop {
            if self.accept_punctuation(".") {
                let JsToken::Name(name) = self.rest.next()? else { return None };
                part = self.parse_member(part, &name)?;
            } else if self.accept_punctuation("[") {
                let index = self.parse_conditional()?;
                if !self.accept_punctuation("]") {
                    return None;
                }
                part = TranslatedJsPart {
                    text: format!("{}[{}]", parenthesize_if_needed(part), index.text),
                    needs_parentheses: false,
                };
            } else {
                return Some(part);
            }
        }
    }

    /// What follows a dot: a field, or one of the few functions with a counterpart.
    fn parse_member(&mut self, base: TranslatedJsPart, name: &str) -> Option<TranslatedJsPart> {
        let base = parenthesize_if_needed(base);
        if !self.accept_punctuation("(") {
            return Some(match name {
                "length" => part_needing_parentheses(format!("{base}|length")),
                _ => TranslatedJsPart { text: format!("{base}.{name}"), needs_parentheses: false },
            });
        }
        let mut arguments = Vec::new();
        while !self.accept_punctuation(")") {
            if !arguments.is_empty() && !self.accept_punctuation(",") {
                return None;
            }
            arguments.push(self.parse_conditional()?.text);
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
        Some(part_needing_parentheses(format!("{base}|{filter}")))
    }
}

fn part_needing_parentheses(text: String) -> TranslatedJsPart {
    TranslatedJsPart { text, needs_parentheses: true }
}

fn parenthesize_if_needed(part: TranslatedJsPart) -> String {
    if part.needs_parentheses { format!("({})", part.text) } else { part.text }
}
