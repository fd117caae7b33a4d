//! The fuel price of each instruction.
//!
//! The host checks on a guest once every [`YIELD_FUEL`](crate::meter::YIELD_FUEL) units, so an instruction is priced by its worst case.
//! A load that misses the cache takes 0.1 microseconds and costs one unit. The first write to a page takes 0.6 microseconds, at worst
//! two. At a price of three, a guest can write to 33,000 new pages between two checks, which takes 19 ms of the 50 ms by which a call
//! with the highest limits may exceed its deadline. At the default limit of 64 MiB a guest has only 16,000 pages, so this costs at most
//! 9 ms at any price. A higher price would mean more checks in code that writes a lot.

use wasmtime::OperatorCost;

/// An instruction for which the engine calls a function of its runtime.
const RUNTIME_CALL: u8 = 200;
/// `memory.grow` or `table.grow`: the limits are checked even when growing by zero.
const GROWTH: u8 = 255;
/// Base price of a bulk operation, before its elements are counted; also of table access.
const BULK: u8 = 20;
/// A write to memory, which may be the first one to its page.
const STORE: u8 = 3;

macro_rules! price {
    ($prices:ident, $price:expr, $($operator:ident)*) => { $($prices.$operator = $price;)* };
}

/// Returns the price of each instruction. Instructions that are not listed cost one unit.
pub(crate) fn prices() -> OperatorCost {
    let mut prices = OperatorCost::new();
    price!(prices, RUNTIME_CALL, RefFunc ElemDrop DataDrop);
    price!(prices, GROWTH, MemoryGrow TableGrow);
    price!(prices, BULK, MemoryCopy MemoryFill MemoryInit TableCopy TableFill TableInit TableGet TableSet);
    price!(prices, STORE, I32Store I64Store F32Store F64Store I32Store8 I32Store16 I64Store8 I64Store16 I64Store32);
    price!(prices, STORE, V128Store V128Store8Lane V128Store16Lane V128Store32Lane V128Store64Lane);
    // The runtime creates each element before it writes it to the table.
    prices.variable.table_init_per_element = RUNTIME_CALL;
    prices
}
