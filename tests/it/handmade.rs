//! Components built from a core module in text format, for code that a Rust compiler does not produce.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The contract that the host implements.
const CONTRACT: &str = include_str!("../../wit/tool.wit");
/// Address of the record that `schema` returns.
const SCHEMA_AT: usize = 1024;
/// Address of the value that `execute` returns.
const OUTCOME_AT: usize = 1200;
/// Address of the texts of the schema, if they fit before the output at [`Handmade::OUTPUT_AT`].
const TEXTS_AT: usize = 1400;
/// Address of the texts of the schema otherwise.
const LONG_TEXTS_AT: usize = 1 << 20;

/// The parts of a core module that a test can replace. The default is a tool with the output `null`.
#[derive(Clone, Debug)]
pub(crate) struct Handmade<'a> {
    /// Version of the contract that the component is built against.
    pub(crate) version: &'a str,
    /// Imports, which come before all other items.
    pub(crate) imports: &'a str,
    /// The definition of the memory.
    pub(crate) memory: &'a str,
    /// Further items, such as functions and tables.
    pub(crate) items: &'a str,
    /// The input schema.
    pub(crate) input_schema: &'a str,
    /// The output schema, if there is one.
    pub(crate) output_schema: Option<&'a str>,
    /// The inputs of the examples.
    pub(crate) examples: &'a [String],
    /// Instructions at the start of `realloc`, which the host calls to allocate memory.
    pub(crate) realloc: &'a str,
    /// Instructions in `schema` before it returns.
    pub(crate) schema: &'a str,
    /// Instructions in `execute` before it returns.
    pub(crate) execute: &'a str,
    /// Instructions in `post-return`, which the host calls after it has read the result of `execute`.
    pub(crate) post_return: &'a str,
    /// The outcome in memory, as words of 32 bits: its kind, where 0 is a success, and then the fields of this kind. Each kind
    /// fits into 14 words.
    pub(crate) outcome: [u32; 14],
    /// The output, which is at the address [`Handmade::OUTPUT_AT`].
    pub(crate) output: &'a [u8],
    /// Whether the texts of the schema and of the outcome are UTF-16 instead of UTF-8.
    pub(crate) is_utf16: bool,
}

impl Default for Handmade<'_> {
    fn default() -> Self {
        Self {
            version: "0.1.0",
            imports: "",
            memory: r#"(memory (export "memory") 32)"#,
            items: "",
            input_schema: r#"{"type":"object"}"#,
            output_schema: None,
            examples: &[],
            realloc: "",
            schema: "",
            execute: "",
            post_return: "",
            outcome: Self::success(4),
            output: b"null",
            is_utf16: false,
        }
    }
}

impl Handmade<'_> {
    /// Address of the output.
    pub(crate) const OUTPUT_AT: u32 = 2000;

    /// Returns the outcome of a success whose output has `bytes` bytes.
    pub(crate) const fn success(bytes: u32) -> [u32; 14] {
        [0, Self::OUTPUT_AT, bytes, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    }

    /// Returns the component.
    pub(crate) fn build(&self) -> Vec<u8> {
        let mut resolve = Resolve::default();
        let contract = CONTRACT.replace("0.1.0", self.version);
        let package = resolve.push_str("tool.wit", &contract).expect("the contract is valid");
        let world = resolve
            .select_world(&[package], Some("tool-plugin"))
            .expect("it has the world");
        let mut module = wat::parse_str(self.module_text()).expect("the core module is valid text");
        let encoding = if self.is_utf16 {
            StringEncoding::UTF16
        } else {
            StringEncoding::UTF8
        };
        embed_component_metadata(&mut module, &resolve, world, encoding).expect("the metadata can be embedded");
        ComponentEncoder::default()
            .module(&module)
            .and_then(|encoder| encoder.encode())
            .expect("the module can be encoded as a component")
    }

    /// Same as [`Handmade::build`], with one more component in text format, which is instantiated after the tool.
    pub(crate) fn build_with(&self, extra_component: &str) -> Vec<u8> {
        const COMPONENT_SECTION: u8 = 4;
        const INSTANCE_SECTION: u8 = 5;
        let mut component = self.build();
        let extra_component = wat::parse_str(extra_component).expect("the extra component is valid text");
        let index = section_ids(&component).filter(|id| *id == COMPONENT_SECTION).count();
        component.push(COMPONENT_SECTION);
        component.extend(leb128(extra_component.len()));
        component.extend(extra_component);
        // One instance of the component with this index, without arguments.
        let instance = [vec![1, 0], leb128(index), vec![0]].concat();
        component.extend([INSTANCE_SECTION, u8::try_from(instance.len()).expect("a short section")]);
        component.extend(instance);
        component
    }

    fn module_text(&self) -> String {
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
        let SchemaRecord { at, texts, record } = self.schema_record();
        let (record, outcome, output) = (
            escape(&bytes_of_words(&record)),
            escape(&bytes_of_words(&self.outcome)),
            escape(self.output),
        );
        let texts = escape(&texts);
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
                (data (i32.const {at}) "{texts}")
                (data (i32.const {output_at}) "{output}")
                {items})"#,
            output_at = Self::OUTPUT_AT,
        )
    }

    /// Returns the record that `schema` returns.
    fn schema_record(&self) -> SchemaRecord {
        // Between `TEXTS_AT` and the output there are 600 bytes, of which the name and the description take a few.
        let is_long =
            self.input_schema.len() + self.output_schema.map_or(0, str::len) > 500 || !self.examples.is_empty();
        let mut schema = SchemaRecord {
            at: if is_long { LONG_TEXTS_AT } else { TEXTS_AT },
            texts: Vec::new(),
            record: [0; 18],
        };
        let name = schema.add_text("handmade", self.is_utf16);
        let description = schema.add_text("By hand.", self.is_utf16);
        let input = schema.add_text(self.input_schema, self.is_utf16);
        // 1 or 0: whether there is an output schema. Then its address and its length.
        let (has_output, output) = self.output_schema.map_or((0, [0, 0]), |output_schema| {
            (1, schema.add_text(output_schema, self.is_utf16))
        });
        let inputs: Vec<_> = self
            .examples
            .iter()
            .map(|input| schema.add_text(input, self.is_utf16))
            .collect();
        schema.texts.resize(schema.texts.len().next_multiple_of(4), 0);
        // The fields of `example` in `wit/tool.wit`, in order: the input, no output and no description.
        let examples: Vec<_> = inputs
            .iter()
            .flat_map(|[at, bytes]| [*at, *bytes, 0, 0, 0, 0, 0, 0])
            .collect();
        let [examples, _] = schema.add(&bytes_of_words(&examples));
        let count = u32::try_from(inputs.len()).expect("a small number");
        // The fields of `tool-schema` in `wit/tool.wit`, in order. An optional string takes three words: 1 or 0, which says
        // whether the string is there, its address and its length.
        let functional_mode = 0;
        let absent = 0;
        let first_fields = [name, description, input].concat();
        let other_fields = [
            has_output,
            output[0],
            output[1],
            functional_mode,
            absent,
            0,
            0,
            absent,
            0,
            0,
            examples,
            count,
        ];
        schema
            .record
            .copy_from_slice(&[first_fields.as_slice(), &other_fields].concat());
        schema
    }
}

