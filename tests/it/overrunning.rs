//! Guests that try to exceed their deadline: most of them loop forever over an operation that takes as long as possible
//! without a check of the deadline.

use art_core::limits::Limits;

use crate::handmade::Handmade;

/// A guest that is hard to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OverrunningGuest {
    pub(crate) name: &'static str,
    /// Builds the component, with a memory of the given number of pages of 64 KiB.
    pub(crate) build: fn(u32) -> Vec<u8>,
    /// Time after which the guest is hardest to stop with the default limits, in milliseconds.
    worst_after_ms: u64,
}

impl OverrunningGuest {
    /// Returns the deadline at which to stop the guest, in milliseconds. A guest whose `worst_after_ms` is at least 100 first
    /// writes to its whole memory, so it needs more time if it has more memory.
    pub(crate) fn hardest_deadline_ms(&self, limits: &Limits) -> u64 {
        let factor = limits.memory_bytes / Limits::EXECUTE.memory_bytes;
        self.worst_after_ms * if self.worst_after_ms < 100 { 1 } else { factor.max(1) }
    }
}

/// All guests that are hard to stop, each with its name, its `build` and its `worst_after_ms`. The first touch of memory is the
/// first access to each of its pages, which takes long.
pub(crate) const OVERRUNNING_GUESTS: &[OverrunningGuest] = &[
    overrunning_guest(
        "memory.fill",
        |pages| {
            looping_guest(
                pages,
                "",
                &format!(
                    "(memory.fill (i32.const 0) (i32.const 7) (i32.const {}))",
                    work_bytes(pages)
                ),
            )
        },
        2,
    ),
    overrunning_guest(
        "memory.fill of a computed length",
        |pages| {
            looping_guest(
                pages,
                "",
                &format!(
                    "(memory.fill (i32.const 0) (i32.const 7) (i32.sub (i32.const {}) (memory.grow (i32.const 0))))",
                    work_bytes(pages)
                ),
            )
        },
        2,
    ),
    overrunning_guest(
        "memory.copy to lower addresses",
        |pages| looping_guest(pages, "", &copy_of_half(pages, "(i32.const 0) (local.get $half)")),
        2,
    ),
    overrunning_guest(
        "memory.copy to higher addresses",
        |pages| looping_guest(pages, "", &copy_of_half(pages, "(local.get $half) (i32.const 0)")),
        2,
    ),
    overrunning_guest("memory.init", memory_init_guest, 2),
    overrunning_guest(
        "first touch",
        |pages| looping_guest(pages, "", &touch_pages(work_bytes(pages), WRITE)),
        2,
    ),
    overrunning_guest("first touch without a loop", touch_without_loop, 2),
    overrunning_guest("first touch of initial memory", touch_of_initial_memory, 2),
    overrunning_guest(
        "first touch by reading and by writing",
        |pages| {
            looping_guest(
                pages,
                "",
                &format!(
                    "{}{}",
                    touch_pages(work_bytes(pages), READ),
                    touch_pages(work_bytes(pages), WRITE)
                ),
            )
        },
        2,
    ),
    // This guest writes to its whole memory and then only loops. The host has to release the memory when it stops the guest.
    overrunning_guest(
        "release of memory",
        |pages| {
            looping_guest(
                pages,
                "",
                &format!("{} (loop $spin (br $spin))", touch_pages(work_bytes(pages), WRITE)),
            )
        },
        300,
    ),
    overrunning_guest(
        "ref.func",
        |pages| {
            looping_guest(
                pages,
                "(func $f) (elem declare func $f)",
                &"(drop (ref.func $f))".repeat(100),
            )
        },
        10,
    ),
    overrunning_guest(
        "memory.grow",
        |pages| looping_guest(pages, "", &"(drop (memory.grow (i32.const 0)))".repeat(100)),
        10,
    ),
    overrunning_guest(
        "table.grow",
        |pages| {
            looping_guest(
                pages,
                TABLE,
                &"(drop (table.grow $t (ref.null func) (i32.const 0)))".repeat(100),
            )
        },
        10,
    ),
    overrunning_guest(
        "table.fill",
        |pages| {
            looping_guest(
                pages,
                TABLE,
                "(table.fill $t (i32.const 0) (ref.null func) (i32.const 20000))",
            )
        },
        10,
    ),
    overrunning_guest(
        "table.copy",
        |pages| {
            looping_guest(
                pages,
                TABLE,
                "(table.copy $t $t (i32.const 0) (i32.const 1) (i32.const 19999))",
            )
        },
        10,
    ),
    overrunning_guest(
        "table.init",
        |pages| {
            looping_guest(
                pages,
                &table_and_segment(),
                "(table.init $t $e (i32.const 0) (i32.const 0) (i32.const 20000))",
            )
        },
        10,
    ),
    overrunning_guest("dependent loads", |pages| chasing_guest(pages, 100), 300),
    overrunning_guest(
        "a long function without branches",
        |pages| chasing_guest(pages, 350_000),
        300,
    ),
    overrunning_guest(
        "return from a deep recursion",
        |pages| recursive_guest(pages, 3_000, 2_000),
        300,
    ),
    overrunning_guest(
        "return from a deep recursion of short functions",
        |pages| recursive_guest(pages, 7_000, 90),
        300,
    ),
    overrunning_guest("strings between components", strings_between_components, 10),
    overrunning_guest("data segments", data_segments, 2),
];

