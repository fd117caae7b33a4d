//! The fuel price of each instruction.
//!
//! The host reads the clock at the latest when a guest has used [`MAX_INTERVAL_FUEL`](crate::meter::MAX_INTERVAL_FUEL) units of
//! fuel. So that this is soon enough, the price of an instruction follows from the longest time that the instruction can take.
//! There are two exceptions. A load costs one unit, but takes 0.1 microseconds or more if it misses the cache; a guest with
//! many such loads gets less fuel between two reads of the clock, see [`meter`](crate::meter). The first write to a page takes
//! a microsecond; the host adds functions to the guest that make nearly all first writes in advance and charge for them, see
//! [`instrument`](crate::instrument).

use wasmtime::OperatorCost;

/// Price of an instruction for which the engine calls a function of its runtime, apart from those below.
const RUNTIME_CALL: u8 = 200;
/// Price of `memory.grow` and `table.grow`. A price is one byte, and this is the highest one, because even growth by zero makes
/// the host check the limits of the memory.
const GROWTH: u8 = 255;
/// Price of an access to a table, and of a bulk instruction. The engine charges the bytes or elements of a bulk instruction in
/// addition.
const TABLE_OR_BULK: u8 = 20;
/// Price of `nop`. No compiler emits it; the functions that the host adds to touch new pages execute one before each write.
const FIRST_WRITE: u8 = 20;

/// Sets the price of some instructions.
macro_rules! price {
    ($prices:ident, $price:expr, $($operator:ident)*) => { $($prices.$operator = $price;)* };
}

/// Returns the price of each instruction. An instruction that is not listed has the price that the engine sets: one unit, or
/// none for `drop`, `block`, `end` and the like, which generate little or no code.
pub(crate) fn prices() -> OperatorCost {
    let mut prices = OperatorCost::new();
    price!(prices, RUNTIME_CALL, RefFunc ElemDrop DataDrop);
    price!(prices, GROWTH, MemoryGrow TableGrow);
    price!(prices, FIRST_WRITE, Nop);
    price!(prices, TABLE_OR_BULK, MemoryCopy MemoryFill MemoryInit TableCopy TableFill TableInit TableGet TableSet);
    // The runtime creates each element and then writes it to the table.
    prices.variable.table_init_per_element = RUNTIME_CALL;
    prices
}
