//! Everything that can go wrong between a folder of Verilog and its figures.

use std::io;
use thiserror::Error;

/// What failed, where, and what to do.
#[derive(Debug, Error)]
pub enum Error {
    /// The synthesis tool is not installed.
    #[error("yosys is not installed: run `./dev setup` in the project's root, which installs it")]
    NoYosys,
    /// The synthesis tool refused the design.
    #[error("yosys cannot synthesise `{module}`: {message}")]
    Yosys {
        /// The block.
        module: String,
        /// The tool's error line.
        message: String,
    },
    /// The tool for place and route is not installed.
    #[error("{tool} is not installed: `./dev pnr` installs it, or give another one with --nextpnr")]
    NoNextpnr {
        /// What was looked for.
        tool: String,
    },
    /// It refused the netlist.
    #[error("nextpnr cannot place and route `{module}`: {message}")]
    Nextpnr {
        /// The block.
        module: String,
        /// The tool's error line.
        message: String,
    },
    /// Its report is not what nextpnr 0.11 writes.
    #[error("the report of nextpnr on `{module}` cannot be read: {source}")]
    PlaceReport {
        /// The block.
        module: String,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A file of the synthesis cannot be read or written.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// The folder has not been written by gen-verilog.
    #[error("{folder} has no {file}: write it with `cargo run --release --bin gen-verilog`")]
    NoFileList {
        /// The folder.
        folder: String,
        /// Name of the missing file.
        file: &'static str,
    },
    /// A block that the folder does not hold.
    #[error("{folder} has no block `{name}`: {advice}")]
    UnknownBlock {
        /// The folder.
        folder: String,
        /// The name as given.
        name: String,
        /// The nearest name, or all of them.
        advice: crate::error::Advice,
    },
    /// The netlist is not what yosys 0.23 writes.
    #[error("the netlist of `{module}` cannot be read: {source}")]
    Netlist {
        /// The block.
        module: String,
        /// Where and why.
        source: serde_json::Error,
    },
    /// The netlist lacks the module.
    #[error("the netlist does not hold the module `{module}`")]
    NoTop {
        /// The block.
        module: String,
    },
    /// A primitive that the model of depth does not know.
    #[error(
        "cell `{cell}` is a {kind}, whose timing arcs are unknown: describe it in gen/src/synth/cells.rs"
    )]
    UnknownCell {
        /// Name of the cell.
        cell: String,
        /// Its type.
        kind: String,
    },
    /// Logic that depends on itself.
    #[error("there is a combinational loop through cell `{cell}`")]
    Loop {
        /// One cell of the loop.
        cell: String,
    },
    /// The page of figures has lost the marks between which they stand.
    #[error("{path} has no lines `{begin}` and `{end}` for the figures to stand between: put them back")]
    NoMarks {
        /// The page.
        path: String,
        /// The line before the figures.
        begin: &'static str,
        /// The line after them.
        end: &'static str,
    },
}
