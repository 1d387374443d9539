//! Functions of typed services that a text describes: the canonical text, from which versions are made.
//!
//! A program that is not written in Rust registers its functions by these texts, which `spinneret service` generates. Packets,
//! checks and refusals are those of [`typed`](crate::typed). An example of a text:
//!
//! ```text
//! 1 tally_add 0x73400001 (port: u16, bytes: u32, names: text 1024, data: in f32[bytes * 2], last: out u8) -> u64
//! ```

use crate::opcode::{SPINNERET, Status, class};
use crate::server::{Answer, Call, CallMode, Service};
use crate::typed::{RESULT_AT, Reply, Request, Slice};
use std::fmt;
use std::rc::Rc;

/// A text that describes no function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The text is not that of the version.
    #[error("the text `{0}` does not have that version: make the file again by `spinneret service`")]
    Version(String),
    /// The text is none of these.
    #[error(
        "`{0}` describes no function: make the file again by `spinneret service` of the library's version"
    )]
    Text(String),
}

/// A function that a text describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    name: String,
    opcode: u32,
    version: u64,
    parameters: Vec<Parameter>,
    result: Option<Scalar>,
    /// Bytes of request and answer before data.
    request_bytes: u32,
    answer_bytes: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parameter {
    form: Form,
    at: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Value(Scalar),
    Out(Scalar),
    Text {
        cap: u32,
    },
    Data {
        goes: bool,
        comes: bool,
        factors: Vec<Factor>,
    },
}

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scalar {
    bytes: u32,
    is_signed: bool,
    is_flag: bool,
}

/// Part of a length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    Number(u32),
    Parameter(usize),
}

impl Described {
    /// Reads a text, which has to be that of a version.
    ///
    /// # Errors
    /// If it has another version, or describes no function of a service that a program can offer.
    pub fn read(text: &str, version: u64) -> Result<Self, TextError> {
        if hash(text) != version {
            return Err(TextError::Version(text.to_owned()));
        }
        Self::parse(text, version).ok_or_else(|| TextError::Text(text.to_owned()))
    }

    /// Its name in C.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its opcode.
    pub fn opcode(&self) -> u32 {
        self.opcode
    }

    fn parse(text: &str, version: u64) -> Option<Self> {
        let (head, rest) = text.strip_prefix(ENCODING)?.split_once(" (")?;
        let (name, opcode) = head.split_once(" 0x")?;
        let (parameters, result) = rest.split_once(") -> ")?;
        let opcode = u32::from_str_radix(opcode, 16).ok()?;
        let is_ours = class(opcode) == SPINNERET && opcode >> 16 & 0xff > PRINTF;
        if !is_ours {
            return None;
        }
        let parameters: Vec<(&str, &str)> = match parameters {
            "" => Vec::new(),
            _ => parameters
                .split(", ")
                .map(|one| one.split_once(": "))
                .collect::<Option<_>>()?,
        };
        let mut function = Self {
            name: name.to_owned(),
            opcode,
            version,
            parameters: Vec::new(),
            result: match result {
                "nothing" => None,
                word => Some(Scalar::of(word)?),
            },
            request_bytes: REQUEST_HEAD,
            answer_bytes: ANSWER_HEAD,
        };
        for (_, form) in &parameters {
            let form = Form::parse(form, &parameters)?;
            let (end, bytes, alignment) = match &form {
                Form::Value(scalar) => (&mut function.request_bytes, scalar.bytes, scalar.bytes),
                Form::Text { .. } | Form::Data { .. } => {
                    (&mut function.request_bytes, SLICE_BYTES, ALIGNMENT)
                }
                Form::Out(scalar) => (&mut function.answer_bytes, scalar.bytes, scalar.bytes),
            };
            let at = end.next_multiple_of(alignment);
            *end = at + bytes;
            if *end > PACKET_BYTES {
                return None;
            }
            function.parameters.push(Parameter { form, at });
        }
        for end in [&mut function.request_bytes, &mut function.answer_bytes] {
            *end = end.next_multiple_of(ALIGNMENT);
        }
        Some(function)
    }
}

