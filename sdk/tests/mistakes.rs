//! The compiler errors that an author of a tool sees after a mistake. `tests/ui/*.stderr` contains their whole text.
//!
//! Mistakes that the attribute reports without type information have unit tests in the macro crate.

#[test]
fn mistakes_are_reported_at_their_line() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
