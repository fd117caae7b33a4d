//! Damaged components are refused, or run within their limits. None of them harms the host.

use proptest::prelude::*;

use crate::harness::{assert_echo_answers, components, read_component, sandbox};

/// The first eight bytes of every component.
const HEADER: &[u8] = b"\0asm\x0d\0\x01\0";
/// Number of evenly spaced lengths to which a valid component is truncated, besides some special lengths.
const CUTS: usize = 60;

#[test]
fn a_truncated_component_is_refused() {
    let whole = read_component(components::ECHO);
    for length in (0..CUTS).map(|n| n * whole.len() / CUTS).chain([
        1,
        HEADER.len() - 1,
        HEADER.len(),
        HEADER.len() + 1,
        whole.len() - 1,
    ]) {
        assert!(sandbox().load("cut", &whole[..length]).is_err(), "cut at {length}");
    }
}

#[tokio::test]
async fn the_host_works_after_it_has_refused_a_damaged_component() {
    // After the header comes the number of a section, and then nothing.
    let damaged = [HEADER, &[7]].concat();
    assert!(sandbox().load("damaged", &damaged).is_err());
    assert_echo_answers().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Most of these components are refused. If the bit is part of a constant, the component stays valid, and its `schema()` runs
    /// within its limits.
    #[test]
    fn loading_a_component_with_a_flipped_bit_does_not_panic(byte in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let mut bytes = crate::handmade::Handmade::default().build();
        let byte = byte.index(bytes.len());
        bytes[byte] ^= 1 << bit;
        drop(sandbox().load("flipped", &bytes));
    }

    #[test]
    fn random_bytes_after_a_valid_header_are_refused(rest in prop::collection::vec(any::<u8>(), 0..200)) {
        let bytes = [HEADER, &rest].concat();
        prop_assert!(sandbox().load("random", &bytes).is_err());
    }
}
