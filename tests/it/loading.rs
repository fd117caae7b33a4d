//! Files that are not valid tools for this host are refused with an error that says why. A valid tool implements the contract,
//! which is the package `art:tool` of WIT interfaces.

use art_core::limits::{LimitOverrides, Limits};
use art_sandbox::inspect;
use art_tools::executor::ToolExecutor;
use serde_json::json;

use crate::handmade::{Handmade, sender_and_receiver};
use crate::harness::{call, components, guest, message_with_causes, new_sandbox, read_component, sandbox};

/// Returns the error of loading `bytes`.
fn refusal(bytes: &[u8]) -> String {
    message_with_causes(&sandbox().load("x", bytes).expect_err("it is refused"))
}

/// Returns a component that imports this interface and exports a tool interface without functions.
fn component_importing(import: &str) -> Vec<u8> {
    let text = format!(
        r#"(component (import "{import}" (instance)) (instance $tool) (export "art:tool/tool@0.1.0" (instance $tool)))"#
    );
    wat::parse_str(text).expect("a component")
}

#[test]
fn the_error_for_another_kind_of_file_names_the_kind() {
    let hint = " (hint: build it with `art plugin build PATH` or `--target wasm32-wasip2`)";
    let kinds: [(&[u8], &str); 6] = [
        (b"\x7fELF\x02\x01\x01\0", "native code"),
        (b"PK\x03\x04rest", "a zip archive"),
        (b"(component)", "text"),
        (b"\0asm\x01\0\0\0", "a core module"),
        (b"\0", "unknown bytes"),
        (b"\xff\xd8\xff\xe0", "unknown bytes"),
    ];
    for (bytes, kind) in kinds {
        assert_eq!(refusal(bytes), format!("not a WebAssembly component: {kind}{hint}"));
    }
    assert_eq!(refusal(b""), "the file is empty");
}

#[test]
fn a_file_over_the_size_limit_is_refused() {
    let limit = art_sandbox::MAX_COMPONENT_BYTES;
    let bytes = vec![0; usize::try_from(limit).unwrap() + 1];
    assert_eq!(
        refusal(&bytes),
        format!("the file has {} bytes, more than the {limit} allowed", limit + 1)
    );
}

#[test]
fn the_error_for_an_incompatible_contract_names_both_versions() {
    let incompatible = Handmade {
        version: "0.2.0",
        ..Handmade::default()
    };
    assert_eq!(
        refusal(&incompatible.build()),
        "built against `art:tool@0.2.0`; this host supports `art:tool@0.1.0` (hint: rebuild it with the SDK of this host)"
    );
}

#[test]
fn a_later_patch_of_the_contract_is_accepted() {
    let later = Handmade {
        version: "0.1.7",
        ..Handmade::default()
    };
    let loaded = sandbox().load("later", &later.build());
    assert!(
        loaded.is_ok(),
        "{:?}",
        loaded.map_err(|error| message_with_causes(&error))
    );
}

#[test]
fn a_component_without_the_tool_interface_is_not_a_tool() {
    let other = wat::parse_str(r#"(component (instance $i) (export "my:own/thing@1.0.0" (instance $i)))"#).unwrap();
    assert_eq!(
        refusal(&other),
        "does not export `art:tool/tool@0.1.0`, so it is not a tool"
    );
}

#[test]
fn a_tool_interface_without_its_functions_is_refused_when_loading() {
    // The import is allowed, so the missing functions are the only fault of this component.
    let without_functions = component_importing("wasi:io/error@0.2.0");
    let error = sandbox().load("hollow", &without_functions).expect_err("it is refused");
    let message = message_with_causes(&error);
    assert!(message.starts_with("failed to link the component"), "{message}");
}

#[test]
fn the_error_for_an_import_of_an_unknown_package_names_it() {
    assert_eq!(
        refusal(&component_importing("my:own/thing@1.0.0")),
        "imports `my:own/thing@1.0.0`, which this host does not grant to any tool"
    );
}

#[test]
fn an_import_that_no_tool_is_granted_is_named_in_the_error() {
    let import = "wasi:http/incoming-handler@0.2.3";
    assert_eq!(
        refusal(&component_importing(import)),
        format!("imports `{import}`, which this host does not grant to any tool")
    );
}

#[test]
fn an_import_that_the_host_does_not_have_is_named_in_the_error() {
    let text = r#"(component
        (import "wasi:clocks/sundial@0.2.0" (instance (export "shadow" (func))))
        (instance $tool) (export "art:tool/tool@0.1.0" (instance $tool)))"#;
    let message = refusal(&wat::parse_str(text).unwrap());
    assert!(message.contains("wasi:clocks/sundial@0.2.0"), "{message}");
}

