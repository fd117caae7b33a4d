//! What each instruction costs a guest in fuel.
//!
//! A guest is looked at once in so many units, so what can take long is dear, even where it seldom does: a page of memory that is
//! written to for the first time takes two microseconds, ten times what it takes to fetch one that is not in the cache. That is
//! the longest that an instruction of one unit can take.

use wasmtime::OperatorCost;

/// An instruction for which the engine calls a function of its own.
const CALL_OF_THE_ENGINE: u8 = 200;
/// Growing by nothing, which looks at the limits all the same.
const GROWTH: u8 = 255;
/// Bulk work on nothing.
const BULK: u8 = 20;
/// Memory that is not there yet.
const STORE: u8 = 7;

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
