//! Records of the components for which grants were made. They show what has changed in a component that replaces an earlier one.

use std::fs::File;
use std::path::PathBuf;

use art_core::capability::CapabilityRequest;
use art_core::limits::LimitOverrides;
use art_core::tool::ToolSchema;
use art_files::read_text;
use art_sandbox::Plugin;
use art_tools::ToolExecutor;
use serde::{Deserialize, Serialize};

use super::{GrantError, GrantFiles, replace_file};

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
    /// Returns the record of the component for which the grants of `name` were made, or `None` if there is no readable record.
    #[must_use]
    pub fn approved(&self, name: &str) -> Option<ApprovedComponent> {
        let file = File::open(self.approved_path(name)?).ok()?;
        serde_json::from_str(&read_text(file, MAX_BYTES).ok()?).ok()
    }

    /// Stores the record of a component for which grants were just made. Does nothing if no records are kept.
    ///
    /// # Errors
    /// Fails if the record cannot be written.
    pub fn store_approved(&self, plugin: &Plugin) -> Result<(), GrantError> {
        let Some(path) = self.approved_path(plugin.name()) else {
            return Ok(());
        };
        let write = || {
            std::fs::create_dir_all(&self.approved_folder)?;
            let record = serde_json::to_string(&ApprovedComponent::of(plugin))?;
            replace_file(&self.approved_folder, &path, &record)
        };
        write().map_err(|source: std::io::Error| GrantError::Write {
            path: path.clone(),
            source,
        })
    }

    /// Returns the path of a record, or `None` if no records are kept.
    fn approved_path(&self, name: &str) -> Option<PathBuf> {
        let has_folder = !self.approved_folder.as_os_str().is_empty();
        has_folder.then(|| self.approved_folder.join(format!("{name}.json")))
    }
}
