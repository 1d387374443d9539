//! The C++ side of the border: what every model exports to Rust.

use crate::{Model, Port};

/// The header that all models include.
pub(crate) const HEADER: &str = include_str!("../cpp/spinneret_model.h");

/// Part of the run-time library.
pub(crate) const RUNTIME: &str = include_str!("../cpp/spinneret_runtime.cpp");

/// Part of the run-time library of models that write waveforms.
pub(crate) const WAVEFORMS: &str = include_str!("../cpp/spinneret_fst.cpp");

/// Name of a model's static library.
pub(crate) fn library(model: &str) -> String {
    format!("spinneret_{model}")
}

/// Name of a model's C++ class.
pub(crate) fn class(model: &str) -> String {
    format!("V{model}")
}

/// The function that a model exports.
pub(crate) fn function(model: &str) -> String {
    format!("spinneret_model_{model}")
}

/// How many bytes Verilator uses to store a port.
pub(crate) fn storage_bytes(port: &Port) -> usize {
    match port.width {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        wide => wide.div_ceil(32) * 4,
    }
}

/// Name of the array that says of each port whether it is followed.
const FOLLOWED: &str = "spinneret_followed";

/// C++ text of that array, which stands before the table.
pub(crate) fn followed(ports: &[bool]) -> String {
    let values: String = ports.iter().map(|followed| format!("{followed}, ")).collect();
    // C++ has no empty arrays.
    format!("[[maybe_unused]] static const bool {FOLLOWED}[] = {{{values}true}};\n")
}

/// C++ text of the table of one model.
pub(crate) fn text(model: &Model) -> String {
    let class = class(&model.name);
    let function = function(&model.name);
    let count = model.ports.len();
    let checks: String = model.ports.iter().map(|port| check(&class, port)).collect();
    let ports: String = model
        .ports
        .iter()
        .enumerate()
        .map(|(index, Port { name, .. })| {
            format!("    out[{index}] = {{&model.{name}, sizeof(model.{name}), {FOLLOWED}[{index}]}};\n")
        })
        .collect();
    format!(
        r#"#include "spinneret_model.h"
using {function}_instance = spinneret::Instance<{class}>;
{checks}static void {function}_ports(void* instance, SpinneretPort* out) {{
    [[maybe_unused]] {class}& model = *{function}_instance::of(instance)->model;
    (void)out;
{ports}}}
extern "C" const SpinneretTable* {function}() {{
    using I = {function}_instance;
    static const SpinneretTable table{{SPINNERET_ABI, {count}, I::create, I::destroy, {function}_ports, I::eval, I::trace, I::advance}};
    return &table;
}}
"#
    )
}

/// Stops the compiler when a port is not as wide as it is described.
fn check(class: &str, port: &Port) -> String {
    let bytes = storage_bytes(port);
    let Port { name, width, .. } = port;
    format!(
        "static_assert(sizeof(std::declval<{class}>().{name}) == {bytes}, \"port {name} is not {width} bits wide\");\n"
    )
}
