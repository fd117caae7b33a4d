//! `wasi:random`: random numbers, all from one generator. Its seed is recorded, so that a replay of the call gets the same
//! numbers.

use chacha20::rand_core::Rng;
use wasmtime::component::Linker;
use wasmtime_wasi::p2::bindings::random;

use crate::state::{CallState, HostFunctions};

/// Maximum number of random bytes that a guest gets at once.
const MAX_RANDOM_BYTES: u64 = 64 << 10;

/// Links the functions that return random numbers. Each call of them is counted.
pub(super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    random::random::add_to_linker::<CallState, HostFunctions>(linker, CallState::count_call)?;
    random::insecure::add_to_linker::<CallState, HostFunctions>(linker, CallState::count_call)?;
    random::insecure_seed::add_to_linker::<CallState, HostFunctions>(linker, CallState::count_call)
}

impl CallState {
    fn random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        if length > MAX_RANDOM_BYTES {
            let message = format!("{length} random bytes were asked for, more than the {MAX_RANDOM_BYTES} allowed");
            return Err(wasmtime::Error::msg(message));
        }
        let mut bytes = vec![0; usize::try_from(length)?];
        self.outside.random()?.fill_bytes(&mut bytes);
        Ok(bytes)
    }

    fn random_number(&mut self) -> wasmtime::Result<u64> {
        Ok(self.outside.random()?.next_u64())
    }
}

impl random::random::Host for CallState {
    fn get_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        self.random_bytes(length)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.random_number()
    }
}

impl random::insecure::Host for CallState {
    fn get_insecure_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        self.random_bytes(length)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.random_number()
    }
}

impl random::insecure_seed::Host for CallState {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        Ok((self.random_number()?, self.random_number()?))
    }
}
