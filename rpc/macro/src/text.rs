//! The canonical text of a function, by which versions are told apart.

use crate::service::{Direction, Form, Function, Interface};
use crate::types::Word;

/// What packets look like is part of the text: another number for another encoding.
const ENCODING: u32 = 1;

/// All that both sides have to agree on, in one line.
pub(crate) fn canonical(interface: &Interface, function: &Function) -> String {
    let word = |word: Word| match word {
        Word::Scalar(scalar) => scalar.rust.to_owned(),
        Word::Handle(kind) => {
            let sizes: Vec<String> = interface.handles[kind]
                .predefined
                .iter()
                .map(|one| one.bytes.map_or("-".to_owned(), |bytes| bytes.to_string()))
                .collect();
            format!("handle {} [{}]", kind + 1, sizes.join(" "))
        }
    };
    let parameter = |form: &Form| match form {
        Form::Value(value) => word(*value),
        Form::Out(value) => format!("out {}", word(*value)),
        Form::Text(cap) => format!("text {cap}"),
        Form::Data(scalar, direction, length) => {
            let direction = match direction {
                Direction::In => "in",
                Direction::Out => "out",
                Direction::Both => "inout",
            };
            format!("{direction} {}[{}]", scalar.rust, length.text())
        }
    };
    let parameters: Vec<String> = function
        .parameters
        .iter()
        .map(|one| format!("{}: {}", one.name, parameter(&one.form)))
        .collect();
    format!(
        "{ENCODING} {} {:#010x} ({}) -> {}",
        interface.c_name(function),
        interface.opcode(function),
        parameters.join(", "),
        function.result.map_or("nothing".to_owned(), word)
    )
}

/// 64 bits of a text: FNV-1a, which tells versions of one function apart. Nobody is to be kept out by it.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
