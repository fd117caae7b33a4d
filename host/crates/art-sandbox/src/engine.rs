//! The engines and their memory pools, one for each worker thread.
//!
//! Threads that share an engine slow each other down, so each worker has its own. If the address space is too small to
//! reserve the pools, instances are allocated on demand instead.

use std::num::NonZeroUsize;
use std::sync::OnceLock;

use art_core::capability::LinkSet;
use art_core::limits::Limits;
use wasmtime::component::Linker;
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Strategy, WasmFeatures};

use crate::capability;
use crate::error::SandboxError;
use crate::limiter::{MAX_INSTANCES, MAX_MEMORIES, MAX_TABLES};
use crate::prices::prices;
use crate::state::CallState;

/// Maximum number of calls that run on one worker at the same time. Each call takes a slot: its part of the memory pools.
pub(crate) const SLOTS_PER_WORKER: u32 = 64;
/// Number of bytes of a linear memory that stay mapped between calls. A small tool uses less than 1 MiB.
const MEMORY_RESIDENT_BYTES: usize = 4 << 20;
/// Number of bytes of a table that stay mapped between calls.
const TABLE_RESIDENT_BYTES: usize = 64 << 10;
/// Number of bytes of a stack that stay mapped between calls.
const STACK_RESIDENT_BYTES: usize = 64 << 10;
/// Number of the [`FIBER_STACK_BYTES`] of a stack that a guest may use. Functions of the host use the rest.
const GUEST_STACK_BYTES: usize = 512 << 10;
/// Size of the stack on which a call runs.
const FIBER_STACK_BYTES: usize = 2 << 20;
// Average numbers of core instances, memories and tables for each slot. One component may have more, up to the maximum numbers in
// `limiter`.
const INSTANCES_PER_SLOT: u32 = 8;
const MEMORIES_PER_SLOT: u32 = 2;
const TABLES_PER_SLOT: u32 = 4;
/// The proposals of WebAssembly that tools need. All others are off, whatever the engine's defaults are.
const PROPOSALS: WasmFeatures = WasmFeatures::COMPONENT_MODEL
    .union(WasmFeatures::MUTABLE_GLOBAL)
    .union(WasmFeatures::SATURATING_FLOAT_TO_INT)
    .union(WasmFeatures::SIGN_EXTENSION)
    .union(WasmFeatures::REFERENCE_TYPES)
    .union(WasmFeatures::MULTI_VALUE)
    .union(WasmFeatures::BULK_MEMORY)
    .union(WasmFeatures::SIMD)
    .union(WasmFeatures::FLOATS)
    .union(WasmFeatures::EXTENDED_CONST)
    // The adapters in a composed component copy from one memory to another. `instrument` refuses a module of a guest that itself
    // has several memories.
    .union(WasmFeatures::MULTI_MEMORY);
/// Maximum number of bytes that the engine allocates for its own data about one instance of a component or of a core module.
const MAX_INSTANCE_DATA_BYTES: usize = 1 << 20;

/// The way in which the memory of instances is allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineMode {
    /// Whether instances come from a pool.
    pub pooling: bool,
    /// Whether the memory of an ended call is reset with the kernel's `PAGEMAP_SCAN` (Linux 6.7 and later).
    pub pagemap_scan: bool,
    /// Reason why no pool is used, or `None` if one is used.
    pub fallback_reason: Option<String>,
}

/// The engine of one worker thread, with its linkers.
pub(crate) struct WorkerEngine {
    pub(crate) engine: Engine,
    /// For each set of interfaces, its linker, which is created when a component first needs it.
    linkers: [OnceLock<Linker<CallState>>; LinkSet::COUNT],
}

impl WorkerEngine {
    pub(crate) fn new(mode: &EngineMode) -> Result<Self, SandboxError> {
        let engine = Engine::new(&config(mode)).map_err(SandboxError::Engine)?;
        Ok(Self {
            engine,
            linkers: Default::default(),
        })
    }

    /// Returns the linker for the interfaces of `set` and for those that every tool may use.
    pub(crate) fn linker(&self, set: LinkSet) -> wasmtime::Result<&Linker<CallState>> {
        let unknown_set_error = || wasmtime::Error::msg("there is no such set of interfaces");
        let cell = self.linkers.get(set.index()).ok_or_else(unknown_set_error)?;
        if let Some(linker) = cell.get() {
            return Ok(linker);
        }
        let linker = capability::linker(&self.engine, set)?;
        Ok(cell.get_or_init(|| linker))
    }
}

/// Creates an engine for each worker, in the best mode that this machine allows. Falls back to a mode without pools if the
/// address space is too small for the pools of all engines.
pub(crate) fn create_worker_engines(
    workers: usize,
    pooling: bool,
) -> Result<(EngineMode, Vec<WorkerEngine>), SandboxError> {
    let create_all = |mode: &EngineMode| {
        (0..workers)
            .map(|_| WorkerEngine::new(mode))
            .collect::<Result<Vec<_>, _>>()
    };
    let mut mode = EngineMode {
        pooling,
        pagemap_scan: pooling && pagemap_scan_works(),
        fallback_reason: (!pooling).then(|| "switched off by the configuration".to_owned()),
    };
    let created = create_all(&mode);
    if let (true, Err(SandboxError::Engine(error))) = (pooling, &created) {
        let reason = format!("the pools could not be reserved: {error:#}");
        mode = EngineMode {
            pooling: false,
            pagemap_scan: false,
            fallback_reason: Some(reason),
        };
        return create_all(&mode).map(|engines| (mode, engines));
    }
    Ok((mode, created?))
}

