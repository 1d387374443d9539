//! The generated file for a host program in C: it registers the functions of a header with the library.

use crate::header::{canonical, hash};
use crate::types::Word;
use crate::{Form, Function, Interface};
use std::fmt::Write as _;

/// Returns the file. `header` is the name of the header with the prototypes; `has_state` tells which functions take the state.
pub(crate) fn wrapper(interface: &Interface, header: &str, has_state: &[bool]) -> String {
    let prefix = &interface.prefix;
    let mut text = format!(
        "/* Made of {}: change that. It registers the functions with the library. */\n\
         #include \"{header}\"\n\n#include <spinneret.h>\n",
        interface.origin
    );
    for (function, has_state) in interface.functions.iter().zip(has_state) {
        call(&mut text, interface, function, *has_state);
    }
    text.push_str("\nstatic const spinneret_function functions[] = {\n");
    for function in &interface.functions {
        let (name, canonical) = (interface.c_name(function), canonical(interface, function));
        let hash = hash(&canonical);
        let _ = writeln!(
            text,
            "    {{\"{canonical}\",\n     UINT64_C({hash:#018x}), call_{name}}},"
        );
    }
    let _ = write!(
        text,
        "}};\n\nint spinneret_offer_{prefix}(spinneret_context *context, void *state) {{\n    \
         return spinneret_services_offer_functions(context, functions, sizeof(functions) / sizeof(functions[0]), state);\n}}\n"
    );
    text
}

/// Writes the function that the library calls: its arguments are pointers, and the result comes after the parameters.
fn call(text: &mut String, interface: &Interface, function: &Function, has_state: bool) {
    let name = interface.c_name(function);
    let _ = writeln!(
        text,
        "\nstatic spin_status_t call_{name}(void *state, void *const *arguments) {{"
    );
    if !has_state {
        text.push_str("    (void)state;\n");
    }
    let result = function.result.and_then(c_type);
    if function.parameters.is_empty() && result.is_none() {
        text.push_str("    (void)arguments;\n");
    }
    let argument = |(parameter, index): (&crate::Parameter, usize)| match &parameter.form {
        Form::Value(word) => {
            let type_ = c_type(*word).unwrap_or_default();
            format!("*(const {type_} *)arguments[{index}]")
        }
        Form::Out(_) | Form::Text(_) | Form::Data(..) => format!("arguments[{index}]"),
    };
    let mut arguments: Vec<String> = function.parameters.iter().zip(0..).map(argument).collect();
    let last = arguments.len();
    if has_state {
        arguments.insert(0, "state".to_owned());
    }
    if function.can_fail && result.is_some() {
        arguments.push(format!("arguments[{last}]"));
    }
    let called = format!("{name}({});", arguments.join(", "));
    let _ = match (function.can_fail, result) {
        (true, _) => writeln!(text, "    return {called}"),
        (false, Some(type_)) => writeln!(text, "    *({type_} *)arguments[{last}] = {called}"),
        (false, None) => writeln!(text, "    {called}"),
    };
    text.push_str(if function.can_fail {
        "}\n"
    } else {
        "    return SPIN_SERVICE_DONE;\n}\n"
    });
}

/// The type of a value in C; headers in C have no handles.
fn c_type(word: Word) -> Option<&'static str> {
    match word {
        Word::Scalar(scalar) => Some(scalar.c),
        Word::Handle(_) => None,
    }
}
