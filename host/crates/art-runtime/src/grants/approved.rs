//! Records of the components for which grants were made. They show what has changed in a component that replaces an earlier one.

use std::path::PathBuf;

use art_core::capability::CapabilityRequest;
use art_core::limits::LimitOverrides;
use art_core::tool::ToolSchema;
use art_files::{open_regular, read_text};
use art_sandbox::Plugin;
use art_tools::ToolExecutor;
use serde::{Deserialize, Serialize};

use super::{GrantError, GrantFiles};

/// Maximum size of a record, in bytes. It has room for the largest schema and the other fields.
const MAX_BYTES: u64 = 1 << 20;

/// The properties of a component that an operator saw when its grants were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovedComponent {
    /// Digest of the component.
    pub digest: String,
    /// The interfaces that it imports.
    pub imports: Vec<String>,
    /// The capabilities that it requests, or `None` if it has no manifest.
    pub requests: Option<Vec<CapabilityRequest>>,
    /// Limits that it requests.
    pub limits: LimitOverrides,
    /// Its schema.
    pub schema: ToolSchema,
}

impl ApprovedComponent {
    /// Returns the record of a component.
    #[must_use]
    pub fn of(plugin: &Plugin) -> Self {
        let inspection = plugin.inspection();
        let manifest = inspection.manifest.as_ref();
        Self {
            digest: plugin.digest(),
            imports: inspection.imports.clone(),
            requests: inspection.requests(),
            limits: manifest.map(|manifest| manifest.limits).unwrap_or_default(),
            schema: plugin.schema().clone(),
        }
    }

    /// Returns whether both components have the same schema, imports, requests and limits, even if their code differs.
    #[must_use]
    pub fn has_same_contract(&self, other: &Self) -> bool {
        let digest = String::new();
        Self {
            digest: digest.clone(),
            ..self.clone()
        } == Self {
            digest,
            ..other.clone()
        }
    }
}

impl GrantFiles {
    /// Returns the record of the component with this digest, or `None` if there is no readable record.
    #[must_use]
    pub fn approved(&self, digest: &str) -> Option<ApprovedComponent> {
        if digest.is_empty() {
            return None;
        }
        let file = open_regular(&self.approved_path(digest)).ok()?;
        serde_json::from_str(&read_text(file, MAX_BYTES).ok()?).ok()
    }

    /// Stores the record of a component for which grants were just made.
    pub(super) fn store_approved(&self, plugin: &Plugin) -> Result<(), GrantError> {
        let path = self.approved_path(&plugin.digest());
        let record = serde_json::to_string(&ApprovedComponent::of(plugin)).map_err(std::io::Error::other);
        let written = record.and_then(|record| art_files::replace_with(&path, record.as_bytes()));
        written.map_err(|source| self.write_error(&path, source))
    }

    /// Returns the path of the record of the component with this digest.
    pub(super) fn approved_path(&self, digest: &str) -> PathBuf {
        self.folder().join(format!("{digest}.json"))
    }
}
