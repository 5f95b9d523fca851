//! Licence expressions: terms joined by `AND` and `OR`, with brackets. Some crates still write `/`.

/// The licences that the rules allow.
pub(super) fn allowed_licences(rules: &str) -> Vec<&str> {
    let section = rules.split("[licenses]").nth(1).unwrap_or_default();
    let list = section.split("allow = [").nth(1).unwrap_or_default();
    let list = list.split(']').next().unwrap_or_default();
    list.split('"').skip(1).step_by(2).collect()
}

/// Whether the allowed licences satisfy the expression.
pub(super) fn check_expression(expression: &str, allowed: &[&str]) -> Result<(), String> {
    if expression.is_empty() {
        return Err("it names none".to_owned());
    }
    let text = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut parser = ExpressionParser { words: &words, allowed };
    let met = parser.parse_or()?;
    if !parser.words.is_empty() {
        return Err("it cannot be read".to_owned());
    }
    if met { Ok(()) } else { Err("it is not on the list".to_owned()) }
}

struct ExpressionParser<'a> {
    words: &'a [&'a str],
    allowed: &'a [&'a str],
}

impl ExpressionParser<'_> {
    fn parse_or(&mut self) -> Result<bool, String> {
        let mut met = self.parse_and()?;
        while self.eat("OR") {
            met |= self.parse_and()?;
        }
        Ok(met)
    }

    fn parse_and(&mut self) -> Result<bool, String> {
        let mut met = self.parse_term()?;
        while self.eat("AND") {
            met &= self.parse_term()?;
        }
        Ok(met)
    }

    fn parse_term(&mut self) -> Result<bool, String> {
        if self.eat("(") {
            let met = self.parse_or()?;
            return if self.eat(")") { Ok(met) } else { Err("a bracket is open".to_owned()) };
        }
        let Some((name, rest)) = self.words.split_first() else {
            return Err("it cannot be read".to_owned());
        };
        self.words = rest;
        let mut name = (*name).to_owned();
        if self.eat("WITH")
            && let Some((exception, rest)) = self.words.split_first()
        {
            self.words = rest;
            name = format!("{name} WITH {exception}");
        }
        Ok(self.allowed.contains(&name.as_str()))
    }

    fn eat(&mut self, word: &str) -> bool {
        let Some((first, rest)) = self.words.split_first() else { return false };
        let there = *first == word;
        if there {
            self.words = rest;
        }
        there
    }
}

#[cfg(test)]
mod tests;
