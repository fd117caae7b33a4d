//! What each instruction costs a guest in fuel.
//!
//! The guest is checked once in [`YIELD_FUEL`](crate::meter::YIELD_FUEL) units, so an instruction that can take long costs more,
//! even where it seldom does. A load that misses the cache takes 0.1 microseconds and costs one unit. The first write to a page
//! takes 0.6 microseconds, at worst two. At a price of three, 33,000 pages are written between two checks: 19 ms of the 50 ms
//! that a call with the highest limits may overrun. With the default limits there are 16,000 pages, 9 ms, whatever the price. A
//! higher price means more checks in code that writes much.

use wasmtime::OperatorCost;

/// An instruction for which the engine calls a function of its own.
const CALL_OF_THE_ENGINE: u8 = 200;
/// Growing by nothing, which looks at the limits all the same.
const GROWTH: u8 = 255;
/// Bulk work on nothing.
const BULK: u8 = 20;
/// A write to memory, which may be the first one to its page.
const STORE: u8 = 3;

macro_rules! price {
    ($prices:ident, $price:expr, $($operator:ident)*) => { $($prices.$operator = $price;)* };
}

/// The price of each instruction. What is not named here costs one unit.
pub(crate) fn prices() -> OperatorCost {
    let mut prices = OperatorCost::new();
    price!(prices, CALL_OF_THE_ENGINE, RefFunc ElemDrop DataDrop);
    price!(prices, GROWTH, MemoryGrow TableGrow);
    price!(prices, BULK, MemoryCopy MemoryFill MemoryInit TableCopy TableFill TableInit TableGet TableSet);
    price!(prices, STORE, I32Store I64Store F32Store F64Store I32Store8 I32Store16 I64Store8 I64Store16 I64Store32);
    price!(prices, STORE, V128Store V128Store8Lane V128Store16Lane V128Store32Lane V128Store64Lane);
    // Each element that is written is made first.
    prices.variable.table_init_per_element = CALL_OF_THE_ENGINE;
    prices
}
