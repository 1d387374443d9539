//! A small catalog, so that tests do not depend on what the real one holds.

use spinneret_hdl::entry::{Config, Entry, Parameter, ParameterError, Values};
use spinneret_verilog::prelude::{Block, *};

fn parameters(config: Config) -> Vec<Parameter> {
    let width = if config == Config::Reference { 8 } else { 16 };
    vec![
        Parameter {
            name: "width",
            value: width,
            min: 1,
            max: 64,
            verilog: Some("WIDTH"),
            doc: "bits of the value",
        },
        Parameter {
            name: "limit",
            value: 3,
            min: 0,
            max: 9,
            verilog: None,
            doc: "largest step",
        },
    ]
}

fn build(name: &str, values: &Values) -> Result<Box<dyn Block>, ParameterError> {
    let width = values["width"];
    if width.is_multiple_of(4) {
        return Ok(Box::new(Counter::new(
            usize::try_from(width).expect("at most 64"),
        )));
    }
    Err(ParameterError {
        block: name.to_owned(),
        parameter: "width".to_owned(),
        value: width,
        reason: "it must be a multiple of 4".to_owned(),
    })
}

/// Two blocks that are shipped and one that is not.
pub(crate) const CATALOG: &[Entry] = &[
    Entry {
        name: "up_counter",
        doc: "counts up",
        shipped: true,
        parameters,
        derived: |values| vec![("BYTES", values["width"] / 8)],
        build: |values| build("up_counter", values),
    },
    Entry {
        name: "down_counter",
        doc: "counts down",
        shipped: true,
        parameters,
        derived: |_| Vec::new(),
        build: |values| build("down_counter", values),
    },
    Entry {
        name: "bench_counter",
        doc: "counts in tests",
        shipped: false,
        parameters: |config| {
            parameters(config)
                .into_iter()
                .filter(|p| p.name == "width")
                .collect()
        },
        derived: |_| Vec::new(),
        build: |values| build("bench_counter", values),
    },
];

/// Owned strings, as the command line gives them.
pub(crate) fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}

/// Adds a step to a value at every clock.
#[module(width: usize)]
pub(crate) struct Counter {
    /// The addend.
    pub step: Wire<In, { width }>,
    /// The value.
    pub count: Wire<Out, { width }>,
    value: Reg<{ width }, Reset>,
}

#[kernel(Counter { step, count, value })]
fn update() {
    value = value + step;
    count = value;
}
