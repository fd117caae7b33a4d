//! Core modules with their long work cut into pieces, so that a guest is looked at often.
//!
//! The engine looks at a guest where a function begins, where a loop begins again, and before memory is copied or filled. So
//! a loop that does nothing is put into code that would run on for long without one, and what copies or fills memory calls a
//! function that does it piece by piece where it is much. All other bytes stay as they are.

use wasmparser::{BinaryReader, CompositeInnerType, FunctionBody, Operator, Parser, Payload, SubType, TypeRef};
use wasmtime::OperatorCost;

use crate::prices::prices;

/// Bytes that are copied or filled at once.
const PIECE: u32 = 256 << 10;
/// Fuel that a function burns at most before it is looked at.
const STRETCH: i64 = 10_000;
/// The same after a call. When a deep recursion returns, no function begins.
const AFTER_A_CALL: i64 = 100;
/// Components in components. Each level is read once more.
const MAX_DEPTH: u32 = 32;

// Sections of a component.
const MODULE_SECTION: u8 = 1;
const COMPONENT_SECTION: u8 = 4;
// Sections of a module.
const TYPE_SECTION: u8 = 1;
const FUNCTION_SECTION: u8 = 3;
const CODE_SECTION: u8 = 10;

/// `(loop)`
const LOOK: [u8; 3] = [0x03, 0x40, 0x0b];

/// The component with each of its core modules in pieces.
///
/// # Errors
/// When it cannot be read, or a module has several memories: the engine allows that for the adapters that it makes itself.
pub(crate) fn in_pieces(component: &[u8]) -> wasmtime::Result<Vec<u8>> {
    component_in_pieces(component, &prices(), 0)
}

fn component_in_pieces(component: &[u8], prices: &OperatorCost, depth: u32) -> wasmtime::Result<Vec<u8>> {
    if depth > MAX_DEPTH {
        return refuse(format!("it has components in components, more than {MAX_DEPTH} deep"));
    }
    map_sections(component, |id, content| match id {
        MODULE_SECTION => Module::read(content, prices)?.write(content),
        COMPONENT_SECTION => component_in_pieces(content, prices, depth + 1),
        _ => Ok(content.to_vec()),
    })
}

fn refuse<T>(reason: String) -> wasmtime::Result<T> {
    Err(wasmtime::Error::msg(reason))
}

/// Replaces the content of each section of a module or a component.
fn map_sections(wasm: &[u8], mut map: impl FnMut(u8, &[u8]) -> wasmtime::Result<Vec<u8>>) -> wasmtime::Result<Vec<u8>> {
    const HEADER: usize = 8;
    let mut reader = BinaryReader::new(wasm, 0);
    let mut mapped = reader.read_bytes(HEADER)?.to_vec();
    while !reader.eof() {
        let id = reader.read_u8()?;
        let size = reader.read_var_u32()?;
        let content = map(id, reader.read_bytes(size as usize)?)?;
        mapped.push(id);
        push_number(&mut mapped, content.len())?;
        mapped.extend(content);
    }
    Ok(mapped)
}

/// What is needed to write a module again.
#[derive(Default)]
struct Module {
    /// How many parameters each of its types has.
    types: Vec<u32>,
    /// The types of its own functions.
    types_of_functions: Vec<u32>,
    functions: u32,
    memories: u32,
    /// The functions of the module itself, with their work cut into pieces.
    bodies: Vec<Vec<u8>>,
    /// Functions behind those of the module, each in place of an instruction.
    bulk: Vec<Bulk>,
}

/// An instruction that works on much memory, and the body of the function that does the same piece by piece.
struct Bulk {
    instruction: Vec<u8>,
    body: Vec<u8>,
}