// The places of everything in packets, as `rpc/interface` has them for stubs.

const ENCODING: &str = "1 ";
const PRINTF: u32 = 1;
const PACKET_BYTES: u32 = 64;
const REQUEST_HEAD: u32 = 4;
const ANSWER_HEAD: u32 = 16;
const SLICE_BYTES: u32 = 8;
const ALIGNMENT: u32 = 4;

/// The version of a text: FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Form {
    fn parse(text: &str, parameters: &[(&str, &str)]) -> Option<Self> {
        let Some((kind, rest)) = text.split_once(' ') else {
            return Scalar::of(text).map(Self::Value);
        };
        if kind == "text" {
            return rest.parse().ok().map(|cap| Self::Text { cap });
        }
        let Some((element, length)) = rest.split_once('[') else {
            return (kind == "out").then(|| Scalar::of(rest).map(Self::Out))?;
        };
        let (goes, comes) = match kind {
            "in" => (true, false),
            "out" => (false, true),
            "inout" => (true, true),
            _ => return None,
        };
        let factor = |text: &str| match text.parse() {
            Ok(number) => Some(Factor::Number(number)),
            Err(_) => {
                let index = parameters.iter().position(|(name, _)| *name == text)?;
                Scalar::of(parameters[index].1)
                    .filter(|scalar| scalar.bytes <= 4 && !scalar.is_flag)
                    .map(|_| Factor::Parameter(index))
            }
        };
        let mut factors = vec![Factor::Number(Scalar::of(element)?.bytes)];
        for text in length.strip_suffix(']')?.split(" * ") {
            factors.push(factor(text)?);
        }
        Some(Self::Data { goes, comes, factors })
    }
}

impl Scalar {
    fn of(name: &str) -> Option<Self> {
        let (bytes, is_signed) = match name {
            "u8" | "bool" => (1, false),
            "u16" => (2, false),
            "u32" | "f32" => (4, false),
            "u64" | "f64" => (8, false),
            "i8" => (1, true),
            "i16" => (2, true),
            "i32" => (4, true),
            "i64" => (8, true),
            _ => return None,
        };
        Some(Self {
            bytes,
            is_signed,
            is_flag: name == "bool",
        })
    }

    /// The value at the beginning of an argument.
    fn value(self, argument: &Argument) -> i64 {
        let word = u64::from_le_bytes(argument.0.first().copied().unwrap_or_default().to_ne_bytes());
        let unused = u64::BITS - 8 * self.bytes;
        match self.is_signed {
            true => (word << unused).cast_signed() >> unused,
            false => word.cast_signed(),
        }
    }
}

/// The memory of an argument, as the program's type has it: a value, a string with its NUL, or elements. It is aligned for all
/// types, and has a word at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument(pub Vec<u64>);

impl Argument {
    /// An argument that begins with these bytes, and continues with zeros.
    fn of(bytes: &[u8]) -> Self {
        let mut words = vec![0; bytes.len() / 8 + 1];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_ne_bytes(whole);
        }
        Self(words)
    }

    fn bytes(&self, bytes: usize) -> Vec<u8> {
        self.0
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .take(bytes)
            .collect()
    }
}

/// The work of a function. It has an argument for each parameter, in their order, and one for the result, if the text names one.
/// Parameters and results that go back to the handler are what it leaves in them.
pub type Body = Box<dyn Fn(&mut [Argument]) -> Status>;

/// A service of functions that texts describe.
pub struct DescribedService {
    functions: Vec<(Described, Body)>,
}

impl fmt::Debug for DescribedService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let functions = self.functions.iter().map(|(function, _)| function);
        f.debug_list().entries(functions).finish()
    }
}

impl DescribedService {
    /// A service of these functions, for [`SPINNERET`]. If two have one opcode, the first one answers.
    pub fn new(functions: Vec<(Described, Body)>) -> Self {
        Self { functions }
    }

    fn find(&self, opcode: u32) -> Option<&(Described, Body)> {
        self.functions
            .iter()
            .find(|(function, _)| function.opcode == opcode)
    }

