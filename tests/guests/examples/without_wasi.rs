//! Allocates memory, panics or reads the clock in a component without WASI, where the standard library has no clock.

#![cfg(target_family = "wasm")]

use std::hint::black_box;
use std::time::Instant;

use art_sdk::prelude::*;

#[args]
struct In {
    /// The action to run.
    action: String,
    /// The number of rounds or of mebibytes, if the action needs one.
    #[serde(default)]
    n: usize,
}

const MIB: usize = 1 << 20;

/// Uses memory, panics, or reads the clock that it does not have.
#[tool]
fn without_wasi(input: In) -> Result<usize> {
    match input.action.as_str() {
        "churn" => churn(input.n),
        "hold" => Ok(black_box(vec![7_u8; input.n * MIB]).len()),
        "gather" => Ok(gather(input.n * MIB).len()),
        "panic" => panic_on_request(),
        "clock" => Ok(usize::from(Instant::now().elapsed().is_zero())),
        other => Err(ToolError::validation(format_args!("`{other}` is not known"))),
    }
}

#[expect(clippy::panic, reason = "a test needs a guest that panics")]
fn panic_on_request() -> ! {
    panic!("a requested panic")
}

/// Allocates `bytes` bytes in pieces of 32 KiB.
fn gather(bytes: usize) -> Vec<Vec<u8>> {
    const PIECE_BYTES: usize = 32 << 10;
    (0..bytes / PIECE_BYTES)
        .map(|_| black_box(vec![7_u8; PIECE_BYTES]))
        .collect()
}

/// A cache line, which needs a stricter alignment than the default of the allocator.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u8; 64]);

/// A block of memory that is filled with one byte, the mark.
enum Block {
    Bytes(Vec<u8>, u8),
    Lines(Vec<Line>, u8),
}

impl Block {
    fn new(length: usize, mark: u8) -> Self {
        // About a quarter of the blocks need the stricter alignment.
        if mark.is_multiple_of(4) {
            Self::Lines(vec![Line([mark; 64]); length.div_ceil(64)], mark)
        } else {
            Self::Bytes(vec![mark; length], mark)
        }
    }

    /// Changes the length of the block, and gives most of the spare capacity back, so that allocations also shrink.
    fn resize(&mut self, length: usize) {
        match self {
            Self::Bytes(bytes, mark) => {
                bytes.resize(length, *mark);
                bytes.shrink_to(length * 2);
            }
            Self::Lines(lines, mark) => {
                lines.resize(length.div_ceil(64), Line([*mark; 64]));
                lines.shrink_to_fit();
            }
        }
    }

    fn is_intact(&self) -> bool {
        match self {
            Self::Bytes(bytes, mark) => bytes.iter().all(|byte| byte == mark),
            Self::Lines(lines, mark) => {
                lines.as_ptr().addr().is_multiple_of(64) && lines.iter().all(|line| line.0 == [*mark; 64])
            }
        }
    }
}

/// A pseudo-random number generator (LCG).
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound
    }

    /// Returns a length in bytes: usually small, but in one of 100 cases up to a mebibyte.
    fn length(&mut self) -> usize {
        let max = if self.below(100) == 0 { MIB } else { 600 };
        1 + self.below(max)
    }
}

/// Allocates, resizes and frees blocks of many sizes, and returns the number of blocks that are left. Fails if one of them was
/// overwritten, or if memory that was requested as zeroed was not zero.
fn churn(rounds: usize) -> Result<usize> {
    let (mut blocks, mut random): (Vec<Block>, _) = (Vec::new(), Lcg(1));
    for _ in 0..rounds {
        // In 4 of 9 cases the block at `index` is freed, in 1 it is resized, and in 4 a block is added. If the index is one past
        // the last block, a block is added in all cases.
        let (length, index) = (random.length(), random.below(blocks.len() + 1));
        match (random.below(9), blocks.get_mut(index)) {
            (0..=3, Some(_)) => drop(blocks.swap_remove(index)),
            (4, Some(block)) => block.resize(length),
            _ => blocks.push(Block::new(length, u8::try_from(random.below(250)).unwrap_or_default())),
        }
        if vec![0_u8; length].iter().any(|byte| *byte != 0) {
            return Err(ToolError::unknown("new memory is not zero"));
        }
    }
    match blocks.iter().filter(|block| !block.is_intact()).count() {
        0 => Ok(blocks.len()),
        broken => Err(ToolError::unknown(format_args!("{broken} blocks have changed"))),
    }
}
