//! The attributes of the language that hardware is written in: `#[module]`, `#[interface]` and `#[record]` write constructors
//! and handles from fields, and `#[kernel]` turns what Rust cannot overload into calls on signals.

mod arguments;
mod describe;
mod docs;
mod handles;
mod initial;
mod interface;
mod kernel;
mod module;
mod numbers;
mod parameters;
mod record;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use quote::quote;
use syn::{DeriveInput, ItemFn, parse_macro_input};

/// Turns a function over signals into hardware.
///
/// `#[kernel(Block { a, b })]` is the kernel of a block, with the fields that it uses; without a block the function is one
/// that kernels call.
///
/// `#[kernel(suffix = EXPRESSION)]` appends a text to the module's name, for blocks whose variants
/// differ: `suffix = format!("{}x{}", self._width, self._depth)`.
///
/// `#[kernel(parameters(DEPTH = self._depth), numbers(ADDRESS = clog2(DEPTH)))]` names numbers of the block, in words of
/// Rust, and then numbers that follow from them. Variants of the block that differ in nothing else become one module with
/// these parameters.
///
/// The kernel of a block names it first: `#[kernel(Block)]`. All fields and parameters of the block are
/// variables in it, and the parameters are variables of the other arguments: `suffix = depth`. With `#[kernel(Block { a, b })]`
/// these fields alone are, and the other arguments see the block as `self`.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let tokens = proc_macro2::TokenStream::from(arguments.clone());
    let arguments = parse_macro_input!(arguments as numbers::Arguments);
    if let Some((block, None)) = &arguments.block {
        return module::kernel_of(block, tokens, item.into()).into();
    }
    let function = parse_macro_input!(item as ItemFn);
    expand(&arguments, function)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Generates the rest of a block from its fields: `new`, `clk` and `rst`, and the handles that its kernel takes apart.