const fn overrunning_guest(name: &'static str, build: fn(u32) -> Vec<u8>, worst_after_ms: u64) -> OverrunningGuest {
    OverrunningGuest {
        name,
        build,
        worst_after_ms,
    }
}

/// Size of a page of memory, in bytes.
const PAGE_BYTES: u32 = 65_536;
/// Size of the initial memory of a handmade guest, in pages.
const INITIAL_PAGES: u32 = 32;

/// Returns the size of the part of the memory on which a guest works, in bytes. The rest is for the schema and the outcome of the
/// tool.
fn work_bytes(pages: u32) -> u32 {
    (pages - 2) * PAGE_BYTES
}

/// Returns a guest whose memory grows to `pages` pages when `execute` is called. It is not so large from the start, because the
/// memory limit of a call of `schema` is lower.
fn guest(pages: u32, items: &str, execute: &str) -> Vec<u8> {
    let grow = format!("(drop (memory.grow (i32.const {})))", pages - INITIAL_PAGES);
    Handmade {
        items,
        execute: &format!("(local $at i32) (local $half i32) {grow} {execute}"),
        ..Handmade::default()
    }
    .build()
}

/// Returns a guest that repeats `work` forever.
fn looping_guest(pages: u32, items: &str, work: &str) -> Vec<u8> {
    guest(pages, items, &format!("(loop $forever {work} (br $forever))"))
}

/// Returns instructions that copy one half of the memory to the other. `addresses` has an instruction for the address of the
/// destination, and one for that of the source; `$half` is the address of the second half.
fn copy_of_half(pages: u32, addresses: &str) -> String {
    let half = work_bytes(pages) / 2;
    format!("(local.set $half (i32.const {half})) (memory.copy {addresses} (local.get $half))")
}

const WRITE: &str = "(i32.store8 (local.get $at) (i32.const 7))";
const READ: &str = "(drop (i32.load8_u (local.get $at)))";

/// Returns a loop that accesses each page of 4 KiB of the memory. The first access to a page takes long, because the kernel has
/// to provide the page.
fn touch_pages(bytes: u32, access: &str) -> String {
    format!(
        "(local.set $at (i32.const 0))
         (loop $touch
            {access}
            (br_if $touch (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 4096))) (i32.const {bytes}))))"
    )
}

/// Returns a guest that repeats a sequence of stores, one for each page of 4 KiB of the memory.
fn touch_without_loop(pages: u32) -> Vec<u8> {
    looping_guest(pages, "", &store_to_each_page(pages))
}

/// Returns instructions that write to each page of 4 KiB without a loop.
fn store_to_each_page(pages: u32) -> String {
    (0..work_bytes(pages) / 4_096)
        .map(|n| format!("(i32.store8 offset={} (local.get $at) (local.get $at))", n * 4_096))
        .collect()
}

/// Returns a guest that writes to its whole initial memory and then grows it. The initial size is almost the maximum that a call
/// of `schema` may have.
fn touch_of_initial_memory(pages: u32) -> Vec<u8> {
    const LARGE_INITIAL_PAGES: u32 = 510;
    Handmade {
        memory: r#"(memory (export "memory") 510)"#,
        execute: &format!(
            "(local $at i32) {} (drop (memory.grow (i32.const {}))) (loop $forever (br $forever))",
            store_to_each_page(LARGE_INITIAL_PAGES),
            pages - LARGE_INITIAL_PAGES
        ),
        ..Handmade::default()
    }
    .build()
}

