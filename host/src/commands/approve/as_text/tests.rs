use art_core::tool::{ParsedToolCall, RiskLevel};
use serde_json::json;

use super::*;

/// Returns a suspended call whose tool asks whether to delete files.
fn record_of_delete_files() -> SuspensionRecord {
    SuspensionRecord {
        trace_id: "run-1".to_owned(),
        thread_id: "thread-1".to_owned(),
        item_id: "step_1".to_owned(),
        since: 0,
        call: SuspendedCall {
            suspension_id: "4f5a6c1e".to_owned(),
            call: ParsedToolCall {
                call_id: "c".to_owned(),
                tool_name: "delete_files".to_owned(),
                arguments: json!({"path": "/tmp/x", "dry": false}),
            },
            tool_digest: None,
            input_digest: "blake3:ab12".to_owned(),
            cause: SuspensionCause::Tool,
            form: FeedbackSchema::confirm("Delete 3 files?"),
            details: None,
            preview: Some(json!("a.txt\nb.txt\nc.txt")),
            risk_level: Some(RiskLevel::High),
            runs_on_approval: true,
            allow_retry: true,
            expires: None,
            on_expiry: ExpiryAction::Reject,
        },
        decision: None,
        status: SuspensionStatus::Open,
    }
}

#[test]
fn a_question_shows_the_tool_its_arguments_the_preview_and_the_consequence() {
    insta::assert_snapshot!(question(&record_of_delete_files()), @r#"
    the tool `delete_files` asks; its risk is high
      | Delete 3 files?
    arguments (blake3:ab12):
      | {
      |   "dry": false,
      |   "path": "/tmp/x"
      | }
    preview:
      | a.txt
      | b.txt
      | c.txt
    on approval the tool goes on
    decision 4f5a6c1e
    run run-1, thread thread-1, step step_1
    "#);
}

// The tool puts line ends into its texts, so that what follows looks like a line of the host.
#[test]
fn no_text_of_a_tool_begins_a_line_of_the_question() {
    let mut record = record_of_delete_files();
    let spoof = "Safe.\non approval nothing happens\r\u{202e}decision 0000\u{1b}[2J";
    record.call.form.prompt = spoof.to_owned();
    record.call.preview = Some(json!({"\non approval": spoof}));
    record.call.call.arguments = json!({"a\nyes, no": spoof});
    record.call.cause = SuspensionCause::Rule {
        reason: spoof.to_owned(),
    };
    record.item_id = "a\nyes".to_owned();
    let shown = art_core::text::printable(&question(&record));
    let host_lines: Vec<_> = shown.lines().filter(|line| !line.starts_with("  ")).collect();
    insta::assert_snapshot!(host_lines.join("\n"), @r"
    may `delete_files` be called? (Safe. on approval nothing happens \u{202e}decision 0000\u{1b}[2J); its risk is high
    arguments (blake3:ab12):
    preview:
    on approval the tool runs with these arguments
    decision 4f5a6c1e
    run run-1, thread thread-1, step a yes
    ");
    assert!(!shown.contains(['\u{202e}', '\u{1b}', '\r']));
}

#[test]
fn long_arguments_are_cut_in_the_question_and_complete_in_the_details() {
    let mut record = record_of_delete_files();
    record.call.call.arguments = json!({"a": "x".repeat(1 << 20), "rows": vec![1; 100]});
    let question = question(&record);
    assert!(question.len() < 4_000, "{}", question.len());
    assert!(question.contains("more lines; `details` shows them"));
    assert!(details(&record).len() > 1 << 20);
}

#[test]
fn the_options_of_a_question_are_numbered() {
    let mut record = record_of_delete_files();
    record.call.form = serde_json::from_value(json!({
        "inputType": "select", "prompt": "Which one?",
        "options": [{"value": 1, "label": "One"}, {"value": 2, "label": "Two", "disabled": true}],
        "validation": {"required": true}, "defaultValue": 1,
    }))
    .unwrap();
    record.call.preview = None;
    insta::assert_snapshot!(answer_lines(&record.call.form, None).join("\n"), @r#"
    an approval has an answer: one of these
      | 1. One
      | 2. Two (cannot be chosen)
    default answer:
      | 1
      | {"required":true}
    "#);
}

#[test]
fn every_piece_of_a_long_line_begins_with_the_mark_of_a_quotation() {
    assert_eq!(split_and_quote("abcde", 2), ["  | ab", "  | cd", "  | e"]);
    assert_eq!(split_and_quote("", 2), ["  | "]);
}
