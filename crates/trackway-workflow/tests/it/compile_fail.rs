//! Wrong workflows do not compile. The expected messages are next to each case; after a deliberate
//! change `TRYBUILD=overwrite` writes them again.

/// Proves L1.
#[test]
fn heavy_wrong_workflows_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
