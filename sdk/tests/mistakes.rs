//! What an author sees after a mistake, from the compiler itself. `tests/ui/*.stderr` is the whole text.
//!
//! The mistakes that the attribute finds alone have unit tests beside the macro; here are those that need types.

#[test]
fn mistakes_are_reported_at_their_line() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
