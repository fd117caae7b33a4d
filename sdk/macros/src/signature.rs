//! Whether a function can be a tool.

use syn::spanned::Spanned;
use syn::{Error, FnArg, Ident, ItemFn, Result, ReturnType, Signature, Type};

/// The parts of a function that the expansion needs.
pub(crate) struct Shape {
    pub(crate) name: Ident,
    pub(crate) input: Type,
    /// The function takes `&In` rather than `In`.
    pub(crate) borrows: bool,
    pub(crate) output: Type,
    pub(crate) takes_context: bool,
}

const ARGUMENTS: &str = "a tool takes its input and, if it likes, a `&Context`: `fn name(input: In, ctx: &Context)`";

/// Checks the signature; every error stands at the part that is wrong.
pub(crate) fn shape(function: &ItemFn) -> Result<Shape> {
    let signature = &function.sig;
    plain(signature)?;
    let (input, takes_context) = arguments(signature)?;
    let (input, borrows) = owned(input)?;
    Ok(Shape {
        name: signature.ident.clone(),
        input,
        borrows,
        output: returned(signature)?,
        takes_context,
    })
}

fn plain(signature: &Signature) -> Result<()> {
    let refuse = |span, text: &str| Err(Error::new(span, text));
    if let Some(keyword) = &signature.asyncness {
        return refuse(
            keyword.span,
            "a tool cannot be `async`: every call has an instance of its own and may block",
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

/// The type to parse the arguments into, and whether the function borrows it.
fn owned(input: &Type) -> Result<(Type, bool)> {
    match input {
        Type::Reference(reference) if reference.mutability.is_none() => Ok(((*reference.elem).clone(), true)),
        Type::Reference(_) => Err(Error::new_spanned(input, "a tool takes its input as `In` or `&In`")),
        _ => Ok((input.clone(), false)),
    }
}

fn arguments(signature: &Signature) -> Result<(&Type, bool)> {
    let mut arguments = signature.inputs.iter();
    let (first, second) = (arguments.next(), arguments.next());
    if let Some(third) = arguments.next() {
        return Err(Error::new_spanned(third, format!("too many arguments; {ARGUMENTS}")));
    }
    let Some(first) = first else {
        return Err(Error::new_spanned(
            &signature.ident,
            format!("no input; {ARGUMENTS}; without arguments, take `_: NoArgs`"),
        ));
    };
    let input = typed(first)?;
    match second.map(typed).transpose()? {
        None => Ok((input, false)),
        Some(Type::Reference(context)) if context.mutability.is_none() => Ok((input, true)),
        Some(other) => Err(Error::new_spanned(other, "the second argument of a tool is `&Context`")),
    }
}

fn typed(argument: &FnArg) -> Result<&Type> {
    match argument {
        FnArg::Typed(argument) => Ok(&argument.ty),
        FnArg::Receiver(receiver) => Err(Error::new_spanned(receiver, "a tool is a free function, not a method")),
    }
}

fn returned(signature: &Signature) -> Result<Type> {
    match &signature.output {
        ReturnType::Type(_, output) => Ok((**output).clone()),
        ReturnType::Default => Err(Error::new_spanned(&signature.ident, "a tool returns `Result<Out>`")),
    }
}