impl Module {
    fn read(wasm: &[u8], prices: &OperatorCost) -> wasmtime::Result<Self> {
        let mut module = Self::default();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::TypeSection(section) => {
                    for group in section {
                        module.types.extend(group?.types().map(parameters));
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        module.count_import(import?.ty);
                    }
                }
                Payload::FunctionSection(section) => {
                    module.functions = module.functions.saturating_add(section.count());
                    module.types_of_functions = section.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::MemorySection(section) => module.memories = module.memories.saturating_add(section.count()),
                Payload::CodeSectionEntry(body) => module.cut(wasm, &body, prices)?,
                _ => {}
            }
        }
        if module.memories > 1 {
            return refuse("a module of it has multiple memories; only one is allowed".to_owned());
        }
        Ok(module)
    }

    fn count_import(&mut self, import: TypeRef) {
        match import {
            TypeRef::Func(_) | TypeRef::FuncExact(_) => self.functions = self.functions.saturating_add(1),
            TypeRef::Memory(_) => self.memories = self.memories.saturating_add(1),
            _ => {}
        }
    }

    /// Cuts the work of one function into pieces.
    fn cut(&mut self, wasm: &[u8], body: &FunctionBody<'_>, prices: &OperatorCost) -> wasmtime::Result<()> {
        let mut operators = body.get_operators_reader()?;
        let (mut cut, mut taken) = (Vec::new(), operators.original_position());
        let locals = Locals::of(body, bytes(wasm, body.range().start, taken))?;
        let mut length = None;
        let mut stretch = Stretch::default();
        let mut constant = None;
        while !operators.eof() {
            let (operator, at) = operators.read_with_offset()?;
            let next = operators.original_position();
            let price = prices.cost(&operator);
            if stretch.is_over_with(price) {
                cut.extend(bytes(wasm, taken, at));
                cut.extend(LOOK);
                taken = at;
                stretch.look();
            }
            if constant.is_none_or(|length| length > PIECE)
                && let Some(function) = self.in_place_of(&operator, bytes(wasm, at, next))
            {
                cut.extend(bytes(wasm, taken, at));
                let length = *length.get_or_insert(self.parameters().saturating_add(locals.count));
                self.choose(&mut cut, length, bytes(wasm, at, next), function)?;
                taken = next;
            }
            stretch.pass(&operator, price);
            constant = match operator {
                Operator::I32Const { value } => Some(value.cast_unsigned()),
                _ => None,
            };
        }
        cut.extend(bytes(wasm, taken, body.range().end));
        self.bodies.push([locals.with(length.is_some())?, cut].concat());
        Ok(())
    }

    /// How many parameters the function has that is cut next.
    fn parameters(&self) -> u32 {
        let ty = self.types_of_functions.get(self.bodies.len());
        let parameters = ty.and_then(|ty| self.types.get(*ty as usize));
        // What has no type is refused by the compiler.
        parameters.copied().unwrap_or_default()
    }

    /// Does an instruction at once where its length is one piece or less, as it mostly is, and calls the function that does the
    /// same piece by piece where it is more. The length is kept in a local variable.
    fn choose(&self, code: &mut Vec<u8>, length: u32, instruction: &[u8], function: usize) -> wasmtime::Result<()> {
        for access in [LOCAL_TEE, LOCAL_GET] {
            code.push(access);
            push_number(code, length as usize)?;
        }
        code.extend([&ONE_PIECE[..], &LESS_OR_EQUAL].concat());
        code.push(IF_OF_TYPE);
        push_number(code, self.types.len())?;
        // Types of blocks have a sign.
        if let Some(last) = code.last_mut().filter(|last| **last & 0x40 != 0) {
            *last |= 0x80;
            code.push(0);
        }
        code.extend(instruction);
        code.extend([ELSE, CALL]);
        push_number(code, function)?;
        code.extend(END);
        Ok(())
    }

    /// The function that does the work of an instruction, if it may be too much to be done at once.
    fn in_place_of(&mut self, operator: &Operator<'_>, instruction: &[u8]) -> Option<usize> {
        let piece_by_piece = match operator {
            Operator::MemoryCopy { .. } => copy_in_pieces,
            Operator::MemoryFill { .. } => fill_in_pieces,
            Operator::MemoryInit { .. } => init_in_pieces,
            _ => return None,
        };
        let known = self.bulk.iter().position(|bulk| bulk.instruction == instruction);
        let at = known.unwrap_or_else(|| {
            self.bulk.push(Bulk {
                instruction: instruction.to_vec(),
                body: piece_by_piece(instruction),
            });
            self.bulk.len() - 1
        });
        Some(self.functions as usize + at)
    }

    fn write(&self, wasm: &[u8]) -> wasmtime::Result<Vec<u8>> {
        let more = self.bulk.len();
        map_sections(wasm, |id, content| match id {
            TYPE_SECTION if more > 0 => with_more(content, 1, &[0x60, 3, 0x7f, 0x7f, 0x7f, 0]),
            FUNCTION_SECTION if more > 0 => {
                let mut type_of_each = Vec::new();
                (0..more).try_for_each(|_| push_number(&mut type_of_each, self.types.len()))?;
                with_more(content, more, &type_of_each)
            }
            CODE_SECTION => self.code(),
            _ => Ok(content.to_vec()),
        })
    }

    fn code(&self) -> wasmtime::Result<Vec<u8>> {
        let mut code = Vec::new();
        push_number(&mut code, self.bodies.len() + self.bulk.len())?;
        let bulk = self.bulk.iter().map(|bulk| &bulk.body);
        for body in self.bodies.iter().chain(bulk) {
            push_number(&mut code, body.len())?;
            code.extend(body);
        }
        Ok(code)
    }
}