/// It omits `clk` or `rst` if the struct has a field of that name, and both if `no_clock` is among the arguments.
///
/// ```text
/// /// Keeps a word, and counts how often.
/// #[module(width: usize, places = 4 * width)]
/// pub struct Keeper {
///     /// What is kept.
///     pub data: Wire<In, { width }>,
///     kept: Reg<{ width }>,
///     is_there: Reg<bool, Reset>,
///     extra: Optional<Reg<bool>, { width > 8 }>,
///     queue: Fifo<{ width }, { places }>,
/// }
/// ```
///
/// Arguments are the parameters of `new`, `name: Type`, and values that follow from those before them, `name = expression`.
/// A value with its type, `name: Type = expression`, is there for the kernel, as parameters are.
/// The struct's documentation states the limits of a parameter, under a heading `# Parameters`.
/// With `error = Type`, `new` can fail, where a part is `Checked` or a condition does not hold: `_ = check(width)?`.
///
/// | field | in Rust | made by |
/// |---|---|---|
/// | `Wire<In, { w }>`, `Wire<In, bool>` | `Wire<In>`, itself | `Wire::word(w)`, `Wire::bit()` |
/// | `Reg<{ w }>`, `Reg<bool>` | `Reg`, itself | `Reg::word(w)`, `Reg::bit()` |
/// | `Reg<{ w }, Reset>`, `Reg<bool, Reset>` | `Reg`, `Reg<bool>` | `Reg::word_reset(w)`, `Reg::bit_reset()` |
/// | `[Part; n]` | `Vec<Part>` | `vec![part; n]` |
/// | `Optional<Part, { is_there }>` | `Optional<Part>` | `Some(part)` if `is_there` |
/// | `Named<Part, { names }>` | `Named<Part>` | `Named::new(names, \|_\| part)` |
/// | `Called<Bundle, { names }>` | `Called<Bundle>` | `Called::new(bundle, names)`: its ports have these `Names` |
/// | `Checked<Part>` | `Part` | `part?`, its constructor can fail |
/// | `Heaped<Part>` | itself | `Heaped::new(part)` |
/// | `Fifo<{ a }, { b }>`, or any other type with values | `Fifo` | `Fifo::new(a, b)` |
/// | any other type | itself | its default |
/// | `#[new(expression)]` above a field | its type | the expression |
#[proc_macro_attribute]
pub fn module(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as arguments::Arguments);
    module::expand(&arguments, parse_macro_input!(item as syn::ItemStruct))
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Writes `new` of a bundle of ports, as [`macro@module`] does for a block, and its other side.
///
/// ```text
/// /// A stream out of a block.
/// #[interface(StreamIn, width: usize)]
/// pub struct StreamOut {
///     /// Payload.
///     pub data: Wire<Out, { width }>,
///     /// The payload is there.
///     pub valid: Wire<Out, bool>,
///     /// It is taken in this cycle.
///     pub ready: Wire<In, bool>,
/// }
/// ```
///
/// `StreamIn` has the same ports, each in the other direction, and a kernel joins the two:
/// `consumer.s = producer.m`. Without a name before the parameters there is no other side. Among the
/// parameters, `names = expression` says how the ports are called, as `lang::Names`.
#[proc_macro_attribute]
pub fn interface(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let sides = parse_macro_input!(arguments as interface::Sides);
    interface::expand(&sides, parse_macro_input!(item as syn::ItemStruct))
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Declares the positions of the fields of a packed word.
///
/// ```text
/// /// A request as it waits.
/// #[record(shape: PortShape)]
/// pub struct Request {
///     /// Address of its first byte.
///     pub address: Field<{ shape.address }>,
///     /// It is a write.
///     pub is_write: Field<1>,
/// }
/// ```
///
/// `Request::new(shape)` has the first field at bit 0, the others behind it, and all their bits in `width`. A kernel reads a
/// word by them: `word.field(request.address)`, and `word.flag(request.is_write)` for one bit as bool.
#[proc_macro_attribute]
pub fn record(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as arguments::Arguments);
    record::expand(&arguments, parse_macro_input!(item as syn::ItemStruct))
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Writes from the fields of a struct what its crate's `entry::Parameters` wants: a list of parameters with their values,
/// ranges and documentation, and a constructor that checks.
///
/// ```text
/// /// Parameters of the scale.
/// #[derive(Parameters, Clone, Copy, Debug)]
/// #[parameters(block = "scale", check)]
/// pub struct ScaleShape {
///     /// Width of a sample in bits.
///     #[parameter(16, board = 24, range = 1..=64, name = "sample_width", verilog = "W")]
///     pub sample: usize,
///     /// Samples that can wait, a power of two.
///     #[parameter(8, range = 2..=64, power_of_two)]
///     pub samples: usize,
///     /// 1: the result is rounded.
///     #[parameter(0)]
///     pub rounds: bool,
///     /// What it shares with other blocks, a struct that derives `Parameters` too.
///     #[parameters]
///     pub bus: BusShape,
/// }
/// ```
///
/// The value is that of the reference configuration, `board` that of the board's where it is another one. A parameter is
/// called after its field, or by `name`; `verilog` is its name in the public design. With `block`, the struct has
/// `new(&Values)` and `BLOCK`, the name; with `check`, it has a `check(&self, Checked)` of its own for what depends on several of them. A field
/// with `#[parameters]` is replaced by the parameters of its type.
#[proc_macro_derive(Parameters, attributes(parameters, parameter))]
pub fn derive_parameters(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    parameters::expand(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

fn expand(arguments: &numbers::Arguments, function: ItemFn) -> syn::Result<proc_macro2::TokenStream> {
    let suffix = match &arguments.suffix {
        Some(suffix) => quote!(Some((#suffix).to_string())),
        None => quote!(None),
    };
    let numbers = arguments.numbers.expand()?;
    kernel::expand(arguments, &suffix, &numbers, function)
}
