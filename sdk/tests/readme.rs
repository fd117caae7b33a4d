//! The code of the README, compiled as it is written there: each block is in a module or a function that has what the block needs.
//! The tests at the end check that no block is missing, and run some of them.

#![expect(dead_code, unused_variables, reason = "most of the code is only compiled")]

#[rustfmt::skip]
mod word_count {
    use art_sdk::prelude::*;

    #[args]
    struct In {
        /// The text to count in.
        text: String,
    }

    /// Counts the words of a text.
    #[tool]
    fn word_count(input: In) -> Result<usize> {
        Ok(input.text.split_whitespace().count())
    }

    pub(crate) fn runs_in_a_test() {
        use art_sdk::{prelude::*, testing};

        assert_eq!(testing::output(&WORD_COUNT, json!({"text": "to be"})), 2);
        assert_eq!(testing::failure(&WORD_COUNT, json!({})).code, ErrorCode::ValidationError);
        testing::check(&WORD_COUNT); // each example succeeds with its declared output

        let ctx = Context::for_test().with_user("u").with_hitl(Hitl::for_test(true, ()));
        let outcome = testing::call_with(&WORD_COUNT, json!({"text": "to be"}), &ctx);
        assert!(ctx.logged().is_empty());
    }
}

#[rustfmt::skip]
mod promises {
    use art_sdk::{never_null, output, promise, schemars, serde_json::json};

    #[output]
    #[schemars(transform = promises)]
    struct Counts {
        #[serde(skip_serializing_if = "Option::is_none")]
        words: Option<usize>,
        #[serde(skip_serializing_if = "Option::is_none")]
        lines: Option<usize>,
    }

    /// If the input has `only`, that count is there; without it, both are.
    fn promises(schema: &mut schemars::Schema) {
        never_null(schema);
        promise(schema, json!({"only": ["words", null]}), json!({"required": ["words"]}));
        promise(schema, json!({"only": ["lines", null]}), json!({"required": ["lines"]}));
    }
}

#[rustfmt::skip]
mod options {
    use art_sdk::prelude::*;

    #[args]
    struct In {
        text: String,
        #[serde(default)]
        path: Option<String>,
        #[serde(default)]
        url: Option<String>,
    }

    /// Counts the words of a text.
    #[tool(
        name = "word_count",                        // instead of the function's name
        mode = "functional",                        // or "blocking", "display"
        risk = "high",                              // or "low", "medium", "critical"
        example(ask = "How many words are in \"to be\"?", input = r#"{"text":"to be"}"#, output = "2"),
        limits(fuel = 2_000_000, memory = "16 MiB", timeout = "5s", output = "1 MiB"),
        capabilities(
            fs(read, path = "{args.path}", reason = "reads the table"), // or read_write; without `path`: all that is granted
            http("https://api.example.com/v1", methods("GET"), reason = "asks for rates"),
            http("{args.url}"),                     // the origin of the URL in an argument; or `any`: all that is granted
            env("LANG"),
        ),
    )]
    fn count(input: In) -> Result<usize> {
        Ok(input.text.split_whitespace().count())
    }

    pub(crate) fn tool() -> &'static art_sdk::Tool {
        &COUNT
    }
}

#[rustfmt::skip]
mod requests {
    use art_sdk::{http, prelude::*};

    #[args]
    struct In {
        /// Address of the page.
        url: String,
    }

    /// Returns the text of a page.
    #[tool(capabilities(http("{args.url}")))]
    fn page(input: In) -> Result<String> {
        let page = http::get(&input.url)?;
        page.success()?.text()
    }

    pub(crate) fn runs_in_a_test() {
        art_sdk::testing::answer_http(|request| Ok(http::Response::new(200, "hello")));
        let output = art_sdk::testing::output(&PAGE, json!({"url": "https://example.com/"}));
        assert_eq!(output, "hello");
    }
}

#[rustfmt::skip]
mod examples {
    use art_sdk::prelude::*;

