//! The file of a module: header, name, parameters and ports around its content.

use std::collections::BTreeMap;

use super::design::{Parameter, Port, PortDirection};
use super::parameters::Declared;

/// Above modules that stand for several variants of a block.
const MADE_FOR: &str = "// It is made for the values of its parameters that instances in this design set.\n";

/// Width of a line, in columns, beyond which an expression is continued on the next one.
const LINE: usize = 110;

/// The text of a module without its name and parameters, so that equal modules have equal bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    /// Documentation, one entry for each line.
    pub(crate) doc: Vec<String>,
    /// Parameters that verbatim text has, with their defaults.
    pub(crate) parameters: Vec<Parameter>,
    /// The ports, each with the comment above it.
    pub(crate) ports: Vec<(Port, Option<String>)>,
    /// Ports of verbatim modules may be nets.
    pub(crate) output_nets: bool,
    /// Values at power-up, by the names of ports.
    pub(crate) initials: BTreeMap<String, String>,
    /// The ranges of ports that verbatim text has parameters for.
    pub(crate) ranges: BTreeMap<String, String>,
    /// Everything between the ports and `endmodule`, unfinished.
    pub(crate) content: String,
}

/// The parts of a module that are known once all its variants are.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// Numbers that its variants have in common by name.
    pub(crate) declared: Vec<Declared>,
    /// The ranges of ports that are such numbers.
    pub(crate) ranges: Vec<(String, String)>,
    /// Everything between the ports and `endmodule`.
    pub(crate) content: String,
}

/// Puts a module into a file of its own; `fixed` are parameters of a top that can have one value only.
pub(crate) fn file(name: &str, body: &Body, fixed: &[Parameter], finished: &Finished) -> String {
    let mut out = String::from("`default_nettype none\n\n");
    for text in &body.doc {
        out.push_str(format!("// {text}").trim_end());
        out.push('\n');
    }
    if !finished.declared.is_empty() {
        out.push_str(MADE_FOR);
    }
    let mut ranges = body.ranges.clone();
    ranges.extend(finished.ranges.iter().cloned());
    out.push_str(&format!("module {name}"));
    out.push_str(&parameter_list(
        &[&body.parameters, fixed].concat(),
        &finished.declared,
    ));
    out.push_str(&port_list(body, &ranges));
    if !fixed.is_empty() {
        out.push_str(&parameter_checks(fixed));
    }
    out.push_str(&finished.content);
    out.push_str(&format!("endmodule : {name}\n\n`default_nettype wire\n"));
    out
}

fn parameter_list(parameters: &[Parameter], declared: &[Declared]) -> String {
    let fixed = parameters.iter().map(|parameter| {
        let (kind, value) = parameter_type(parameter.value);
        (
            format!("parameter {kind} {} = {value}", parameter.name),
            parameter.doc.as_str(),
        )
    });
    let declared = declared.iter().map(|declared| match declared {
        Declared::Parameter(name, value) => (format!("parameter integer {name} = {value}"), ""),
        Declared::Number(name, formula) => (format!("localparam integer {name} = {formula}"), ""),
    });
    let all: Vec<_> = fixed.chain(declared).collect();
    if all.is_empty() {
        return String::new();
    }
    let mut out = String::from(" #(\n");
    for (number, (text, doc)) in all.iter().enumerate() {
        let comma = if number + 1 < all.len() { "," } else { "" };
        out.push_str(&with_doc(&format!("    {text}{comma}"), doc));
    }
    out.push(')');
    out
}

/// The words of a line; a string is one.
fn words(text: &str) -> Vec<&str> {
    let mut in_string = false;
    let is_space = |character: char| {
        in_string ^= character == '"';
        character == ' ' && !in_string
    };
    text.split(is_space).collect()
}

/// Appends a line; one that is too long is continued on further lines, broken at its spaces.
pub(crate) fn wrap(out: &mut String, text: &str) {
    let indent = text.len() - text.trim_start().len();
    if text.len() <= LINE {
        out.push_str(text);
        out.push('\n');
        return;
    }
    out.push_str(&" ".repeat(indent));
    let mut column = indent;
    for (number, word) in words(text.trim_start()).into_iter().enumerate() {
        if number > 0 && column + 1 + word.len() > LINE {
            column = indent + 4;
            out.push('\n');
            out.push_str(&" ".repeat(column));
        } else if number > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.len();
    }
    out.push('\n');
}

/// Type and text of a parameter's value: an integer has 32 bits only.
fn parameter_type(value: u64) -> (&'static str, String) {
    match i32::try_from(value) {
        Ok(value) => ("integer", value.to_string()),
        Err(_) => ("logic [63:0]", format!("64'd{value}")),
    }
}

/// A module of this name does not exist, so elaboration stops, and names the reason, in every tool.
fn parameter_checks(parameters: &[Parameter]) -> String {
    let mut out =
        String::from("\n    // The design is fixed: another value of a parameter does not elaborate.\n");
    for Parameter { name, value, .. } in parameters {
        let literal = parameter_type(*value).1;
        out.push_str(&format!("    if ({name} != {literal}) begin : g_{name}\n"));
        out.push_str(&format!(
            "        {name}_is_fixed_at_{value} u_error ();\n    end\n"
        ));
    }
    out
}

/// A line of text, with its documentation as a comment behind it.
pub(crate) fn with_doc(text: &str, doc: &str) -> String {
    if doc.is_empty() {
        format!("{text}\n")
    } else {
        format!("{text} // {doc}\n")
    }
}

/// The list of ports, aligned, with ranges that are more than a number.
fn port_list(body: &Body, ranges: &BTreeMap<String, String>) -> String {
    let (ports, output_nets) = (&body.ports, body.output_nets);
    if ports.is_empty() {
        return String::from(" ();\n");
    }
    let types: Vec<String> = ports
        .iter()
        .map(|(port, _)| type_text(port.signed, port.width, ranges.get(&port.name)))
        .collect();
    let column = types.iter().map(String::len).max().unwrap_or(0);
    let mut out = String::from(" (\n");
    for (number, ((port, heading), kind)) in ports.iter().zip(&types).enumerate() {
        if let Some(heading) = heading {
            out.push_str(&format!("    // {heading}\n"));
        }
        let direction = match port.direction {
            PortDirection::Input => "input  wire ",
            PortDirection::Output if output_nets => "output wire ",
            PortDirection::Output => "output logic",
            PortDirection::InOut => "inout  wire ",
        };
        let space = if column == 0 { "" } else { " " };
        let comma = if number + 1 < ports.len() { "," } else { "" };
        let initial = body.initials.get(&port.name);
        let initial = initial.map_or_else(String::new, |value| format!(" = {value}"));
        let text = format!(
            "    {direction}{space}{kind:>column$} {}{initial}{comma}",
            port.name
        );
        out.push_str(&with_doc(&text, &port.doc));
    }
    out.push_str(");\n");
    out
}

/// Sign and range of a declaration; empty for one unsigned bit, unless its range is given.
fn type_text(signed: bool, width: usize, range: Option<&String>) -> String {
    let range = match (range, width) {
        (Some(range), _) => range.clone(),
        (None, 1) => String::new(),
        (None, _) => format!("[{}:0]", width - 1),
    };
    match (signed, range.as_str()) {
        (false, _) => range,
        (true, "") => String::from("signed"),
        (true, _) => format!("signed {range}"),
    }
}
