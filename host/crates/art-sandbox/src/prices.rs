//! The fuel price of each instruction.
//!
//! The host reads the clock at least once every [`MAX_INTERVAL_FUEL`](crate::meter::MAX_INTERVAL_FUEL) units, so an instruction
//! is priced by its worst case. The exception is a load: it costs one unit and takes 0.1 microseconds or more if it
//! misses the cache, so the intervals of a guest with many such loads become shorter. The first write to a page takes
//! a microsecond. Nearly all first writes are made by functions that charge for them, see
//! [`instrument`](crate::instrument).

use wasmtime::OperatorCost;

/// An instruction for which the engine calls a function of its runtime.
const RUNTIME_CALL: u8 = 200;
/// `memory.grow` or `table.grow`: the limits are checked even when growing by zero.
const GROWTH: u8 = 255;
/// Base price of a bulk operation, before its elements are counted; also of table access.
const BULK: u8 = 20;
/// `nop`, which no compiler emits: the charge for the first write to a page of memory.
const NOP: u8 = 20;

macro_rules! price {
    ($prices:ident, $price:expr, $($operator:ident)*) => { $($prices.$operator = $price;)* };
}

/// Returns the price of each instruction. Instructions that are not listed cost one unit.
pub(crate) fn prices() -> OperatorCost {
    let mut prices = OperatorCost::new();
    price!(prices, RUNTIME_CALL, RefFunc ElemDrop DataDrop);
    price!(prices, GROWTH, MemoryGrow TableGrow);
    price!(prices, NOP, Nop);
    price!(prices, BULK, MemoryCopy MemoryFill MemoryInit TableCopy TableFill TableInit TableGet TableSet);
    // The runtime creates each element before it writes it to the table.
    prices.variable.table_init_per_element = RUNTIME_CALL;
    prices
}
