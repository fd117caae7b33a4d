//! The tool that the benchmarks call: a small addition, and kernels that use a lot of processor time.

use art_sdk::prelude::*;
use sha2::{Digest, Sha256};

/// The operation to carry out, with its operands.
#[args]
pub struct Input {
    /// The operation.
    pub op: Op,
    /// First operand, or size of the problem.
    pub a: u64,
    /// Second operand.
    #[serde(default)]
    pub b: u64,
}

/// The operations.
#[args]
#[derive(Clone, Copy)]
pub enum Op {
    /// Computes `a + b`.
    Add,
    /// Counts the primes below `a`.
    Sieve,
    /// Runs `a` rounds of a linear congruential generator.
    Lcg,
    /// Writes `a` records as JSON, parses and sorts them.
    Json,
    /// Computes the SHA-256 of `a` bytes.
    Hash,
    /// Never ends.
    Spin,
    /// Sleeps `a` milliseconds.
    Sleep,
    /// Computes the sum of the bytes of the file `/bench/file`.
    Read,
}

/// The result.
#[output]
pub struct Output {
    /// The value.
    pub value: u64,
}

/// Computes something, for benchmarks.
#[tool]
pub fn bench(input: Input) -> Result<Output> {
    Ok(Output { value: compute(&input) })
}

/// Calls the tool natively, but through the same interface as the host: with its input as JSON text, a context, and an outcome.
/// The macro `#[tool]` generates the tool `BENCH` from [`bench`].
#[cfg(not(target_family = "wasm"))]
pub fn call(input: &str) -> Outcome<String> {
    let input = input.to_owned();
    BENCH.run(&input, &Context::for_test())
}

/// Does the work of the tool without parsing its input or serializing its output. The kernels are not inlined, so that
/// they are compiled alike for the native and the WebAssembly build.
#[must_use]
pub fn compute(input: &Input) -> u64 {
    match input.op {
        Op::Add => input.a.wrapping_add(input.b),
        Op::Sieve => sieve(input.a),
        Op::Lcg => lcg(input.a),
        Op::Json => json_round_trip(input.a),
        Op::Hash => hash(input.a),
        Op::Spin => spin(),
        Op::Sleep => {
            std::thread::sleep(std::time::Duration::from_millis(input.a));
            input.a
        }
        Op::Read => std::fs::read("/bench/file").map_or(0, |bytes| bytes.iter().map(|byte| u64::from(*byte)).sum()),
    }
}

#[inline(never)]
fn sieve(limit: u64) -> u64 {
    let limit = usize::try_from(limit).unwrap_or_default();
    let mut composite = vec![false; limit];
    let mut count = 0;
    for n in 2..limit {
        if composite.get(n).copied().unwrap_or(true) {
            continue;
        }
        count += 1;
        composite
            .iter_mut()
            .skip(n * 2)
            .step_by(n)
            .for_each(|slot| *slot = true);
    }
    count
}

#[inline(never)]
fn lcg(rounds: u64) -> u64 {
    let step = |state: u64, _| {
        state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407)
    };
    (0..rounds).fold(std::hint::black_box(1), step)
}

#[inline(never)]
fn json_round_trip(records: u64) -> u64 {
    let rows: Vec<Value> = (0..records)
        .map(|n| json!({"id": lcg(n % 7) ^ n, "name": format!("row {n}")}))
        .collect();
    let text = Value::from(rows).to_string();
    let mut ids: Vec<u64> = match art_sdk::serde_json::from_str::<Vec<Value>>(&text) {
        Ok(rows) => rows.iter().filter_map(|row| row.get("id")?.as_u64()).collect(),
        Err(_) => Vec::new(),
    };
    ids.sort_unstable();
    ids.iter().fold(0, |sum, id| sum ^ id)
}

#[inline(never)]
fn hash(bytes: u64) -> u64 {
    let data: Vec<u8> = (0..bytes).map(|n| n.to_le_bytes()[0]).collect();
    let digest = Sha256::digest(&data);
    digest.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

fn spin() -> u64 {
    let mut n = 0_u64;
    loop {
        n = std::hint::black_box(n.wrapping_add(1));
    }
}
