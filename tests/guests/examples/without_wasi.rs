//! Uses its memory in every way there is, and asks for what is not there. Built without WASI.

#![cfg(target_family = "wasm")]

use std::hint::black_box;
use std::time::Instant;

use art_sdk::prelude::*;

#[args]
struct In {
    /// What it does.
    what: String,
    /// How often or how much, where that matters.
    #[serde(default)]
    n: usize,
}

const MIB: usize = 1 << 20;

/// Uses its memory, or what it does not have.
#[tool]
fn without_wasi(input: In) -> Result<usize> {
    match input.what.as_str() {
        "churn" => churn(input.n),
        "hold" => Ok(black_box(vec![7_u8; input.n * MIB]).len()),
        "panic" => give_up(),
        "clock" => Ok(usize::from(Instant::now().elapsed().is_zero())),
        other => Err(ToolError::validation(format_args!("`{other}` is not known"))),
    }
}

#[expect(clippy::panic, reason = "this is the point")]
fn give_up() -> ! {
    panic!("as it was asked to")
}

/// A block of memory, and the byte that it is full of.
struct Block {
    bytes: Vec<u8>,
    mark: u8,
}

impl Block {
    fn new(length: usize, mark: u8) -> Self {
        Self {
            bytes: vec![mark; length],
            mark,
        }
    }

    fn resize(&mut self, length: usize) {
        self.bytes.resize(length, self.mark);
        self.bytes.shrink_to(length * 2);
    }

    fn is_whole(&self) -> bool {
        self.bytes.iter().all(|byte| *byte == self.mark)
    }
}

/// Takes, resizes and gives back blocks of all sizes. Fails when one has changed by itself or new memory is not zero.
fn churn(rounds: usize) -> Result<usize> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut random = 1_u64;
    for round in 0..rounds {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let dice = usize::try_from(random >> 33).unwrap_or_default();
        // Mostly small, now and then up to a quarter of a mebibyte.
        let length = 1 + dice % if dice.is_multiple_of(50) { MIB / 4 } else { 600 };
        let at = dice % (blocks.len() + 1);
        match (dice % 3, blocks.get_mut(at)) {
            (0, Some(_)) => drop(blocks.swap_remove(at)),
            (1, Some(block)) => block.resize(length),
            _ => blocks.push(Block::new(length, u8::try_from(round % 251).unwrap_or_default())),
        }
        if vec![0_u8; length].iter().any(|byte| *byte != 0) {
            return Err(ToolError::unknown("new memory is not zero"));
        }
    }
    match blocks.iter().filter(|block| !block.is_whole()).count() {
        0 => Ok(blocks.len()),
        broken => Err(ToolError::unknown(format_args!("{broken} blocks have changed"))),
    }
}
