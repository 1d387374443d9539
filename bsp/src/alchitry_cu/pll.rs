//! The phase-locked loop of the iCE40.

use spinneret_verilog::prelude::*;

/// Frequencies that the phase detector takes, in Hz (iCE40 LP/HX data sheet, "sysCLOCK PLL timing").
const DETECTOR_HZ: std::ops::RangeInclusive<u64> = 10_000_000..=133_000_000;
/// Frequencies that the oscillator runs at, in Hz.
const OSCILLATOR_HZ: std::ops::RangeInclusive<u64> = 533_000_000..=1_066_000_000;

/// Dividers of the loop: output = input / (divr + 1) * (divf + 1) / 2^divq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PllSettings {
    /// Divider of the input, minus 1: 4 bits.
    pub divr: u8,
    /// Divider of the feedback, minus 1: 7 bits.
    pub divf: u8,
    /// Power of two that divides the output: 3 bits.
    pub divq: u8,
    /// Filter of the loop, which follows from the detector's frequency: 3 bits.
    pub filter_range: u8,
}

impl PllSettings {
    /// The output for an input in Hz; `None` if the loop does not lock with these settings.
    pub fn output_hz(self, input_hz: u64) -> Option<u64> {
        let detector = input_hz / (u64::from(self.divr) + 1);
        let oscillator = detector * (u64::from(self.divf) + 1);
        let fits = self.divr < 16 && self.divf < 128 && (1..=6).contains(&self.divq);
        let locks = DETECTOR_HZ.contains(&detector) && OSCILLATOR_HZ.contains(&oscillator);
        (fits && locks && self.filter_range == filter_range(detector)).then_some(oscillator >> self.divq)
    }
}

/// The filter for a frequency of the phase detector.
fn filter_range(detector_hz: u64) -> u8 {
    match detector_hz / 1_000_000 {
        0..17 => 1,
        17..26 => 2,
        26..44 => 3,
        44..66 => 4,
        66..101 => 5,
        _ => 6,
    }
}

/// Makes another clock from that of the board, by the vendor's primitive `SB_PLL40_CORE`.
///
/// In Rust, which knows no lengths of time, the clock passes through.
#[derive(LogicBlock, Clone, Debug)]
pub struct IcePll {
    /// The clock of the board.
    pub reference: Signal<In, Clock>,
    /// The clock that is made from it.
    pub clk: Signal<Out, Clock>,
    /// The clock is steady; it changes at any time.
    pub locked: Wire<Out, bool>,
    _settings: PllSettings,
}

impl IcePll {
    /// A loop with these dividers.
    pub fn new(settings: PllSettings) -> Self {
        Self {
            reference: Signal::default(),
            clk: Signal::default(),
            locked: Wire::bit(),
            _settings: settings,
        }
    }
}

impl Logic for IcePll {
    fn update(&mut self) {
        self.clk.next = self.reference.val();
        self.locked.next = true;
    }

    fn connect(&mut self) {
        self.clk.connect();
        self.locked.connect();
    }

    fn hdl(&self) -> Verilog {
        let PllSettings {
            divr,
            divf,
            divq,
            filter_range,
        } = self._settings;
        let code = format!(
            "// module: ice_pll\n\
             // doc: Makes another clock from that of the board.\n\
             SB_PLL40_CORE #(\n    .FEEDBACK_PATH(\"SIMPLE\"),\n    .DIVR(4'd{divr}),\n    .DIVF(7'd{divf}),\n    \
             .DIVQ(3'd{divq}),\n    .FILTER_RANGE(3'd{filter_range})\n) u_pll (\n    \
             .REFERENCECLK(reference),\n    .PLLOUTGLOBAL(clk),\n    .LOCK(locked),\n    .RESETB(1'b1),\n    \
             .BYPASS(1'b0)\n);\n"
        );
        Verilog::Wrapper(ast::Wrapper {
            code,
            cores: PRIMITIVE.to_owned(),
        })
    }
}

/// The ports of the primitive that are used, for tools that do not know it.
const PRIMITIVE: &str = "\
(* blackbox *)
module SB_PLL40_CORE #(
    parameter FEEDBACK_PATH = \"SIMPLE\",
    parameter [3:0] DIVR = 4'd0,
    parameter [6:0] DIVF = 7'd0,
    parameter [2:0] DIVQ = 3'd0,
    parameter [2:0] FILTER_RANGE = 3'd0
) (
    input  wire REFERENCECLK,
    input  wire RESETB,
    input  wire BYPASS,
    output wire PLLOUTGLOBAL,
    output wire LOCK
);
endmodule";

#[cfg(test)]
mod tests {
    use super::PllSettings;

    #[test]
    fn knows_which_settings_lock() {
        let settings = |divr, divf, divq, filter_range| PllSettings {
            divr,
            divf,
            divq,
            filter_range,
        };
        let board = 100_000_000;
        // As `icepll` of the IceStorm project answers for 40, 50 and 12 to 60 MHz.
        assert_eq!(settings(4, 31, 4, 2).output_hz(board), Some(40_000_000));
        assert_eq!(settings(0, 7, 4, 5).output_hz(board), Some(50_000_000));
        assert_eq!(settings(0, 79, 4, 1).output_hz(12_000_000), Some(60_000_000));
        // Another filter, a detector or an oscillator out of its range, a divider of no bits.
        assert_eq!(settings(4, 31, 4, 3).output_hz(board), None);
        assert_eq!(settings(15, 127, 4, 1).output_hz(board), None);
        assert_eq!(settings(4, 63, 4, 2).output_hz(board), None);
        assert_eq!(settings(0, 7, 0, 5).output_hz(board), None);
    }
}
