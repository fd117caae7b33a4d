//! Rewrites core modules before they are compiled, so that the engine checks the fuel of a guest often enough.
//!
//! The engine checks the fuel at the start of a function, at the start of each iteration of a loop, and before it copies or fills
//! memory. So an empty loop is inserted into long code that has no check. A bulk instruction, which copies or fills memory, is
//! replaced by a call of a function that does the same in chunks, unless it is known to be short.
//!
//! The first write to a page of memory takes a microsecond, a thousand times as long as the next one, because the kernel has to
//! find the page. So `memory.grow` is replaced by a call of a function that also touches each new page, that is, makes the
//! first write to it, and uses fuel for each such write. A new start function touches the pages of a large initial memory. The
//! first pages of a memory are not touched, so this changes nothing for small memories.

use wasmparser::{BinaryReader, CompositeInnerType, FunctionBody, Operator, Parser, Payload, SubType, TypeRef};
use wasmtime::OperatorCost;

use crate::prices::prices;

/// Maximum number of bytes that one instruction copies or fills.
const CHUNK_BYTES: u32 = 256 << 10;
/// Maximum fuel that a function uses between two checks.
const MAX_UNCHECKED_FUEL: i64 = 10_000;
/// Maximum fuel that a function uses without a check between the return of a call that it made and its own return. It is low
/// because the functions of a deep recursion return one after the other, and the engine checks none of these returns.
const MAX_UNCHECKED_FUEL_AFTER_CALL: i64 = 10;
/// Number of pages of 64 KiB up to which a memory grows without touching the new pages. Most tools need less, and most of that
/// memory stays mapped in the pool between calls. The number is at most 63, the largest that `i32.const` encodes in one byte.
const UNTOUCHED_PAGES: u8 = 63;
/// Number of pages of 64 KiB that a memory may have from the beginning without touching them.
const UNTOUCHED_INITIAL_PAGES: u64 = 64;
/// Maximum depth of components within components. The bytes of a component are parsed once for each level.
const MAX_DEPTH: u32 = 32;

// Sections of a component.
const MODULE_SECTION: u8 = 1;
const COMPONENT_SECTION: u8 = 4;
// Sections of a module.
const TYPE_SECTION: u8 = 1;
const FUNCTION_SECTION: u8 = 3;
const START_SECTION: u8 = 8;
const CODE_SECTION: u8 = 10;
/// The sections of a module in the order that the format prescribes: 13 are the tags, and 12 is the number of data segments.
/// Custom sections, 0, may be anywhere.
const SECTION_ORDER: [u8; 13] = [1, 2, 3, 4, 5, 13, 6, 7, 8, 9, 12, 10, 11];

/// `(loop)`: the engine checks the fuel where a loop begins.
const CHECK: [u8; 3] = [0x03, 0x40, 0x0b];

/// Returns the component with all its core modules rewritten.
///
/// # Errors
/// Fails if the component cannot be parsed, is nested too deeply, or has a module with several memories. The engine cannot refuse
/// such a module itself, because the adapters that the engine generates need several memories.
pub(crate) fn instrument(component: &[u8]) -> wasmtime::Result<Vec<u8>> {
    instrument_component(component, &prices(), 0)
}

fn instrument_component(component: &[u8], prices: &OperatorCost, depth: u32) -> wasmtime::Result<Vec<u8>> {
    if depth > MAX_DEPTH {
        return refuse(format!(
            "the component contains components more than {MAX_DEPTH} levels deep"
        ));
    }
    map_sections(component, |id, content| match id {
        MODULE_SECTION => Module::read(content, prices)?.write(content),
        COMPONENT_SECTION => instrument_component(content, prices, depth + 1),
        _ => Ok(content.to_vec()),
    })
}

fn refuse<T>(reason: String) -> wasmtime::Result<T> {
    Err(wasmtime::Error::msg(reason))
}

/// Number of bytes before the first section.
const HEADER_BYTES: usize = 8;

/// Calls `visit` for each section of a module or a component, with the kind of the section, all its bytes, and its content.
fn for_each_section(
    wasm: &[u8],
    mut visit: impl FnMut(u8, &[u8], &[u8]) -> wasmtime::Result<()>,
) -> wasmtime::Result<()> {
    let mut reader = BinaryReader::new(wasm, 0);
    reader.read_bytes(HEADER_BYTES)?;
    while !reader.eof() {
        let start = reader.original_position();
        let id = reader.read_u8()?;
        let size = reader.read_var_u32()?;
        let content = reader.read_bytes(size as usize)?;
        visit(id, bytes(wasm, start, reader.original_position()), content)?;
    }
    Ok(())
}

