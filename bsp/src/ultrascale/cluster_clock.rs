//! The clock of the cluster.

use super::MmcmSettings;
use super::mmcm::{eighths, megahertz};
use spinneret_verilog::prelude::*;

/// Name of the module.
pub const CLUSTER_CLOCK: &str = "spinneret_cluster_clock";

/// Makes the clock of the cluster from that of the NIC, by `MMCME4_BASE` and `BUFG`.
///
/// # Contract
/// - `cluster_clk` has no phase in common with `clk`; everything between them crosses as between unrelated clocks.
/// - `cluster_locked` rises when the clock is steady, and changes at any time. While it is low the clock may be
///   wrong, so what it clocks is held in reset.
/// - `rst` stops the clock until the loop has locked again.
///
/// In Rust, which knows no lengths of time, the clock passes through.
#[derive(LogicBlock, Clone, Debug)]
pub struct ClusterClock {
    /// Clock of the NIC.
    pub clk: Signal<In, Clock>,
    /// Reset of the loop, active high.
    pub rst: Wire<In, bool>,
    /// Clock of the cluster.
    pub cluster_clk: Signal<Out, Clock>,
    /// The clock is steady.
    pub cluster_locked: Wire<Out, bool>,
    _settings: MmcmSettings,
}

impl ClusterClock {
    /// A clock with these dividers.
    pub fn new(settings: MmcmSettings) -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            cluster_clk: Signal::default(),
            cluster_locked: Wire::bit(),
            _settings: settings,
        }
    }

    fn code(&self) -> String {
        let settings = self._settings;
        // Picoseconds, rounded.
        let period = (1_000_000_000_000 + settings.input_hz / 2) / settings.input_hz;
        format!(
            "// doc: Makes the clock of the cluster: {wanted} MHz from {input} MHz.\n\
             wire feedback;\nwire made;\n\n\
             MMCME4_BASE #(\n    .BANDWIDTH(\"OPTIMIZED\"),\n    .CLKIN1_PERIOD({nanoseconds}.{picoseconds:03}),\n    \
             .DIVCLK_DIVIDE({divide}),\n    .CLKFBOUT_MULT_F({multiply}),\n    .CLKOUT0_DIVIDE_F({output})\n\
             ) u_mmcm (\n    .CLKIN1(clk),\n    .CLKFBIN(feedback),\n    .CLKFBOUT(feedback),\n    .CLKOUT0(made),\n    \
             .LOCKED(cluster_locked),\n    .PWRDWN(1'b0),\n    .RST(rst)\n);\n\n\
             BUFG u_bufg (\n    .I(made),\n    .O(cluster_clk)\n);\n",
            wanted = megahertz(settings.output_hz()),
            input = megahertz(settings.input_hz),
            nanoseconds = period / 1000,
            picoseconds = period % 1000,
            divide = settings.divide,
            multiply = eighths(settings.multiply_eighths),
            output = eighths(settings.output_eighths),
        )
    }

    /// The primitives as tools need them that do not know them: name and declaration of the ports that are used.
    pub fn primitives() -> [(&'static str, &'static str); 2] {
        [("BUFG", BUFG), ("MMCME4_BASE", MMCM)]
    }
}

impl Logic for ClusterClock {
    fn update(&mut self) {
        self.cluster_clk.next = self.clk.val();
        self.cluster_locked.next = !self.rst.val();
    }

    fn connect(&mut self) {
        self.cluster_clk.connect();
        self.cluster_locked.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Wrapper(ast::Wrapper {
            code: self.code(),
            cores: String::new(),
        })
    }
}

/// Stands for [`ClusterClock`] in simulations that know no primitives: the clock is that of the NIC.
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct ClusterClockModel {
    /// Clock of the NIC.
    pub clk: Signal<In, Clock>,
    /// Reset of the loop, active high.
    pub rst: Wire<In, bool>,
    /// Clock of the cluster.
    pub cluster_clk: Signal<Out, Clock>,
    /// The clock is steady.
    pub cluster_locked: Wire<Out, bool>,
}

impl ClusterClockModel {
    /// A stand-in.
    pub fn new() -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            cluster_clk: Signal::default(),
            cluster_locked: Wire::bit(),
        }
    }
}

impl Default for ClusterClockModel {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for ClusterClockModel {
    #[kernel]
    fn update(&mut self) {
        self.cluster_clk.next = self.clk.val();
        self.cluster_locked.next = !self.rst.val();
    }
}

/// The ports of the clock buffer.
const BUFG: &str = "\
(* blackbox *)
module BUFG (
    input  wire I,
    output wire O
);
endmodule";

/// The ports and parameters of the clock manager that are used.
const MMCM: &str = "\
(* blackbox *)
module MMCME4_BASE #(
    parameter BANDWIDTH = \"OPTIMIZED\",
    parameter real CLKIN1_PERIOD = 0.0,
    parameter integer DIVCLK_DIVIDE = 1,
    parameter real CLKFBOUT_MULT_F = 5.0,
    parameter real CLKOUT0_DIVIDE_F = 1.0
) (
    input  wire CLKIN1,
    input  wire CLKFBIN,
    output wire CLKFBOUT,
    output wire CLKOUT0,
    output wire LOCKED,
    input  wire PWRDWN,
    input  wire RST
);
endmodule";

#[cfg(test)]
mod tests {
    use super::*;
    use spinneret_verilog::generate;

    #[test]
    fn the_stand_in_has_the_same_ports() {
        let settings = MmcmSettings::nearest(250_000_000, 40_000_000).unwrap();
        let real = generate(&ClusterClock::new(settings), CLUSTER_CLOCK).unwrap();
        let model = generate(&ClusterClockModel::new(), CLUSTER_CLOCK).unwrap();
        let ports = |ports: &[spinneret_verilog::Port]| -> Vec<_> {
            ports
                .iter()
                .map(|port| (port.name.clone(), port.direction, port.width))
                .collect()
        };
        assert_eq!(ports(&real.ports), ports(&model.ports));
        for line in [
            ".DIVCLK_DIVIDE(1)",
            ".CLKFBOUT_MULT_F(4.000)",
            ".CLKOUT0_DIVIDE_F(25.000)",
            ".CLKIN1_PERIOD(4.000)",
        ] {
            assert!(real.text().contains(line), "{line}\n{}", real.text());
        }
    }
}
