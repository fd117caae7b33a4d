//! Tests that expand the attributes without compiling the result. Most of them check the errors that the attributes report.

use proc_macro2::TokenStream;
use quote::quote;

use crate::data::{self, Role};
use crate::{expand, signature};

/// Returns the error that the attribute reports for these options on this item.
fn refusal(options: TokenStream, item: &TokenStream) -> String {
    expand::generate(options, item)
        .expect_err("the attribute accepts it")
        .to_string()
}

/// Returns a function that can be a tool.
fn tool_function() -> TokenStream {
    quote!(
        /// Counts words.
        fn word_count(input: In) -> Result<Out> {}
    )
}

fn assert_options_refused(options: TokenStream, message: &str) {
    assert_eq!(refusal(options, &tool_function()), message);
}

fn assert_item_refused(item: &TokenStream, message: &str) {
    assert_eq!(refusal(TokenStream::new(), item), message);
}

#[test]
fn a_tool_needs_a_description() {
    let text = "a tool needs a doc comment: the model reads it as the description";
    assert_item_refused(
        &quote!(
            fn f(input: In) -> Result<Out> {}
        ),
        text,
    );
    assert_item_refused(
        &quote!(
            #[doc = "  "]
            fn f(input: In) -> Result<Out> {}
        ),
        text,
    );
}

#[test]
fn a_tool_is_a_plain_function() {
    assert_item_refused(
        &quote!(
            struct In;
        ),
        "`#[tool]` goes on a function",
    );
    assert_item_refused(
        &quote!(
            async fn f(input: In) -> Result<Out> {}
        ),
        "a tool cannot be `async`: every call runs in a separate instance and may block",
    );
    assert_item_refused(
        &quote!(
            fn f<T>(input: T) -> Result<Out> {}
        ),
        "a tool cannot be generic: its schemas come from concrete types",
    );
    assert_item_refused(
        &quote!(
            unsafe fn f(input: In) -> Result<Out> {}
        ),
        "a tool cannot be `unsafe`",
    );
    assert_item_refused(
        &quote!(
            extern "C" fn f(input: In) -> Result<Out> {}
        ),
        "a tool is a plain Rust function: remove the ABI",
    );
}

#[test]
fn a_tool_takes_an_input_and_optionally_a_context() {
    let usage = "a tool takes its input and, optionally, a `&Context`: `fn name(input: In, ctx: &Context)`";
    assert_item_refused(
        &quote!(
            fn f() -> Result<Out> {}
        ),
        &format!("no input; {usage}; without arguments, take `_: NoArgs`"),
    );
    assert_item_refused(
        &quote!(
            fn f(a: A, b: &Context, c: C) -> Result<Out> {}
        ),
        &format!("too many arguments; {usage}"),
    );
    assert_item_refused(
        &quote!(
            fn f(&self) -> Result<Out> {}
        ),
        "a tool is a free function, not a method",
    );
    assert_item_refused(
        &quote!(
            fn f(a: A, b: Context) -> Result<Out> {}
        ),
        "the second argument of a tool is `&Context`",
    );
    assert_item_refused(
        &quote!(
            fn f(a: &mut A) -> Result<Out> {}
        ),
        "a tool takes its input as `In` or `&In`",
    );
    assert_item_refused(
        &quote!(
            fn f(a: A) {}
        ),
        "a tool returns `Result<Out>`",
    );
}

