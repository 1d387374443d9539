//! The file of a module: header, name, parameters and ports around its content.

use std::collections::BTreeMap;

use super::design::{Parameter, Port, PortDirection};
use super::text::line;

/// The text of a module without its name and parameters, so that equal modules have equal bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    /// Documentation, one entry for each line.
    pub(crate) doc: Vec<String>,
    /// Parameters that instances set, with their defaults.
    pub(crate) parameters: Vec<Parameter>,
    /// The list of ports.
    pub(crate) ports: String,
    /// Everything between the ports and `endmodule`.
    pub(crate) content: String,
}

/// Puts a module into a file of its own.
pub(crate) fn file(name: &str, body: &Body, parameters: &[Parameter]) -> String {
    let mut out = String::from("`default_nettype none\n\n");
    for text in &body.doc {
        line(&mut out, 0, format!("// {text}").trim_end());
    }
    out.push_str(&format!("module {name}"));
    out.push_str(&parameter_list(&[&body.parameters, parameters].concat()));
    out.push_str(&body.ports);
    if !parameters.is_empty() {
        out.push_str(&parameter_checks(parameters));
    }
    out.push_str(&body.content);
    out.push_str(&format!("endmodule : {name}\n\n`default_nettype wire\n"));
    out
}

fn parameter_list(parameters: &[Parameter]) -> String {
    if parameters.is_empty() {
        return String::new();
    }
    let mut out = String::from(" #(\n");
    for (number, parameter) in parameters.iter().enumerate() {
        let comma = if number + 1 < parameters.len() { "," } else { "" };
        let (kind, value) = parameter_type(parameter.value);
        let declaration = format!("parameter {kind} {} = {value}", parameter.name);
        out.push_str(&with_doc(&format!("    {declaration}{comma}"), &parameter.doc));
    }
    out.push(')');
    out
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

/// The list of ports, aligned, with the names that their widths have. Outputs of verbatim modules may be nets.
pub(crate) fn port_list(
    ports: &[(Port, Option<String>)],
    widths: &BTreeMap<String, String>,
    output_nets: bool,
) -> String {
    if ports.is_empty() {
        return String::from(" ();\n");
    }
    let types: Vec<String> = ports
        .iter()
        .map(|(port, _)| type_text(port.signed, port.width, widths.get(&port.name)))
        .collect();
    let column = types.iter().map(String::len).max().unwrap_or(0);
    let mut out = String::from(" (\n");
    for (number, ((port, heading), kind)) in ports.iter().zip(&types).enumerate() {
        if let Some(heading) = heading {
            line(&mut out, 1, &format!("// {heading}"));
        }
        let direction = match port.direction {
            PortDirection::Input => "input  wire ",
            PortDirection::Output if output_nets => "output wire ",
            PortDirection::Output => "output logic",
            PortDirection::InOut => "inout  wire ",
        };
        let space = if column == 0 { "" } else { " " };
        let comma = if number + 1 < ports.len() { "," } else { "" };
        let text = format!("    {direction}{space}{kind:>column$} {}{comma}", port.name);
        out.push_str(&with_doc(&text, &port.doc));
    }
    out.push_str(");\n");
    out
}

/// Sign and range of a declaration; empty for one unsigned bit, unless its width has a name.
pub(crate) fn type_text(signed: bool, width: usize, name: Option<&String>) -> String {
    let range = match (name, width) {
        (Some(name), _) => format!("[{name}-1:0]"),
        (None, 1) => String::new(),
        (None, _) => format!("[{}:0]", width - 1),
    };
    match (signed, range.as_str()) {
        (false, _) => range,
        (true, "") => String::from("signed"),
        (true, _) => format!("signed {range}"),
    }
}
