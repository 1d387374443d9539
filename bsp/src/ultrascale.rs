//! Vendor primitives of AMD UltraScale+ devices.

use spinneret_verilog::prelude::*;
use std::cmp::Reverse;
use std::ops::RangeInclusive;
use thiserror::Error;

/// Frequencies of the phase detector that every speed grade takes, in Hz (DS922 and DS923, MMCM switching
/// characteristics).
const DETECTOR_HZ: RangeInclusive<u64> = 10_000_000..=450_000_000;
/// Frequencies of the oscillator, in Hz.
const OSCILLATOR_HZ: RangeInclusive<u64> = 800_000_000..=1_600_000_000;
/// Divider of the input.
const DIVIDE: RangeInclusive<u64> = 1..=106;
/// Multiplier, in eighths.
const MULTIPLY_EIGHTHS: RangeInclusive<u64> = 16..=1024;
/// Divider of the output, in eighths, other than 1.
const OUTPUT_EIGHTHS: RangeInclusive<u64> = 16..=1024;
/// A clock may be wrong by this much, in millionths.
const TOLERANCE_PPM: u128 = 1000;

/// Dividers of an MMCM: output = input / `divide` * `multiply_eighths` / `output_eighths`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MmcmSettings {
    /// Frequency of the input, in Hz.
    pub input_hz: u64,
    /// `DIVCLK_DIVIDE`.
    pub divide: u64,
    /// `CLKFBOUT_MULT_F` in eighths.
    pub multiply_eighths: u64,
    /// `CLKOUT0_DIVIDE_F` in eighths.
    pub output_eighths: u64,
}

/// No dividers make the requested frequency.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "no dividers of an MMCM make {} MHz of {} MHz: from {} to {} MHz are possible",
    megahertz(*wanted_hz), megahertz(*input_hz), megahertz(*OSCILLATOR_HZ.start() * 8 / OUTPUT_EIGHTHS.end()),
    megahertz(*OSCILLATOR_HZ.end())
)]
pub struct MmcmError {
    /// The requested frequency, in Hz.
    pub wanted_hz: u64,
    /// Frequency of the input, in Hz.
    pub input_hz: u64,
}

impl MmcmSettings {
    /// Returns the dividers whose output is nearest to a frequency. Among equal ones it prefers integers, and the fastest detector
    /// and oscillator, for the least jitter.
    ///
    /// # Errors
    /// No output is within the tolerance.
    pub fn nearest(input_hz: u64, wanted_hz: u64) -> Result<Self, MmcmError> {
        let candidates = DIVIDE
            .filter(|divide| DETECTOR_HZ.contains(&(input_hz / divide)))
            .flat_map(|divide| MULTIPLY_EIGHTHS.map(move |multiply| (divide, multiply)))
            .filter_map(|(divide, multiply)| Self::with_output(input_hz, wanted_hz, divide, multiply));
        let best = candidates.min_by_key(|settings| {
            let fractions =
                u8::from(settings.multiply_eighths % 8 != 0) + u8::from(settings.output_eighths % 8 != 0);
            let oscillator = settings.oscillator_hz();
            (
                settings.error_ppb(wanted_hz),
                fractions,
                settings.divide,
                Reverse(oscillator),
            )
        });
        best.filter(|settings| settings.error_ppb(wanted_hz) <= 1000 * TOLERANCE_PPM)
            .ok_or(MmcmError { wanted_hz, input_hz })
    }

    /// The best divider of the output for the others.
    fn with_output(input_hz: u64, wanted_hz: u64, divide: u64, multiply_eighths: u64) -> Option<Self> {
        let settings = Self {
            input_hz,
            divide,
            multiply_eighths,
            output_eighths: 8,
        };
        let oscillator = settings.oscillator_hz();
        if !OSCILLATOR_HZ.contains(&oscillator) || wanted_hz == 0 {
            return None;
        }
        let output_eighths = (8 * oscillator + wanted_hz / 2) / wanted_hz;
        let fits = output_eighths == 8 || OUTPUT_EIGHTHS.contains(&output_eighths);
        fits.then_some(Self {
            output_eighths,
            ..settings
        })
    }

    /// Frequency of the oscillator, in Hz, rounded down.
    pub fn oscillator_hz(self) -> u64 {
        self.input_hz * self.multiply_eighths / (8 * self.divide)
    }

    /// Frequency of the output, in Hz, rounded.
    pub fn output_hz(self) -> u64 {
        let divisor = self.divide * self.output_eighths;
        (self.input_hz * self.multiply_eighths + divisor / 2) / divisor
    }

    /// How far the output is from a frequency, in thousandths of millionths.
    fn error_ppb(self, wanted_hz: u64) -> u128 {
        let made = u128::from(self.input_hz) * u128::from(self.multiply_eighths);
        let wanted = u128::from(wanted_hz) * u128::from(self.divide) * u128::from(self.output_eighths);
        made.abs_diff(wanted) * 1_000_000_000 / wanted.max(1)
    }