/// Replaces the content of each section of a module or a component.
fn map_sections(wasm: &[u8], mut map: impl FnMut(u8, &[u8]) -> wasmtime::Result<Vec<u8>>) -> wasmtime::Result<Vec<u8>> {
    let mut mapped = bytes(wasm, 0, HEADER_BYTES).to_vec();
    for_each_section(wasm, |id, _whole_section, content| {
        let content = map(id, content)?;
        mapped.push(id);
        push_leb128(&mut mapped, content.len())?;
        mapped.extend(content);
        Ok(())
    })?;
    Ok(mapped)
}

/// Returns a module with a section of this kind and content, in place of its own if it has one.
fn with_section(module: &[u8], id: u8, content: &[u8]) -> wasmtime::Result<Vec<u8>> {
    let position = |id| SECTION_ORDER.iter().position(|section| *section == id);
    let mut section = vec![id];
    push_leb128(&mut section, content.len())?;
    section.extend(content);
    let (mut before, mut after) = (bytes(module, 0, HEADER_BYTES).to_vec(), Vec::new());
    for_each_section(module, |other, whole_section, _content| {
        // A custom section has no position in the order. It goes where the section before it went.
        if !after.is_empty() || position(other) > position(id) {
            after.extend(whole_section);
        } else if other != id {
            before.extend(whole_section);
        }
        Ok(())
    })?;
    Ok([before, section, after].concat())
}

/// Returns a module with an empty section of this kind, unless it has such a section.
fn with_section_if_absent(module: Vec<u8>, id: u8) -> wasmtime::Result<Vec<u8>> {
    let mut is_present = false;
    for_each_section(&module, |other, _whole_section, _content| {
        is_present |= other == id;
        Ok(())
    })?;
    let no_entries = [0];
    if is_present {
        Ok(module)
    } else {
        with_section(&module, id, &no_entries)
    }
}

/// The parts of a core module that are needed to rewrite it.
#[derive(Default)]
struct Module {
    /// Number of parameters of each type.
    parameter_counts: Vec<u32>,
    /// Type index of each function that the module defines.
    function_types: Vec<u32>,
    /// Number of functions, imported and defined.
    function_count: u32,
    /// Number of memories, imported and defined.
    memory_count: u32,
    /// Initial number of pages of the memory that the module defines, or zero if it defines none.
    initial_pages: u64,
    /// Index of the start function.
    start: Option<u32>,
    /// Rewritten bodies of the functions that the module defines.
    bodies: Vec<Vec<u8>>,
    /// Functions appended to those of the module.
    appended: Vec<AppendedFunction>,
}

/// A function that does the work of an instruction, or the new start function. The engine checks the fuel while the function
/// runs.
struct AppendedFunction {
    /// The bytes of the instruction that the function replaces; empty for the start function.
    instruction: Vec<u8>,
    ty: AppendedType,
    body: Vec<u8>,
}

/// The type of an appended function. These types are appended to those of the module, in this order.
#[derive(Clone, Copy)]
enum AppendedType {
    /// The parameters of `memory.copy`, `memory.fill` and `memory.init`, without a result.
    Bulk = 0,
    /// The parameter and the result of `memory.grow`.
    Grow = 1,
    /// Without parameters and results, as a start function.
    Start = 2,
}

