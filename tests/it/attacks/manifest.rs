//! The manifest, `tests/attacks.toml`: an entry for each threat, with the attacks that the suite makes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use art_core::limits::Limits;
use serde::Deserialize;
use serde_json::Value;

/// The sections of the manifest, each with its highest number. The identifier of a threat is a section and a number from 1 to the
/// highest, such as `A07`.
pub(crate) const SECTIONS: [(char, u32); 8] = [
    ('A', 17),
    ('B', 12),
    ('C', 16),
    ('D', 17),
    ('E', 14),
    ('F', 16),
    ('G', 11),
    ('H', 9),
];

/// All threats by their identifiers.
pub(crate) type Manifest = BTreeMap<String, Threat>;

/// A threat, and what shows that the host withstands it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Threat {
    /// What an attacker does.
    pub(crate) attack: String,
    /// What has to happen instead. In every case, the host has to keep running.
    pub(crate) safe: String,
    /// Priority from 0 to 2. A threat with priority 0 has to be covered before the first release.
    pub(crate) priority: u32,
    /// The gate that requires this threat to be covered, if there is one.
    #[serde(default)]
    pub(crate) gate: Option<Gate>,
    /// Attacks that the suite makes.
    #[serde(default)]
    pub(crate) run: Vec<Attack>,
    /// Other tests that cover the threat, by the files that contain them.
    #[serde(default)]
    pub(crate) tests: BTreeMap<PathBuf, Vec<String>>,
    /// Why nothing covers the threat, or which part of it is not covered.
    #[serde(default)]
    pub(crate) not_done: Option<String>,
    /// Why the threat does not apply to the host.
    #[serde(default)]
    pub(crate) not_applicable: Option<String>,
}

/// Something that the host may allow only when all threats with this gate are covered.
#[derive(Debug, Deserialize, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Components written by others.
    G0,
    /// Access to the network or to secrets.
    G1,
    /// Use by several persons.
    G2,
}

/// One attack: a component, its input and grants, and how the attack has to end.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Attack {
    /// The name of a guest in `tests/guests`.
    pub(crate) guest: Option<String>,
    /// Parts of a core module in the text form of WebAssembly, from which the suite builds a tool.
    pub(crate) wat: Option<HandmadeParts>,
    /// A whole component in the text form of WebAssembly.
    pub(crate) component: Option<String>,
    /// The arguments of the call. `{server}` stands for the address of a server that counts its connections.
    pub(crate) arguments: Value,
    /// The steps of a guest that works with files. Each step has an operation, a path, and a third value that some operations
    /// need. The path is relative to a folder that contains the folder `notes` and the file `outside.txt`.
    pub(crate) steps: Vec<[String; 3]>,
    /// How often the whole list of steps is run. The default is once.
    pub(crate) times: Option<usize>,
    /// What the call may do with the folder `notes`. By default, it may not use the folder.
    pub(crate) files: Option<FileGrant>,
    /// The requests that the call may send, as in a file of grants.
    pub(crate) http: Vec<Value>,
    /// The limits that differ from the default ones.
    pub(crate) limits: AttackLimits,
    /// The name of the ending that the call has to have, such as `timeout`. Absent if the component has to be refused.
    pub(crate) ends: Option<String>,
    /// A part of the error with which the component has to be refused when it is loaded. Absent if it has to be called.
    pub(crate) refused: Option<String>,
    /// The output of the call, if it matters.
    pub(crate) output: Option<Value>,
    /// Number of connections that the server has to receive, unless `may_connect` is true.
    pub(crate) connections: usize,
    /// Whether the server may receive any number of connections, because the attack targets the limits of a granted request.
    pub(crate) may_connect: bool,
}

/// A grant of the folder `notes`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileGrant {
    #[serde(default)]
    pub(crate) write: bool,
    pub(crate) max_bytes: Option<u64>,
    pub(crate) max_files: Option<u64>,
}

/// The parts in which a handmade tool differs from the default one, which does nothing. They are explained at
/// [`Handmade`](crate::handmade::Handmade).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HandmadeParts {
    pub(crate) imports: String,
    pub(crate) memory: Option<String>,
    pub(crate) items: String,
    pub(crate) realloc: String,
    pub(crate) schema: String,
    pub(crate) execute: String,
    pub(crate) post_return: String,
    pub(crate) outcome: Option<[u32; 14]>,
    pub(crate) utf16: bool,
}

/// The limits of a call that an attack may set.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AttackLimits {
    fuel: Option<u64>,
    timeout_ms: Option<u64>,
    memory_bytes: Option<u64>,
    host_calls: Option<u64>,
}

impl AttackLimits {
    /// Returns all limits of the call. Those that the attack does not set have their default values.
    pub(crate) fn all(self) -> Limits {
        let base = Limits::EXECUTE;
        Limits {
            fuel: self.fuel.unwrap_or(base.fuel),
            timeout_ms: self.timeout_ms.unwrap_or(base.timeout_ms),
            memory_bytes: self.memory_bytes.unwrap_or(base.memory_bytes),
            host_calls: self.host_calls.unwrap_or(base.host_calls),
            ..base
        }
    }
}

impl Threat {
    /// Returns in a word or two how the threat is covered.
    pub(crate) fn status(&self) -> &'static str {
        match (self.run.is_empty(), self.tests.is_empty(), &self.not_applicable) {
            (false, ..) => "attacked",
            (_, false, _) => "tested",
            (.., Some(_)) => "not applicable",
            _ => "not done",
        }
    }
}

/// Returns the root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Reads the manifest.
pub(crate) fn manifest() -> Manifest {
    let text = fs::read_to_string(root().join("tests/attacks.toml")).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("tests/attacks.toml: {error}"))
}

/// Returns all attacks with the identifiers of their threats.
pub(crate) fn attacks() -> Vec<(String, Attack)> {
    let attacks_of = |(id, threat): (String, Threat)| threat.run.into_iter().map(move |attack| (id.clone(), attack));
    manifest().into_iter().flat_map(attacks_of).collect()
}
