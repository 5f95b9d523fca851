//! Prints the page `docs/states.md` from the transition table; `cargo xtask generate` writes it.

#![expect(clippy::print_stdout, reason = "the page is this program's output")]

use trackway_engine::TRANSITIONS;

fn main() {
    println!("# The states of a run\n");
    println!("Generated from the transition table by `cargo xtask generate`; do not edit.\n");
    println!("```mermaid\nstateDiagram-v2");
    println!("    [*] --> submitted");
    for (from, next) in TRANSITIONS {
        for to in next {
            println!("    {} --> {}", id(from.as_str()), id(to.as_str()));
        }
        if from.is_terminal() && from.as_str() != "unknown" {
            println!("    {} --> [*]", id(from.as_str()));
        }
    }
    println!("```\n");
    println!("| from | to |\n| --- | --- |");
    for (from, next) in TRANSITIONS {
        let next: Vec<_> = next.iter().map(|to| format!("`{to}`")).collect();
        let next = if next.is_empty() { "–".to_owned() } else { next.join(", ") };
        println!("| `{from}` | {next} |");
    }
    println!(
        "\nNothing enters `unknown`: it is shown for a run whose log cannot be read any more. A run \
         that is *parked* (its program does not fit its log) keeps its state and says why."
    );
}

/// Mermaid does not allow hyphens in state names.
fn id(state: &str) -> String {
    state.replace('-', "_")
}
