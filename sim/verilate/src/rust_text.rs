//! The Rust side of the models: one typed struct each.

use crate::{Model, Port, cpp};
use std::fmt::Write;

/// Text of `models.rs`.
pub(crate) fn models(models: &[Model]) -> String {
    let mut text = String::from("// Written by spinneret-verilate; it is written again by every build.\n");
    for model in models {
        text += &model_text(model);
    }
    text
}

/// Name of a model's struct: `packet_match` becomes `PacketMatch`.
pub(crate) fn struct_name(model: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| {
            first.to_ascii_uppercase().to_string() + letters.as_str()
        })
    };
    model.split('_').map(capital).collect()
}

/// Name of the function that reads a port.
pub(crate) fn getter(port: &str) -> String {
    const KEYWORDS: &[&str] = &[
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
        "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
        "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static",
        "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where",
        "while", "yield",
    ];
    match port {
        // The first two are functions of every model, the others cannot be written as raw identifiers.
        "new" | "into_instance" | "crate" | "self" | "super" => format!("{port}_"),
        _ if KEYWORDS.contains(&port) => format!("r#{port}"),
        _ => port.to_owned(),
    }
}

/// Name of the function that drives a port.
pub(crate) fn setter(port: &str) -> String {
    format!("set_{port}")
}

fn model_text(model: &Model) -> String {
    let (name, top) = (&model.name, &model.top);
    let (structure, function) = (struct_name(name), cpp::function(name));
    let table: String = model.ports.iter().map(port_entry).collect();
    let accessors: String = model
        .ports
        .iter()
        .enumerate()
        .map(|(index, port)| accessors(index, port))
        .collect();
    format!(
        r#"
// SAFETY: the function is in the library that was built together with this text; it takes nothing and
// returns a table that lives as long as the program.
unsafe extern "C" {{
    safe fn {function}() -> &'static ::spinneret_sim::model::Table;
}}

/// Verilated model of the module `{top}`.
#[derive(Debug)]
pub struct {structure} {{
    instance: ::spinneret_sim::model::Instance,
}}

impl ::spinneret_sim::model::Model for {structure} {{
    const NAME: &'static str = "{name}";

    const PORTS: &'static [::spinneret_sim::model::PortInfo] = &[
{table}    ];

    fn with_seed(seed: u64) -> Self {{
        let instance = ::spinneret_sim::model::Instance::new(Self::NAME, {function}(), Self::PORTS, seed);
        Self {{ instance }}
    }}

    fn instance(&self) -> &::spinneret_sim::model::Instance {{
        &self.instance
    }}

    fn instance_mut(&mut self) -> &mut ::spinneret_sim::model::Instance {{
        &mut self.instance
    }}
}}

impl ::core::default::Default for {structure} {{
    fn default() -> Self {{
        Self::new()
    }}
}}

#[allow(non_snake_case)]
impl {structure} {{
    /// A new instance: inputs are zero, registers hold random values that are always the same.
    pub fn new() -> Self {{
        <Self as ::spinneret_sim::model::Model>::with_seed(0)
    }}

    /// The design without its typed accessors.
    pub fn into_instance(self) -> ::spinneret_sim::model::Instance {{
        self.instance
    }}
{accessors}}}
"#
    )
}

fn port_entry(Port { name, input, width }: &Port) -> String {
    let direction = if *input { "Input" } else { "Output" };
    format!(
        "        ::spinneret_sim::model::PortInfo {{ name: \"{name}\", direction: ::spinneret_sim::model::Direction::{direction}, width: {width} }},\n"
    )
}

fn accessors(index: usize, port: &Port) -> String {
    let Port { name, width, .. } = port;
    let (getter, setter, value) = (getter(name), setter(name), value_type(*width));
    let bits = if *width == 1 {
        "1 bit".to_owned()
    } else {
        format!("{width} bits")
    };
    let direction = if port.input { "Input" } else { "Output" };
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        r#"
    /// {direction} `{name}`, {bits}.
    #[inline]
    pub fn {getter}(&self) -> {value} {{
        self.instance.get({index})
    }}
"#
    );
    if !port.input {
        return text;
    }
    let (argument, pass) = if *width > 64 {
        ("&", "*value")
    } else {
        ("", "value")
    };
    let _ = write!(
        text,
        r#"
    /// Drives the input `{name}`, {bits}.
    ///
    /// # Panics
    /// If the value needs more than {bits}.
    #[inline]
    pub fn {setter}(&mut self, value: {argument}{value}) {{
        self.instance.set({index}, {pass});
    }}
"#
    );
    text
}

/// The Rust type of a port's value; its size is that of the port's storage in the model.
fn value_type(width: usize) -> String {
    match width {
        1 => "bool".to_owned(),
        2..=8 => "u8".to_owned(),
        9..=16 => "u16".to_owned(),
        17..=32 => "u32".to_owned(),
        33..=64 => "u64".to_owned(),
        wide => format!("[u32; {}]", wide.div_ceil(32)),
    }
}

#[cfg(test)]
mod tests {
    use super::{getter, struct_name, value_type};

    #[test]
    fn names_follow_rusts_rules() {
        assert_eq!(struct_name("pspin_pkt_match_512"), "PspinPktMatch512");
        assert_eq!(getter("type"), "r#type");
        assert_eq!(getter("new"), "new_");
        assert_eq!(getter("self"), "self_");
        assert_eq!(getter("tvalid"), "tvalid");
    }

    #[test]
    fn types_are_as_wide_as_the_storage() {
        let types: Vec<_> = [1, 2, 8, 9, 16, 17, 32, 33, 64, 65, 96, 97]
            .map(value_type)
            .to_vec();
        let expected = [
            "bool", "u8", "u8", "u16", "u16", "u32", "u32", "u64", "u64", "[u32; 3]", "[u32; 3]", "[u32; 4]",
        ];
        assert_eq!(types, expected);
    }
}