impl Module {
    /// Reads a module, and rewrites the bodies of its functions.
    fn read(wasm: &[u8], prices: &OperatorCost) -> wasmtime::Result<Self> {
        let mut module = Self::default();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::TypeSection(section) => {
                    for group in section {
                        module.parameter_counts.extend(group?.types().map(parameter_count));
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        module.count_import(import?.ty);
                    }
                }
                Payload::FunctionSection(section) => {
                    module.function_count = module.function_count.saturating_add(section.count());
                    module.function_types = section.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::MemorySection(section) => {
                    module.memory_count = module.memory_count.saturating_add(section.count());
                    for memory in section {
                        module.initial_pages = memory?.initial;
                    }
                }
                Payload::StartSection { func, .. } => module.start = Some(func),
                Payload::CodeSectionEntry(body) => module.instrument_body(wasm, &body, prices)?,
                _ => {}
            }
        }
        if module.memory_count > 1 {
            return refuse("a core module of the component has multiple memories; only one is allowed".to_owned());
        }
        module.touch_initial_memory()?;
        Ok(module)
    }

    /// Replaces the start function by one that first touches the pages of the initial memory, if that memory is large.
    fn touch_initial_memory(&mut self) -> wasmtime::Result<()> {
        if self.initial_pages > UNTOUCHED_INITIAL_PAGES {
            let body = touch_and_start(self.start)?;
            self.start = Some(u32::try_from(self.get_or_append_function(
                AppendedType::Start,
                &[],
                |_| body,
            ))?);
        }
        Ok(())
    }

    fn count_import(&mut self, import: TypeRef) {
        match import {
            TypeRef::Func(_) | TypeRef::FuncExact(_) => self.function_count = self.function_count.saturating_add(1),
            TypeRef::Memory(_) => self.memory_count = self.memory_count.saturating_add(1),
            _ => {}
        }
    }

    /// Rewrites the body of one function and appends it to `bodies`.
    fn instrument_body(&mut self, wasm: &[u8], body: &FunctionBody<'_>, prices: &OperatorCost) -> wasmtime::Result<()> {
        let mut operators = body.get_operators_reader()?;
        // `copied_to` is the offset in `wasm` up to which the body has been copied or replaced.
        let (mut code, mut copied_to) = (Vec::new(), operators.original_position());
        let locals = Locals::parse(body, bytes(wasm, body.range().start, copied_to))?;
        // Index of an additional local variable for the lengths of bulk instructions, if there is such an instruction.
        let mut length_local = None;
        let mut unchecked = UncheckedFuel::default();
        // The value of an `i32.const` just before the instruction. It is the length if a bulk instruction follows.
        let mut constant_before = None;
        while !operators.eof() {
            let (operator, offset) = operators.read_with_offset()?;
            let next = operators.original_position();
            let price = prices.cost(&operator);
            if unchecked.needs_check(&operator, price) {
                code.extend(bytes(wasm, copied_to, offset));
                code.extend(CHECK);
                copied_to = offset;
                unchecked.reset();
            }
            if let Operator::MemoryGrow { .. } = operator {
                code.extend(bytes(wasm, copied_to, offset));
                code.push(CALL);
                let function =
                    self.get_or_append_function(AppendedType::Grow, bytes(wasm, offset, next), grow_and_touch);
                push_leb128(&mut code, function)?;
                copied_to = next;
            } else if constant_before.is_none_or(|length| length > CHUNK_BYTES)
                && let Some(function) = self.get_or_append_chunked_function(&operator, bytes(wasm, offset, next))
            {
                code.extend(bytes(wasm, copied_to, offset));
                let local = *length_local.get_or_insert(self.current_parameter_count().saturating_add(locals.count));
                self.push_bulk_operation(&mut code, local, bytes(wasm, offset, next), function)?;
                copied_to = next;
            }
            unchecked.move_past(&operator, price);
            constant_before = match operator {
                Operator::I32Const { value } => Some(value.cast_unsigned()),
                _ => None,
            };
        }
        code.extend(bytes(wasm, copied_to, body.range().end));
        self.bodies
            .push([locals.encode(length_local.is_some())?, code].concat());
        Ok(())
    }

    /// Returns the number of parameters of the function whose body is being rewritten.
    fn current_parameter_count(&self) -> u32 {
        // The bodies so far are those of the functions before this one.
        let ty = self.function_types.get(self.bodies.len());
        let parameters = ty.and_then(|ty| self.parameter_counts.get(*ty as usize));
        // The default is only for an invalid module, in which a function has no type: the compiler refuses it later.
        parameters.copied().unwrap_or_default()
    }

    /// Writes code that replaces a bulk instruction. The code stores the length in `length_local`. If the length is at most one
    /// chunk, which is the common case, the code then runs the instruction itself; otherwise it calls `function`.
    fn push_bulk_operation(
        &self,
        code: &mut Vec<u8>,
        length_local: u32,
        instruction: &[u8],
        function: usize,
    ) -> wasmtime::Result<()> {
        for access in [LOCAL_TEE, LOCAL_GET] {
            code.push(access);
            push_leb128(code, length_local as usize)?;
        }
        code.extend([&CHUNK_CONST[..], &LESS_OR_EQUAL].concat());
        // The `if` has the type of the bulk instruction, `AppendedType::Bulk`, which follows the types of the module.
        code.push(IF_WITH_TYPE);
        push_leb128(code, self.parameter_counts.len())?;
        // The index of a block type is a signed LEB128 number, so its last byte must not have the sign bit.
        if let Some(last) = code.last_mut().filter(|last| **last & 0x40 != 0) {
            *last |= 0x80;
            code.push(0);
        }
        code.extend(instruction);
        code.extend([ELSE, CALL]);
        push_leb128(code, function)?;
        code.extend(END);
        Ok(())
    }

    /// Returns the index of the function that does the work of a bulk instruction in chunks, and appends that function if it
    /// does not exist yet. Returns `None` for other instructions.
    fn get_or_append_chunked_function(&mut self, operator: &Operator<'_>, instruction: &[u8]) -> Option<usize> {
        let chunked_body = match operator {
            Operator::MemoryCopy { .. } => copy_in_chunks,
            Operator::MemoryFill { .. } => fill_in_chunks,
            Operator::MemoryInit { .. } => init_in_chunks,
            _ => return None,
        };
        Some(self.get_or_append_function(AppendedType::Bulk, instruction, chunked_body))
    }

    /// Returns the index of the function that replaces `instruction`, and appends that function if it does not exist
    /// yet.
    fn get_or_append_function(
        &mut self,
        ty: AppendedType,
        instruction: &[u8],
        body: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> usize {
        let existing = self
            .appended
            .iter()
            .position(|function| function.instruction == instruction);
        let index = existing.unwrap_or_else(|| {
            self.appended.push(AppendedFunction {
                instruction: instruction.to_vec(),
                ty,
                body: body(instruction),
            });
            self.appended.len() - 1
        });
        self.function_count as usize + index
    }

    /// Returns the rewritten module, whose original bytes are `wasm`.
    fn write(&self, wasm: &[u8]) -> wasmtime::Result<Vec<u8>> {
        let added = self.appended.len();
        let types = [&BULK_TYPE[..], &GROW_TYPE, &START_TYPE];
        let mut wasm = wasm.to_vec();
        if let Some(start) = self.start {
            let mut content = Vec::new();
            push_leb128(&mut content, start as usize)?;
            wasm = with_section(&wasm, START_SECTION, &content)?;
        }
        if added > 0 {
            // A module with only a memory has none of the sections to which something is appended.
            for id in [TYPE_SECTION, FUNCTION_SECTION, CODE_SECTION] {
                wasm = with_section_if_absent(wasm, id)?;
            }
        }
        map_sections(&wasm, |id, content| match id {
            TYPE_SECTION if added > 0 => with_entries(content, types.len(), &types.concat()),
            FUNCTION_SECTION if added > 0 => {
                let mut type_indices = Vec::new();
                for function in &self.appended {
                    push_leb128(&mut type_indices, self.parameter_counts.len() + function.ty as usize)?;
                }
                with_entries(content, added, &type_indices)
            }
            CODE_SECTION => self.code_section(),
            _ => Ok(content.to_vec()),
        })
    }

    fn code_section(&self) -> wasmtime::Result<Vec<u8>> {
        let mut code = Vec::new();
        push_leb128(&mut code, self.bodies.len() + self.appended.len())?;
        let appended = self.appended.iter().map(|function| &function.body);
        for body in self.bodies.iter().chain(appended) {
            push_leb128(&mut code, body.len())?;
            code.extend(body);
        }
        Ok(code)
    }
}

