//! The fuel basis: a text with the version of the engine, the version of the code that rewrites modules, and a digest of the fuel
//! prices of instructions and host calls. How much fuel a call uses depends on these three, besides the component and its input.
//! Only calls with an equal fuel basis can be expected to use equal fuel.

use std::sync::LazyLock;

use crate::meter::HOST_CALL_FUEL;
use crate::prices::prices;

/// Version of the engine, which decides how fuel is charged for instructions.
const ENGINE_VERSION: &str = "48.0.8";
/// Version of the [instrumentation](crate::instrument), which adds instructions that cost fuel.
const INSTRUMENTATION_VERSION: u32 = 2;
/// Number of hexadecimal digits of the digest of the prices.
const DIGEST_DIGITS: usize = 16;

/// Returns the fuel basis: the versions, and a digest of all prices.
pub(crate) fn fuel_basis() -> &'static str {
    static BASIS: LazyLock<String> = LazyLock::new(|| {
        let prices = format!("{:?} {HOST_CALL_FUEL}", prices());
        let digest: String = blake3::hash(prices.as_bytes())
            .to_hex()
            .chars()
            .take(DIGEST_DIGITS)
            .collect();
        format!("wasmtime {ENGINE_VERSION}, instrumentation {INSTRUMENTATION_VERSION}, prices {digest}")
    });
    &BASIS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::instrument;

    /// A module with every kind of code that is rewritten. `LONG` stands for a long sequence of instructions.
    const SAMPLE: &str = r#"
        (component (core module
          (memory 1)
          (table $table 1 funcref)
          (data $data "a")
          (func $short)
          (func (export "f") (param i32)
            (call $short)
            (drop (memory.grow (local.get 0)))
            (drop (table.grow $table (ref.null func) (local.get 0)))
            (memory.copy (i32.const 0) (i32.const 1) (local.get 0))
            (memory.fill (i32.const 0) (i32.const 1) (local.get 0))
            (memory.init $data (i32.const 0) (i32.const 0) (local.get 0))
            LONG
            (call $short)
            (drop (i32.add (i32.const 1) (i32.add (i32.const 1) (i32.add (i32.const 1) (i32.add
              (i32.const 1) (i32.add (i32.const 1) (i32.add (i32.const 1) (i32.const 1)))))))))))
    "#;

    #[test]
    fn the_engine_version_is_that_of_the_lock_file() {
        let lock = include_str!("../../../../Cargo.lock");
        let package = format!("name = \"wasmtime\"\nversion = \"{ENGINE_VERSION}\"\n");
        assert!(
            lock.contains(&package),
            "set `ENGINE_VERSION` to the version in `Cargo.lock`"
        );
    }

    #[test]
    fn a_change_of_the_instrumentation_needs_a_new_version() {
        let long_code = "(drop (i32.const 1))".repeat(6_000);
        let sample = wat::parse_str(SAMPLE.replace("LONG", &long_code)).unwrap();
        let digest = blake3::hash(&instrument(&sample).unwrap()).to_hex();
        let hint = "increase `INSTRUMENTATION_VERSION`, and replace the digest here";
        assert_eq!(
            (INSTRUMENTATION_VERSION, &digest[..16]),
            (2, "49e911b786c58be1"),
            "{hint}"
        );
    }

    #[test]
    fn the_fuel_basis_has_the_versions_and_a_digest_of_the_prices() {
        let digit_count = |basis: &str| basis.rsplit(' ').next().map(str::len);
        assert!(fuel_basis().starts_with("wasmtime 48.0.8, instrumentation 2, prices "));
        assert_eq!(digit_count(fuel_basis()), Some(DIGEST_DIGITS));
    }
}