/// Returns a component that contains two others with a memory each. When it is instantiated, one of the two passes `times` times
/// a string of `bytes` bytes to the other.
///
/// The sender first allocates the memory for the string and `extra_pages` pages. If it cannot, it does not send anything.
pub(crate) fn sender_and_receiver(bytes: u32, extra_pages: u32, times: u32) -> String {
    let pages = bytes / 65_536 + 1;
    let all_pages = pages + extra_pages;
    format!(
        r#"(component
            (component $receiver
                (core module $m
                    (memory (export "memory") 1)
                    (func (export "receive") (param i32 i32))
                    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
                        (if (i32.eq (memory.size) (i32.const 1)) (then (drop (memory.grow (i32.const {pages})))))
                        (i32.const 16)))
                (core instance $i (instantiate $m))
                (func (export "receive") (param "text" string)
                    (canon lift (core func $i "receive") (memory (core memory $i "memory")) (realloc (core func $i "realloc")))))
            (component $sender
                (import "receive" (func $receive (param "text" string)))
                (core module $memory
                    (memory (export "memory") 0)
                    (func (export "grow") (result i32) (memory.grow (i32.const {all_pages}))))
                (core instance $memory (instantiate $memory))
                (core func $lowered (canon lower (func $receive) (memory (core memory $memory "memory"))))
                (core module $m
                    (import "receiver" "receive" (func $receive (param i32 i32)))
                    (import "memory" "grow" (func $grow (result i32)))
                    (func $start (local $remaining i32)
                        (if (i32.eq (call $grow) (i32.const -1)) (then return))
                        (local.set $remaining (i32.const {times}))
                        (loop $l
                            (call $receive (i32.const 0) (i32.const {bytes}))
                            (local.set $remaining (i32.sub (local.get $remaining) (i32.const 1)))
                            (br_if $l (local.get $remaining))))
                    (start $start))
                (core instance $receiver (export "receive" (func $lowered)))
                (core instance (instantiate $m (with "receiver" (instance $receiver)) (with "memory" (instance $memory)))))
            (instance $receiver (instantiate $receiver))
            (instance (instantiate $sender (with "receive" (func $receiver "receive")))))"#
    )
}

/// Returns the bytes that identify the kinds of the sections of a component, in order.
fn section_ids(component: &[u8]) -> impl Iterator<Item = u8> {
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

/// The `tool-schema` record in memory, and the texts to which it refers.
struct SchemaRecord {
    /// Address of the texts.
    at: usize,
    texts: Vec<u8>,
    record: [u32; 18],
}

impl SchemaRecord {
    /// Adds a text, and returns its address and its length in code units.
    fn add_text(&mut self, text: &str, is_utf16: bool) -> [u32; 2] {
        if !is_utf16 {
            return self.add(text.as_bytes());
        }
        let bytes: Vec<_> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let [at, length] = self.add(&bytes);
        [at, length / 2]
    }

    /// Adds bytes, and returns their address and number.
    fn add(&mut self, bytes: &[u8]) -> [u32; 2] {
        let slice = [self.at + self.texts.len(), bytes.len()];
        self.texts.extend(bytes);
        slice.map(|number| u32::try_from(number).expect("a small number"))
    }
}

fn bytes_of_words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn escape(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\{byte:02x}")).collect()
}
