//! Components made of a core module in text: for what no compiler makes of Rust.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The contract that the host speaks.
const CONTRACT: &str = include_str!("../../wit/tool.wit");
/// Where the values that the two functions return lie in memory.
const SCHEMA_AT: usize = 1024;
const OUTCOME_AT: usize = 1200;
const TEXTS_AT: usize = 1400;

/// The parts of a core module that a test can replace; the rest makes a tool that answers `null`.
#[derive(Clone, Debug)]
pub(crate) struct Handmade<'a> {
    /// Version of the contract it is built against.
    pub(crate) version: &'a str,
    /// Imports, before everything else.
    pub(crate) imports: &'a str,
    /// Its memory.
    pub(crate) memory: &'a str,
    /// Further items.
    pub(crate) items: &'a str,
    /// Instructions before the allocation that the host asks for.
    pub(crate) realloc: &'a str,
    /// Instructions before `schema` returns.
    pub(crate) schema: &'a str,
    /// Instructions before `execute` returns.
    pub(crate) execute: &'a str,
    /// Instructions after the host has read the result of `execute`.
    pub(crate) post_return: &'a str,
    /// Bytes of the outcome; the payload starts at the second word.
    pub(crate) outcome: [u32; 14],
    /// The output, at [`Handmade::OUTPUT_AT`].
    pub(crate) output: &'a [u8],
}

impl Default for Handmade<'_> {
    fn default() -> Self {
        Self {
            version: "0.1.0",
            imports: "",
            memory: r#"(memory (export "memory") 32)"#,
            items: "",
            realloc: "",
            schema: "",
            execute: "",
            post_return: "",
            outcome: Self::success(4),
            output: b"null",
        }
    }
}

impl Handmade<'_> {
    /// Address of the output.
    pub(crate) const OUTPUT_AT: u32 = 2000;

    /// A success whose output has this many bytes.
    pub(crate) const fn success(bytes: u32) -> [u32; 14] {
        [0, Self::OUTPUT_AT, bytes, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    }

    /// The component.
    pub(crate) fn build(&self) -> Vec<u8> {
        let mut resolve = Resolve::default();
        let contract = CONTRACT.replace("0.1.0", self.version);
        let package = resolve.push_str("tool.wit", &contract).expect("the contract is valid");
        let world = resolve
            .select_world(&[package], Some("tool-plugin"))
            .expect("it has the world");
        let mut module = wat::parse_str(self.text()).expect("the core module is valid text");
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
            .expect("the module takes metadata");
        ComponentEncoder::default()
            .module(&module)
            .and_then(|encoder| encoder.encode())
            .expect("the module becomes a component")
    }

    /// [`Handmade::build`] with a further component, in text, that is instantiated after the tool.
    pub(crate) fn build_with(&self, member: &str) -> Vec<u8> {
        const COMPONENT_SECTION: u8 = 4;
        const INSTANCE_SECTION: u8 = 5;
        let mut component = self.build();
        let member = wat::parse_str(member).expect("the member is valid text");
        let index = sections(&component).filter(|id| *id == COMPONENT_SECTION).count();
        component.push(COMPONENT_SECTION);
        component.extend(leb128(member.len()));
        component.extend(member);
        // One instance: of the component with this index, without arguments.
        let instance = [vec![1, 0], leb128(index), vec![0]].concat();
        component.extend([INSTANCE_SECTION, u8::try_from(instance.len()).expect("a short section")]);
        component.extend(instance);
        component
    }

    fn text(&self) -> String {
        let Self {
            version,
            imports,
            memory,
            items,
            realloc,
            schema,
            execute,
            post_return,
            ..
        } = self;
        let (record, outcome, output) = (
            escaped(&schema_record()),
            escaped(&words(&self.outcome)),
            escaped(self.output),
        );
        format!(
            r#"(module
                {imports}
                {memory}
                (global $free (mut i32) (i32.const 16384))
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                    {realloc}
                    (global.get $free)
                    (global.set $free (i32.and (i32.add (global.get $free) (i32.add (local.get 3) (i32.const 15)))
                                               (i32.const -16))))
                (func (export "art:tool/tool@{version}#schema") (result i32) {schema} (i32.const {SCHEMA_AT}))
                (func (export "art:tool/tool@{version}#execute") (param i32) (result i32)
                    {execute} (i32.const {OUTCOME_AT}))
                (func (export "cabi_post_art:tool/tool@{version}#execute") (param i32) {post_return})
                (data (i32.const {SCHEMA_AT}) "{record}")
                (data (i32.const {OUTCOME_AT}) "{outcome}")
                (data (i32.const {TEXTS_AT}) "handmadeBy hand.{{\"type\":\"object\"}}")
                (data (i32.const {at}) "{output}")
                {items})"#,
            at = Self::OUTPUT_AT,
        )
    }
}

/// Two components with a memory each, of which one hands a text of this many bytes to the other again and again.
///
/// The one that gives has so many more pages of memory, and gives nothing where it cannot have them.
pub(crate) fn members(bytes: u32, more: u32, times: u32) -> String {
    let pages = bytes / 65_536 + 1;
    let all = pages + more;
    format!(
        r#"(component
            (component $taker
                (core module $m
                    (memory (export "memory") 1)
                    (func (export "take") (param i32 i32))
                    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
                        (if (i32.eq (memory.size) (i32.const 1)) (then (drop (memory.grow (i32.const {pages})))))
                        (i32.const 16)))
                (core instance $i (instantiate $m))
                (func (export "take") (param "text" string)
                    (canon lift (core func $i "take") (memory (core memory $i "memory")) (realloc (core func $i "realloc")))))
            (component $giver
                (import "take" (func $take (param "text" string)))
                (core module $memory
                    (memory (export "memory") 0)
                    (func (export "grow") (result i32) (memory.grow (i32.const {all}))))
                (core instance $memory (instantiate $memory))
                (core func $lowered (canon lower (func $take) (memory (core memory $memory "memory"))))
                (core module $m
                    (import "taker" "take" (func $take (param i32 i32)))
                    (import "memory" "grow" (func $grow (result i32)))
                    (func $start (local $left i32)
                        (if (i32.eq (call $grow) (i32.const -1)) (then return))
                        (local.set $left (i32.const {times}))
                        (loop $l
                            (call $take (i32.const 0) (i32.const {bytes}))
                            (local.set $left (i32.sub (local.get $left) (i32.const 1)))
                            (br_if $l (local.get $left))))
                    (start $start))
                (core instance $taker (export "take" (func $lowered)))
                (core instance (instantiate $m (with "taker" (instance $taker)) (with "memory" (instance $memory)))))
            (instance $taker (instantiate $taker))
            (instance (instantiate $giver (with "take" (func $taker "take")))))"#
    )
}

/// The kinds of a component's sections, in order.
fn sections(component: &[u8]) -> impl Iterator<Item = u8> {
    let mut rest = component.get(8..).expect("a header");
    std::iter::from_fn(move || {
        let (id, mut after) = rest.split_first()?;
        let mut size = 0;
        for shift in (0..).step_by(7) {
            let (byte, further) = after.split_first()?;
            after = further;
            size |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        rest = after.get(size..)?;
        Some(*id)
    })
}

fn leb128(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// The `tool-schema` record in memory: name, description, input schema, and nothing else.
fn schema_record() -> Vec<u8> {
    let text = u32::try_from(TEXTS_AT).expect("a small number");
    let mut record = [0; 18];
    record[..6].copy_from_slice(&[text, 8, text + 8, 8, text + 16, 17]);
    words(&record)
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn escaped(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\{byte:02x}")).collect()
}
