use art_core::stream::ModelReply;
use proptest::prelude::*;

use super::*;
use crate::parse::parse_answer;

/// Returns the text that is shown if `text` arrives in pieces of `lengths` bytes, and then the rest in one piece.
fn shown_text(text: &str, lengths: &[usize]) -> String {
    let mut stream = AnswerStream::new();
    let mut shown = String::new();
    let mut from = 0;
    for length in lengths {
        let to = text.floor_char_boundary(from + length);
        shown.push_str(&stream.push(&text[from..to]));
        from = to;
    }
    shown.push_str(&stream.push(&text[from..]));
    shown.push_str(&stream.finish());
    shown
}

/// The lengths for [`shown_text`] with which the text arrives in one piece.
const ONE_PIECE: &[usize] = &[];

/// Returns the text that is shown of a reply of the planner, if it arrives character by character.
fn shown_planner_text(text: &str) -> String {
    let mut stream = AnswerStream::of_planner();
    let mut shown: String = text.chars().map(|c| stream.push(c.encode_utf8(&mut [0; 4]))).collect();
    shown.push_str(&stream.finish());
    shown
}

/// Returns the answer in a whole reply.
fn answer_in(text: &str) -> String {
    let reply = ModelReply {
        text: text.to_owned(),
        ..ModelReply::default()
    };
    parse_answer(&reply).answer
}

/// Returns the text that is shown after each of `pieces`, and then after the end of the reply.
fn shown_pieces(pieces: &[&str]) -> Vec<String> {
    let mut stream = AnswerStream::new();
    let mut shown: Vec<_> = pieces.iter().map(|piece| stream.push(piece)).collect();
    shown.push(stream.finish());
    shown
}

#[test]
fn the_answer_is_streamed_without_its_tags() {
    let input = [
        "<main",
        "Content> The ",
        "answer",
        " is 4",
        "2.</mainCon",
        "tent><uiMetadata>{}",
    ];
    assert_eq!(shown_pieces(&input), ["", "The", " answer", " is 4", "2.", "", ""]);
}

#[test]
fn a_reply_of_the_planner_that_begins_like_a_plan_is_not_shown() {
    for plan in [
        "{\"todoList\": [{\"id\": \"a\"}]}",
        " [1]",
        "```json\n{\"answer\": \"42\"}\n```",
        "---JSON_OUTPUT_START---\n{}\n---JSON_OUTPUT_END---",
        "<think>a plan</think>\n{\"title\": \"a long title\"}",
        "a plan\n</think>\n{\"title\": \"a long title\"}",
    ] {
        assert_eq!(shown_planner_text(plan), "", "{plan}");
    }
}

#[test]
fn prose_of_the_planner_is_shown_like_any_answer() {
    for text in [
        "Hello!",
        "--- a line, and then the answer {} [1]",
        "The answer is forty two.\n<uiMetadata>{\"a\": 1}</uiMetadata>",
        "<think>so</think>The answer is forty two.\n```json\n{\"suggestedQuestions\":[]}\n```",
    ] {
        assert_eq!(shown_planner_text(text), answer_in(text), "{text}");
    }
}

#[test]
fn thoughts_are_not_shown() {
    let input = ["<think>let me", " see</thi", "nk><mainContent>42", "</mainContent>"];
    assert_eq!(shown_pieces(&input), ["", "", "42", "", ""]);
}

#[test]
fn think_tags_inside_the_answer_are_shown() {
    for text in [
        "The tag `</think>` ends the thoughts.",
        "<think>so</think>Write <think>a</think> around them.",
    ] {
        let content = text.trim_start_matches("<think>so</think>");
        assert_eq!(
            (shown_text(text, &[3; 9]), answer_in(text)),
            (content.to_owned(), content.to_owned())
        );
    }
}

#[test]
fn think_tags_are_shown_if_the_thoughts_arrive_separately() {
    let shown_after = |thought: &str| {
        let mut stream = AnswerStream::new();
        stream.push_thoughts(thought);
        let shown = stream.push("<think>is</think> the tag");
        shown + &stream.finish()
    };
    assert_eq!(shown_after("hm"), "<think>is</think> the tag");
    assert_eq!(shown_after("\n"), "the tag");
}

#[test]
fn a_reply_without_tags_is_shown_after_its_first_sixteen_characters() {
    assert_eq!(
        shown_pieces(&["The answer", " is forty", " two"]),
        ["", "The answer is forty", " two", ""]
    );
    assert_eq!(shown_pieces(&["42"]), ["", "42"]);
}

#[test]
fn metadata_after_an_untagged_answer_is_not_shown() {
    let input = [
        "The answer is forty two.\n",
        "```js",
        "on\n{\"suggestedQuestions\":",
        "[]}\n```",
        "\n",
    ];
    assert_eq!(shown_pieces(&input), ["The answer is forty two.", "", "", "", "", ""]);
    let input = [
        "The answer is forty two. <ui",
        "Metadata>{\"suggestedQuestions\":[]}</uiMetadata>",
    ];
    assert_eq!(shown_pieces(&input).concat(), "The answer is forty two.");
}

