//! Embeds the host: a tool that is a Rust function of this program, beside the components of the plugins folder.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints its answer, and what it waits for"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use art_core::outcome::Ending;
use art_core::tool::{ExecutionMode, ToolSchema};
use art_host::compose::Host;
use art_host::config::{Config, Overrides};
use art_host::drive::{Question, answer};
use art_host::plugins::Compiling;
use art_host::render::plan::watcher;
use art_store::MemoryStore;
use art_tools::DirectTool;
use art_tools::direct::{failure, success};
use serde_json::json;
use tokio_util::sync::CancellationToken;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // Everything that the host writes goes here; the plugins folder may be empty.
    let home = std::env::temp_dir().join("art-embed-example");
    let overrides = Overrides {
        home: Some(home),
        ..Overrides::default()
    };
    let config = Config::load(&overrides, &BTreeMap::new())?;
    let model = art_model::open("embedded")?;

    let told = |compiling: Compiling<'_>| match compiling {
        Compiling::Count(compiled) => eprintln!("compiled {} of {} components", compiled.done, compiled.of),
        Compiling::Slow(file) => eprintln!("`{file}` takes long to compile"),
    };
    let host = Host::assemble(config, Arc::new(MemoryStore::new()), model, &told)?;
    host.tools.registry().register(Arc::new(population()))?;

    let question = Question {
        query: "What is the population of Paris?".to_owned(),
        ..Question::default()
    };
    let answered = answer(&host, question, CancellationToken::new(), watcher(false).as_mut()).await?;
    println!("{}", answered.report.response.response.content);
    Ok(())
}

/// A tool that runs in this program, not in the sandbox: for what only the program can do.
fn population() -> DirectTool {
    let schema = ToolSchema {
        name: "city_population".to_owned(),
        description: "Returns the population of a city: how many people live there.".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {"city": {"type": "string", "enum": ["Paris", "Berlin", "Rome"], "description": "The city."}},
            "required": ["city"],
            "additionalProperties": false,
        }),
        output_schema: None,
        examples: Vec::new(),
        execution_mode: ExecutionMode::Functional,
        blocking_config: None,
        display_config: None,
    };
    DirectTool::new(schema, |call| async move {
        let city = call.arguments.get("city").and_then(|city| city.as_str());
        look_up(city.unwrap_or_default())
    })
}

fn look_up(city: &str) -> Ending {
    match city {
        "Paris" => success(&json!({"city": city, "population": 2_048_000})),
        "Berlin" => success(&json!({"city": city, "population": 3_685_000})),
        "Rome" => success(&json!({"city": city, "population": 2_751_000})),
        _ => failure(
            art_core::error::ToolErrorCode::NotFound,
            format!("`{city}` is not in the list"),
        ),
    }
}
