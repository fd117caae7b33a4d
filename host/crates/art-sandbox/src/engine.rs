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

/// Returns the settings of every engine. Features that a component of WASI preview 2 does not need are off.
fn config(mode: &EngineMode) -> Config {
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .consume_fuel(true)
        .operator_cost(prices())
        .concurrency_support(false);
    config
        .wasm_memory64(false)
        // The adapters in a composed component copy from one memory to another. `instrument` refuses a module of a guest that
        // itself has several memories.
        .wasm_multi_memory(true)
        .wasm_tail_call(false)
        // Off as a precaution: an earlier version of Wasmtime charged no fuel for calls through typed references.
        .wasm_features(WasmFeatures::FUNCTION_REFERENCES | WasmFeatures::GC, false)
        .wasm_relaxed_simd(false)
        .wasm_custom_page_sizes(false)
        .wasm_wide_arithmetic(false);
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
