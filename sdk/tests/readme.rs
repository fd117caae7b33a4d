//! The README's example of a tool with the mode `blocking`, compiled and run as it is written there.

use art_sdk::{Mode, prelude::*, testing};

// The example of the README begins here.
#[args]
struct Files {
    /// Names of the files.
    names: Vec<String>,
}

/// Deletes files after a person has approved.
#[tool(mode = "blocking", example(input = r#"{"names": []}"#))]
fn delete(input: Files, ctx: &Context) -> Result<Outcome<usize>> {
    match ctx.hitl() {
        None if input.names.is_empty() => Ok(Reply::new(0).into()),
        None => {
            let question = Suspension::new(format!("Delete {} files?", input.names.len()));
            Ok(question.preview(json!(input.names)).into())
        }
        Some(answer) if answer.approved => Ok(Reply::new(remove(&input.names)?).into()),
        Some(_) => Err(ToolError::permission_denied("the person said no")),
    }
}
// The example of the README ends here.

/// Returns the number of files. Stands for a function that removes them.
fn remove(names: &[String]) -> Result<usize> {
    Ok(names.len())
}

#[test]
fn the_readme_has_this_example() {
    let source = include_str!("readme.rs");
    let (_, rest) = source.split_once("example of the README begins here.\n").unwrap();
    let (example, _) = rest.split_once("// The example of the README ends").unwrap();
    let block = format!("```rust\n{}\n```", example.trim());
    assert!(include_str!("../README.md").contains(&block));
}

#[test]
fn the_example_asks_and_acts_on_the_answer() {
    assert_eq!(DELETE.mode(), Mode::Blocking);
    testing::check(&DELETE);
    let call = |context: &Context| testing::call_with(&DELETE, json!({"names": ["a", "b"]}), context);
    let asked = call(&Context::for_test());
    assert!(matches!(asked, Outcome::Suspended(question) if question.preview == Some(json!(["a", "b"]))));
    let decide = |approved| call(&Context::for_test().with_hitl(Hitl::for_test(approved, ())));
    assert!(matches!(decide(true), Outcome::Success(reply) if reply.output == json!(2)));
    assert!(matches!(decide(false), Outcome::Failure(error) if error.message == "the person said no"));
}
