//! Licence expressions: terms joined by `AND` and `OR`, with brackets. Some crates still write `/`.

/// The licences that the rules allow.
pub(super) fn allowed(rules: &str) -> Vec<&str> {
    let section = rules.split("[licenses]").nth(1).unwrap_or_default();
    let list = section.split("allow = [").nth(1).unwrap_or_default();
    let list = list.split(']').next().unwrap_or_default();
    list.split('"').skip(1).step_by(2).collect()
}

/// Whether the allowed licences satisfy the expression.
pub(super) fn check(expression: &str, allowed: &[&str]) -> Result<(), String> {
    if expression.is_empty() {
        return Err("it names none".to_owned());
    }
    let text = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut parser = Parser { words: &words, allowed };
    let met = parser.any()?;
    if !parser.words.is_empty() {
        return Err("it cannot be read".to_owned());
    }
    if met { Ok(()) } else { Err("it is not on the list".to_owned()) }
}

struct Parser<'a> {
    words: &'a [&'a str],
    allowed: &'a [&'a str],
}

impl Parser<'_> {
    fn any(&mut self) -> Result<bool, String> {
        let mut met = self.all()?;
        while self.eat("OR") {
            met |= self.all()?;
        }
        Ok(met)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut met = self.term()?;
        while self.eat("AND") {
            met &= self.term()?;
        }
        Ok(met)
    }

    fn term(&mut self) -> Result<bool, String> {
        if self.eat("(") {
            let met = self.any()?;
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