#[test]
fn a_name_that_the_host_refuses_is_an_error() {
    let rule = "a lower case letter, then at most 63 of `a-z`, `0-9`, `_` and `-`";
    for name in ["", "Word", "1st", "a b", "-a", "_a", &"a".repeat(65)] {
        assert_options_refused(
            quote!(name = #name),
            &format!("`{name}` cannot be the name of a tool: {rule}"),
        );
    }
    let item = quote!(
        fn wordCount(input: In) -> Result<Out> {}
    );
    let item = quote!(#[doc = "Counts."] #item);
    assert_item_refused(&item, &format!("`wordCount` cannot be the name of a tool: {rule}"));
}

#[test]
fn a_name_may_have_hyphens() {
    assert!(expand::generate(quote!(name = "password-strength"), &tool_function()).is_ok());
}

#[test]
fn a_tool_has_the_name_of_its_package_if_the_function_differs_only_in_hyphens() {
    let function = syn::parse2(tool_function()).unwrap();
    let checked_function = signature::check(&function).unwrap();
    for (package, name) in [
        ("word-count", "word-count"),
        ("word_count", "word_count"),
        ("count-words", "word_count"),
        ("", "word_count"),
    ] {
        assert_eq!(
            expand::default_tool_name(&checked_function, package).unwrap(),
            name,
            "{package}"
        );
    }
}

#[test]
fn a_crate_contains_one_tool() {
    assert_eq!(expand::earlier_tool_of_crate("a_crate", "first"), None);
    assert_eq!(
        expand::earlier_tool_of_crate("a_crate", "first"),
        None,
        "an editor may expand the same tool again"
    );
    assert_eq!(expand::earlier_tool_of_crate("another_crate", "second"), None);
    assert_eq!(
        expand::earlier_tool_of_crate("a_crate", "second").as_deref(),
        Some("first")
    );
}

#[test]
fn the_error_for_separate_arguments_shows_them_as_fields_of_one_type() {
    let expected = |fields: &str| {
        format!(
            "a tool takes its arguments as one type, whose fields are filled in by the model: `#[args] struct In {{ {fields} \
             }}` and `fn f(input: In)`"
        )
    };
    assert_item_refused(
        &quote!(
            fn f(text: String, times: u32) -> Result<Out> {}
        ),
        &expected("text: String, times: u32"),
    );
    assert_item_refused(
        &quote!(
            fn f(text: &str) -> Result<Out> {}
        ),
        &expected("text: String"),
    );
    assert_item_refused(
        &quote!(
            fn f(words: Vec<String>, ctx: &Context) -> Result<Out> {}
        ),
        &expected("words: Vec<String>"),
    );
    assert_item_refused(
        &quote!(
            fn f(words: Vec<&'static str>, next: Box<dyn Next>) -> Result<Out> {}
        ),
        &expected("words: Vec<&'static str>, next: Box<dyn Next>"),
    );
    assert_item_refused(
        &quote!(
            fn f(input: In, times: &u32) -> Result<Out> {}
        ),
        &expected("input: In, times: u32"),
    );
}

#[test]
fn mistakes_in_options_are_named() {
    assert_options_refused(
        quote!(mod_e = "x"),
        "unknown option `mod_e`; expected `name`, `mode`, `blocking`, `display`, `risk`, `example`, `limits` or `capabilities`",
    );
    assert_options_refused(
        quote!(mode = "modal"),
        "unknown mode `modal`; expected `functional`, `blocking` or `display`",
    );
    assert_options_refused(
        quote!(risk = "extreme"),
        "unknown risk `extreme`; expected `low`, `medium`, `high` or `critical`",
    );
    assert_options_refused(quote!(name = "a", name = "b"), "`name` is given twice");
    assert_options_refused(quote!(name), "expected `name = ..`");
    assert_options_refused(quote!(limits = 1), "expected `limits(..)`");
    assert_options_refused(
        quote!(limits(cpu = 1)),
        "unknown option `cpu`; expected `fuel`, `memory`, `timeout` or `output`",
    );
    assert_options_refused(
        quote!(limits(fuel = "many")),
        "expected a number above zero, such as `2_000_000`",
    );
}

#[test]
fn json_is_checked_while_the_tool_compiles() {
    assert_options_refused(
        quote!(example(input = r#"{"a": }"#)),
        "`input` is not JSON: expected value at line 1 column 7",
    );
    assert_options_refused(quote!(example(input = "[]")), "`input` is not a JSON object");
    assert_options_refused(
        quote!(blocking = "high"),
        "`blocking` is not JSON: expected value at line 1 column 1",
    );
}

#[test]
fn mistakes_in_an_example_are_named() {
    assert_options_refused(quote!(example(output = "1")), "an example needs `input = ..`");
    assert_options_refused(quote!(example(input = "{}", input = "{}")), "`input` is given twice");
    assert_options_refused(
        quote!(example(input = "{}", description = "two words")),
        "an example has no `description`: write `ask = \"..\"`, the question that a person would ask to get this input",
    );
    assert_options_refused(
        quote!(example(input = "{}", ask = " ")),
        "`ask` is empty: write the question as a person would ask it",
    );
    assert_options_refused(
        quote!(example(input = "{}", question = "x")),
        "unknown option `question`; expected `ask`, `input` or `output`",
    );
}

#[test]
fn a_configuration_of_another_mode_is_refused() {
    assert_options_refused(
        quote!(mode = "display", blocking = "{}"),
        "`blocking = ..` needs `mode = \"blocking\"`",
    );
    assert_options_refused(
        quote!(blocking = "{}", display = "{}"),
        "`display = ..` needs `mode = \"display\"`",
    );
    assert!(expand::generate(quote!(mode = "blocking", blocking = "{}"), &tool_function()).is_ok());
}

#[test]
fn a_tool_of_any_mode_may_have_a_risk() {
    for options in [
        quote!(risk = "high"),
        quote!(risk = "high", mode = "blocking"),
        quote!(risk = "high", display = "{}"),
    ] {
        assert!(expand::generate(options, &tool_function()).is_ok());
    }
    assert_options_refused(
        quote!(risk = "high", blocking = "{}"),
        "`risk` cannot be combined with `blocking`: write `riskLevel` in `blocking`",
    );
}

#[test]
fn an_http_capability_has_a_full_url_without_wildcards() {
    for url in [
        "example.com",
        "ftp://example.com",
        "https://",
        "https://*.example.com",
        "https://u@h/",
        "https://h/?q",
    ] {
        let expected = "expected `https://host/path` without user, query, fragment or wildcard";
        assert_options_refused(
            quote!(capabilities(http(#url))),
            &format!("`{url}` cannot be granted; {expected}"),
        );
    }
}

#[test]
fn capabilities_of_all_kinds_are_accepted_and_malformed_references_are_refused() {
    for options in [
        quote!(capabilities(fs(read, path = "{args.path}"))),
        quote!(capabilities(http("{args.url}", methods("GET", "HEAD")))),
        quote!(capabilities(http(any, methods("POST"), reason = "to send"))),
        quote!(capabilities(env("LANG", "TZ", reason = "to format"))),
    ] {
        expand::generate(options, &tool_function()).unwrap();
    }
    for reference in ["{args.}", "{path}", "{args.a b}", "{args.path"] {
        let expected = format!("`{reference}` is no argument of the call; expected `{{args.NAME}}`");
        assert_options_refused(quote!(capabilities(fs(read, path = #reference))), &expected);
        assert_options_refused(quote!(capabilities(http(#reference))), &expected);
    }
}

#[test]
fn mistakes_in_a_capability_are_named() {
    assert_options_refused(
        quote!(capabilities(net)),
        "unknown option `net`; expected `fs(..)`, `http(..)` or `env(..)`",
    );
    assert_options_refused(quote!(capabilities(fs)), "expected `fs(read)` or `fs(read_write)`");
    assert_options_refused(quote!(capabilities(http("https://x", methods("get")))), {
        "unknown method `get`; expected one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
    });
    assert_options_refused(
        quote!(capabilities(http(everything))),
        "expected a URL, `\"{args.NAME}\"` or `any`",
    );
    assert_options_refused(
        quote!(capabilities(fs(read, path = "/etc"))),
        "`/etc` is no argument of the call; expected `{args.NAME}`",
    );
    assert_options_refused(
        quote!(capabilities(fs(path = "{args.path}"))),
        "expected `fs(read)` or `fs(read_write)`",
    );
    assert_options_refused(
        quote!(capabilities(env())),
        "expected names of variables, as in `env(\"LANG\")`",
    );
    assert_options_refused(quote!(capabilities(env("A-B"))), "`A-B` is no name of a variable");
    assert_options_refused(
        quote!(capabilities(env)),
        "expected names of variables, as in `env(\"LANG\")`",
    );
}

#[test]
fn a_mistake_leaves_the_item_in_place() {
    let item = quote!(
        fn word_count() {}
    );
    let text = expand::tool(TokenStream::new(), &item).to_string();
    assert!(text.starts_with("fn word_count () { }"), "{text}");
    assert!(text.contains("compile_error"), "{text}");
}

/// Returns the code of a type with these options.
fn expand_with_options(role: Role, options: &TokenStream, item: &TokenStream) -> String {
    data::expand(role, &quote!(::art_sdk), options, item).to_string()
}

#[test]
fn an_option_of_args_or_output_that_does_not_exist_is_an_error() {
    let item = quote!(
        struct In;
    );
    for (options, message) in [
        (
            quote!(open),
            "unknown option `open`; expected `ignore_unknown`, or `#[serde(..)]` on the type",
        ),
        (quote!(ignore_unknown = true), "`ignore_unknown` takes no value"),
        (
            quote!(ignore_unknown, ignore_unknown),
            "`ignore_unknown` is given twice",
        ),
    ] {
        let text = expand_with_options(Role::Args, &options, &item);
        assert!(text.contains(message), "{text}");
    }
    let text = expand_with_options(Role::Output, &quote!(ignore_unknown), &item);
    assert!(text.contains("this attribute takes no options"), "{text}");
}

#[test]
fn a_union_is_refused() {
    let text = expand_with_options(Role::Output, &TokenStream::new(), &quote!(union In { a: u8 }));
    assert!(text.contains("a tool's types are structs and enums"), "{text}");
}

#[test]
fn ignore_unknown_applies_in_either_order_of_args_and_output() {
    let item = quote!(
        struct In;
    );
    let with_args_below = quote!(#[args(ignore_unknown)] #item);
    let with_output_below = quote!(#[output] #item);
    let (none, ignoring) = (TokenStream::new(), quote!(ignore_unknown));
    for (role, options, item, is_refusing) in [
        (Role::Args, &none, &item, true),
        (Role::Args, &ignoring, &item, false),
        (Role::Args, &ignoring, &with_output_below, false),
        (Role::Output, &none, &with_args_below, false),
        (Role::Args, &none, &with_output_below, true),
    ] {
        let text = expand_with_options(role, options, item);
        assert_eq!(text.contains("deny_unknown_fields"), is_refusing, "{text}");
        assert!(!text.contains("compile_error"), "{text}");
    }
}

#[test]
fn a_wrong_option_of_the_other_role_is_an_error() {
    let item = quote!(
        #[args(open)]
        struct In;
    );
    let text = expand_with_options(Role::Output, &TokenStream::new(), &item);
    assert!(text.contains("unknown option `open`"), "{text}");
}

fn expand_args(item: &TokenStream) -> String {
    data::expand(Role::Args, &quote!(::art_sdk), &TokenStream::new(), item).to_string()
}

#[test]
fn the_derives_come_from_the_crate_that_exports_the_attribute() {
    let item = quote!(
        struct In;
    );
    let text = data::expand(Role::Args, &quote!(::art_runtime), &TokenStream::new(), &item).to_string();
    assert!(text.contains("\"::art_runtime::serde\""), "{text}");
    assert!(!text.contains("art_sdk"), "{text}");
}

#[test]
fn a_type_that_contains_itself_is_refused_with_alternatives() {
    for item in [
        quote!(
            struct Tree {
                children: Vec<Tree>,
            }
        ),
        quote!(
            struct Tree {
                next: Option<Box<Self>>,
            }
        ),
        quote!(
            struct Tree(Vec<(u8, [Tree; 2])>);
        ),
        quote!(
            enum Tree {
                Leaf,
                Node { left: Box<Tree> },
            }
        ),
    ] {
        let text = expand_args(&item);
        assert!(
            text.contains("`Tree` contains itself, so its schema would be infinite: define"),
            "{text}"
        );
    }
}

#[test]
fn a_type_whose_schema_does_not_contain_itself_is_accepted() {
    for item in [
        quote!(
            struct Tree {
                other: forest::Tree,
                tree: Trees,
            }
        ),
        quote!(
            struct Tree {
                #[schemars(with = "String")]
                parent: Option<Box<Tree>>,
            }
        ),
        quote!(
            struct Tree {
                #[serde(skip)]
                parent: Option<Box<Tree>>,
            }
        ),
        quote!(
            struct Tree {
                #[schemars(schema_with = "children_schema")]
                children: Vec<Self>,
            }
        ),
    ] {
        let text = expand_args(&item);
        assert!(!text.contains("compile_error"), "{text}");
    }
}
