//! Reads facts about a component without compiling or running it.

use art_core::limits::LimitOverrides;
use serde::{Deserialize, Serialize};
use wasmparser::{Parser, Payload};

use crate::error::LoadError;
use crate::schema_text::{self, Parts, Section, parts};
use crate::weight::Weight;

/// Bytes of the largest component that is read.
pub const MAX_COMPONENT_BYTES: u64 = 32 << 20;
/// The interface a tool exports, without its version.
const TOOL_INTERFACE: &str = "art:tool/tool";
/// The version of the contract that this host speaks.
const SUPPORTED: &str = "art:tool@0.1.0";
/// Versions that are compatible with it.
const SUPPORTED_TRACK: &str = "0.1.";
/// The custom section that the SDK writes.
const MANIFEST_SECTION: &str = "art:manifest";

/// Largest manifest. Parsed JSON takes many times the memory of its text.
const MAX_MANIFEST_BYTES: usize = 64 << 10;

/// Interfaces linked for every tool. They reach nothing outside of the sandbox.
const LINKED: [&str; 6] = [
    "art:tool/host",
    "art:tool/types",
    "wasi:io/",
    "wasi:clocks/",
    "wasi:random/",
    "wasi:cli/",
];
/// Interfaces that standard libraries import without using them. They are linked to functions that trap, except for the
/// list of directories, which is empty.
pub(crate) const INERT: &str = "wasi:filesystem/";

/// The `art:manifest` section of a component. It is untrusted: it contains requests only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Version of the contract it was built against.
    pub contract: String,
    /// Name of the tool.
    pub tool: String,
    /// Version of the tool.
    pub version: String,
    /// Limits it requests. The operator decides.
    pub limits: LimitOverrides,
    /// Capabilities it would like to be granted.
    pub capabilities: Vec<serde_json::Value>,
}

/// The imports and the manifest of a component.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspection {
    /// Interfaces it imports, with versions.
    pub imports: Vec<String>,
    /// Its manifest, when it has one.
    pub manifest: Option<Manifest>,
    /// Upper bound of the bytes that the host keeps for the loaded component, beside its compiled code.
    pub host_bytes: u64,
}

/// Reads the imports, the exports and the manifest of a component and refuses what this host cannot run.
///
/// # Errors
/// Fails if the bytes are not a component, not a tool, or need something that is not granted.
pub fn inspect(wasm: &[u8]) -> Result<Inspection, LoadError> {
    Ok(take_apart(wasm)?.0)
}

/// Inspects a component as [`inspect`] does, and returns the parts of the file as well.
pub(crate) fn take_apart(wasm: &[u8]) -> Result<(Inspection, Parts<'_>), LoadError> {
    check_header(wasm)?;
    let mut promise = None;
    let mut found = Inspection::default();
    let mut exported = None;
    let mut depth = 0_usize;
    let mut weight = Weight::default();
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload.map_err(LoadError::Damaged)?;
        weight.add(&payload)?;
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    found
                        .imports
                        .push(import.map_err(LoadError::Damaged)?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    let name = export.map_err(LoadError::Damaged)?.name.name;
                    exported = exported.or(version_of(name, TOOL_INTERFACE).map(str::to_owned));
                }
            }
            Payload::CustomSection(section) if section.name() == MANIFEST_SECTION => {
                let bytes = section.data().len();
                if bytes > MAX_MANIFEST_BYTES {
                    return Err(LoadError::ManifestTooLarge {
                        bytes,
                        limit: MAX_MANIFEST_BYTES,
                    });
                }
                let manifest = serde_json::from_slice(section.data()).map_err(LoadError::Manifest)?;
                if found.manifest.replace(manifest).is_some() {
                    return Err(LoadError::ManifestTwice);
                }
            }
            Payload::CustomSection(section) if section.name() == schema_text::SECTION && depth == 0 => {
                promise = Some(Section {
                    range: section.range(),
                    data: section.data_offset(),
                });
            }
            _ => {}
        }
    }
    found.host_bytes = weight.bytes();
    check_contract(exported.as_deref(), &found.imports)?;
    found.imports.iter().try_for_each(|import| check_import(import))?;
    Ok((found, parts(wasm, promise.as_ref())?))
}

