//! Registers a function as a tool, and asks a question that the tool answers. The model is the small one in `art_runtime`.
#![expect(clippy::print_stdout, reason = "an example prints its answer")]

use art_runtime::prelude::*;

#[args]
struct Arguments {
    /// Name of the city.
    city: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let description = "Returns the population of a city: how many people live there.";
    let tool = DirectTool::typed("city_population", description, async |arguments: Arguments| {
        let cities = [("Paris", 2_048_000), ("Rome", 2_751_000)];
        let found = cities.into_iter().find(|(city, _)| *city == arguments.city);
        found.map(|(_, people)| people).ok_or("the city is not in the list")
    });
    let tool = tool.example("What is the population of Rome?", json!({"city": "Rome"}));
    let runtime = Runtime::builder().tool(tool).build().await?;
    println!("{}", runtime.ask("What is the population of Paris?").await?);
    Ok(())
}