fn parameters(ty: &SubType) -> u32 {
    match &ty.composite_type.inner {
        CompositeInnerType::Func(ty) => ty.params().len() as u32,
        _ => 0,
    }
}

/// The local variables of a function beside its parameters.
struct Locals<'a> {
    count: u32,
    groups: u32,
    /// The groups, each a number and a type.
    written: &'a [u8],
}

impl<'a> Locals<'a> {
    fn of(body: &FunctionBody<'_>, written: &'a [u8]) -> wasmtime::Result<Self> {
        let mut count = 0_u32;
        for group in body.get_locals_reader()? {
            count = count.saturating_add(group?.0);
        }
        let mut reader = BinaryReader::new(written, 0);
        let groups = reader.read_var_u32()?;
        let written = reader.read_bytes(reader.bytes_remaining())?;
        Ok(Self { count, groups, written })
    }

    /// As they are written, with a number behind them or without.
    fn with(&self, number: bool) -> wasmtime::Result<Vec<u8>> {
        const ONE_I32: [u8; 2] = [1, 0x7f];
        let mut written = Vec::new();
        push_number(&mut written, self.groups as usize + usize::from(number))?;
        written.extend(self.written);
        written.extend(ONE_I32.iter().filter(|_| number));
        Ok(written)
    }
}

fn bytes(wasm: &[u8], from: usize, to: usize) -> &[u8] {
    wasm.get(from..to).unwrap_or_default()
}

/// A section with some more entries.
fn with_more(content: &[u8], count: usize, entries: &[u8]) -> wasmtime::Result<Vec<u8>> {
    let mut reader = BinaryReader::new(content, 0);
    let mut written = Vec::new();
    push_number(&mut written, reader.read_var_u32()? as usize + count)?;
    written.extend(reader.read_bytes(reader.bytes_remaining())?);
    written.extend(entries);
    Ok(written)
}