fn check_header(wasm: &[u8]) -> Result<(), LoadError> {
    let not = |found| Err(LoadError::NotAComponent { found });
    match wasm {
        [] => Err(LoadError::Empty),
        _ if Parser::is_component(wasm) => Ok(()),
        _ if Parser::is_core_wasm(wasm) => not("a core module"),
        [0x7f, b'E', b'L', b'F', ..] => not("native code"),
        [b'P', b'K', 3, 4, ..] => not("a zip archive"),
        _ if std::str::from_utf8(wasm.get(..wasm.len().min(256)).unwrap_or_default()).is_ok() => not("text"),
        _ => not("unknown bytes"),
    }
}

/// Returns `0.1.0` for `art:tool/tool@0.1.0`.
fn version_of<'a>(name: &'a str, interface: &str) -> Option<&'a str> {
    name.strip_prefix(interface)?.strip_prefix('@')
}

fn check_contract(exported: Option<&str>, imports: &[String]) -> Result<(), LoadError> {
    let imported = imports.iter().find_map(|name| version_of(name, "art:tool/host"));
    let Some(exported) = exported else {
        return Err(LoadError::NotATool {
            expected: "art:tool/tool@0.1.0",
        });
    };
    match [Some(exported), imported]
        .into_iter()
        .flatten()
        .find(|version| !version.starts_with(SUPPORTED_TRACK))
    {
        Some(version) => Err(LoadError::ContractVersion {
            found: format!("art:tool@{version}"),
            supported: SUPPORTED,
        }),
        None => Ok(()),
    }
}

fn check_import(import: &str) -> Result<(), LoadError> {
    let known = LINKED.iter().any(|prefix| import.starts_with(prefix)) || import.starts_with(INERT);
    if known {
        Ok(())
    } else {
        Err(LoadError::ImportRefused {
            import: import.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_named_as_such() {
        assert_eq!(inspect(b"").unwrap_err().to_string(), "the file is empty");
    }

    #[test]
    fn text_is_not_a_component() {
        assert!(matches!(
            inspect(b"(component)"),
            Err(LoadError::NotAComponent { found: "text" })
        ));
    }

    #[test]
    fn a_core_module_is_not_a_component() {
        let found = inspect(b"\0asm\x01\0\0\0");
        assert!(matches!(
            found,
            Err(LoadError::NotAComponent { found: "a core module" })
        ));
    }

    #[test]
    fn a_component_without_the_tool_interface_is_not_a_tool() {
        assert!(matches!(inspect(b"\0asm\x0d\0\x01\0"), Err(LoadError::NotATool { .. })));
    }

    #[test]
    fn a_truncated_component_is_damaged() {
        assert!(matches!(inspect(b"\0asm\x0d\0\x01\0\x07"), Err(LoadError::Damaged(_))));
    }

    #[test]
    fn another_contract_version_is_refused_with_both_named() {
        let error = check_contract(Some("0.2.0"), &[]).unwrap_err().to_string();
        assert!(
            error.contains("`art:tool@0.2.0`") && error.contains("`art:tool@0.1.0`"),
            "{error}"
        );
        assert!(check_contract(Some("0.1.3"), &[]).is_ok());
    }

    #[test]
    fn sockets_are_refused_by_name() {
        let error = check_import("wasi:sockets/tcp@0.2.3").unwrap_err().to_string();
        assert_eq!(
            error,
            "imports `wasi:sockets/tcp@0.2.3`, which no tool is granted by this host"
        );
        assert!(check_import("wasi:io/streams@0.2.3").is_ok());
    }
}
