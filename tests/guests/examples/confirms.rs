//! Asks a person before it acts. The input may contain a form for the answer: a JSON Schema, or an object with `inputType`.

#![cfg(target_family = "wasm")]

use art_sdk::prelude::*;

#[args]
struct In {
    /// What to delete.
    what: String,
    /// The form of the answer; without it the person only approves or rejects.
    #[serde(default)]
    form: Option<Value>,
}

/// Deletes something after a person has approved.
#[tool(
    mode = "blocking",
    example(ask = "Delete \"old.txt\" after asking", input = r#"{"what":"old.txt"}"#)
)]
fn confirms(input: In, ctx: &Context) -> Result<Outcome<Value>> {
    // The first call has no decision and asks for one. After the decision, the host calls the tool again.
    match ctx.hitl() {
        None => {
            let question = Suspension::new(format!("Delete {}?", input.what)).preview(format!("- {}", input.what));
            Ok(match input.form {
                Some(form) => question.feedback_schema(form),
                None => question,
            }
            .into())
        }
        Some(decision) if decision.approved => {
            Ok(Reply::new(json!({"deleted": input.what, "answer": decision.feedback})).into())
        }
        Some(_) => Err(ToolError::validation("the person decided against it")),
    }
}
