//! Estimates what a loaded component costs the host, from its bytes and before anything is built.
//!
//! The compiled code is in a mapped file. Memory goes to what the engine keeps beside it: a record with its names for
//! each import, export and type. A few bytes of text make a record of hundreds, so records are counted.

use wasmparser::Payload;

use crate::error::LoadError;

/// Imports of all modules of a component. A tool in Rust has some dozen; an interpreter that is linked together within its
/// component has some thousand.
pub(crate) const MAX_IMPORTS: u64 = 10_000;
/// Bytes that the host keeps of one component.
pub(crate) const MAX_BYTES: u64 = 64 << 20;

/// The counts so far.
#[derive(Debug, Default)]
pub(crate) struct Weight {
    imports: u64,
    bytes: u64,
}

impl Weight {
    /// Counts a section of the component or of a part of it.
    pub(crate) fn add(&mut self, payload: &Payload<'_>) -> Result<(), LoadError> {
        let (records, each) = records(payload);
        if matches!(payload, Payload::ImportSection(_) | Payload::ComponentImportSection(_)) {
            self.imports = self.imports.saturating_add(records);
        }
        self.bytes = self.bytes.saturating_add(records.saturating_mul(each));
        if self.imports > MAX_IMPORTS {
            return Err(LoadError::TooManyImports { limit: MAX_IMPORTS });
        }
        if self.bytes > MAX_BYTES {
            return Err(LoadError::TooHeavy { limit: MAX_BYTES });
        }
        Ok(())
    }

    /// Returns bytes that the host keeps at most.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Returns how many records a section makes, and the bytes of each. A section says how many entries it has; the types
/// of components nest, so of those the text is counted.
fn records(payload: &Payload<'_>) -> (u64, u64) {
    let text = |range: std::ops::Range<usize>| range.len() as u64;
    match payload {
        Payload::ImportSection(section) => (section.count().into(), 600),
        Payload::TypeSection(section) => (text(section.range()), 64),
        Payload::FunctionSection(section) => (section.count().into(), 64),
        Payload::TableSection(section) => (section.count().into(), 200),
        Payload::MemorySection(section) => (section.count().into(), 400),
        Payload::TagSection(section) => (section.count().into(), 64),
        Payload::GlobalSection(section) => (section.count().into(), 100),
        Payload::ExportSection(section) => (section.count().into(), 300),
        Payload::ElementSection(section) => (text(section.range()), 16),
        Payload::DataSection(section) => (section.count().into(), 100),
        Payload::CoreTypeSection(section) => (text(section.range()), 64),
        Payload::ComponentTypeSection(section) => (text(section.range()), 64),
        Payload::ComponentImportSection(section) => (section.count().into(), 600),
        Payload::ComponentExportSection(section) => (section.count().into(), 300),
        Payload::ComponentAliasSection(section) => (section.count().into(), 300),
        Payload::ComponentCanonicalSection(section) => (section.count().into(), 300),
        // An instance names its parts.
        Payload::InstanceSection(section) => (text(section.range()), 64),
        Payload::ComponentInstanceSection(section) => (text(section.range()), 64),
        _ => (0, 0),
    }
}