    #[args]
    struct In {
        value: f64,
        from: String,
        to: String,
    }

    /// Converts a mass.
    #[tool(
        example(
            ask = "How many kilograms are 5 pounds?",
            ask = "Convert 5 pounds to kilograms",         // another wording of the same question
            input = r#"{"value":5,"from":"pounds","to":"kilograms"}"#,
        ),
    )]
    fn convert(input: In) -> Result<f64> {
        Ok(input.value * 0.45)
    }
}

#[rustfmt::skip]
mod errors {
    use std::fmt;

    use art_sdk::prelude::*;

    struct In {
        port: String,
    }

    fn port(input: &In) -> Result<u16> {
        if !input.port.is_empty() {
            let port: u16 = input.port.parse()?;                                 // any error, with the code `unknown`
            let port: u16 = input.port.parse().map_err(ToolError::validation)?;  // any error, with a chosen code
            return Err(ToolError::not_found("no row `7`").retryable().metadata("row", 7));
        }
        Ok(80)
    }

    enum RowError {
        Missing(u32),
        Broken(u32),
    }

    impl fmt::Display for RowError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let (Self::Missing(row) | Self::Broken(row)) = self;
            write!(f, "row `{row}`")
        }
    }

    impl IntoToolError for RowError {
        fn into_tool_error(self) -> ToolError {
            match self {
                Self::Missing(_) => ToolError::not_found(self),     // the text comes from its `Display`
                Self::Broken(_) => ToolError::validation(self),
            }
        }
    }
}

#[rustfmt::skip]
mod replies {
    use art_sdk::prelude::*;

    fn reply(out: usize, csv: &str) -> Result<Reply<usize>> {
        Ok(Reply::new(out).title("4 words").source("dictionary").attachment(Attachment::new("text/csv", csv)).metadata("ms", 3))
    }

    fn subtask(text: &str) -> Result<Outcome<usize>> {
        Ok(Subtask::new("summarise it", json!({"text": text})).max_depth(1).into())
    }
}

#[rustfmt::skip]
mod delete {
    use art_sdk::prelude::*;

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

    /// Returns the number of files. Stands for a function that removes them.
    fn remove(names: &[String]) -> Result<usize> {
        Ok(names.len())
    }

    pub(crate) fn tool() -> &'static art_sdk::Tool {
        &DELETE
    }
}

#[rustfmt::skip]
mod files {
    use art_sdk::prelude::*;

    struct In {
        path: String,
    }

    fn read(input: &In) -> Result<usize> {
        use std::fs;

        use art_sdk::files;

        let text = files::read_text(&input.path, 1 << 20)?;
        let entries = fs::read_dir(&input.path).map_err(|error| files::explain(&input.path, &error))?;
        Ok(text.len())
    }

    fn write(input: &In, text: String, ctx: &Context) -> Result<Outcome<usize>> {
        use art_sdk::change::Change;

        let change = Change::of_file(&input.path, text)?;
        if let Some(question) = change.question(ctx)? {
            return Ok(question.into());
        }
        change.write()?;    // fails if the file is not the one that the person saw
        Ok(Reply::new(change.after.len()).into())
    }
}

#[cfg(test)]
mod checks {
    use std::fs;
    use std::path::Path;

    use art_sdk::{Mode, prelude::*, testing};

    use super::{delete, options, requests, word_count};

    /// Returns the blocks of code of a text in Markdown, each with the language after its fence.
    fn blocks(markdown: &str) -> Vec<(&str, &str)> {
        let fenced = markdown.split("```").skip(1).step_by(2);
        fenced.map(|block| block.split_once('\n').unwrap()).collect()
    }

    /// Returns the lines of a text without white space around them.
    fn trimmed_lines(text: &str) -> String {
        text.lines().map(|line| line.trim().to_owned() + "\n").collect()
    }

