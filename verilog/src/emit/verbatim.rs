//! Verilog that blocks bring along as text.

use std::collections::BTreeSet;

use super::ir::{ConstantId, SignalId};
use super::module;
use super::names;
use super::symbols::{Role, Symbols};

/// Puts verbatim modules into a file of their own. They may rely on implicit nets.
pub(crate) fn file(code: &str) -> String {
    format!(
        "// Verbatim from a block of the Rust source; changes belong there.\n\n{}\n",
        code.trim()
    )
}

/// The name of the first module that verbatim Verilog declares.
pub(crate) fn declared_module(code: &str) -> Option<&str> {
    let mut words = code
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty());
    words.find(|word| *word == "module")?;
    words.next().filter(|name| names::is_identifier(name))
}

/// Verbatim Verilog with the declarations of the constants and signals of its block that it uses.
pub(crate) fn content(symbols: &Symbols, text: &str) -> String {
    let words: BTreeSet<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$')
        .collect();
    let mut out = String::from("\n");
    for (number, constant) in symbols.constants.iter().enumerate() {
        if !constant.is_enum_value && words.contains(constant.identifier.as_str()) {
            out.push_str(&module::constant(symbols, ConstantId(number)));
        }
    }
    for (number, signal) in symbols.signals.iter().enumerate() {
        if signal.role == Role::Local && words.contains(signal.identifier.as_str()) {
            out.push_str(&module::net(symbols, SignalId(number), None, ""));
        }
    }
    for text in text.trim_matches('\n').trim_end().lines() {
        let text = text.trim_end();
        if !text.is_empty() {
            out.push_str("    ");
        }
        out.push_str(text);
        out.push('\n');
    }
    out
}
