//! Reads the imports, the exports and the custom sections of a component without compiling or running it.

use art_core::capability::{Capability, CapabilityRequest};
use art_core::limits::LimitOverrides;
use serde::{Deserialize, Serialize};
use wasmparser::{Parser, Payload};

use crate::error::LoadError;
use crate::footprint::Footprint;
use crate::schema_text::{self, SectionPosition, SplitFile};

/// Maximum size of a component's file, in bytes.
pub const MAX_COMPONENT_BYTES: u64 = 32 << 20;
/// The interface a tool exports, without its version.
const TOOL_INTERFACE: &str = "art:tool/tool";
/// The version of the contract (the WIT package between tools and the host) that this host implements.
const SUPPORTED_CONTRACT: &str = "art:tool@0.1.0";
/// Name of the custom section with the manifest, which the SDK writes.
const MANIFEST_SECTION: &str = "art:manifest";

/// Maximum size of the manifest, in bytes. Parsed JSON takes many times the memory of its text.
const MAX_MANIFEST_BYTES: usize = 64 << 10;

/// Prefix of the interfaces with the clocks.
pub(crate) const CLOCKS_PREFIX: &str = "wasi:clocks/";
/// Prefix of the interfaces with the random numbers.
pub(crate) const RANDOM_PREFIX: &str = "wasi:random/";
/// Prefix of the interfaces with the file system.
pub(crate) const FILESYSTEM_PREFIX: &str = "wasi:filesystem/";
/// Prefix of the interfaces with the sockets, which are never granted.
pub(crate) const SOCKETS_PREFIX: &str = "wasi:sockets/";
/// Prefix of the interface of the host itself, of `wit/tool.wit`.
pub(crate) const HOST_INTERFACE: &str = "art:tool/host";
/// Prefix of the interface with the types of HTTP requests and responses.
const HTTP_TYPES_PREFIX: &str = "wasi:http/types@0.2";
/// Prefix of the interface that sends HTTP requests.
const HTTP_SENDER_PREFIX: &str = "wasi:http/outgoing-handler@0.2";

/// Prefixes of the interfaces that a component may import. Those that are not granted are linked to [stubs](crate::stubs),
/// because standard libraries import them even if the tool does not use them.
const PROVIDED_PREFIXES: [&str; 10] = [
    HOST_INTERFACE,
    "art:tool/types",
    "wasi:io/",
    "wasi:cli/",
    CLOCKS_PREFIX,
    RANDOM_PREFIX,
    FILESYSTEM_PREFIX,
    SOCKETS_PREFIX,
    HTTP_TYPES_PREFIX,
    HTTP_SENDER_PREFIX,
];

/// The `art:manifest` section of a component. Untrusted: everything in it is a request that the operator may refuse.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Version of the contract, the WIT package `art:tool`, that the tool was built against.
    pub contract: String,
    /// Name of the tool.
    pub tool: String,
    /// Version of the tool.
    pub version: String,
    /// Who made the tool, as it says itself. Empty if it does not say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The licence of the tool as an SPDX expression. Empty if it does not say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub license: String,
    /// Limits that the tool requests.
    pub limits: LimitOverrides,
    /// Capabilities that the tool requests.
    pub capabilities: Vec<CapabilityRequest>,
}

/// The imports and the manifest of a component.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// Names of the imported interfaces, with versions.
    pub imports: Vec<String>,
    /// The `art:manifest` section, if the component has one.
    pub manifest: Option<Manifest>,
    /// Upper bound of the memory of the host for the loaded component, in bytes, in addition to its compiled code.
    pub host_bytes: u64,
}

impl Inspection {
    /// Returns the capabilities that the tool requests, or `None` if it has no manifest. A tool without a manifest gets
    /// whatever is granted.
    #[must_use]
    pub fn requests(&self) -> Option<Vec<CapabilityRequest>> {
        self.manifest.as_ref().map(|manifest| manifest.capabilities.clone())
    }

    /// Returns whether the component can use a capability at all, that is, whether it imports the interface of the capability.
    #[must_use]
    pub fn can_use(&self, capability: Capability) -> bool {
        let prefix = match capability {
            Capability::Clock => CLOCKS_PREFIX,
            Capability::Random => RANDOM_PREFIX,
            Capability::Env => "wasi:cli/environment",
            Capability::Fs => FILESYSTEM_PREFIX,
            Capability::Http => HTTP_SENDER_PREFIX,
        };
        self.imports.iter().any(|import| import.starts_with(prefix))
    }
}

/// Reads the imports, the exports and the manifest of a component, and refuses a component that this host cannot run.
///
/// # Errors
/// Fails if the bytes are not a component or not a tool, if the component imports an interface that this host does not provide,
/// if it would take too much memory of the host, or if its manifest or its schema section is invalid.
pub fn inspect(wasm: &[u8]) -> Result<Inspection, LoadError> {
    Ok(inspect_and_split(wasm)?.0)
}