    /// Returns the first name of each path in a block, such as `http` for `http::get`.
    fn path_roots(block: &str) -> impl Iterator<Item = &str> {
        block.match_indices("::").filter_map(|(at, _)| {
            let before = &block[..at];
            let start = before
                .rfind(|c: char| !c.is_alphanumeric() && c != '_')
                .map_or(0, |at| at + 1);
            // A path such as `a::b::c` has one root.
            (!before[..start].ends_with("::") && start < at).then(|| &before[start..])
        })
    }

    /// Asserts that a reader of a block knows where its names come from: the block imports or defines each of them, unless it is in
    /// the prelude of the SDK or of Rust.
    fn assert_names_are_imported(block: &str) {
        let (_, prelude) = include_str!("../src/lib.rs").split_once("pub mod prelude {").unwrap();
        let (prelude, _) = prelude.split_once("\n}").unwrap();
        let has_word = |text: &str, word: &str| {
            text.split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|part| part == word)
        };
        for root in path_roots(block) {
            let mut lines = block.lines().map(str::trim);
            let is_introduced = lines.any(|line| {
                ["use ", "struct ", "enum ", "fn "]
                    .iter()
                    .any(|start| line.starts_with(start))
                    && has_word(line, root)
            });
            let is_known = ["std", "art_sdk", "Self", "Option"].contains(&root) || has_word(prelude, root);
            assert!(is_introduced || is_known, "`{root}` is not imported:\n{block}");
        }
    }

    #[test]
    fn every_block_of_code_of_the_readme_is_compiled_here() {
        let source = trimmed_lines(include_str!("readme.rs"));
        let mut compiled = 0;
        for (language, block) in blocks(include_str!("../README.md")) {
            match language {
                "rust" => {
                    assert!(source.contains(&trimmed_lines(block)), "not compiled:\n{block}");
                    assert_names_are_imported(block);
                    compiled += 1;
                }
                "sh" | "toml" => {}
                other => panic!("a block with the language `{other}` is not checked:\n{block}"),
            }
        }
        assert!(compiled > 10, "only {compiled} blocks");
    }

    /// Returns the sources of a crate, each with its path.
    fn sources(folder: &Path) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(sources(&path));
            } else {
                found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
            }
        }
        found
    }

    #[test]
    fn no_example_of_the_documentation_is_skipped() {
        let sdk = Path::new(env!("CARGO_MANIFEST_DIR"));
        let sources = [sources(&sdk.join("src")), sources(&sdk.join("macros/src"))].concat();
        assert!(sources.len() > 20, "{}", sources.len());
        for (path, source) in sources {
            let comments = source.lines().map(str::trim);
            let fences =
                comments.filter_map(|line| line.strip_prefix("/// ```").or_else(|| line.strip_prefix("//! ```")));
            for words in fences {
                let is_skipped = ["ignore", "no_run", "compile_fail"]
                    .iter()
                    .any(|word| words.contains(word));
                assert!(!is_skipped, "{path}: an example is marked `{words}`");
            }
        }
    }

    #[test]
    fn the_examples_of_the_readme_run() {
        word_count::runs_in_a_test();
        requests::runs_in_a_test();
        testing::check(options::tool());
    }

    #[test]
    fn the_example_with_a_question_asks_and_acts_on_the_answer() {
        assert_eq!(delete::tool().mode(), Mode::Blocking);
        testing::check(delete::tool());
        let call = |context: &Context| testing::call_with(delete::tool(), json!({"names": ["a", "b"]}), context);
        let asked = call(&Context::for_test());
        assert!(matches!(asked, Outcome::Suspended(question) if question.preview == Some(json!(["a", "b"]))));
        let decide = |approved| call(&Context::for_test().with_hitl(Hitl::for_test(approved, ())));
        assert!(matches!(decide(true), Outcome::Success(reply) if reply.output == json!(2)));
        assert!(matches!(decide(false), Outcome::Failure(error) if error.message == "the person said no"));
    }
}