    async fn serve(&self, request: &mut Request) -> Result<Reply, Status> {
        let (function, body) = self.find(request.opcode()).ok_or(Status::NOBODY)?;
        let mut call = Arguments::take(function, request).await?;
        match body(&mut call.arguments) {
            Status::DONE => call.reply(function, request).await,
            status => Err(status),
        }
    }
}

impl Service for DescribedService {
    fn handles(&self, opcode: u32) -> Option<CallMode> {
        self.find(opcode).map(|_| CallMode::Async)
    }

    fn version(&self, opcode: u32) -> Option<u64> {
        self.find(opcode).map(|(function, _)| function.version)
    }

    fn call(self: Rc<Self>, call: Call) -> Answer {
        Box::pin(async move {
            let mut request = Request::receive(call).await;
            let reply = self.serve(&mut request).await;
            request.answer(reply).await;
        })
    }
}

/// The arguments of a call, and the places of data that go back.
struct Arguments {
    arguments: Vec<Argument>,
    slices: Vec<Option<(Slice, usize)>>,
}

impl Arguments {
    /// Unpacks a request.
    async fn take(function: &Described, request: &mut Request) -> Result<Self, Status> {
        request.skip(function.request_bytes, function.answer_bytes);
        // Lengths need all values, so these are first.
        let mut arguments = Vec::new();
        for Parameter { form, at } in &function.parameters {
            arguments.push(match form {
                Form::Value(scalar) => value(*scalar, request, *at)?,
                _ => Argument::of(&[]),
            });
        }
        let mut slices = Vec::new();
        for (index, Parameter { form, at }) in function.parameters.iter().enumerate() {
            let mut slice = None;
            match form {
                Form::Value(_) | Form::Out(_) => {}
                Form::Text { cap } => {
                    arguments[index] = Argument::of(request.text(*at, *cap).await?.as_bytes())
                }
                Form::Data { goes, comes, factors } => {
                    let factor = |factor: &Factor| match factor {
                        Factor::Number(number) => i64::from(*number),
                        Factor::Parameter(index) => match &function.parameters[*index].form {
                            Form::Value(scalar) => scalar.value(&arguments[*index]),
                            _ => 0,
                        },
                    };
                    let length: Vec<i64> = factors.iter().map(factor).collect();
                    let data = match (goes, comes) {
                        (_, false) => request.input::<u8>(*at, &length).await?,
                        (goes, true) => {
                            let (place, data) = match goes {
                                true => request.input_and_output(*at, &length).await?,
                                false => request.output(*at, &length)?,
                            };
                            slice = Some((place, data.len()));
                            data
                        }
                    };
                    arguments[index] = Argument::of(&data);
                }
            }
            slices.push(slice);
        }
        arguments.extend(function.result.map(|_| Argument::of(&[])));
        Ok(Self { arguments, slices })
    }

    /// Packs the answer.
    async fn reply(self, function: &Described, request: &mut Request) -> Result<Reply, Status> {
        let mut reply = Reply::empty();
        if let (Some(result), Some(argument)) = (function.result, self.arguments.last()) {
            reply.data(RESULT_AT, &argument.bytes(result.bytes as usize));
        }
        let parameters = function.parameters.iter().zip(&self.arguments).zip(&self.slices);
        for ((Parameter { form, at }, argument), slice) in parameters {
            if let Form::Out(scalar) = form {
                reply.data(*at, &argument.bytes(scalar.bytes as usize));
            }
            if let Some((slice, bytes)) = slice {
                request.put(&mut reply, *slice, &argument.bytes(*bytes)).await?;
            }
        }
        Ok(reply)
    }
}

/// The value at an offset of the request.
fn value(scalar: Scalar, request: &Request, at: u32) -> Result<Argument, Status> {
    if scalar.is_flag {
        request.value::<bool>(at)?;
    }
    let bytes = (at..at + scalar.bytes).map(|at| request.value::<u8>(at));
    Ok(Argument::of(&bytes.collect::<Result<Vec<_>, _>>()?))
}
