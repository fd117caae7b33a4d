//! Checks whether a function can be a tool.

use syn::spanned::Spanned;
use syn::{Error, FnArg, Ident, ItemFn, Result, ReturnType, Signature, Type};

/// The parts of a function that the expansion needs.
pub(crate) struct ToolFunction {
    pub(crate) name: Ident,
    pub(crate) input: Type,
    /// Whether the function takes `&In` rather than `In`.
    pub(crate) borrows_input: bool,
    pub(crate) return_type: Type,
    pub(crate) takes_context: bool,
}

const EXPECTED_ARGUMENTS: &str =
    "a tool takes its input and, optionally, a `&Context`: `fn name(input: In, ctx: &Context)`";

/// Checks the signature. Each error points at the part that is wrong.
pub(crate) fn check(function: &ItemFn) -> Result<ToolFunction> {
    let signature = &function.sig;
    check_modifiers_and_generics(signature)?;
    let (input, takes_context) = input_and_context(signature)?;
    let (input, borrows_input) = owned_type(input)?;
    Ok(ToolFunction {
        name: signature.ident.clone(),
        input,
        borrows_input,
        return_type: return_type(signature)?,
        takes_context,
    })
}

fn check_modifiers_and_generics(signature: &Signature) -> Result<()> {
    let refuse = |span, text: &str| Err(Error::new(span, text));
    if let Some(keyword) = &signature.asyncness {
        return refuse(
            keyword.span,
            "a tool cannot be `async`: every call runs in a separate instance and may block",
        );
    }
    if let Some(keyword) = &signature.unsafety {
        return refuse(keyword.span, "a tool cannot be `unsafe`");
    }
    if let Some(abi) = &signature.abi {
        return refuse(abi.span(), "a tool is a plain Rust function: remove the ABI");
    }
    if !signature.generics.params.is_empty() {
        return refuse(
            signature.generics.span(),
            "a tool cannot be generic: its schemas come from concrete types",
        );
    }
    Ok(())
}

/// Returns the type that the arguments are parsed into, and whether the function borrows it.
fn owned_type(input: &Type) -> Result<(Type, bool)> {
    match input {
        Type::Reference(reference) if reference.mutability.is_none() => Ok(((*reference.elem).clone(), true)),
        Type::Reference(_) => Err(Error::new_spanned(input, "a tool takes its input as `In` or `&In`")),
        _ => Ok((input.clone(), false)),
    }
}

/// Returns the type of the input, and whether the function takes a context.
fn input_and_context(signature: &Signature) -> Result<(&Type, bool)> {
    let mut arguments = signature.inputs.iter();
    let (first, second) = (arguments.next(), arguments.next());
    if let Some(third) = arguments.next() {
        return Err(Error::new_spanned(
            third,
            format!("too many arguments; {EXPECTED_ARGUMENTS}"),
        ));
    }
    let Some(first) = first else {
        return Err(Error::new_spanned(
            &signature.ident,
            format!("no input; {EXPECTED_ARGUMENTS}; without arguments, take `_: NoArgs`"),
        ));
    };
    let input = argument_type(first)?;
    let second_type = second.map(argument_type).transpose()?;
    if lacks_named_fields(input) || second_type.is_some_and(lacks_named_fields) {
        return Err(separate_arguments_error(signature));
    }
    match second_type {
        None => Ok((input, false)),
        Some(Type::Reference(context)) if context.mutability.is_none() => Ok((input, true)),
        Some(other) => Err(Error::new_spanned(other, "the second argument of a tool is `&Context`")),
    }
}

/// Returns whether a type is known to be a single value, a list or a tuple. Such a type has no named fields, which the arguments
/// of a call need.
fn lacks_named_fields(argument: &Type) -> bool {
    const TYPES_WITHOUT_FIELDS: [&str; 20] = [
        "String", "str", "bool", "char", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128",
        "isize", "f32", "f64", "Vec", "Option",
    ];
    match argument {
        Type::Reference(reference) => lacks_named_fields(&reference.elem),
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| TYPES_WITHOUT_FIELDS.contains(&last.ident.to_string().as_str())),
        Type::Tuple(_) | Type::Array(_) | Type::Slice(_) => true,
        _ => false,
    }
}

/// Returns the error for arguments that are given one by one, as in `fn f(text: String, times: u32)`. Its text shows the type to
/// define instead, which has these arguments as its fields.
fn separate_arguments_error(signature: &Signature) -> Error {
    let is_context = |ty: &Type| matches!(ty, Type::Reference(_)) && !lacks_named_fields(ty);
    let fields = signature.inputs.iter().filter_map(|argument| match argument {
        FnArg::Typed(argument) if !is_context(&argument.ty) => {
            let (name, ty) = (&argument.pat, owned_type_text(&argument.ty));
            Some(format!("{}: {ty}", quote::quote!(#name)))
        }
        _ => None,
    });
    let fields = fields.collect::<Vec<_>>().join(", ");
    let text = format!(
        "a tool takes its arguments as one type, whose fields are filled in by the model: \
         `#[args] struct In {{ {fields} }}` and `fn {}(input: In)`",
        signature.ident
    );
    Error::new_spanned(&signature.inputs, text)
}

/// Returns the text of the type that owns the value: `String` for `&str`.
fn owned_type_text(ty: &Type) -> String {
    let text = match ty {
        Type::Reference(reference) => return owned_type_text(&reference.elem),
        ty => quote::quote!(#ty).to_string(),
    };
    if text == "str" {
        return "String".to_owned();
    }
    // Tokens are separated by spaces. Only those between two words are needed.
    let mut compact = String::with_capacity(text.len());
    for token in text.split(' ') {
        let follows_word = compact.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if follows_word && token.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '\'')) {
            compact.push(' ');
        }
        compact.push_str(token);
    }
    compact
}

fn argument_type(argument: &FnArg) -> Result<&Type> {
    match argument {
        FnArg::Typed(argument) => Ok(&argument.ty),
        FnArg::Receiver(receiver) => Err(Error::new_spanned(receiver, "a tool is a free function, not a method")),
    }
}

fn return_type(signature: &Signature) -> Result<Type> {
    match &signature.output {
        ReturnType::Type(_, output) => Ok((**output).clone()),
        ReturnType::Default => Err(Error::new_spanned(&signature.ident, "a tool returns `Result<Out>`")),
    }
}
