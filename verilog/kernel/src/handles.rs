//! The handles of a block's or a bundle's fields, as a struct that its kernel takes apart.

use crate::initial::split;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, ItemStruct, Type};

/// Names of a block's clock.
pub(crate) const CLOCKS: &[&str] = &["clk", "clk_i"];
/// Names of its reset, if that is active low.
pub(crate) const LOW_RESETS: &[&str] = &["rstn", "rst_ni"];

/// The name of the struct of handles: `SkidBufferHandles`.
pub(crate) fn handles_name(name: &Ident) -> Ident {
    format_ident!("{name}Handles")
}

/// A field with a clock, and perhaps a reset, of its own.
pub(crate) struct Domain {
    pub(crate) field: Ident,
    pub(crate) clock: Ident,
    pub(crate) reset: Option<Ident>,
}

/// The struct of handles of a block, and how it comes about. `parameters` are fields of values of the generator, which begin
/// with an underscore in the block and have none here.
pub(crate) fn of_block(item: &ItemStruct, parameters: &[(Ident, Type)], domains: &[Domain]) -> TokenStream {
    let name = &item.ident;
    let handles = handles_name(name);
    let visibility = &item.vis;
    let (generics, types, bounds) = item.generics.split_for_impl();
    let rtl = quote!(::spinneret_verilog::rtl);
    let parts: Vec<_> = item
        .fields
        .iter()
        .filter_map(|field| field.ident.as_ref().map(|ident| (ident, &field.ty, &field.vis)))
        .filter(|(ident, ..)| !ident.to_string().starts_with('_'))
        .collect();
    let fields = parts
        .iter()
        .map(|(ident, kind, vis)| quote!(#vis #ident: <#kind as #rtl::Handle>::Handle));
    let values = parts
        .iter()
        .map(|(ident, ..)| quote!(#ident: #rtl::Handle::handle(&self.#ident)));
    let kept = parameters.iter().map(|(name, kind)| quote!(#name: #kind));
    let kept_values = parameters.iter().map(|(name, _)| {
        let field = format_ident!("_{name}");
        quote!(#name: self.#field.clone())
    });
    let none = quote!(::std::option::Option::None);
    let some = |value: TokenStream| quote!(::std::option::Option::Some(#value));
    let inner = parts
        .iter()
        .filter(|(ident, kind, _)| !is_port(kind) && *ident != "clk" && *ident != "rst")
        .map(|(ident, ..)| {
            let Some(Domain { clock, reset, .. }) = domains.iter().find(|own| own.field == **ident) else {
                return quote!(#rtl::Handle::clocking(&self.#ident, &mut found););
            };
            let reset = match reset {
                Some(reset) => some(quote!(&self.#reset)),
                None => none.clone(),
            };
            quote!(#rtl::in_domain(&self.#ident, #rtl::BlockClock::new(&self.#clock, #reset, false), &mut found);)
        });
    let find = |wanted: &[&str]| {
        let mut inputs = parts
            .iter()
            .filter(|(_, kind, _)| is_input(kind))
            .map(|(ident, ..)| *ident);
        inputs.find(|ident| wanted.iter().any(|name| *ident == name))
    };
    let (high, low) = (find(&["rst"]), find(LOW_RESETS));
    let clock_of = |reset: Option<&Ident>, is_low: bool| {
        let reset = reset.map_or(none.clone(), |reset| some(quote!(&self.#reset)));
        find(CLOCKS).map_or(none.clone(), |clock| {
            some(quote!(#rtl::BlockClock::new(&self.#clock, #reset, #is_low)))
        })
    };
    let clock = clock_of(high.or(low), high.is_none() && low.is_some());
    let clocking = find(CLOCKS).map(|_| {
        // A reset that is active low is for the block around to connect.
        let clock = clock_of(high.filter(|_| low.is_none()), false);
        quote! {
            fn clocking(&self, found: &mut ::std::vec::Vec<#rtl::Clocking>) {
                found.extend(#rtl::Clocking::of_block(#clock));
            }
        }
    });
    let doc = format!("Handles of the signals of [`{name}`].");
    quote! {
        #[doc = #doc]
        #[allow(missing_docs, dead_code)]
        #[derive(Clone, Debug)]
        #visibility struct #handles #generics #bounds {
            #(#fields,)*
            #(#kept,)*
        }

        impl #generics #rtl::Handle for #name #types #bounds {
            type Handle = #handles #types;
            fn handle(&self) -> Self::Handle {
                #handles {
                    #(#values,)*
                    #(#kept_values,)*
                }
            }
            #clocking
        }

        impl #generics #name #types #bounds {
            /// Clock and reset of the block, and those of its parts.
            #[doc(hidden)]
            #[allow(unused_mut, dead_code)]
            fn __clocks(&self) -> (::std::option::Option<#rtl::BlockClock>, ::std::vec::Vec<#rtl::Clocking>) {
                let mut found = ::std::vec::Vec::new();
                #(#inner)*
                (#clock, found)
            }
        }
    }
}

/// A reset synchroniser's `rst` and a PLL's `clk` are outputs.
fn is_input(kind: &Type) -> bool {
    let Type::Path(path) = kind else { return false };
    let Some(last) = path.path.segments.last() else {
        return false;
    };
    let (types, _) = split(&last.arguments);
    matches!(types.first(), Some(Type::Path(path)) if path.path.is_ident("In"))
}

/// Ports have no clock of their own to be connected.
pub(crate) fn is_port(kind: &Type) -> bool {
    let Type::Path(path) = kind else { return false };
    path.path
        .segments
        .last()
        .is_some_and(|last| last.ident == "Wire" || last.ident == "Signal")
}

/// The name of the record that the ports of a bundle are: `Her` for `HerIn` and `HerOut`.
pub(crate) fn record_name(bundle: &Ident) -> String {
    let name = bundle.to_string();
    let record = name.strip_suffix("In").or(name.strip_suffix("Out"));
    record.unwrap_or(&name).to_owned()
}

/// The struct of handles of a bundle of ports.
pub(crate) fn of_bundle(item: &ItemStruct, ports: &[Ident]) -> TokenStream {
    let name = &item.ident;
    let handles = handles_name(name);
    let visibility = &item.vis;
    let (generics, types, bounds) = item.generics.split_for_impl();
    let rtl = quote!(::spinneret_verilog::rtl);
    let fields = item
        .fields
        .iter()
        .filter(|field| field.ident.as_ref().is_some_and(|ident| ports.contains(ident)));
    let fields = fields.map(|field| {
        let (ident, kind) = (&field.ident, &field.ty);
        quote!(pub #ident: <#kind as #rtl::Handle>::Handle)
    });
    let doc = format!("Handles of the ports of [`{name}`].");
    let record = record_name(name);
    quote! {
        #[doc = #doc]
        #[allow(missing_docs)]
        #[derive(Clone, Copy, Debug)]
        #visibility struct #handles #generics #bounds {
            #(#fields,)*
        }

        impl #generics #rtl::Handle for #name #types #bounds {
            type Handle = #handles #types;
            fn handle(&self) -> Self::Handle {
                #handles { #(#ports: #rtl::Handle::handle(&self.#ports),)* }
            }
        }

        impl #generics #rtl::Bundle for #handles #types #bounds {
            fn ports(&self, path: &str, found: &mut ::std::vec::Vec<#rtl::PortOf>) {
                #(#rtl::Bundle::ports(&self.#ports, &#rtl::below(path, stringify!(#ports)), found);)*
            }
            fn record(&self) -> &'static str {
                #record
            }
        }
    }
}
