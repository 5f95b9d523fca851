//! The committed files equal the generated ones.

use std::{fs, path::Path};

use super::{PROTO, generate};

#[test]
fn the_committed_code_is_what_the_proto_files_say() {
    for (name, fresh) in generate().unwrap() {
        let path = Path::new(PROTO).join("generated").join(&name);
        let found = fs::read(&path).unwrap_or_default();
        let name = name.display();
        assert!(found == fresh, "{name} is not fresh: write it again with `cargo xtask generate`");
    }
}
