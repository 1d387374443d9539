//! The attribute `#[service]`: makes a service that handlers call of one annotated trait.
//!
//! ```text
//!  trait --arguments, types, length, parse--> Interface --layout--> where everything stands in packets
//!                                                 |
//!             text: canonical, hash <-------------+------> header: stubs in C      host: trait, Service
//! ```
//!
//! `spinneret_rpc::service` describes how it is used.

mod header;
mod host;
mod length;
mod packet;
mod parse;
mod service;
#[cfg(test)]
mod tests;
mod text;
mod types;

use proc_macro::TokenStream;
use syn::{ItemTrait, parse_macro_input};

/// Makes a service that handlers call of a trait: see `spinneret_rpc::typed`.
#[proc_macro_attribute]
pub fn service(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as types::Arguments);
    let item = parse_macro_input!(item as ItemTrait);
    parse::interface(arguments, &item)
        .map_or_else(
            |error| error.to_compile_error(),
            |interface| host::expand(&interface),
        )
        .into()
}
