//! Estimates how much memory of the host a loaded component takes, from its bytes and before it is compiled.
//!
//! The compiled code is in a mapped file and is not counted. Besides the code, the engine keeps a record with names for each
//! import, export and type. An entry of a few bytes in the file becomes a record of some hundred bytes in memory, so the
//! estimate counts records.

use wasmparser::Payload;

use crate::error::LoadError;

/// Maximum number of imports of a component and of all modules and components in it together. A tool in Rust has a few dozen. A
/// component that links an interpreter out of several modules has a few thousand.
const MAX_IMPORTS: u64 = 10_000;
/// Maximum memory of the host for one component, in bytes, without its compiled code.
const MAX_BYTES: u64 = 64 << 20;

/// The estimate for the sections that were read so far.
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    imports: u64,
    bytes: u64,
}

impl Footprint {
    /// Adds a section of the component, or of a module or component in it.
    ///
    /// # Errors
    /// Fails with [`LoadError::TooManyImports`] or [`LoadError::FootprintTooLarge`] when a limit is exceeded.
    pub(crate) fn add(&mut self, payload: &Payload<'_>) -> Result<(), LoadError> {
        let (records, record_bytes) = count_records(payload);
        if matches!(payload, Payload::ImportSection(_) | Payload::ComponentImportSection(_)) {
            self.imports = self.imports.saturating_add(records);
        }
        self.bytes = self.bytes.saturating_add(records.saturating_mul(record_bytes));
        if self.imports > MAX_IMPORTS {
            return Err(LoadError::TooManyImports { limit: MAX_IMPORTS });
        }
        if self.bytes > MAX_BYTES {
            return Err(LoadError::FootprintTooLarge { limit: MAX_BYTES });
        }
        Ok(())
    }

    /// Returns the estimate, in bytes. It is an upper bound.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Returns how many records the engine keeps for a section, and the size of one record in bytes, both as upper bounds. There is
/// one record for each entry that the section's header counts or, where entries can be nested, at most one for each byte of the
/// section.
fn count_records(payload: &Payload<'_>) -> (u64, u64) {
    let byte_count = |range: std::ops::Range<usize>| range.len() as u64;
    match payload {
        Payload::ImportSection(section) => (section.count().into(), 600),
        Payload::TypeSection(section) => (byte_count(section.range()), 64),
        Payload::FunctionSection(section) => (section.count().into(), 64),
        Payload::TableSection(section) => (section.count().into(), 200),
        Payload::MemorySection(section) => (section.count().into(), 400),
        Payload::TagSection(section) => (section.count().into(), 64),
        Payload::GlobalSection(section) => (section.count().into(), 100),
        Payload::ExportSection(section) => (section.count().into(), 300),
        Payload::ElementSection(section) => (byte_count(section.range()), 16),
        Payload::DataSection(section) => (section.count().into(), 100),
        Payload::CoreTypeSection(section) => (byte_count(section.range()), 64),
        Payload::ComponentTypeSection(section) => (byte_count(section.range()), 64),
        Payload::ComponentImportSection(section) => (section.count().into(), 600),
        Payload::ComponentExportSection(section) => (section.count().into(), 300),
        Payload::ComponentAliasSection(section) => (section.count().into(), 300),
        Payload::ComponentCanonicalSection(section) => (section.count().into(), 300),
        Payload::InstanceSection(section) => (byte_count(section.range()), 64),
        Payload::ComponentInstanceSection(section) => (byte_count(section.range()), 64),
        _ => (0, 0),
    }
}