/// Same as [`inspect`], and also splits the file into the component and its schema.
pub(crate) fn inspect_and_split(wasm: &[u8]) -> Result<(Inspection, SplitFile<'_>), LoadError> {
    check_header(wasm)?;
    let mut schema_section = None;
    let mut inspection = Inspection::default();
    // The version in the name of the exported tool interface.
    let mut exported_version = None;
    // Number of modules and components around the current section.
    let mut depth = 0_usize;
    let mut footprint = Footprint::default();
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload.map_err(LoadError::Damaged)?;
        footprint.add(&payload)?;
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    inspection
                        .imports
                        .push(import.map_err(LoadError::Damaged)?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    let name = export.map_err(LoadError::Damaged)?.name.name;
                    exported_version = exported_version.or(interface_version(name, TOOL_INTERFACE).map(str::to_owned));
                }
            }
            // At any depth, because the SDK puts the manifest into the core module of the tool.
            Payload::CustomSection(section) if section.name() == MANIFEST_SECTION => {
                let bytes = section.data().len();
                if bytes > MAX_MANIFEST_BYTES {
                    return Err(LoadError::ManifestTooLarge {
                        bytes,
                        limit: MAX_MANIFEST_BYTES,
                    });
                }
                let manifest = serde_json::from_slice(section.data()).map_err(LoadError::InvalidManifest)?;
                if inspection.manifest.replace(manifest).is_some() {
                    return Err(LoadError::DuplicateManifest);
                }
            }
            Payload::CustomSection(section) if section.name() == schema_text::SCHEMA_SECTION && depth == 0 => {
                schema_section = Some(SectionPosition {
                    range: section.range(),
                    data_offset: section.data_offset(),
                });
            }
            _ => {}
        }
    }
    inspection.host_bytes = footprint.bytes();
    check_contract(exported_version.as_deref(), &inspection.imports)?;
    inspection.imports.iter().try_for_each(|import| check_import(import))?;
    Ok((inspection, schema_text::split_file(wasm, schema_section.as_ref())?))
}

fn check_header(wasm: &[u8]) -> Result<(), LoadError> {
    let refuse = |found| Err(LoadError::NotAComponent { found });
    let start = wasm.get(..wasm.len().min(256)).unwrap_or_default();
    match wasm {
        [] => Err(LoadError::Empty),
        _ if Parser::is_component(wasm) => Ok(()),
        _ if Parser::is_core_wasm(wasm) => refuse("a core module"),
        [0x7f, b'E', b'L', b'F', ..] => refuse("native code"),
        [b'P', b'K', 3, 4, ..] => refuse("a zip archive"),
        _ if is_beginning_of_text(start) => refuse("text"),
        _ => refuse("unknown bytes"),
    }
}

/// Returns whether the bytes are UTF-8 without zeros. The last character may be cut.
fn is_beginning_of_text(bytes: &[u8]) -> bool {
    let is_utf8 = std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true);
    is_utf8 && !bytes.contains(&0)
}

/// Returns the version in `name`, such as `0.1.0` in `art:tool/tool@0.1.0`, or `None` if `name` is not `interface` with a
/// version.
fn interface_version<'a>(name: &'a str, interface: &str) -> Option<&'a str> {
    name.strip_prefix(interface)?.strip_prefix('@')
}

/// Refuses a component that is not a tool, or whose version of the contract is not supported.
fn check_contract(exported_version: Option<&str>, imports: &[String]) -> Result<(), LoadError> {
    let imported_version = imports.iter().find_map(|name| interface_version(name, HOST_INTERFACE));
    let Some(exported_version) = exported_version else {
        return Err(LoadError::NotATool {
            expected: "art:tool/tool@0.1.0",
        });
    };
    for version in [Some(exported_version), imported_version].into_iter().flatten() {
        if !is_compatible(version) {
            return Err(LoadError::ContractVersion {
                found: format!("art:tool@{version}"),
                supported: SUPPORTED_CONTRACT,
            });
        }
    }
    Ok(())
}

/// Returns whether `version` is compatible with [`SUPPORTED_CONTRACT`]: a version of the same minor series, as before 1.0.
fn is_compatible(version: &str) -> bool {
    semver::Version::parse(version).is_ok_and(|version| (version.major, version.minor) == (0, 1))
}

/// Refuses an interface that the host does not provide.
fn check_import(import: &str) -> Result<(), LoadError> {
    if PROVIDED_PREFIXES.iter().any(|prefix| import.starts_with(prefix)) {
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
    fn an_empty_file_is_reported_as_empty() {
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
    fn text_with_a_character_across_the_end_of_the_inspected_bytes_is_reported_as_text() {
        let text = format!("{}ä", "a".repeat(255));
        assert!(matches!(
            inspect(text.as_bytes()),
            Err(LoadError::NotAComponent { found: "text" })
        ));
    }

    #[test]
    fn bytes_with_a_zero_are_not_reported_as_text() {
        for bytes in [b"\0".as_slice(), b"text\0"] {
            assert!(matches!(
                inspect(bytes),
                Err(LoadError::NotAComponent { found: "unknown bytes" })
            ));
        }
    }

    #[test]
    fn a_core_module_is_not_a_component() {
        let inspected = inspect(b"\0asm\x01\0\0\0");
        assert!(matches!(
            inspected,
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
    fn the_error_for_an_incompatible_contract_names_both_versions() {
        let error = check_contract(Some("0.2.0"), &[]).unwrap_err().to_string();
        assert!(
            error.contains("`art:tool@0.2.0`") && error.contains("`art:tool@0.1.0`"),
            "{error}"
        );
        assert!(check_contract(Some("0.1.3"), &[]).is_ok());
        assert!(check_contract(Some("0.1.x"), &[]).is_err());
    }

    #[test]
    fn the_error_for_an_import_that_the_host_does_not_provide_names_the_import() {
        let error = check_import("wasi:http/incoming-handler@0.2.3")
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "imports `wasi:http/incoming-handler@0.2.3`, which this host does not grant to any tool"
        );
        assert!(check_import("wasi:io/streams@0.2.3").is_ok());
    }
}