/// Returns the number of parameters of a function type.
fn parameter_count(ty: &SubType) -> u32 {
    match &ty.composite_type.inner {
        CompositeInnerType::Func(ty) => ty.params().len() as u32,
        _ => 0,
    }
}

/// The local variables of a function, without its parameters.
struct Locals<'a> {
    count: u32,
    group_count: u32,
    /// The encoded groups, each a count and a type.
    encoded: &'a [u8],
}

impl<'a> Locals<'a> {
    /// Parses the local variables of `body`. `declarations` are the bytes at its start that declare them.
    fn parse(body: &FunctionBody<'_>, declarations: &'a [u8]) -> wasmtime::Result<Self> {
        let mut count = 0_u32;
        for group in body.get_locals_reader()? {
            count = count.saturating_add(group?.0);
        }
        let mut reader = BinaryReader::new(declarations, 0);
        let group_count = reader.read_var_u32()?;
        let encoded = reader.read_bytes(reader.bytes_remaining())?;
        Ok(Self {
            count,
            group_count,
            encoded,
        })
    }

    /// Returns the encoded local variables, followed by one more of type `i32` if `with_i32` is set.
    fn encode(&self, with_i32: bool) -> wasmtime::Result<Vec<u8>> {
        const GROUP_OF_ONE_I32: [u8; 2] = [1, 0x7f];
        let mut declarations = Vec::new();
        push_leb128(&mut declarations, self.group_count as usize + usize::from(with_i32))?;
        declarations.extend(self.encoded);
        declarations.extend(GROUP_OF_ONE_I32.iter().filter(|_| with_i32));
        Ok(declarations)
    }
}

