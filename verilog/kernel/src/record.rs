//! `#[record(...)]`: the positions of the fields of a packed word.

use crate::arguments::Arguments;
use crate::initial::split;
use crate::module::named;
use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Expr, ItemStruct, Type, parse_quote};

/// The struct with a field for the bits of all, and its constructor.
pub(crate) fn expand(arguments: &Arguments, mut item: ItemStruct) -> syn::Result<TokenStream> {
    let fields = named(&mut item)?;
    let first = fields.named.first().map(|field| field.ident.clone());
    let (mut names, mut widths) = (Vec::new(), Vec::new());
    let (mut signals, mut values) = (Vec::new(), Vec::new());
    for field in &mut fields.named {
        let width = width(&field.ty)?;
        let (name, visibility) = (&field.ident, &field.vis);
        let prelude = quote!(::spinneret_verilog::prelude);
        let is_flag = matches!(&width, Expr::Lit(literal) if matches!(&literal.lit, syn::Lit::Int(bits) if bits.base10_digits() == "1"));
        let (kind, value) = match is_flag {
            true => (quote!(#prelude::Sig<bool>), quote!(word.flag(self.#name))),
            false => (quote!(#prelude::Sig), quote!(word.field(self.#name))),
        };
        signals.push(quote!(#visibility #name: #kind));
        values.push(quote!(#name: #value));
        widths.push(width);
        names.push(field.ident.clone());
        field.ty = parse_quote!(::spinneret_verilog::lang::Field);
    }
    fields.named.push(parse_quote! {
        /// Bits of all.
        pub width: usize
    });
    let (name, visibility, statements) = (&item.ident, &item.vis, &arguments.statements);
    let of = quote::format_ident!("{name}Signals");
    let doc = format!("Fields of a word that is a [`{name}`].");
    let parameters = arguments
        .parameters
        .iter()
        .map(|(name, kind)| quote!(#name: #kind));
    Ok(quote! {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #item

        impl #name {
            /// The fields one behind the other, the first at bit 0.
            #visibility fn new(#(#parameters),*) -> Self {
                #(#statements)*
                let [#(#names),*] = ::spinneret_verilog::lang::Layout::place(
                    stringify!(#name),
                    [#((stringify!(#names), ::spinneret_verilog::lang::Place::from(#widths))),*],
                );
                let width = 0 #(+ #names.width)*;
                Self { #(#names,)* width }
            }

            /// The fields of a signal.
            #[track_caller]
            #[allow(dead_code)]
            #visibility fn of(self, word: ::spinneret_verilog::prelude::Sig) -> #of {
                #of { #(#values),* }
            }
        }

        #[doc = #doc]
        #[allow(missing_docs, dead_code)]
        #[derive(Clone, Copy, Debug)]
        #visibility struct #of {
            #(#signals),*
        }

        impl ::std::convert::From<#name> for ::spinneret_verilog::lang::Place {
            fn from(record: #name) -> Self {
                record.#first.layout().as_place()
            }
        }
    })
}

/// The width in `Field<{ width }>`.
fn width(kind: &Type) -> syn::Result<Expr> {
    let refuse = || syn::Error::new(kind.span(), "give its width: Field<{ width }>");
    let Type::Path(path) = kind else {
        return Err(refuse());
    };
    let last = path.path.segments.last().filter(|last| last.ident == "Field");
    match split(&last.ok_or_else(refuse)?.arguments).1.as_slice() {
        [width] => Ok(width.clone()),
        _ => Err(refuse()),
    }
}

#[cfg(test)]
mod tests {
    use super::expand;
    use crate::arguments::Arguments;
    use syn::parse_quote;

    #[test]
    fn a_field_without_a_width_is_refused() {
        for item in [
            parse_quote!(
                struct A {
                    a: Field,
                }
            ),
            parse_quote!(
                struct A {
                    a: usize,
                }
            ),
        ] {
            let error = expand(&Arguments::default(), item).expect_err("it is refused");
            assert_eq!(error.to_string(), "give its width: Field<{ width }>");
        }
    }
}