    /// Describes the frequencies in one sentence.
    pub fn describe(self) -> String {
        format!(
            "{} MHz from {} MHz by an MMCM: divided by {}, times {} = {} MHz, divided by {}",
            megahertz(self.output_hz()),
            megahertz(self.input_hz),
            self.divide,
            eighths(self.multiply_eighths),
            megahertz(self.oscillator_hz()),
            eighths(self.output_eighths)
        )
    }
}

/// A frequency in MHz without zeros at its end.
pub(crate) fn megahertz(hz: u64) -> String {
    let text = format!("{}.{:06}", hz / 1_000_000, hz % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number of eighths with three decimals, as the primitive takes it.
fn eighths(number: u64) -> String {
    format!("{}.{:03}", number / 8, number % 8 * 125)
}

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
/// The Rust model has no time, so the clock passes through.
#[module(settings: MmcmSettings)]
pub struct ClusterClock {
    /// Clock of the NIC.
    pub clk: Signal<In, Clock>,
    /// Reset of the loop, active high.
    pub rst: Wire<In, bool>,
    /// Clock of the cluster.
    pub cluster_clk: Signal<Out, Clock>,
    /// The clock is steady.
    pub cluster_locked: Wire<Out, bool>,
}

impl ClusterClock {
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

    /// Declarations of the primitives, for tools that do not have them: name, and the ports that are used.
    pub fn primitives() -> [(&'static str, &'static str); 2] {
        [("BUFG", BUFG), ("MMCME4_BASE", MMCM)]
    }
}

impl Logic for ClusterClock {
    fn update(&mut self) {}

    fn hdl(&self) -> Verilog {
        Verilog::Wrapper(ast::Wrapper {
            code: self.code(),
            cores: String::new(),
        })
    }
}

/// The clock of the NIC as that of the cluster: for boards where both are equal, and for simulations that know no primitives.
#[module]
pub struct CoreClock {
    /// Clock of the NIC.
    pub clk: Signal<In, Clock>,
    /// Reset of the NIC, active high: the clock counts as steady without it.
    pub rst: Wire<In, bool>,
    /// Clock of the cluster.
    pub cluster_clk: Signal<Out, Clock>,
    /// The clock is steady.
    pub cluster_locked: Wire<Out, bool>,
}

#[kernel(CoreClock { clk, rst, cluster_clk, cluster_locked })]
fn update() {
    cluster_clk = clk;
    cluster_locked = !rst;
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

    const INPUT: u64 = 250_000_000;

    #[test]
    fn makes_the_usual_clocks_exactly() {
        for (mhz, divide, multiply, output) in [
            (40, 1, 32, 200),
            (50, 1, 48, 240),
            (100, 1, 48, 120),
            (250, 1, 48, 48),
        ] {
            let settings = MmcmSettings::nearest(INPUT, mhz * 1_000_000).unwrap();
            assert_eq!(
                (
                    settings.divide,
                    settings.multiply_eighths,
                    settings.output_eighths
                ),
                (divide, multiply, output),
                "{mhz} MHz: {}",
                settings.describe()
            );
            assert_eq!(settings.output_hz(), mhz * 1_000_000);
        }
        assert_eq!(
            MmcmSettings::nearest(INPUT, 40_000_000).unwrap().describe(),
            "40 MHz from 250 MHz by an MMCM: divided by 1, times 4.000 = 1000 MHz, divided by 25.000"
        );
    }

    #[test]
    fn dividers_stay_within_limits_for_every_frequency() {
        for khz in (6_250..400_000).step_by(1_237) {
            let settings = MmcmSettings::nearest(INPUT, khz * 1000).unwrap();
            assert!(OSCILLATOR_HZ.contains(&settings.oscillator_hz()), "{settings:?}");
            assert!(DETECTOR_HZ.contains(&(INPUT / settings.divide)), "{settings:?}");
            assert!(settings.output_hz().abs_diff(khz * 1000) <= khz, "{settings:?}");
        }
    }

    #[test]
    fn rejects_impossible_frequencies() {
        for wanted in [0, 1, 6_000_000, 1_601_700_000, u64::MAX / 2_000_000] {
            let error = MmcmSettings::nearest(INPUT, wanted)
                .map(|s| s.describe())
                .unwrap_err();
            let text = error.to_string();
            assert!(
                text.ends_with("of 250 MHz: from 6.25 to 1600 MHz are possible"),
                "{text}"
            );
        }
    }

    #[test]
    fn both_clocks_have_the_same_ports() {
        let settings = MmcmSettings::nearest(250_000_000, 40_000_000).unwrap();
        let real = generate(&ClusterClock::new(settings), CLUSTER_CLOCK).unwrap();
        let model = generate(&CoreClock::new(), CLUSTER_CLOCK).unwrap();
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