/// Returns whether the kernel supports `PAGEMAP_SCAN`, by creating an engine that requires it.
fn pagemap_scan_works() -> bool {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_memories(1)
        .total_tables(1)
        .total_stacks(1)
        .total_core_instances(1)
        .total_component_instances(1);
    pool.pagemap_scan(Enabled::Yes);
    let mut config = Config::new();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config).is_ok()
}

/// Returns an engine for compiling only. The compiled code runs in every engine of this host, with or without a pool.
pub(crate) fn compiling_engine() -> wasmtime::Result<Engine> {
    Engine::new(&config(&EngineMode {
        pooling: false,
        pagemap_scan: false,
        fallback_reason: None,
    }))
}

/// Returns the settings of every engine. The proposals that a component of WASI preview 2 does not need are off.
fn config(mode: &EngineMode) -> Config {
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .consume_fuel(true)
        .operator_cost(prices())
        .concurrency_support(false);
    config
        .wasm_features(WasmFeatures::all(), false)
        // Named once more, because both are on by default in a build of the engine that has them.
        .wasm_features(WasmFeatures::EXCEPTIONS | WasmFeatures::THREADS, false)
        .wasm_features(PROPOSALS, true);
    config
        .max_wasm_stack(GUEST_STACK_BYTES)
        .async_stack_size(FIBER_STACK_BYTES)
        .async_stack_zeroing(false);
    config
        .wasm_backtrace_max_frames(NonZeroUsize::new(20))
        .debug_info(false)
        .memory_init_cow(true);
    let strategy = if mode.pooling {
        InstanceAllocationStrategy::Pooling(pool(mode))
    } else {
        InstanceAllocationStrategy::OnDemand
    };
    config.allocation_strategy(strategy);
    config
}

/// Returns the sizes of the pools from which instances are allocated.
fn pool(mode: &EngineMode) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(SLOTS_PER_WORKER)
        .total_core_instances(SLOTS_PER_WORKER * INSTANCES_PER_SLOT)
        .total_memories(SLOTS_PER_WORKER * MEMORIES_PER_SLOT)
        .total_tables(SLOTS_PER_WORKER * TABLES_PER_SLOT)
        .total_stacks(SLOTS_PER_WORKER)
        .max_core_instances_per_component(MAX_INSTANCES)
        .max_memories_per_component(MAX_MEMORIES)
        .max_tables_per_component(MAX_TABLES)
        .max_tables_per_module(MAX_TABLES);
    pool.max_memory_size(usize::try_from(Limits::MAX.memory_bytes).unwrap_or(usize::MAX))
        .table_elements(Limits::MAX.table_elements as usize)
        .max_component_instance_size(MAX_INSTANCE_DATA_BYTES)
        .max_core_instance_size(MAX_INSTANCE_DATA_BYTES)
        .linear_memory_keep_resident(MEMORY_RESIDENT_BYTES)
        .table_keep_resident(TABLE_RESIDENT_BYTES)
        .async_stack_keep_resident(STACK_RESIDENT_BYTES)
        .pagemap_scan(if mode.pagemap_scan { Enabled::Yes } else { Enabled::No });
    pool
}

#[cfg(test)]
mod tests {
    use wasmparser::Validator;
    use wasmtime::Module;
    use wasmtime::component::Component;

    use super::*;

