//! Attacks with timers, which are resources of the type `pollable`, and with their handles. A guest may not use
//! a handle that it has dropped or invented.

use crate::wasi::wasi::clocks::monotonic_clock::{Pollable, subscribe_duration, subscribe_instant};

#[expect(unsafe_code, reason = "the generated bindings allow no invalid handles")]
#[link(wasm_import_module = "wasi:io/poll@0.2.0")]
unsafe extern "C" {
    #[link_name = "[resource-drop]pollable"]
    safe fn drop_pollable(handle: i32);
    #[link_name = "[method]pollable.ready"]
    safe fn is_ready(handle: i32) -> i32;
}

/// Creates timers with the smallest and the largest times.
pub(crate) fn extreme_timers() {
    for time in [0, 1, u64::MAX - 1, u64::MAX] {
        drop((subscribe_duration(time), subscribe_instant(time)));
    }
    subscribe_duration(0).block();
}

/// Drops a timer twice.
pub(crate) fn drop_twice() {
    let handle = take_raw_handle(subscribe_duration(1));
    drop_pollable(handle);
    drop_pollable(handle);
}

/// Uses a timer that was dropped.
pub(crate) fn use_after_drop() {
    let handle = take_raw_handle(subscribe_duration(1));
    drop_pollable(handle);
    is_ready(handle);
}

/// Uses, drops and creates handles in an order that depends on `seed`. Some of the handles never existed.
pub(crate) fn random_operations(seed: usize) {
    // A linear congruential generator: the same seed gives the same numbers.
    let mut state = seed as u64 + 1;
    let mut number_below = move |bound: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut own_handles = Vec::new();
    for _ in 0..64 {
        let any_handle = number_below(40) as i32;
        match number_below(8) {
            0..4 => own_handles.push(take_raw_handle(subscribe_duration(number_below(3)))),
            4 | 5 => own_handles.pop().into_iter().for_each(|handle| drop_pollable(handle)),
            6 => own_handles.last().into_iter().for_each(|handle| _ = is_ready(*handle)),
            _ if number_below(2) == 0 => drop_pollable(any_handle),
            _ => _ = is_ready(any_handle),
        }
    }
}

/// Returns the handle of a pollable. `Pollable` would otherwise drop the handle when it is dropped itself.
#[expect(clippy::needless_pass_by_value, reason = "the pollable loses its handle")]
fn take_raw_handle(pollable: Pollable) -> i32 {
    pollable.take_handle() as i32
}
