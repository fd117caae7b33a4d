//! The first-party plugins as components.

use art_core::outcome::Outcome;
use art_sandbox::Plugin;
use art_tools::admission::Root;
use art_tools::executor::ToolExecutor;
use art_tools::schema::CompiledSchema;

use crate::harness::{call, components, guest, output};

/// Returns each plugin with its name.
fn named_plugins() -> impl Iterator<Item = (&'static str, std::sync::Arc<Plugin>)> {
    components::PLUGINS.iter().map(|(name, path)| (*name, guest(path)))
}

#[test]
fn every_plugin_loads_under_its_own_name() {
    for (name, plugin) in named_plugins() {
        assert_eq!((plugin.schema().name.as_str(), plugin.name()), (name, name));
    }
}

#[test]
fn the_host_accepts_every_schema() {
    for (name, plugin) in named_plugins() {
        let schema = plugin.schema();
        if let Err(problem) = CompiledSchema::new(&schema.input_schema, Root::Object) {
            panic!("the input schema of `{name}` is refused: {problem}");
        }
        if let Some(Err(problem)) = schema
            .output_schema
            .as_ref()
            .map(|schema| CompiledSchema::new(schema, Root::Any))
        {
            panic!("the output schema of `{name}` is refused: {problem}");
        }
    }
}

#[tokio::test]
async fn every_example_that_needs_no_grant_returns_its_output() {
    for (name, plugin) in named_plugins() {
        let limits = plugin.limits();
        assert!(!plugin.schema().examples.is_empty(), "`{name}` has no example");
        // Examples that need a grant are left out: `plugins_files` and `plugins_web` test the plugins that need one. `authorize`
        // refuses such examples if an argument names what the grant has to allow. The address of `web_search` is not an
        // argument, so all its examples are left out here.
        let examples = plugin.schema().examples.iter().filter(|_| name != "web_search");
        for example in examples.filter(|example| plugin.authorize(&example.input).is_ok()) {
            let outcome: Outcome = call(&plugin, example.input.clone(), limits).await;
            let actual = output(&outcome);
            if let Some(expected) = &example.output {
                assert_eq!(&actual, expected, "`{name}` with {}", example.input);
            }
        }
    }
}

/// The access that each plugin requests in its manifest, one row for each request. Plugins without a row request nothing.
const REQUESTED_ACCESS: &[(&str, &str)] = &[
    ("archive_list", "read the file or directory of the argument `path`"),
    ("csv_query", "read the file or directory of the argument `path`"),
    (
        "file_edit",
        "read and write the file or directory of the argument `path`",
    ),
    ("file_read", "read the file or directory of the argument `path`"),
    ("file_search", "read the file or directory of the argument `path`"),
    (
        "file_write",
        "read and write the file or directory of the argument `path`",
    ),
    ("hash_file", "read the file or directory of the argument `path`"),
    (
        "http_fetch",
        "send GET, HEAD requests to the address of the argument `url`",
    ),
    ("json_query", "read the file or directory of the argument `path`"),
    ("sqlite_query", "read the file or directory of the argument `path`"),
    ("sqlite_query", "read the file or directory of the argument `wal`"),
    ("web_search", "send GET requests to the addresses that are granted"),
    ("web_search", "read the variables SEARCH_URL"),
];

#[test]
fn each_plugin_requests_exactly_the_listed_access() {
    for (name, plugin) in named_plugins() {
        let manifest = plugin.inspection().manifest.as_ref().expect("the SDK adds a manifest");
        let requested: Vec<_> = manifest.capabilities.iter().map(ToString::to_string).collect();
        let listed = REQUESTED_ACCESS.iter().filter(|(tool, _)| *tool == name);
        let listed: Vec<_> = listed.map(|(_, request)| (*request).to_owned()).collect();
        assert_eq!(requested, listed, "`{name}`");
    }
}
