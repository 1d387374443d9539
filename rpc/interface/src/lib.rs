//! Functions that handlers call, from a Rust trait or from prototypes in C.
//!
//! ```text
//!  trait --types, parse--> Interface --place--> the place of everything in packets
//!   ^                                             |
//!   |         header: canonical, hash <-----------+------> header: stubs in C      host: trait, Service
//!  prototypes: a header in C                                                       wrapper: registration in C
//! ```
//!
//! The attribute `spinneret_rpc::service` and the command `spinneret service` use it. `spinneret_rpc::typed` describes how traits are
//! written, `docs/host/services.md` how prototypes are.

use crate::types::{Arguments, Kind, Length, Scalar, Word};
use proc_macro2::TokenStream;
use syn::{Attribute, Ident, ItemTrait, Visibility};

#[cfg(feature = "c")]
mod c_text;
mod header;
mod host;
mod parse;
#[cfg(feature = "c")]
mod prototypes;
mod types;
#[cfg(feature = "c")]
mod wrapper;

#[cfg(feature = "c")]
pub use c_text::HeaderError;
#[cfg(feature = "c")]
pub use prototypes::Prototypes;

/// Returns the Rust code of a service from the arguments of the attribute and the trait. Errors are calls of `compile_error!`.
pub fn service(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let interface = syn::parse2::<Arguments>(arguments)
        .and_then(|arguments| parse::interface(arguments, &syn::parse2::<ItemTrait>(item)?));
    interface.map_or_else(
        |error| error.to_compile_error(),
        |interface| host::expand(&interface),
    )
}

/// A service.
pub(crate) struct Interface {
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    /// The source of generated text, and its generator.
    pub(crate) origin: String,
    pub(crate) api: u8,
    /// Of names in C.
    pub(crate) prefix: String,
    pub(crate) documentation: Vec<Attribute>,
    pub(crate) handles: Vec<Kind>,
    pub(crate) functions: Vec<Function>,
    /// The trait, without the attributes that were for us.
    pub(crate) item: ItemTrait,
}

/// A function of it.
pub(crate) struct Function {
    pub(crate) name: Ident,
    pub(crate) number: u16,
    pub(crate) documentation: Vec<Attribute>,
    /// The host may take its time, and the call is parked.
    pub(crate) is_async: bool,
    /// Handlers can have a ticket for its answer.
    pub(crate) has_ticket: bool,
    /// It is off until the application allows it.
    pub(crate) is_off: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) result: Option<Word>,
    /// The host's function gives a `Result`.
    pub(crate) can_fail: bool,
    /// Bytes of the request and of the answer before data of any length.
    pub(crate) request_bytes: u32,
    pub(crate) answer_bytes: u32,
}

/// A parameter, and its place in its packet.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: Ident,
    pub(crate) form: Form,
    pub(crate) at: u32,
}

/// The form of a parameter.
#[derive(Debug)]
pub(crate) enum Form {
    /// Goes to the host in the request.
    Value(Word),
    /// Comes back in the answer.
    Out(Word),
    /// A string of at most this many bytes with its NUL; the request has its slice.
    Text(u32),
    /// Elements, as many as the length says; their slice is in the request.
    Data(Scalar, Direction, Length),
}

/// Which way data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
    Both,
}

impl Interface {
    pub(crate) fn opcode(&self, function: &Function) -> u32 {
        u32::from(b's') << 24 | u32::from(self.api) << 16 | u32::from(function.number)
    }

    /// A function's name in C.
    pub(crate) fn c_name(&self, function: &Function) -> String {
        format!("{}_{}", self.prefix, function.name)
    }
}

impl Function {
    /// Whether it takes more than one packet of fixed size there.
    pub(crate) fn has_slices(&self) -> bool {
        let is_slice = |form: &Form| matches!(form, Form::Text(_) | Form::Data(..));
        self.parameters.iter().any(|parameter| is_slice(&parameter.form))
    }

    /// Whether its answer is its status alone.
    pub(crate) fn gives_nothing(&self) -> bool {
        let gives = |form: &Form| {
            matches!(
                form,
                Form::Out(_) | Form::Data(_, Direction::Out | Direction::Both, _)
            )
        };
        self.result.is_none() && !self.parameters.iter().any(|parameter| gives(&parameter.form))
    }
}

// Places of values in the packets of a function.

/// Bytes of a packet.
const PACKET_BYTES: u32 = 64;
/// Bytes before the first value of a request.
const REQUEST_HEAD: u32 = 4;
/// Bytes before the first value of an answer.
const ANSWER_HEAD: u32 = 16;
/// Bytes of a slice, and what it is aligned to.
const SLICE_BYTES: u32 = 8;
const SLICE_ALIGNMENT: u32 = 4;
/// The alignment of data of any length.
const DATA_ALIGNMENT: u32 = 4;

/// Gives everything its place.
pub(crate) fn place(function: &mut Function) -> syn::Result<()> {
    let (mut request, mut answer) = (REQUEST_HEAD, ANSWER_HEAD);
    for parameter in &mut function.parameters {
        let (end, bytes, alignment) = match &parameter.form {
            Form::Value(word) => (&mut request, word.bytes(), word.bytes()),
            Form::Text(_) | Form::Data(..) => (&mut request, SLICE_BYTES, SLICE_ALIGNMENT),
            Form::Out(word) => (&mut answer, word.bytes(), word.bytes()),
        };
        parameter.at = end.next_multiple_of(alignment);
        *end = parameter.at + bytes;
        if *end > PACKET_BYTES {
            let why = format!(
                "up to `{}` the values need {end} bytes, and a packet has {PACKET_BYTES}: pass them as data",
                parameter.name
            );
            return Err(syn::Error::new(parameter.name.span(), why));
        }
    }
    function.request_bytes = request.next_multiple_of(DATA_ALIGNMENT);
    function.answer_bytes = answer.next_multiple_of(DATA_ALIGNMENT);
    Ok(())
}
