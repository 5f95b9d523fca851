//! Wrong workflows do not compile. The expected messages lie beside each case; after a deliberate change
//! `TRYBUILD=overwrite` writes them anew.

/// Proves L1.
#[test]
fn heavy_wrong_workflows_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
