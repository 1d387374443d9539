//! The attribute `#[service]`: makes a service that handlers call of one annotated trait.
//!
//! `spinneret_rpc::typed` describes how it is used; `spinneret-rpc-interface` does the work.

use proc_macro::TokenStream;

/// Makes a service that handlers call of a trait: see `spinneret_rpc::typed`.
#[proc_macro_attribute]
pub fn service(arguments: TokenStream, item: TokenStream) -> TokenStream {
    spinneret_rpc_interface::service(arguments.into(), item.into()).into()
}
