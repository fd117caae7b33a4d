//! Asks the embedded model a question that a function of this program answers.
#![expect(clippy::print_stdout, reason = "an example prints its answer")]

use art_runtime::prelude::*;

#[args]
struct Place {
    /// Name of the city.
    city: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let about = "Returns the population of a city: how many people live there.";
    let tool = DirectTool::typed("city_population", about, async |place: Place| {
        let known = [("Paris", 2_048_000), ("Rome", 2_751_000)];
        let found = known.into_iter().find(|(city, _)| *city == place.city);
        found.map(|(_, people)| people).ok_or("the city is not in the list")
    });
    let tool = tool.example("What is the population of Rome?", json!({"city": "Rome"}));
    let runtime = Runtime::builder().tool(tool).build().await?;
    println!("{}", runtime.ask("What is the population of Paris?").await?);
    Ok(())
}
