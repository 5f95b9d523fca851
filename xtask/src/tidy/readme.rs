//! The README's promise: two commands, one that starts Trackway and one that tests it.

use super::Finding;
use super::tree::{File, Tree};

const PATH: &str = "README.md";
const SHELLS: &[&str] = &["```sh", "```bash", "```shell", "```console"];
const TEST: &str = "cargo xtask test";

pub(super) fn starts_in_two_commands(tree: &Tree) -> Vec<Finding> {
    let Some(readme) = tree.file(PATH) else {
        return Vec::new();
    };
    let message = format!("the first shell block holds exactly the start command and `{TEST}`");
    match first_shell_block(readme) {
        Some((_, commands)) if matches!(commands[..], [first, TEST] if first != TEST) => Vec::new(),
        Some((line, _)) => vec![Finding::new(PATH, line, message)],
        None => vec![Finding::new(PATH, 1, message)],
    }
}

/// The line of the first fence that opens a shell block, and the commands in it.
fn first_shell_block(readme: &File) -> Option<(usize, Vec<&str>)> {
    let mut lines = readme.lines();
    let (start, _) = lines.find(|(_, line)| SHELLS.contains(&line.trim()))?;
    let block = lines.map(|(_, line)| line.trim()).take_while(|line| *line != "```");
    let commands = block.filter(|line| !line.is_empty() && !line.starts_with('#'));
    Some((start, commands.collect()))
}
