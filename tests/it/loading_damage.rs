//! Damaged components are refused, or run within their limits. None of them harms the host.

use proptest::prelude::*;

use crate::harness::{assert_echo_answers, components, read, sandbox};

/// Number of offsets at which a valid component is truncated.
const CUTS: usize = 60;

#[test]
fn a_truncated_component_is_refused() {
    let whole = read(components::ECHO);
    for cut in (0..CUTS)
        .map(|n| n * whole.len() / CUTS)
        .chain([1, 7, 8, 9, whole.len() - 1])
    {
        assert!(sandbox().load("cut", &whole[..cut]).is_err(), "cut at {cut}");
    }
}

#[tokio::test]
async fn the_host_works_after_a_damaged_component() {
    assert!(sandbox().load("damaged", b"\0asm\x0d\0\x01\0\x07").is_err());
    assert_echo_answers().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Most of these components are refused. If the bit is part of a constant, the component stays valid, and its `schema()` runs
    /// within its limits.
    #[test]
    fn loading_a_component_with_a_flipped_bit_does_not_panic(at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let mut bytes = crate::handmade::Handmade::default().build();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        drop(sandbox().load("flipped", &bytes));
    }

    #[test]
    fn random_bytes_after_a_good_header_are_refused(rest in prop::collection::vec(any::<u8>(), 0..200)) {
        let bytes = [b"\0asm\x0d\0\x01\0".as_slice(), &rest].concat();
        prop_assert!(sandbox().load("random", &bytes).is_err());
    }
}
