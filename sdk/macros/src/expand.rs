//! Generates the code that `#[tool]` adds to a function.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, ItemFn, Result};

use crate::options::{self, Config, Example, Mode, Options};
use crate::signature::{self, ToolFunction};
use crate::{describe, manifest};

/// Expands to the function and the code that makes it a tool, or to the function and a compile error.
pub(crate) fn tool(options: TokenStream, item: &TokenStream) -> TokenStream {
    // Always emit the function itself, so that a mistake in its options or its signature does not cause one more error at each
    // use of the function.
    match generate(options, item) {
        // Clippy would suggest a reference for an input that the function only reads, but a tool may take any input by value.
        Ok(generated) => quote!(#[allow(clippy::needless_pass_by_value)] #item #generated),
        Err(error) => {
            let error = error.to_compile_error();
            quote!(#item #error)
        }
    }
}

/// Checks the function and its options, and returns the code to add after the function.
pub(crate) fn generate(options: TokenStream, item: &TokenStream) -> Result<TokenStream> {
    let Ok(function) = syn::parse2::<ItemFn>(item.clone()) else {
        return Err(Error::new_spanned(item, "`#[tool]` goes on a function"));
    };
    let tool_function = signature::check(&function)?;
    let options = options::parse(options)?;
    let description = describe::description(&function.attrs, &tool_function.name)?;
    let name = match &options.name {
        Some(name) => name.value(),
        None => default_tool_name(&tool_function, &env("CARGO_PKG_NAME"))?,
    };
    let definition = definition(&tool_function, &options, &name, &description);
    let earlier_tool = earlier_tool_of_crate(&env("CARGO_CRATE_NAME"), &tool_function.name.to_string());
    let second_tool_error = earlier_tool.map(|earlier| second_tool_error(&tool_function, &earlier));
    let static_item = tool_static(&function, &tool_function, &name, &definition);
    Ok(quote!(#second_tool_error #static_item))
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Returns the name of a tool without the option `name`: the name of the package if only hyphens distinguish it from the name of
/// the function, otherwise the name of the function.
pub(crate) fn default_tool_name(tool_function: &ToolFunction, package: &str) -> Result<String> {
    let name = tool_function.name.to_string();
    let name = name.strip_prefix("r#").unwrap_or(&name);
    let name = if package.replace('-', "_") == name {
        package
    } else {
        name
    };
    options::check_name(name, tool_function.name.span())?;
    Ok(name.to_owned())
}

/// Returns the first tool that was found in the crate, or `None` if that is `function` itself. Remembers the first tool of each
/// crate, since an editor expands several crates in one process, and each of them repeatedly.
pub(crate) fn earlier_tool_of_crate(crate_name: &str, function: &str) -> Option<String> {
    static TOOLS: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut tools = TOOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let first = tools
        .entry(crate_name.to_owned())
        .or_insert_with(|| function.to_owned());
    (first != function).then(|| first.clone())
}

/// Generates the compile error for a second tool in a crate. It occurs only when the crate is compiled to WebAssembly: for
/// other targets, as in tests, a crate with several tools compiles.
fn second_tool_error(tool_function: &ToolFunction, first: &str) -> TokenStream {
    let text = format!(
        "a crate contains one tool, and `{first}` is one already: move `{}` into another crate (`art plugin new {}`)",
        tool_function.name, tool_function.name
    );
    quote_spanned!(tool_function.name.span()=> #[cfg(target_family = "wasm")] ::core::compile_error!(#text);)
}

/// Generates the `static` of the tool and, in a component, its manifest section and its export.
fn tool_static(function: &ItemFn, tool_function: &ToolFunction, name: &str, definition: &TokenStream) -> TokenStream {
    let visibility = &function.vis;
    let fn_name = tool_function.name.to_string();
    // With the span of the attribute, tests next to the function can use the name of the static, and lints skip the static.
    let static_name = format_ident!(
        "{}",
        fn_name.trim_start_matches("r#").to_uppercase(),
        span = Span::call_site()
    );
    let doc = format!("The tool `{name}` as a value.");
    quote! {
        #[doc = #doc]
        #visibility static #static_name: ::art_sdk::Tool = {
            struct __Tool;
            #definition
            #[cfg(target_family = "wasm")]
            const _: () = {
                const TEXT: &str = <__Tool as ::art_sdk::__private::Definition>::MANIFEST;
                #[used]
                #[unsafe(link_section = "art:manifest")]
                static MANIFEST: [u8; TEXT.len()] = ::art_sdk::__private::section(TEXT);
                ::art_sdk::__private::bindings::__export!(__Tool with_types_in ::art_sdk::__private::bindings);
            };
            ::art_sdk::Tool::from_definition::<__Tool>()
        };
        // Without this use the function would be dead code in a native build, which exports nothing.
        const _: &::art_sdk::Tool = &#static_name;
    }
}

/// Generates the implementation of `Definition`, which describes the tool and calls the function.
fn definition(tool_function: &ToolFunction, options: &Options, name: &str, description: &str) -> TokenStream {
    let ToolFunction {
        name: function,
        input,
        borrows_input,
        return_type,
        takes_context,
    } = tool_function;
    let (manifest_start, manifest_end) = manifest::text_around_version(name, &options.limits, &options.capabilities);
    let mode = mode_path(options.mode);
    let examples = options.examples.iter().flat_map(expand_example);
    let blocking = options
        .blocking
        .as_ref()
        .map(|config| config_method("blocking", config));
    let display = options.display.as_ref().map(|config| config_method("display", config));
    let borrow = borrows_input.then(|| quote!(&));
    let context = takes_context.then(|| quote!(context));
    // Give each type its own span, so that a compile error about a type points at it.
    let input = quote_spanned!(input.span()=> type Input = #input;);
    let to_tool_error = to_tool_error(return_type);
    let return_type = quote_spanned!(return_type.span()=> type Return = #return_type;);
    quote! {
        impl ::art_sdk::__private::Definition for __Tool {
            const NAME: &'static str = #name;
            const DESCRIPTION: &'static str = #description;
            const MODE: ::art_sdk::Mode = #mode;
            const EXAMPLES: &'static [::art_sdk::Example] = &[#(#examples),*];
            const MANIFEST: &'static str = ::core::concat!(#manifest_start, ::core::env!("CARGO_PKG_VERSION"), #manifest_end);
            #input
            #return_type
            fn call(input: Self::Input, context: &::art_sdk::Context) -> Self::Return {
                #function(#borrow input, #context)
            }
            #to_tool_error
            #blocking
            #display
        }
    }
}

/// Generates the conversion from the function's error to a `ToolError`; compile errors in it point at the return type.
fn to_tool_error(return_type: &syn::Type) -> TokenStream {
    quote_spanned! {return_type.span()=>
        fn to_tool_error(error: <Self::Return as ::art_sdk::__private::Fallible>::Error) -> ::art_sdk::ToolError {
            // Which of the traits is used depends on the type of the error.
            #[allow(unused_imports)]
            use ::art_sdk::__private::conversion::{HasDisplay, HasInto, HasIntoToolError, HasNone, Probe};
            // The four references make method lookup try the traits in their order: see `conversion` in `art_sdk`.
            let conversion = (&&&&Probe(&error)).conversion();
            conversion.tool_error(error)
        }
    }
}

fn mode_path(mode: Option<Mode>) -> TokenStream {
    match mode {
        None | Some(Mode::Functional) => quote!(::art_sdk::Mode::Functional),
        Some(Mode::Blocking) => quote!(::art_sdk::Mode::Blocking),
        Some(Mode::Display) => quote!(::art_sdk::Mode::Display),
    }
}

/// Generates an `art_sdk::Example` for each question of `example`, or one without a question if there are no questions.
fn expand_example(example: &Example) -> Vec<TokenStream> {
    let option = |text: Option<&syn::LitStr>| match text {
        Some(text) => quote!(::core::option::Option::Some(#text)),
        None => quote!(::core::option::Option::None),
    };
    let (input, output) = (&example.input, option(example.output.as_ref()));
    let example_with_ask = |ask| quote!(::art_sdk::Example { input: #input, output: #output, ask: #ask });
    match example.questions.as_slice() {
        [] => vec![example_with_ask(option(None))],
        questions => questions
            .iter()
            .map(|ask| example_with_ask(option(Some(ask))))
            .collect(),
    }
}

/// Generates the method `blocking` or `display` of the definition, which returns the configuration as JSON text.
fn config_method(method: &str, config: &Config) -> TokenStream {
    let method = format_ident!("{method}");
    let value = match config {
        Config::Text(text) => quote!(::core::option::Option::Some(::std::string::String::from(#text))),
        Config::Expression(expression) => {
            quote_spanned!(expression.span()=> ::art_sdk::__private::json_text(#expression))
        }
    };
    quote! {
        fn #method() -> ::core::option::Option<::std::string::String> {
            #value
        }
    }
}
