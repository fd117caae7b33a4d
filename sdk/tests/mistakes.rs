//! The compiler errors that an author of a tool sees after a mistake. `tests/ui/*.stderr` contains their whole text.
//!
//! Mistakes that `#[tool]` reports without type information also have unit tests in the crate `art-sdk-macros`. Only some of them
//! are repeated here.

#[test]
fn mistakes_are_reported_at_their_line() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