    /// A small module or component that needs a proposal, for each proposal that is off and has a text format.
    const NEEDING: [(WasmFeatures, &str); 24] = [
        (WasmFeatures::THREADS, "(module (memory 1 1 shared))"),
        (
            WasmFeatures::SHARED_EVERYTHING_THREADS,
            "(module (global (shared i32) (i32.const 0)))",
        ),
        (WasmFeatures::TAIL_CALL, "(module (func $f (return_call $f)))"),
        (
            WasmFeatures::RELAXED_SIMD,
            "(module (func (param v128 v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 1))))",
        ),
        (WasmFeatures::EXCEPTIONS, "(module (tag))"),
        (
            WasmFeatures::LEGACY_EXCEPTIONS,
            r#"(module binary "\00asm\01\00\00\00" "\01\04\01\60\00\00" "\03\02\01\00" "\0a\07\01\05\00\06\40\0b\0b")"#,
        ),
        (WasmFeatures::MEMORY64, "(module (memory i64 1))"),
        (
            WasmFeatures::FUNCTION_REFERENCES,
            "(module (type $t (func)) (func (param (ref $t))))",
        ),
        (
            WasmFeatures::MEMORY_CONTROL,
            "(module (memory 1) (func (memory.discard (i32.const 0) (i32.const 0))))",
        ),
        (WasmFeatures::GC, "(module (type (struct)))"),
        (WasmFeatures::GC_TYPES, "(module (func (param externref)))"),
        (WasmFeatures::CUSTOM_PAGE_SIZES, "(module (memory 1 (pagesize 1)))"),
        (
            WasmFeatures::STACK_SWITCHING,
            "(module (type $f (func)) (type (cont $f)))",
        ),
        (
            WasmFeatures::WIDE_ARITHMETIC,
            "(module (func (param i64 i64) (result i64 i64) (i64.mul_wide_s (local.get 0) (local.get 1))))",
        ),
        (
            WasmFeatures::CUSTOM_DESCRIPTORS,
            "(module (rec (type $a (descriptor $b) (struct)) (type $b (describes $a) (struct))))",
        ),
        (
            WasmFeatures::CM_VALUES,
            r#"(component (import "a" (value $v string)) (export "b" (value $v)))"#,
        ),
        (WasmFeatures::CM_ASYNC, "(component (type (future)))"),
        (
            WasmFeatures::CM_ASYNC_STACKFUL,
            r#"(component
                (core module $m (func (export "f")))
                (core instance $i (instantiate $m))
                (func (export "f") async (canon lift (core func $i "f") async)))"#,
        ),
        (
            WasmFeatures::CM_MORE_ASYNC_BUILTINS,
            "(component (core func (canon subtask.cancel async)))",
        ),
        (
            WasmFeatures::CM_THREADING,
            "(component (core func (canon thread.index)))",
        ),
        (
            WasmFeatures::CM_ERROR_CONTEXT,
            "(component (core func (canon error-context.drop)))",
        ),
        (WasmFeatures::CM_FIXED_LENGTH_LISTS, "(component (type (list u8 4)))"),
        (WasmFeatures::CM_MAP, "(component (type (map string u32)))"),
        (
            WasmFeatures::CM_GC,
            r#"(component
                (import "f" (func $f))
                (core type $t (func))
                (core func (canon lower (func $f) gc (core-type $t))))"#,
        ),
    ];
    /// Proposals for which no module is made here: they change names or encodings only, or have no text format.
    const WITHOUT_MODULE: WasmFeatures = WasmFeatures::CM_NESTED_NAMES
        .union(WasmFeatures::COMPACT_IMPORTS)
        .union(WasmFeatures::CM64)
        .union(WasmFeatures::CM_IMPLEMENTS)
        .union(WasmFeatures::CM_CANON_NAMES);

    #[test]
    fn a_module_that_needs_any_proposal_but_those_of_tools_is_refused() {
        let engine = compiling_engine().unwrap();
        let mut faults = Vec::new();
        for (proposal, text) in NEEDING {
            let wasm = match wat::parse_str(text) {
                Ok(wasm) => wasm,
                Err(error) => {
                    faults.push(format!("{proposal:?}: {error}"));
                    continue;
                }
            };
            // The module is valid with all proposals, so the engine refuses it for its proposal and not for a mistake in it.
            if let Err(error) = Validator::new_with_features(WasmFeatures::all()).validate_all(&wasm) {
                faults.push(format!("{proposal:?} is invalid: {error}"));
            }
            let is_component = wasmparser::Parser::is_component(&wasm);
            let refused = if is_component {
                Component::new(&engine, &wasm).is_err()
            } else {
                Module::new(&engine, &wasm).is_err()
            };
            if !refused {
                faults.push(format!("{proposal:?} is accepted"));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn each_proposal_of_the_engine_is_needed_or_refused() {
        let refused = NEEDING
            .map(|(proposal, _)| proposal)
            .into_iter()
            .fold(WITHOUT_MODULE, WasmFeatures::union);
        let unknown = WasmFeatures::all().difference(PROPOSALS).difference(refused);
        assert!(unknown.is_empty(), "add {unknown:?} to the modules that are refused");
        assert!(!PROPOSALS.intersects(WasmFeatures::EXCEPTIONS | WasmFeatures::THREADS));
    }

    #[test]
    fn modules_with_the_proposals_of_tools_are_accepted() {
        let engine = compiling_engine().unwrap();
        for text in [
            "(module (global (export \"g\") (mut i32) (i32.const 0)))",
            "(module (func (param f32) (result i32) (i32.trunc_sat_f32_s (local.get 0))))",
            "(module (func (param i32) (result i32) (i32.extend8_s (local.get 0))))",
            "(module (table 1 funcref) (func (result funcref) (table.get 0 (i32.const 0))))",
            "(module (func (result i32 i32) (i32.const 1) (i32.const 2)))",
            "(module (memory 1) (func (memory.fill (i32.const 0) (i32.const 0) (i32.const 1))))",
            "(module (func (param v128) (result v128) (i8x16.neg (local.get 0))))",
            "(module (global i32 (i32.add (i32.const 1) (i32.const 2))))",
            "(module (memory 1) (memory 1))",
        ] {
            Module::new(&engine, wat::parse_str(text).unwrap()).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }
}
