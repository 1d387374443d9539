//! The attribute `#[molly::scop]`: describes the loops of a function to the analysis, and turns each body into a
//! function that a rank calls for a row of instances. It reads the form only; isl sees the program when sizes are
//! numbers.

mod accesses;
mod affine;
mod expand;
mod leaf;
mod nest;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use syn::{ItemFn, parse_macro_input};

/// Makes a function with loops over fields runnable by many ranks.
///
/// The function stays as it is. The attribute adds a module of the same name with `run`, which takes a rank and then
/// the arguments of the function, `program`, the description, and `serial`, the function itself. The function must be
/// in a module, not in another function. At the end of a run, the ranks combine their sums (`&mut Sum<T>`,
/// `&mut FastSum`).
/// Functions that it calls must depend on nothing but their arguments.
#[proc_macro_attribute]
pub fn scop(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let _nothing = parse_macro_input!(arguments as syn::parse::Nothing);
    let function = parse_macro_input!(item as ItemFn);
    expand::expand(&function)
        .unwrap_or_else(|error| {
            let error = error.to_compile_error();
            quote::quote!(#function #error)
        })
        .into()
}