/// Unsigned LEB128.
fn push_number(code: &mut Vec<u8>, number: usize) -> wasmtime::Result<()> {
    let mut rest = u32::try_from(number)?;
    while rest >= 0x80 {
        code.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    code.push(rest as u8);
    Ok(())
}

/// How much may have been done since the guest was last looked at, at some place of a function.
#[derive(Debug, Default)]
struct Stretch {
    fuel: i64,
    labels: Vec<Label>,
}

/// A block, a loop or an `if` around that place.
#[derive(Debug, Default)]
struct Label {
    /// Whoever goes there is looked at.
    is_loop: bool,
    /// The longest stretch of those that go to its end.
    arriving: i64,
    /// The stretch at the beginning of an `else` that is yet to come, or is not there.
    otherwise: i64,
}

impl Stretch {
    fn is_over_with(&self, price: i64) -> bool {
        self.fuel + price > STRETCH
    }

    /// The guest is looked at here.
    fn look(&mut self) {
        self.fuel = 0;
    }

    fn pass(&mut self, operator: &Operator<'_>, price: i64) {
        self.fuel += price;
        match operator {
            Operator::Block { .. } | Operator::TryTable { .. } => self.labels.push(Label::default()),
            Operator::Loop { .. } => {
                self.look();
                self.labels.push(Label {
                    is_loop: true,
                    ..Label::default()
                });
            }
            Operator::If { .. } => self.labels.push(Label {
                otherwise: self.fuel,
                ..Label::default()
            }),
            Operator::Else => self.go_to_else(),
            Operator::End => self.go_to_end(),
            Operator::BrIf { relative_depth } => self.branch(*relative_depth),
            Operator::Br { relative_depth } => {
                self.branch(*relative_depth);
                self.look();
            }
            Operator::BrTable { targets } => {
                targets.targets().flatten().for_each(|depth| self.branch(depth));
                self.branch(targets.default());
                self.look();
            }
            Operator::Call { .. } | Operator::CallIndirect { .. } => {
                self.fuel = self.fuel.max(STRETCH - AFTER_A_CALL);
            }
            // Nothing goes on from here.
            Operator::Return | Operator::Unreachable => self.look(),
            _ => {}
        }
    }

    fn go_to_else(&mut self) {
        if let Some(label) = self.labels.last_mut() {
            label.arriving = label.arriving.max(self.fuel);
            self.fuel = std::mem::take(&mut label.otherwise);
        }
    }

    fn go_to_end(&mut self) {
        if let Some(label) = self.labels.pop() {
            self.fuel = self.fuel.max(label.arriving).max(label.otherwise);
        }
    }

    fn branch(&mut self, depth: u32) {
        let fuel = self.fuel;
        if let Some(label) = self.labels.iter_mut().rev().nth(depth as usize)
            && !label.is_loop
        {
            label.arriving = label.arriving.max(fuel);
        }
    }
}

const CALL: u8 = 0x10;
const IF_OF_TYPE: u8 = 0x04;
const ELSE: u8 = 0x05;
const LOCAL_GET: u8 = 0x20;
const LOCAL_TEE: u8 = 0x22;
const DESTINATION: [u8; 2] = [0x20, 0];
const SOURCE: [u8; 2] = [0x20, 1];
const LENGTH: [u8; 2] = [0x20, 2];
/// `i32.const` of [`PIECE`].
const ONE_PIECE: [u8; 4] = [0x41, 0x80, 0x80, 0x10];
const ADD: [u8; 1] = [0x6a];
const LESS_OR_EQUAL: [u8; 1] = [0x4d];
const IF: [u8; 2] = [0x04, 0x40];
const LOOP: [u8; 2] = [0x03, 0x40];
const END: [u8; 1] = [0x0b];
const RETURN: [u8; 1] = [0x0f];

/// `br 0`
const AGAIN: [u8; 2] = [0x0c, 0];
/// The length becomes shorter by one piece.
const LESS_TO_DO: [u8; 9] = [0x20, 2, 0x41, 0x80, 0x80, 0x10, 0x6b, 0x21, 2];
const NO_LOCALS: [u8; 1] = [0];

// The bodies of functions that take what an instruction takes and do the same, piece by piece. What does not lie in the memory
// is found on the way; the guest has ended then, and nobody sees what was written before.

fn fill_in_pieces(instruction: &[u8]) -> Vec<u8> {
    [&NO_LOCALS[..], &upwards(instruction, false), &END].concat()
}

fn init_in_pieces(instruction: &[u8]) -> Vec<u8> {
    [&NO_LOCALS[..], &upwards(instruction, true), &END].concat()
}

/// What is copied over itself must not be written before it was read.
fn copy_in_pieces(instruction: &[u8]) -> Vec<u8> {
    let is_below = [&DESTINATION[..], &SOURCE, &LESS_OR_EQUAL].concat();
    let (up, down) = (upwards(instruction, true), downwards(instruction));
    [&NO_LOCALS[..], &is_below, &IF, &up, &END, &down, &END].concat()
}

/// Does the rest at once, and ends the function, when it is one piece or less.
fn the_rest(instruction: &[u8]) -> Vec<u8> {
    [
        &LENGTH[..],
        &ONE_PIECE,
        &LESS_OR_EQUAL,
        &IF,
        &DESTINATION,
        &SOURCE,
        &LENGTH,
        instruction,
        &RETURN,
        &END,
    ]
    .concat()
}

/// Piece after piece, from the first to the last.
fn upwards(instruction: &[u8], source_moves: bool) -> Vec<u8> {
    let one = [&DESTINATION[..], &SOURCE, &ONE_PIECE, instruction].concat();
    let move_on = |local: u8| [&[0x20, local][..], &ONE_PIECE, &ADD, &[0x21, local]].concat();
    let source = if source_moves { move_on(1) } else { Vec::new() };
    let rest = the_rest(instruction);
    [&LOOP[..], &rest, &one, &move_on(0), &source, &LESS_TO_DO, &AGAIN, &END].concat()
}

/// Piece after piece, from the last to the first.
fn downwards(instruction: &[u8]) -> Vec<u8> {
    let one = [
        &DESTINATION[..],
        &LENGTH,
        &ADD,
        &SOURCE,
        &LENGTH,
        &ADD,
        &ONE_PIECE,
        instruction,
    ]
    .concat();
    let rest = the_rest(instruction);
    [&LOOP[..], &rest, &LESS_TO_DO, &one, &AGAIN, &END].concat()
}
