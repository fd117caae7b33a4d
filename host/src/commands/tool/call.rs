//! `art tool call`: calls a tool, in a run that asks no model. Such a run is stored like any other, and may wait for a decision.

use art_agent::CallToMake;
use art_core::error::ToolErrorCode;
use art_core::limits::Limits;
use art_core::tool::{ToolResult, ToolStatus};
use art_runtime::config::Config;
use art_runtime::{Answer, Runtime, RuntimeError, Unwatched, UserCall, UserRun};
use art_tools::{ToolReport, same_name};
use serde_json::{Value, json};
use tokio::runtime::Runtime as Executor;

use super::super::interrupt::{AfterInterrupt, Interrupts};
use super::super::{approve, changes, open_runtime_without_model, report, run};
use super::{log_lines, unknown_tool_error};
use crate::bounded_read;
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, drawing, suggestions, units};
use crate::tokio_runtime::new_executor;

/// Calls the tool `name`. The call is stored before anything is printed. When it has ended, offers to commit the changes of files
/// that the tool staged, which are not made until a person commits them.
pub(super) fn call(global: &GlobalOptions, config: Config, name: &str, arguments: &str) -> Result<Exit, CommandError> {
    let interrupts = Interrupts::listen(AfterInterrupt::End)?;
    let executor = new_executor()?;
    let runtime = executor.block_on(open_runtime_without_model(global, config))?;
    let answer = call_and_decide(global, &executor, &runtime, &interrupts, (name, arguments));
    let exit = answer.and_then(|answer| match (show(global, &answer), answer.waits_for.is_empty()) {
        (exit, true) => changes::offer_to_commit(global, &runtime.config, &answer.trace_id).map(|()| exit),
        (_, false) => Ok(run::exit_code_of_waiting(&answer, &interrupts)),
    });
    executor.block_on(runtime.close());
    exit
}

/// Calls the tool, and asks a person at the terminal for the decisions that the call waits for.
pub(in crate::commands) fn call_and_decide(
    global: &GlobalOptions,
    executor: &Executor,
    runtime: &Runtime,
    interrupts: &Interrupts,
    (name, arguments): (&str, &str),
) -> Result<Answer, CommandError> {
    let exact_name = runtime.toolbox.names().into_iter().find(|known| same_name(known, name));
    let call = CallToMake {
        tool_name: exact_name.ok_or_else(|| unknown_tool_error(&runtime.config, &runtime.toolbox, name))?,
        arguments: parse_arguments(arguments)?,
    };
    let mut call = UserCall::from(call);
    if let Some(user) = &global.user {
        call = call.of_user(user);
    }
    let registration = interrupts.register_run();
    let called = executor.block_on(runtime.call_tool(call, registration.cancel.clone(), &mut Unwatched));
    let mut answer = called.map_err(|error| match error {
        RuntimeError::Request(reason) => CommandError::Usage(reason),
        error => error.into(),
    })?;
    drop(registration);
    while !answer.waits_for.is_empty()
        && approve::is_attended(global)
        && approve::decide_at_terminal(
            executor.handle(),
            runtime,
            global.user.as_deref(),
            interrupts,
            &answer.waits_for,
        )
    {
        let registration = interrupts.register_run();
        answer = executor.block_on(runtime.resume(
            UserRun::from(&answer.trace_id).of(global.owner()),
            registration.cancel.clone(),
            &mut Unwatched,
        ))?;
    }
    Ok(answer)
}

/// Shows how the call ended or what it waits for, and returns the exit code. There is no `answer.direct_call_report` if the call
/// did not end in this process. Then the answer of the run is shown instead, such as that the run was cancelled.
fn show(global: &GlobalOptions, answer: &Answer) -> Exit {
    let exit = run::exit_code(answer);
    if !answer.waits_for.is_empty() && answer.direct_call_report.is_none() {
        if global.json {
            let waits_for = suggestions::complete_waiting(&answer.waits_for);
            render::json(&json!({"traceId": answer.trace_id, "waitsFor": waits_for}));
        } else {
            approve::note_how_to_decide(answer);
        }
        return exit;
    }
    let Some(report) = &answer.direct_call_report else {
        if global.json {
            let error = json!({"message": answer.text(), "code": exit.name()});
            render::json(&json!({"traceId": answer.trace_id, "error": error}));
        } else if exit == Exit::Success {
            render::print(answer.text());
        } else {
            render::note(&format!("error: {}", answer.text()));
        }
        return exit;
    };
    if global.json {
        let (mut result, usage) = (report.result.clone(), &report.usage);
        suggestions::complete_denials(&mut result.metadata.denials);
        render::json(&json!({
            "traceId": answer.trace_id, "result": result, "usage": usage, "ending": report.ending, "log": report.log,
            "waitsFor": suggestions::complete_waiting(&answer.waits_for),
        }));
    } else {
        print_report(answer, report);
    }
    exit
}

/// Prints the output on stdout. Prints logs, title, files, error, the decision that the call waits for, and usage on stderr.
fn print_report(answer: &Answer, report: &ToolReport) {
    log_lines(&report.log).iter().for_each(|line| render::note(line));
    let result = &report.result;
    print_title(result);
    report::show_files(answer);
    match (&result.output, &result.error) {
        _ if result.status == ToolStatus::Suspended => approve::note_how_to_decide(answer),
        (output, Some(error)) => print_error(output.as_deref(), error, result.code),
        (Some(_), None) if drawing::has_drawing(result) => render::print(&drawing::draw(result)),
        (Some(output), None) => render::json(output),
        (None, None) => render::note("the tool returned no output"),
    }
    let usage = &report.usage;
    let (wall, fuel) = (units::micros(usage.wall_us), units::count(usage.fuel));
    render::note(&format!(
        "{wall}, {fuel} fuel, {}",
        units::bytes(usage.peak_memory_bytes)
    ));
}

/// Prints the title of the result, unless the result is drawn: a drawing includes the title.
fn print_title(result: &ToolResult) {
    let title = result.metadata.title.as_ref().filter(|_| !drawing::has_drawing(result));
    title
        .into_iter()
        .for_each(|title| render::note(&format!("title: {title}")));
}

/// Prints the error, advice about it, and the output that the tool returned despite the error.
fn print_error(output: Option<&Value>, error: &str, code: Option<ToolErrorCode>) {
    render::note(&format!("error: {error}"));
    if let Some(code) = code {
        render::note(&code.user_message());
    }
    if let Some(output) = output {
        render::note(&format!("output: {output}"));
    }
}

fn parse_arguments(arguments: &str) -> Result<Value, CommandError> {
    let text = match arguments {
        "-" => bounded_read::read_text(std::io::stdin().lock(), "stdin", Limits::MAX.input_bytes)?,
        arguments => arguments.to_owned(),
    };
    let hint = "hint: quote them for the shell, as in '{\"name\":\"value\"}'";
    art_core::json::parse(&text)
        .map_err(|error| CommandError::Usage(format!("the arguments are not JSON: {error} ({hint})")))
}
