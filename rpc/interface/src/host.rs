//! The generated Rust code: the trait, and the service that packs and unpacks for its implementors.

use crate::header::{self, canonical, hash};
use crate::types::{Kind, kind_name, loud, snake};
use crate::{Direction, Form, Function, Interface, Parameter};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, TraitItem, parse_quote};

/// All of it.
pub(crate) fn expand(interface: &Interface) -> TokenStream {
    let handles = interface
        .handles
        .iter()
        .zip(1_u32..)
        .map(|(kind, number)| handle(interface, kind, number));
    let described = described(interface);
    let own_trait = own_trait(interface);
    let service = service(interface);
    quote!(#(#handles)* #described #own_trait #service)
}

/// The trait as it was written, whose futures need not be of other threads.
fn own_trait(interface: &Interface) -> TokenStream {
    let mut item = interface.item.clone();
    for item in &mut item.items {
        if let TraitItem::Fn(item) = item
            && item.sig.asyncness.take().is_some()
        {
            let output = match &item.sig.output {
                syn::ReturnType::Default => quote!(()),
                syn::ReturnType::Type(_, type_) => quote!(#type_),
            };
            item.sig.output = parse_quote!(-> impl ::core::future::Future<Output = #output>);
        }
    }
    quote!(#item)
}

/// A kind of handles: its type, those that are always there, and their sizes.
fn handle(interface: &Interface, kind: &Kind, number: u32) -> TokenStream {
    let (visibility, name) = (&interface.visibility, &kind.name);
    let about = format!("A handle of `{}`: kind {number}.", interface.name);
    let predefined = kind.predefined.iter().zip(0_u32..).map(|(one, index)| {
        let constant = format_ident!("{}_{}", loud(&kind_name(kind)), one.name);
        let about = format!("The predefined handle {}.", one.name);
        quote! {
            #[doc = #about]
            #[allow(dead_code)]
            #visibility const #constant: #name = #name::predefined(#index);
        }
    });
    let size = kind.has_sizes().then(|| {
        let function = format_ident!("{}_size", kind_name(kind));
        let constants = kind.predefined.iter().filter(|one| one.bytes.is_some());
        let arms = constants.map(|one| {
            let constant = format_ident!("{}_{}", loud(&kind_name(kind)), one.name);
            let bytes = one.bytes;
            quote!(#constant => ::core::option::Option::Some(#bytes))
        });
        quote! {
            /// Bytes of what the handle stands for, if it is a predefined one.
            #visibility fn #function(handle: #name) -> ::core::option::Option<u32> {
                match handle { #(#arms,)* _ => ::core::option::Option::None }
            }
        }
    });
    quote! {
        #[doc = #about]
        #visibility type #name = ::spinneret_rpc::handle::Handle<#number>;
        #(#predefined)*
        #size
    }
}

/// The module that says what the service is.
fn described(interface: &Interface) -> TokenStream {
    let (visibility, name) = (&interface.visibility, &interface.name);
    let module = format_ident!("{}", snake(name));
    let about = format!("What [`{name}`] is: its functions, and their stubs in C.");
    let c_header = header::c_header(interface);
    let functions = interface.functions.iter().map(|function| {
        let constant = format_ident!("{}", loud(&function.name.to_string()));
        let c_name = interface.c_name(function);
        let opcode = interface.opcode(function);
        let text = canonical(interface, function);
        let (hash, is_off) = (hash(&text), function.is_off);
        let about = format!("The function `{}`.", function.name);
        quote! {
            #[doc = #about]
            pub const #constant: ::spinneret_rpc::typed::Function = ::spinneret_rpc::typed::Function {
                name: #c_name, opcode: #opcode, text: #text, hash: #hash, is_off: #is_off,
            };
        }
    });
    let constants = interface
        .functions
        .iter()
        .map(|function| format_ident!("{}", loud(&function.name.to_string())));
    quote! {
        #[doc = #about]
        #[allow(dead_code, unreachable_pub)]
        #visibility mod #module {
            /// The header that handlers include.
            pub const C_HEADER: &str = #c_header;
            /// All functions.
            pub const FUNCTIONS: &[::spinneret_rpc::typed::Function] = &[#(#constants),*];
            #(#functions)*
        }
    }
}

fn service(interface: &Interface) -> TokenStream {
    let (visibility, name) = (&interface.visibility, &interface.name);
    let (module, type_) = (format_ident!("{}", snake(name)), format_ident!("{name}Service"));
    let about = format!("What answers the calls of [`{name}`], for whatever implements it.");
    let serves = interface
        .functions
        .iter()
        .map(|function| serve(interface, function));
    let arms = interface.functions.iter().map(|function| {
        let opcode = interface.opcode(function);
        let serve = format_ident!("serve_{}", function.name);
        quote!(#opcode => self.#serve(&mut request).await)
    });
    quote! {
        #[doc = #about]
        #[derive(Debug)]
        #visibility struct #type_<H> {
            host: H,
            gate: ::spinneret_rpc::typed::Gate,
        }

        #[allow(dead_code)]
        impl<H: #name> #type_<H> {
            /// With all functions but those that are off.
            #visibility fn new(host: H) -> Self {
                Self { host, gate: ::spinneret_rpc::typed::Gate::new(#module::FUNCTIONS) }
            }

            /// Allows a function that is off.
            #[must_use]
            #visibility fn allow(mut self, function: ::spinneret_rpc::typed::Function) -> Self {
                self.gate.allow(function);
                self
            }

            /// The host's side.
            #visibility fn host(&self) -> &H {
                &self.host
            }

            #(#serves)*
        }

        impl<H: #name + 'static> ::spinneret_rpc::Service for #type_<H> {
            fn handles(&self, opcode: u32) -> ::core::option::Option<::spinneret_rpc::CallMode> {
                self.gate.handles(opcode)
            }

            fn version(&self, opcode: u32) -> ::core::option::Option<u64> {
                self.gate.version(opcode)
            }

            fn call(
                self: ::std::rc::Rc<Self>,
                call: ::spinneret_rpc::Call,
            ) -> ::spinneret_rpc::server::Answer {
                ::std::boxed::Box::pin(async move {
                    let mut request = ::spinneret_rpc::typed::Request::receive(call).await;
                    let reply = match request.opcode() {
                        #(#arms,)*
                        _ => ::core::result::Result::Err(::spinneret_rpc::typed::Status::NOBODY),
                    };
                    request.answer(reply).await;
                })
            }
        }
    }
}

/// The function that unpacks, calls and packs.
fn serve(interface: &Interface, function: &Function) -> TokenStream {
    let (own, serve) = (&function.name, format_ident!("serve_{}", function.name));
    let [request, reply, result] = ["request", "reply", "result"].map(own_name);
    let (request_bytes, answer_bytes) = (function.request_bytes, function.answer_bytes);
    // Lengths need all values, so these are first.
    let values = function.parameters.iter().filter_map(|parameter| {
        let (name, at) = (&parameter.name, parameter.at);
        match &parameter.form {
            Form::Value(word) => {
                let type_ = word.rust(&interface.handles);
                Some(quote!(let #name: #type_ = #request.value(#at)?;))
            }
            _ => None,
        }
    });
    let unpacks = function
        .parameters
        .iter()
        .map(|parameter| unpack(interface, function, parameter));
    let arguments = function.parameters.iter().map(|parameter| {
        let name = &parameter.name;
        match &parameter.form {
            Form::Value(_) => quote!(#name),
            Form::Out(_) | Form::Data(_, Direction::Out | Direction::Both, _) => quote!(&mut #name),
            Form::Text(_) | Form::Data(_, Direction::In, _) => quote!(&#name),
        }
    });
    let packs = function.parameters.iter().map(|parameter| {
        let (name, at, slice) = (&parameter.name, parameter.at, slice_name(parameter));
        match &parameter.form {
            Form::Out(_) => quote!(#reply.value(#at, #name);),
            Form::Data(_, Direction::Out | Direction::Both, _) => {
                quote!(#request.put(&mut #reply, #slice, &#name).await?;)
            }
            _ => TokenStream::new(),
        }
    });
    let awaits = function.is_async.then(|| quote!(.await));
    let asks = function.can_fail.then(|| quote!(?));
    // An error of types points to the trait.
    let called = quote_spanned!(own.span()=> self.host.#own(#(#arguments),*) #awaits #asks);
    let replies = match function.result {
        Some(_) => quote! {
            let #result = #called;
            let mut #reply = ::spinneret_rpc::typed::Reply::new(#result);
        },
        None => quote! {
            #called;
            let mut #reply = ::spinneret_rpc::typed::Reply::empty();
        },
    };
    quote! {
        #[allow(unused_mut)]
        async fn #serve(
            &self,
            #request: &mut ::spinneret_rpc::typed::Request,
        ) -> ::core::result::Result<::spinneret_rpc::typed::Reply, ::spinneret_rpc::typed::Status> {
            #request.begin(&self.gate, #request_bytes, #answer_bytes)?;
            #(#values)*
            #(#unpacks)*
            #replies
            #(#packs)*
            ::core::result::Result::Ok(#reply)
        }
    }
}

/// A name of our own, which no parameter hides.
fn own_name(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

fn slice_name(parameter: &Parameter) -> Ident {
    format_ident!("slice_of_{}", parameter.name)
}

fn unpack(interface: &Interface, function: &Function, parameter: &Parameter) -> TokenStream {
    let (name, at, slice) = (&parameter.name, parameter.at, slice_name(parameter));
    let request = own_name("request");
    match &parameter.form {
        Form::Value(_) => TokenStream::new(),
        Form::Out(word) => {
            let type_ = word.rust(&interface.handles);
            quote!(let mut #name: #type_ = ::spinneret_rpc::typed::Word::zero();)
        }
        Form::Text(cap) => quote!(let #name = #request.text(#at, #cap).await?;),
        Form::Data(scalar, direction, length) => {
            let length = length.rust(&|handle| {
                let kind = function.parameters.iter().find_map(|one| match one.form {
                    Form::Value(crate::types::Word::Handle(kind)) if one.name == *handle => Some(kind),
                    _ => None,
                });
                let kind = kind
                    .map(|kind| kind_name(&interface.handles[kind]))
                    .unwrap_or_default();
                let size = format_ident!("{kind}_size");
                quote!(#size(#handle).ok_or(::spinneret_rpc::typed::Status::HANDLE)?)
            });
            let type_ = format_ident!("{}", scalar.rust);
            match direction {
                Direction::In => quote!(let #name = #request.input::<#type_>(#at, #length).await?;),
                Direction::Out => {
                    quote!(let (#slice, mut #name) = #request.output::<#type_>(#at, #length)?;)
                }
                Direction::Both => {
                    quote!(let (#slice, mut #name) = #request.input_and_output::<#type_>(#at, #length).await?;)
                }
            }
        }
    }
}