#[test]
fn the_manifest_is_read_without_running_the_tool() {
    let inspection = inspect(&read_component(components::ECHO)).expect("it is a tool");
    let manifest = inspection.manifest.expect("the SDK writes one");
    assert_eq!((manifest.tool.as_str(), manifest.contract.as_str()), ("echo", "0.1.0"));
    assert_eq!(
        manifest.limits,
        LimitOverrides {
            fuel: Some(90_000_000),
            timeout_ms: Some(5_000),
            memory_bytes: Some(16 << 20),
            output_bytes: Some(64 << 10),
        }
    );
}

#[test]
fn the_manifest_sets_the_limits_of_the_tool() {
    let limits = guest(components::ECHO).limits();
    assert_eq!((limits.fuel, limits.timeout_ms), (90_000_000, 5_000));
    assert_eq!(limits.host_calls, Limits::EXECUTE.host_calls);
}

/// Returns a tool with these custom sections.
fn tool_with_sections(sections: &str) -> Vec<u8> {
    Handmade {
        items: sections,
        ..Handmade::default()
    }
    .build()
}

#[test]
fn a_manifest_that_requests_more_than_the_hard_maximum_is_refused() {
    let greedy = tool_with_sections(r#"(@custom "art:manifest" "{\"limits\":{\"memoryBytes\":268435457}}")"#);
    assert_eq!(
        refusal(&greedy),
        "the manifest requests a limit that is too high: limit `memoryBytes` is 268435457, more than the hard maximum 268435456"
    );
}

#[test]
fn a_manifest_that_is_not_json_is_refused() {
    let message = refusal(&tool_with_sections(r#"(@custom "art:manifest" "limits: none")"#));
    assert!(
        message.starts_with("the `art:manifest` section is invalid: "),
        "{message}"
    );
}

#[test]
fn a_limit_that_does_not_exist_is_refused() {
    let message = refusal(&tool_with_sections(
        r#"(@custom "art:manifest" "{\"limits\":{\"memory\":1}}")"#,
    ));
    assert!(message.contains("unknown field `memory`"), "{message}");
}

#[test]
fn two_manifests_are_refused() {
    let twice = tool_with_sections(r#"(@custom "art:manifest" "{}") (@custom "art:manifest" "{}")"#);
    assert_eq!(refusal(&twice), "has more than one `art:manifest` section");
}

/// Number of core instances of a tool in Python, rounded up.
const PYTHON_CORE_INSTANCES: usize = 40;
/// More core instances than the 64 that a component may have.
const TOO_MANY_CORE_INSTANCES: usize = 70;

/// Returns the text of a component with `count` core instances, which a test adds to a tool.
fn component_with_core_instances(count: usize) -> String {
    let instances = "(core instance (instantiate $m))".repeat(count);
    format!("(component (core module $m) {instances})")
}

#[tokio::test]
async fn a_tool_with_as_many_core_instances_as_a_python_tool_can_be_called() {
    let wasm = Handmade::default().build_with(&component_with_core_instances(PYTHON_CORE_INSTANCES));
    for pooling in [true, false] {
        let tool = new_sandbox(pooling).load("many", &wasm).expect("it loads");
        let ending = call(&tool, json!({}), Limits::EXECUTE).await.ending;
        assert_eq!(ending.name(), "success", "{ending:?}");
    }
}

#[test]
fn a_tool_with_too_many_core_instances_is_refused() {
    let wasm = Handmade::default().build_with(&component_with_core_instances(TOO_MANY_CORE_INSTANCES));
    for pooling in [true, false] {
        let refused = new_sandbox(pooling).load("many", &wasm).expect_err("it is refused");
        assert!(
            message_with_causes(&refused).contains("instance"),
            "{}",
            message_with_causes(&refused)
        );
    }
}

#[tokio::test]
async fn a_tool_whose_components_pass_strings_to_each_other_can_be_called() {
    let (string_bytes, extra_pages, times) = (1_000, 0, 100);
    let wasm = Handmade::default().build_with(&sender_and_receiver(string_bytes, extra_pages, times));
    let tool = sandbox().load("strings", &wasm).expect("it loads");
    let ending = call(&tool, json!({}), Limits::EXECUTE).await.ending;
    assert_eq!(ending.name(), "success", "{ending:?}");
}

#[test]
fn a_module_with_several_memories_is_refused() {
    let tool_with_second_memory = Handmade {
        items: "(memory 1)",
        ..Handmade::default()
    };
    let component_with_second_memory = r#"(component
        (core module $a (memory (export "memory") 1))
        (core module $b (import "a" "memory" (memory 1)) (memory 1))
        (core instance $a (instantiate $a))
        (core instance (instantiate $b (with "a" (instance $a)))))"#;
    for wasm in [
        tool_with_second_memory.build(),
        Handmade::default().build_with(component_with_second_memory),
    ] {
        let refused = refusal(&wasm);
        assert!(refused.contains("multiple memories"), "{refused}");
    }
}
