//! What the engine would take of a core module but this host does not. Looked at once, before a component is compiled.

use wasmparser::{Parser, Payload, TypeRef};

/// Refuses a component with a module that has several memories: the engine allows it for the adapters that it makes itself.
pub(crate) fn check_modules(wasm: &[u8]) -> wasmtime::Result<()> {
    // Memories of the modules and components around the place that is looked at.
    let mut memories = vec![0_u32];
    for payload in Parser::new(0).parse_all(wasm) {
        let added = match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                memories.push(0);
                0
            }
            Payload::End(_) => {
                memories.pop();
                0
            }
            Payload::MemorySection(section) => section.count(),
            Payload::ImportSection(section) => imported_memories(section)?,
            _ => 0,
        };
        let here = memories.last_mut().map_or(0, |here| {
            *here = here.saturating_add(added);
            *here
        });
        if here > 1 {
            return Err(wasmtime::Error::msg(
                "a module of it has multiple memories; only one is allowed",
            ));
        }
    }
    Ok(())
}

fn imported_memories(section: wasmparser::ImportSectionReader<'_>) -> wasmparser::Result<u32> {
    let mut memories = 0;
    for import in section.into_imports() {
        memories += u32::from(matches!(import?.ty, TypeRef::Memory(_)));
    }
    Ok(memories)
}
