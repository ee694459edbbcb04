//! What must not compile, one file each with what the compiler says. `TRYBUILD=overwrite` writes the words
//! of the compiler anew.

#[test]
fn misuse_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/misuse/ok_*.rs");
    cases.compile_fail("tests/misuse/no_*.rs");
}