/// Returns the bytes from one offset to another.
fn bytes(wasm: &[u8], from: usize, to: usize) -> &[u8] {
    wasm.get(from..to).unwrap_or_default()
}

/// Returns the content of a section with `count` more entries at its end.
fn with_entries(section: &[u8], count: usize, entries: &[u8]) -> wasmtime::Result<Vec<u8>> {
    let mut reader = BinaryReader::new(section, 0);
    let mut extended = Vec::new();
    push_leb128(&mut extended, reader.read_var_u32()? as usize + count)?;
    extended.extend(reader.read_bytes(reader.bytes_remaining())?);
    extended.extend(entries);
    Ok(extended)
}

/// Appends `number` as an unsigned LEB128 of 32 bits.
fn push_leb128(code: &mut Vec<u8>, number: usize) -> wasmtime::Result<()> {
    let mut rest = u32::try_from(number)?;
    while rest >= 0x80 {
        code.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    code.push(rest as u8);
    Ok(())
}

/// Upper bound of the fuel that was used since the last check, at one position in a function. The position moves over all
/// instructions of the function, in their order.
#[derive(Debug, Default)]
struct UncheckedFuel {
    used: UsedFuel,
    /// The blocks, loops and `if`s around the position, the innermost last.
    labels: Vec<Label>,
}

/// Upper bounds of the fuel that was used on any path that leads to a position.
#[derive(Clone, Copy, Debug, Default)]
struct UsedFuel {
    since_check: i64,
    /// Since the first call after the last check, or `None` if there was no such call.
    since_call: Option<i64>,
}

impl UsedFuel {
    fn max(self, other: Self) -> Self {
        Self {
            since_check: self.since_check.max(other.since_check),
            since_call: self.since_call.max(other.since_call),
        }
    }
}

/// A block, a loop or an `if` around a position.
#[derive(Debug, Default)]
struct Label {
    /// Whether it is a loop. A branch to a loop leads to its start, where the fuel is checked.
    is_loop: bool,
    /// Maximum over all branches to the end of the block that were passed so far.
    at_end: UsedFuel,
    /// The fuel that was used before an `if`. The `else` branch starts with this use. If there is no `else`, the code after the
    /// `if` may start with it, namely when the condition is false.
    at_else: UsedFuel,
}

impl UncheckedFuel {
    /// Returns whether the fuel has to be checked before an instruction.
    fn needs_check(&self, operator: &Operator<'_>, price: i64) -> bool {
        let is_long_after_call = || self.used.since_call > Some(MAX_UNCHECKED_FUEL_AFTER_CALL);
        // `table.grow` calls the host. If the interval of fuel (see `crossing`) is over, the host starts a new one and changes
        // the fuel counter in the store, but the function goes on with its own copy of the counter. Right after a check no
        // interval is over, so a check is inserted.
        matches!(operator, Operator::TableGrow { .. })
            || self.used.since_check + price > MAX_UNCHECKED_FUEL
            || (self.leaves_function(operator) && is_long_after_call())
    }

    /// Returns whether an instruction can end the function.
    fn leaves_function(&self, operator: &Operator<'_>) -> bool {
        // The body of the function itself is the outermost block, which has no label.
        let is_body = |depth: u32| depth as usize == self.labels.len();
        match operator {
            Operator::Return => true,
            Operator::End => self.labels.is_empty(),
            Operator::Br { relative_depth } | Operator::BrIf { relative_depth } => is_body(*relative_depth),
            Operator::BrTable { targets } => is_body(targets.default()) || targets.targets().flatten().any(is_body),
            _ => false,
        }
    }

    /// Records that the fuel is checked here, or that execution does not continue with the next instruction.
    fn reset(&mut self) {
        self.used = UsedFuel::default();
    }

    /// Moves the position past an instruction.
    fn move_past(&mut self, operator: &Operator<'_>, price: i64) {
        self.used.since_check += price;
        self.used.since_call = self.used.since_call.map(|fuel| fuel + price);
        match operator {
            Operator::Block { .. } | Operator::TryTable { .. } => self.labels.push(Label::default()),
            Operator::Loop { .. } => {
                self.reset();
                self.labels.push(Label {
                    is_loop: true,
                    ..Label::default()
                });
            }
            Operator::If { .. } => self.labels.push(Label {
                at_else: self.used,
                ..Label::default()
            }),
            Operator::Else => self.go_to_else(),
            Operator::End => self.go_to_end(),
            Operator::BrIf { relative_depth } => self.branch(*relative_depth),
            Operator::Br { relative_depth } => {
                self.branch(*relative_depth);
                self.reset();
            }
            Operator::BrTable { targets } => {
                targets.targets().flatten().for_each(|depth| self.branch(depth));
                self.branch(targets.default());
                self.reset();
            }
            Operator::Call { .. } | Operator::CallIndirect { .. } => {
                self.used.since_call = self.used.since_call.or(Some(0));
            }
            Operator::Return | Operator::Unreachable => self.reset(),
            _ => {}
        }
    }

    /// Moves past the `else` of an `if`.
    fn go_to_else(&mut self) {
        if let Some(label) = self.labels.last_mut() {
            label.at_end = label.at_end.max(self.used);
            self.used = std::mem::take(&mut label.at_else);
        }
    }

    /// Moves past the end of a block, a loop or an `if`.
    fn go_to_end(&mut self) {
        if let Some(label) = self.labels.pop() {
            self.used = self.used.max(label.at_end).max(label.at_else);
        }
    }

    /// Notes the fuel that was used before a branch to the block that is `depth` levels above the innermost one.
    fn branch(&mut self, depth: u32) {
        let used = self.used;
        if let Some(label) = self.labels.iter_mut().rev().nth(depth as usize)
            && !label.is_loop
        {
            label.at_end = label.at_end.max(used);
        }
    }
}

/// Type of a function that does the work of a bulk instruction: three parameters of type `i32`, no result.
const BULK_TYPE: [u8; 6] = [0x60, 3, 0x7f, 0x7f, 0x7f, 0];
/// `(func (param i32) (result i32))`
const GROW_TYPE: [u8; 5] = [0x60, 1, 0x7f, 1, 0x7f];
/// `(func)`
const START_TYPE: [u8; 3] = [0x60, 0, 0];

// Instructions.
const CALL: u8 = 0x10;
const IF_WITH_TYPE: u8 = 0x04;
const ELSE: u8 = 0x05;
const LOCAL_GET: u8 = 0x20;
const LOCAL_SET: u8 = 0x21;
const LOCAL_TEE: u8 = 0x22;
const GET_DESTINATION: [u8; 2] = [LOCAL_GET, 0];
const GET_SOURCE: [u8; 2] = [LOCAL_GET, 1];
const GET_LENGTH: [u8; 2] = [LOCAL_GET, 2];
/// `i32.const` of [`CHUNK_BYTES`].
const CHUNK_CONST: [u8; 4] = [0x41, 0x80, 0x80, 0x10];
const ADD: [u8; 1] = [0x6a];
const LESS: [u8; 1] = [0x49];
const LESS_OR_EQUAL: [u8; 1] = [0x4d];
const MEMORY_SIZE: [u8; 2] = [0x3f, 0];
/// `nop`: does nothing, but its price is that of the first write to a page; see [`prices`](crate::prices).
const FIRST_WRITE: [u8; 1] = [0x01];
/// Turns a number of pages of 64 KiB into bytes.
const SHIFT_LEFT_BY_16: [u8; 3] = [0x41, 16, 0x74];
/// `i32.const 4096`, the size of a page of the kernel.
const KERNEL_PAGE_CONST: [u8; 3] = [0x41, 0x80, 0x20];
const IF: [u8; 2] = [0x04, 0x40];
const LOOP: [u8; 2] = [0x03, 0x40];
const END: [u8; 1] = [0x0b];
const RETURN: [u8; 1] = [0x0f];
/// `br 0`, which continues the loop around it.
const CONTINUE: [u8; 2] = [0x0c, 0];
/// Subtracts one chunk from the length.
const SHORTEN_LENGTH: [u8; 9] = [0x20, 2, 0x41, 0x80, 0x80, 0x10, 0x6b, 0x21, 2];
const NO_LOCALS: [u8; 1] = [0];

// The next three functions return the bodies of functions that have the parameters of a bulk instruction and do the same in
// chunks. An address out of bounds traps only when its chunk is reached. That makes no difference, since the
// instance ends with the trap and nobody sees what the chunks before it wrote.

fn fill_in_chunks(instruction: &[u8]) -> Vec<u8> {
    [&NO_LOCALS[..], &ascending_loop(instruction, false), &END].concat()
}

fn init_in_chunks(instruction: &[u8]) -> Vec<u8> {
    [&NO_LOCALS[..], &ascending_loop(instruction, true), &END].concat()
}

/// Returns the body of a function that copies in the direction in which no source byte is overwritten before it is read.
fn copy_in_chunks(instruction: &[u8]) -> Vec<u8> {
    let destination_is_not_above = [&GET_DESTINATION[..], &GET_SOURCE, &LESS_OR_EQUAL].concat();
    let (ascending, descending) = (ascending_loop(instruction, true), descending_loop(instruction));
    [
        &NO_LOCALS[..],
        &destination_is_not_above,
        &IF,
        &ascending,
        &END,
        &descending,
        &END,
    ]
    .concat()
}

/// Returns code that, if at most one chunk is left, carries out the instruction for it and ends the function.
fn last_chunk(instruction: &[u8]) -> Vec<u8> {
    [
        &GET_LENGTH[..],
        &CHUNK_CONST,
        &LESS_OR_EQUAL,
        &IF,
        &GET_DESTINATION,
        &GET_SOURCE,
        &GET_LENGTH,
        instruction,
        &RETURN,
        &END,
    ]
    .concat()
}

/// Returns a loop over the chunks, the lowest address first. `advances_source` says whether parameter 1 is an address or offset,
/// which has to grow from chunk to chunk. In `memory.fill`, parameter 1 is the byte to write, which stays the same.
fn ascending_loop(instruction: &[u8], advances_source: bool) -> Vec<u8> {
    let chunk = [&GET_DESTINATION[..], &GET_SOURCE, &CHUNK_CONST, instruction].concat();
    let advance = |local: u8| [&[LOCAL_GET, local][..], &CHUNK_CONST, &ADD, &[LOCAL_SET, local]].concat();
    let (advance_destination, advance_source) = (advance(0), if advances_source { advance(1) } else { Vec::new() });
    let last = last_chunk(instruction);
    [
        &LOOP[..],
        &last,
        &chunk,
        &advance_destination,
        &advance_source,
        &SHORTEN_LENGTH,
        &CONTINUE,
        &END,
    ]
    .concat()
}

/// Returns a loop over the chunks, the highest address first.
fn descending_loop(instruction: &[u8]) -> Vec<u8> {
    let chunk = [
        &GET_DESTINATION[..],
        &GET_LENGTH,
        &ADD,
        &GET_SOURCE,
        &GET_LENGTH,
        &ADD,
        &CHUNK_CONST,
        instruction,
    ]
    .concat();
    let last = last_chunk(instruction);
    [&LOOP[..], &last, &SHORTEN_LENGTH, &chunk, &CONTINUE, &END].concat()
}

/// Returns the body of a function that lets the memory grow and then touches each new page of 4 KiB beyond [`UNTOUCHED_PAGES`],
/// by writing a zero to it.
///
/// Local 0, the parameter, is the number of pages to grow by, and later the size of the memory in bytes. Local 1 is the result of
/// `memory.grow`, local 2 the address of the next write.
fn grow_and_touch(instruction: &[u8]) -> Vec<u8> {
    const TWO_I32_LOCALS: [u8; 3] = [1, 2, 0x7f];
    const GET_SIZE: [u8; 2] = [LOCAL_GET, 0];
    const GET_RESULT: [u8; 2] = [LOCAL_GET, 1];
    const GET_ADDRESS: [u8; 2] = [LOCAL_GET, 2];
    const MINUS_ONE: [u8; 2] = [0x41, 0x7f];
    const EQUAL: [u8; 1] = [0x46];
    const GREATER: [u8; 1] = [0x4b];
    const GREATER_OR_EQUAL: [u8; 1] = [0x4f];
    const SELECT: [u8; 1] = [0x1b];
    const STORE_ZERO: [u8; 5] = [0x41, 0, 0x3a, 0, 0];
    let untouched = [0x41, UNTOUCHED_PAGES];
    let return_result = [&IF[..], &GET_RESULT, &RETURN, &END].concat();
    let grow = [&[LOCAL_GET, 0][..], instruction, &[LOCAL_TEE, 1]].concat();
    let return_if_refused = [&MINUS_ONE[..], &EQUAL, &return_result].concat();
    let set_size = [&MEMORY_SIZE[..], &SHIFT_LEFT_BY_16, &[LOCAL_SET, 0]].concat();
    // The old number of pages or `UNTOUCHED_PAGES`, whichever is larger.
    let first_page = [&GET_RESULT[..], &untouched, &GET_RESULT, &untouched, &GREATER, &SELECT].concat();
    let set_address = [&first_page[..], &SHIFT_LEFT_BY_16, &[LOCAL_SET, 2]].concat();
    let return_at_end = [&GET_ADDRESS[..], &GET_SIZE, &GREATER_OR_EQUAL, &return_result].concat();
    let touch = [&FIRST_WRITE[..], &GET_ADDRESS, &STORE_ZERO].concat();
    let advance = [&GET_ADDRESS[..], &KERNEL_PAGE_CONST, &ADD, &[LOCAL_SET, 2]].concat();
    [
        &TWO_I32_LOCALS[..],
        &grow,
        &return_if_refused,
        &set_size,
        &set_address,
        &LOOP,
        &return_at_end,
        &touch,
        &advance,
        &CONTINUE,
        &END,
        &GET_RESULT,
        &END,
    ]
    .concat()
}

/// Returns the body of a start function that touches each page of 4 KiB beyond [`UNTOUCHED_INITIAL_PAGES`], by writing a byte
/// of the page back as it is, and then calls the start function of the module, if there is one. Local 0 is the address.
fn touch_and_start(own_start: Option<u32>) -> wasmtime::Result<Vec<u8>> {
    const ONE_I32_LOCAL: [u8; 3] = [1, 1, 0x7f];
    const GET_ADDRESS: [u8; 2] = [LOCAL_GET, 0];
    const SET_ADDRESS: [u8; 2] = [LOCAL_SET, 0];
    /// `i32.const` of [`UNTOUCHED_INITIAL_PAGES`] in bytes, 1 << 22.
    const FIRST_ADDRESS: [u8; 5] = [0x41, 0x80, 0x80, 0x80, 0x02];
    /// `br_if 0`, which continues the loop around it if the address is below the end of the memory.
    const CONTINUE_IF: [u8; 2] = [0x0d, 0];
    /// Reads a byte and writes it back.
    const REWRITE: [u8; 6] = [0x2d, 0, 0, 0x3a, 0, 0];
    let touch = [&FIRST_WRITE[..], &GET_ADDRESS, &GET_ADDRESS, &REWRITE].concat();
    let advance = [&GET_ADDRESS[..], &KERNEL_PAGE_CONST, &ADD, &[LOCAL_TEE, 0]].concat();
    let continue_before_end = [&MEMORY_SIZE[..], &SHIFT_LEFT_BY_16, &LESS, &CONTINUE_IF].concat();
    let mut body = [&ONE_I32_LOCAL[..], &FIRST_ADDRESS, &SET_ADDRESS].concat();
    body.extend([&LOOP[..], &touch, &advance, &continue_before_end, &END].concat());
    if let Some(own_start) = own_start {
        body.push(CALL);
        push_leb128(&mut body, own_start as usize)?;
    }
    body.extend(END);
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instrument_module(text: &str) -> Vec<u8> {
        let module = wat::parse_str(text).unwrap();
        Module::read(&module, &prices()).unwrap().write(&module).unwrap()
    }

    fn has_start(module: &[u8]) -> bool {
        let mut payloads = Parser::new(0).parse_all(module);
        payloads.any(|payload| matches!(payload, Ok(Payload::StartSection { .. })))
    }

    #[test]
    fn a_large_memory_of_a_module_without_functions_is_touched() {
        let engine = wasmtime::Engine::default();
        for text in [
            r#"(module (memory (export "m") 100))"#,
            r#"(module (memory 100) (data (i32.const 0) "text"))"#,
            r#"(module (import "" "f" (func $f)) (memory 100) (table 1 funcref) (elem (i32.const 0) func $f))"#,
        ] {
            let module = instrument_module(text);
            wasmtime::Module::validate(&engine, &module).unwrap();
            assert!(has_start(&module), "{text}");
        }
    }

    #[test]
    fn a_small_memory_of_a_module_without_functions_is_not_touched() {
        let module = wat::parse_str(r#"(module (memory (export "m") 64))"#).unwrap();
        assert_eq!(instrument_module(r#"(module (memory (export "m") 64))"#), module);
    }
}
