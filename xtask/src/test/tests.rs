//! How arguments for the test runner are parsed.

use super::names_packages;

#[test]
fn a_named_package_takes_the_place_of_the_workspace() {
    let args = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    assert!(names_packages(&args(&["-p", "trackway-domain"])));
    assert!(names_packages(&args(&["--package=trackway-domain"])));
    assert!(!names_packages(&args(&["resume", "--no-capture"])));
}