#[test]
fn a_fence_is_shown_as_soon_as_text_follows_it() {
    let input = ["See this long example:\n```json\n{\"a\":1}\n``", "`\nand", " more"];
    assert_eq!(
        shown_pieces(&input),
        ["See this long example:", "\n```json\n{\"a\":1}\n```\nand", " more", ""]
    );
}

#[test]
fn an_incomplete_tag_and_an_unclosed_thought_are_shown_when_the_reply_ends() {
    assert_eq!(shown_pieces(&["<mainContent>a </mainC"]), ["a", " </mainC"]);
    assert_eq!(shown_pieces(&["<think>no end"]), ["", "no end"]);
}

#[test]
fn text_before_main_content_is_shown_if_it_has_at_least_sixteen_characters() {
    let text = "Sure, here is the answer: <mainContent>42</mainContent>";
    assert_eq!(answer_in(text), "42");
    assert_eq!(shown_text(text, ONE_PIECE), "Sure, here is the answer: 42");
}

/// Repeats `piece` up to a length of one mebibyte.
fn repeat_to_a_mebibyte(piece: &str) -> String {
    piece.repeat((1 << 20) / piece.len())
}

// This test and the next one would take minutes if the time grew with the square of the length of a reply.
#[test]
fn the_text_shown_of_a_reply_full_of_tags_ends_with_the_answer() {
    for repeated in [
        "```json",
        "</think>",
        "<think>",
        "<think>a</think>",
        "<uiMetadata>",
        "<mainContent>",
        "```json {\"a\":",
    ] {
        // The long text has sixteen characters, not counting white space, so it is shown as the beginning of an answer.
        for before in [
            "",
            "A long text of words",
            "A long text of words<think>",
            "<mainContent>a",
        ] {
            let text = format!("{before}{}", repeat_to_a_mebibyte(repeated));
            let shown = shown_text(&text, ONE_PIECE);
            assert!(shown.ends_with(&answer_in(&text)), "{before}{repeated}");
        }
    }
}

#[test]
fn a_long_reply_in_small_pieces_is_shown_as_its_answer() {
    const PIECE_BYTES: usize = 16;
    let beginnings = [
        "",
        "a",
        "A long text of words ```json {\"a\":\"",
        "A long text of words ```json",
        "A long text of words ```json {}",
        "<mainContent>a<uiMetadata>",
        "<think>",
    ];
    for beginning in beginnings {
        for repeated in [" ", "`", "a"] {
            let text = format!("{beginning}{}", repeat_to_a_mebibyte(repeated));
            let text = byte_prefix(&text, MAX_REPLY_BYTES);
            assert_eq!(
                shown_text(text, &vec![PIECE_BYTES; text.len() / PIECE_BYTES]),
                answer_in(text),
                "{beginning}{repeated}"
            );
        }
    }
}

/// Pattern of replies: tags, fences and texts in any order.
const REPLY_PATTERN: &str = "(<think>|</think>|<mainContent>|</mainContent>|<uiMetadata>|</uiMetadata>|```json|```|\\{\\}|\
                      \\{\"a\":\"b\"\\}|<|`| |\n|word|a long text of words|é🦀){0,16}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_division_into_pieces_does_not_change_the_shown_text(
        text in REPLY_PATTERN,
        lengths in prop::collection::vec(0usize..9, 0..30),
    ) {
        prop_assert_eq!(shown_text(&text, &lengths), shown_text(&text, ONE_PIECE));
    }

    #[test]
    fn the_shown_text_ends_with_the_answer(text in REPLY_PATTERN) {
        let (shown, answer) = (shown_text(&text, ONE_PIECE), answer_in(&text));
        prop_assert!(shown.ends_with(&answer), "{:?} does not end with {:?}", shown, answer);
    }

    #[test]
    fn if_main_content_is_absent_or_comes_first_the_shown_text_is_the_answer(
        thoughts in "(<think>(a|<|é| |\\{\\}){0,5}</think>){0,2}",
        main in "(<mainContent>)?",
        text in "(word|a long text of words| |\n|```|```json|\\{\"a\":1\\}|<|é|<think>a</think>){0,12}",
        end in "(|</mainContent>)(|<uiMetadata>\\{\\}</uiMetadata>|\n```json\n\\{\"a\":1\\}\n```\n)",
        lengths in prop::collection::vec(0usize..9, 0..30),
    ) {
        let text = format!("{thoughts}{main}{text}{end}");
        prop_assert_eq!(shown_text(&text, &lengths), answer_in(&text));
    }
}
