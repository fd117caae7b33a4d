//! From a checked function to the code beside it.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, ItemFn, Result};

use crate::options::{self, Config, Example, Mode, Options};
use crate::signature::{self, Shape};
use crate::{describe, manifest};

pub(crate) fn tool(options: TokenStream, item: &TokenStream) -> TokenStream {
    // The function itself always comes out, so that a mistake here is not followed by one error for each use of it.
    match beside(options, item) {
        // A tool owns its input whether it consumes it or not; clippy would ask for a reference.
        Ok(beside) => quote!(#[allow(clippy::needless_pass_by_value)] #item #beside),
        Err(error) => {
            let error = error.to_compile_error();
            quote!(#item #error)
        }
    }
}

pub(crate) fn beside(options: TokenStream, item: &TokenStream) -> Result<TokenStream> {
    let Ok(function) = syn::parse2::<ItemFn>(item.clone()) else {
        return Err(Error::new_spanned(item, "`#[tool]` goes on a function"));
    };
    let shape = signature::shape(&function)?;
    let options = options::parse(options)?;
    let description = describe::description(&function.attrs, &shape.name)?;
    let name = match &options.name {
        Some(name) => name.value(),
        None => function_name(&shape)?,
    };
    let definition = definition(&shape, &options, &name, &description);
    Ok(handle(&function, &shape, &name, &definition))
}

fn function_name(shape: &Shape) -> Result<String> {
    let name = shape.name.to_string();
    let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
    options::check_name(&name, shape.name.span())?;
    Ok(name)
}

/// The static that stands for the tool, and in a component its section and its export.
fn handle(function: &ItemFn, shape: &Shape, name: &str, definition: &TokenStream) -> TokenStream {
    let visibility = &function.vis;
    let fn_name = shape.name.to_string();
    // A name of the call site, so that tests can use it, but with a span of this macro, so that lints leave it alone.
    let handle = format_ident!(
        "{}",
        fn_name.trim_start_matches("r#").to_uppercase(),
        span = Span::call_site()
    );
    let doc = format!("The tool `{name}` as a value.");
    quote! {
        #[doc = #doc]
        #visibility static #handle: ::art_sdk::Tool = {
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
            ::art_sdk::Tool::of::<__Tool>()
        };
        // Without a use the function would be dead code in a native build, where nothing exports it.
        const _: &::art_sdk::Tool = &#handle;
    }
}

fn definition(shape: &Shape, options: &Options, name: &str, description: &str) -> TokenStream {
    let Shape {
        name: function,
        input,
        borrows,
        output,
        takes_context,
    } = shape;
    let (before, after) = manifest::text(name, &options.limits, &options.capabilities);
    let mode = mode(options.mode);
    let examples = options.examples.iter().map(example);
    let blocking = options.blocking.as_ref().map(|config| configured("blocking", config));
    let display = options.display.as_ref().map(|config| configured("display", config));
    let borrow = borrows.then(|| quote!(&));
    let context = takes_context.then(|| quote!(context));
    // Errors about a type belong at the type.
    let input = quote_spanned!(input.span()=> type Input = #input;);
    let output = quote_spanned!(output.span()=> type Return = #output;);
    quote! {
        impl ::art_sdk::__private::Definition for __Tool {
            const NAME: &'static str = #name;
            const DESCRIPTION: &'static str = #description;
            const MODE: ::art_sdk::Mode = #mode;
            const EXAMPLES: &'static [::art_sdk::Example] = &[#(#examples),*];
            const MANIFEST: &'static str = ::core::concat!(#before, ::core::env!("CARGO_PKG_VERSION"), #after);
            #input
            #output
            fn call(input: Self::Input, context: &::art_sdk::Context) -> Self::Return {
                #function(#borrow input, #context)
            }
            #blocking
            #display
        }
    }
}

fn mode(mode: Option<Mode>) -> TokenStream {
    match mode {
        None | Some(Mode::Functional) => quote!(::art_sdk::Mode::Functional),
        Some(Mode::Blocking) => quote!(::art_sdk::Mode::Blocking),
        Some(Mode::Display) => quote!(::art_sdk::Mode::Display),
    }
}

fn example(example: &Example) -> TokenStream {
    let option = |text: &Option<syn::LitStr>| match text {
        Some(text) => quote!(::core::option::Option::Some(#text)),
        None => quote!(::core::option::Option::None),
    };
    let (input, output, description) = (&example.input, option(&example.output), option(&example.description));
    quote!(::art_sdk::Example { input: #input, output: #output, description: #description })
}

fn configured(method: &str, config: &Config) -> TokenStream {
    let method = format_ident!("{method}");
    let value = match config {
        Config::Text(text) => quote!(::core::option::Option::Some(::std::string::String::from(#text))),
        Config::Value(value) => quote_spanned!(value.span()=> ::art_sdk::__private::json_text(#value)),
    };
    quote! {
        fn #method() -> ::core::option::Option<::std::string::String> {
            #value
        }
    }
}
