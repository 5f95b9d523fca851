//! `${env:NAME}` in the values of `mcp.json`.

/// A variable that is not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable `{name}` is not set")]
pub struct Missing {
    pub name: String,
}

/// The text with every `${env:NAME}` replaced. Other placeholders are refused: a server that is started
/// with `${HOME}` as it stands only fails later, and further away.
pub(super) fn fill(
    text: &str,
    resolve: &dyn Fn(&str) -> Result<String, Missing>,
) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        filled.push_str(before);
        let Some((inner, behind)) = after.split_once('}') else {
            return Err("a `${` is not closed".to_owned());
        };
        match inner.strip_prefix("env:") {
            Some(name) if !name.is_empty() => {
                filled.push_str(&resolve(name).map_err(|missing| missing.to_string())?);
            }
            _ => return Err(format!("`${{{inner}}}` is not known; write `${{env:NAME}}`")),
        }
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}