/// Returns a guest that fills its memory with copies of a segment of data.
fn memory_init_guest(pages: u32) -> Vec<u8> {
    const SEGMENT_BYTES: u32 = 8 << 20;
    let segment = "x".repeat(SEGMENT_BYTES as usize);
    let items = format!("(data $d \"{segment}\")");
    let copies: String = (0..work_bytes(pages) / SEGMENT_BYTES)
        .map(|n| {
            format!(
                "(memory.init $d (i32.const {}) (i32.const 0) (i32.const {SEGMENT_BYTES}))",
                n * SEGMENT_BYTES
            )
        })
        .collect();
    looping_guest(pages, &items, &copies)
}

const TABLE: &str = "(table $t 20000 funcref)";

/// Returns [`TABLE`] and a segment of elements that fill it.
fn table_and_segment() -> String {
    format!("{TABLE} (func $f) (elem $e func {})", "$f ".repeat(20_000))
}

/// Returns instructions that fill the memory with addresses, so that consecutive reads, each from the address that the previous
/// read returned, are far from each other. They leave the address of the first read in `$at`.
fn fill_with_scattered_addresses(pages: u32) -> String {
    // The mask keeps each address a multiple of 4 below the greatest power of two that is not above `bytes`. The first read is
    // not from address 0, which contains 0.
    let (bytes, mask) = (work_bytes(pages), (work_bytes(pages) + 1).next_power_of_two() / 2 - 4);
    format!(
        "(loop $scatter
            (i32.store (local.get $at) (i32.and (i32.mul (local.get $at) (i32.const 0x9e3779b5)) (i32.const {mask})))
            (br_if $scatter (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 4))) (i32.const {bytes}))))
         (local.set $at (i32.const 20004))"
    )
}

/// Returns a guest that repeats `loads` consecutive reads, each from the address that the previous read returned.
fn chasing_guest(pages: u32, loads: usize) -> Vec<u8> {
    let work = format!("local.get $at {} local.set $at", "i32.load ".repeat(loads));
    guest(
        pages,
        "",
        &format!(
            "{} (loop $forever {work} br $forever)",
            fill_with_scattered_addresses(pages)
        ),
    )
}

/// Returns a guest with a recursion that is `calls` deep, and `loads` reads after each return.
fn recursive_guest(pages: u32, calls: u32, loads: usize) -> Vec<u8> {
    let loads = "i32.load ".repeat(loads);
    let items = format!(
        "(func $deep (param $remaining i32) (param $at i32) (result i32)
            (if (local.get $remaining) (then
                (local.set $at (call $deep (i32.sub (local.get $remaining) (i32.const 1)) (local.get $at)))))
            local.get $at {loads})"
    );
    let execute = format!(
        "{} (loop $forever (local.set $at (call $deep (i32.const {calls}) (local.get $at))) (br $forever))",
        fill_with_scattered_addresses(pages)
    );
    guest(pages, &items, &execute)
}

/// Returns a guest in which one component passes long strings to another as soon as they are instantiated. Only one memory of a
/// guest may be larger than 8 MiB: here it is that of the sender, and the memory of the receiver has just 8 MiB. If the guest is
/// instantiated for a call of `schema`, the sender cannot have as much memory as it asks for, so it sends nothing.
fn strings_between_components(_pages: u32) -> Vec<u8> {
    let (string_bytes, extra_pages, times) = (126 * PAGE_BYTES, 400, 1_000_000);
    Handmade::default().build_with(&crate::handmade::sender_and_receiver(string_bytes, extra_pages, times))
}

/// Returns a guest that instantiates a module with 1 MiB of data many times, always with the same memory.
fn data_segments(_pages: u32) -> Vec<u8> {
    let extra_component = format!(
        r#"(component
            (core module $shared (memory (export "memory") 17))
            (core instance $shared (instantiate $shared))
            (core module $m (import "shared" "memory" (memory 17)) (data (i32.const 0) "{}"))
            {})"#,
        "x".repeat(1 << 20),
        r#"(core instance (instantiate $m (with "shared" (instance $shared))))"#.repeat(31)
    );
    let execute = "(loop $forever (br $forever))";
    Handmade {
        execute,
        ..Handmade::default()
    }
    .build_with(&extra_component)
}
