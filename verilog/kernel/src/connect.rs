//! `connect!(from => to)`: two bundles of ports, or two ports, joined by the names of their ports.

use crate::place;
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Macro, Member, Stmt, Token, parse_quote};

/// What stands in the brackets: both sides, and either what they are left without, `a => b, except valid, aw.user`, or the
/// fields of them that are joined, `a => b; clk, rst`.
pub(crate) struct Connections {
    sides: Vec<(Expr, Expr)>,
    except: Vec<String>,
}

impl Parse for Connections {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let from: Expr = input.parse()?;
        input.parse::<Token![=>]>()?;
        let to: Expr = input.parse()?;
        let mut all = Self {
            sides: vec![(from.clone(), to.clone())],
            except: Vec::new(),
        };
        if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            let fields = Punctuated::<Ident, Token![,]>::parse_terminated(input)?.into_iter();
            let field = |field| (parse_quote!(#from.#field), parse_quote!(#to.#field));
            all.sides = fields.map(field).collect();
        } else if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
            let word: Ident = input.parse()?;
            if word != "except" {
                return Err(syn::Error::new(word.span(), "behind a comma comes `except`"));
            }
            let ports = Punctuated::<Port, Token![,]>::parse_terminated(input)?;
            all.except = ports.into_iter().map(|port| port.0).collect();
        }
        Ok(all)
    }
}

/// `valid`, `aw.user`.
struct Port(String);

impl Parse for Port {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let parts = Punctuated::<Ident, Token![.]>::parse_separated_nonempty(input)?;
        let parts: Vec<_> = parts.iter().map(Ident::to_string).collect();
        Ok(Self(parts.join(".")))
    }
}

impl Connections {
    /// A call for each connection, of a function of `lang::connect` that works on the Rust side.
    pub(crate) fn rust(&self, function: &TokenStream) -> syn::Result<TokenStream> {
        let connect = quote!(::spinneret_verilog::lang::connect);
        let except = &self.except;
        let each = |(from, to): &(Expr, Expr)| {
            let (from_root, to_root) = (root(from)?, root(to)?);
            Ok(quote! {{
                let (__from, __to) = (#connect::is_part(&#from_root), #connect::is_part(&#to_root));
                #connect::#function(
                    #connect::Side::new(&mut #from, __from),
                    #connect::Side::new(&mut #to, __to),
                    &[#(#except),*],
                );
            }})
        };
        self.sides.iter().map(each).collect()
    }

    /// Statements that push its assignments onto `__statements`.
    pub(crate) fn hardware(&self) -> syn::Result<TokenStream> {
        let connect = quote!(::spinneret_verilog::lang::connect);
        let except = &self.except;
        let side = |side: &Expr| {
            let (root, path) = (root(side)?, place::name(side)?);
            Ok::<_, syn::Error>(
                quote!((#connect::Side::new(&mut #side.clone(), #connect::is_part(&#root)), #path.as_str())),
            )
        };
        let each = |(from, to): &(Expr, Expr)| {
            let (from, to) = (side(from)?, side(to)?);
            Ok(quote!(__statements.extend(#connect::connect_hdl(#from, #to, &[#(#except),*]));))
        };
        self.sides.iter().map(each).collect()
    }
}

/// The field of the block that a place lies in: `self.fifo` of `self.fifo.s`.
fn root(place: &Expr) -> syn::Result<&Expr> {
    match place {
        Expr::Field(field) => match &*field.base {
            Expr::Path(path) if path.path.is_ident("self") && matches!(field.member, Member::Named(_)) => {
                Ok(place)
            }
            base => root(base),
        },
        Expr::Index(index) => root(&index.expr),
        Expr::Paren(paren) => root(&paren.expr),
        other => Err(syn::Error::new(
            other.span(),
            "connect! joins ports: write self.field, self.part.field",
        )),
    }
}

/// Writes the connections of a kernel as Rust, for the function that stays.
pub(crate) fn expand(block: &mut Block) -> syn::Result<()> {
    struct Expand(syn::Result<()>);
    impl Expand {
        fn of(&mut self, invocation: &Macro) -> Option<TokenStream> {
            if !invocation.path.is_ident("connect") {
                return None;
            }
            let expanded = invocation.parse_body::<Connections>();
            match expanded.and_then(|connections| connections.rust(&quote!(connect))) {
                Ok(calls) => Some(calls),
                Err(error) => {
                    self.0 = Err(error);
                    None
                }
            }
        }
    }
    impl VisitMut for Expand {
        fn visit_stmt_mut(&mut self, statement: &mut Stmt) {
            if let Stmt::Macro(invocation) = statement
                && let Some(calls) = self.of(&invocation.mac)
            {
                *statement = Stmt::Expr(parse_quote!({ #calls }), None);
            }
            visit_mut::visit_stmt_mut(self, statement);
        }
        fn visit_expr_mut(&mut self, expression: &mut Expr) {
            if let Expr::Macro(invocation) = expression
                && let Some(calls) = self.of(&invocation.mac)
            {
                *expression = parse_quote!({ #calls });
            }
            visit_mut::visit_expr_mut(self, expression);
        }
    }
    let mut expand = Expand(Ok(()));
    expand.visit_block_mut(block);
    expand.0
}
