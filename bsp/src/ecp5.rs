//! Primitives of the Lattice ECP5: the PLL, registers at the pins, and RGMII of them.
//!
//! Declarations of registers and delays behave as the primitives do, except for time within a clock, so simulations run the pins.

use spinneret_hdl::mac::{GmiiIn, GmiiOut, LinkOut, NIBBLE, RgmiiReceiver, RgmiiTransmitter};
use spinneret_verilog::prelude::*;

/// Frequencies that the oscillator of the PLL runs at, in Hz (ECP5 family data sheet, "sysCLOCK PLL timing").
const OSCILLATOR_HZ: std::ops::RangeInclusive<u64> = 400_000_000..=800_000_000;
/// Frequencies of the phase detector, in Hz.
const DETECTOR_HZ: std::ops::RangeInclusive<u64> = 10_000_000..=400_000_000;

/// Dividers of a PLL whose feedback is its first output: the first output is input * feedback, the second is that of the oscillator,
/// which is `first` times the first output, divided by `second`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PllSettings {
    /// Divider of the feedback, 1 to 128.
    pub feedback: u8,
    /// Divider of the first output, 1 to 128.
    pub first: u8,
    /// Divider of the second output, 1 to 128.
    pub second: u8,
}

impl PllSettings {
    /// Both outputs for an input in Hz; `None` if the loop does not lock with these settings.
    pub fn outputs_hz(self, input_hz: u64) -> Option<[u64; 2]> {
        let first = input_hz * u64::from(self.feedback);
        let oscillator = first * u64::from(self.first);
        let dividers = [self.feedback, self.first, self.second];
        let fits = dividers.iter().all(|divider| (1..=128).contains(divider));
        let locks = DETECTOR_HZ.contains(&input_hz) && OSCILLATOR_HZ.contains(&oscillator);
        (fits && locks).then(|| [first, oscillator / u64::from(self.second)])
    }
}

/// Derives two clocks from that of the board, with the primitive `EHXPLLL`.
#[module(no_clock, settings: PllSettings)]
pub struct EcpPll {
    /// The clock of the board.
    pub reference: Signal<In, Clock>,
    /// The first clock.
    pub first: Signal<Out, Clock>,
    /// The second clock.
    pub second: Signal<Out, Clock>,
    /// The clocks are steady; it changes at any time.
    pub locked: Wire<Out, bool>,
}

impl Logic for EcpPll {
    fn update(&mut self) {}

    fn hdl(&self) -> Verilog {
        let PllSettings {
            feedback,
            first,
            second,
        } = self._settings;
        let phase = |divider: u8| divider - 1;
        wrapper(
            format!(
                "// module: ecp_pll\n\
                 // doc: Makes two clocks from that of the board.\n\
                 EHXPLLL #(\n    .FEEDBK_PATH(\"CLKOP\"),\n    .CLKI_DIV(1),\n    .CLKFB_DIV({feedback}),\n    \
                 .CLKOP_ENABLE(\"ENABLED\"),\n    .CLKOP_DIV({first}),\n    .CLKOP_CPHASE({}),\n    \
                 .CLKOS_ENABLE(\"ENABLED\"),\n    .CLKOS_DIV({second}),\n    .CLKOS_CPHASE({})\n) u_pll (\n    \
                 .CLKI(reference),\n    .CLKFB(first),\n    .CLKOP(first),\n    .CLKOS(second),\n    .LOCK(locked),\n    \
                 .RST(1'b0),\n    .STDBY(1'b0)\n);\n",
                phase(first),
                phase(second),
            ),
            PLL,
        )
    }
}

/// The ports of the PLL that are used, for tools that do not know it.
const PLL: &str = "\
(* blackbox *)
module EHXPLLL #(
    parameter FEEDBK_PATH = \"CLKOP\",
    parameter integer CLKI_DIV = 1,
    parameter integer CLKFB_DIV = 1,
    parameter CLKOP_ENABLE = \"ENABLED\",
    parameter integer CLKOP_DIV = 8,
    parameter integer CLKOP_CPHASE = 0,
    parameter CLKOS_ENABLE = \"DISABLED\",
    parameter integer CLKOS_DIV = 8,
    parameter integer CLKOS_CPHASE = 0
) (
    input  wire CLKI,
    input  wire CLKFB,
    input  wire RST,
    input  wire STDBY,
    output wire CLKOP,
    output wire CLKOS,
    output wire LOCK
);
endmodule";

/// Delay of inputs that keeps them in step with their clock, which needs longer from its pin to the registers: 80 steps of 25 ps.
const INPUT_DELAY: u8 = 80;

/// Delays an input by 2 ns, with the primitive `DELAYG`.
#[module(no_clock)]
pub struct InputDelay {
    /// At the pin.
    pub pin: Wire<In, bool>,
    /// After the delay.
    pub delayed: Wire<Out, bool>,
}

impl Logic for InputDelay {
    fn update(&mut self) {}

    fn hdl(&self) -> Verilog {
        wrapper(
            format!(
                "// module: ecp_input_delay\n\
                 // doc: Delays an input by {INPUT_DELAY} steps of 25 ps.\n\
                 DELAYG #(\n    .DEL_MODE(\"USER_DEFINED\"),\n    .DEL_VALUE({INPUT_DELAY})\n) u_delay (\n    \
                 .A(pin),\n    .Z(delayed)\n);\n"
            ),
            DELAY,
        )
    }
}

/// The delay, which takes no time in simulations.
const DELAY: &str = "\
(* blackbox *)
module DELAYG #(
    // verilator lint_off UNUSEDPARAM
    parameter DEL_MODE = \"USER_DEFINED\",
    parameter integer DEL_VALUE = 0
    // verilator lint_on UNUSEDPARAM
) (
    input  wire A,
    output wire Z
);
    assign Z = A;
endmodule";

/// Takes an input at both edges of a clock, with the primitive `IDDRX1F`: both halves of a clock are there after its end.
#[module(no_clock)]
pub struct DdrInput {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// At the pin, or after a delay.
    pub pin: Wire<In, bool>,
    /// With the rising edge.
    pub rise: Wire<Out, bool>,
    /// With the falling edge after it.
    pub fall: Wire<Out, bool>,
}

impl Logic for DdrInput {
    fn update(&mut self) {}

    fn hdl(&self) -> Verilog {
        let code = "// module: ecp_ddr_input\n\
                    // doc: Takes an input at both edges of a clock.\n\
                    IDDRX1F u_register (\n    .SCLK(clk),\n    .RST(1'b0),\n    .D(pin),\n    .Q0(rise),\n    .Q1(fall)\n);\n";
        wrapper(code.to_owned(), INPUT)
    }
}

/// The register of an input.
const INPUT: &str = "\
(* blackbox *)
module IDDRX1F (
    input  wire SCLK,
    input  wire RST,
    input  wire D,
    output reg  Q0,
    output reg  Q1
);
    reg rise;
    reg fall;
    always @(posedge SCLK) begin
        rise <= D & ~RST;
        Q0 <= rise;
        Q1 <= fall;
    end
    always @(negedge SCLK) fall <= D & ~RST;
endmodule";

/// Gives an output at both edges of a clock, with the primitive `ODDRX1F`.
#[module(no_clock)]
pub struct DdrOutput {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// In the first half of the next clock.
    pub rise: Wire<In, bool>,
    /// In the second half.
    pub fall: Wire<In, bool>,
    /// At the pin.
    pub pin: Wire<Out, bool>,
}

impl Logic for DdrOutput {
    fn update(&mut self) {}

    fn hdl(&self) -> Verilog {
        let code = "// module: ecp_ddr_output\n\
                    // doc: Gives an output at both edges of a clock.\n\
                    ODDRX1F u_register (\n    .SCLK(clk),\n    .RST(1'b0),\n    .D0(rise),\n    .D1(fall),\n    .Q(pin)\n);\n";
        wrapper(code.to_owned(), OUTPUT)
    }
}

/// The register of an output.
const OUTPUT: &str = "\
(* blackbox *)
module ODDRX1F (
    input  wire SCLK,
    input  wire RST,
    input  wire D0,
    input  wire D1,
    output wire Q
);
    reg rise;
    reg fall;
    always @(posedge SCLK) begin
        rise <= D0 & ~RST;
        fall <= D1 & ~RST;
    end
    assign Q = SCLK ? rise : fall;
endmodule";

fn wrapper(code: String, primitive: &str) -> Verilog {
    Verilog::Wrapper(ast::Wrapper {
        code,
        cores: primitive.to_owned(),
    })
}

/// Pins to a PHY.
#[interface(RgmiiPhy)]
pub struct RgmiiPins {
    /// Control of what is received.
    pub rx_ctl: Wire<In, bool>,
    /// Bits that are received.
    pub rxd: Wire<In, { NIBBLE }>,
    /// Clock of what is sent.
    pub txc: Wire<Out, bool>,
    /// Control of what is sent.
    pub tx_ctl: Wire<Out, bool>,
    /// Bits that are sent.
    pub txd: Wire<Out, { NIBBLE }>,
}

/// Wires at an edge: four bits and the control.
const WIRES: usize = NIBBLE + 1;

/// A port of RGMII at the pins.
///
/// # Contract
/// - **Received** bytes are at `rx` 3 clocks of `rx_clk` after their rising edge at the pins. The PHY delays its clock, so that edges are in the
///   middle of the bits.
/// - **Sent** bytes are at the pins 2 clocks of `tx_clk` after they came. `txc` changes with the bits: the PHY delays it.
/// - **Link:** as [`RgmiiReceiver`].
#[module(no_clock)]
pub struct EcpRgmii {
    /// Clock of what is received, from the PHY.
    pub rx_clk: Signal<In, Clock>,
    /// Clock of what is sent.
    pub tx_clk: Signal<In, Clock>,
    /// Pins.
    pub pins: RgmiiPins,
    /// Bytes that are received.
    pub rx: GmiiOut,
    /// State of the link.
    pub link: LinkOut,
    /// Bytes that are sent.
    pub tx: GmiiIn,
    delays: [InputDelay; WIRES],
    inputs: [DdrInput; WIRES],
    receiver: RgmiiReceiver,
    transmitter: RgmiiTransmitter,
    /// The last one is the clock.
    outputs: [DdrOutput; WIRES + 1],
}

#[kernel(EcpRgmii { rx_clk, tx_clk, pins, rx, link, tx, delays, inputs, receiver, transmitter, outputs })]
fn update() {
    receiver.clk = rx_clk;
    for (at, (input, delay)) in inputs.iter().zip(&delays).enumerate() {
        delay.pin = if at == NIBBLE { pins.rx_ctl } else { pins.rxd[at] };
        input.clk = rx_clk;
        input.pin = delay.delayed;
    }
    receiver.s.low = word_of(inputs[..NIBBLE].iter().map(|input| input.rise));
    receiver.s.high = word_of(inputs[..NIBBLE].iter().map(|input| input.fall));
    receiver.s.valid = inputs[NIBBLE].rise;
    receiver.s.control = inputs[NIBBLE].fall;
    rx = receiver.m;
    link = receiver.link;

    transmitter.clk = tx_clk;
    transmitter.s = tx;
    for (at, output) in outputs.iter().enumerate() {
        output.clk = tx_clk;
        if at < NIBBLE {
            output.rise = transmitter.m.low[at];
            output.fall = transmitter.m.high[at];
        } else if at == NIBBLE {
            output.rise = transmitter.m.valid;
            output.fall = transmitter.m.control;
        } else {
            output.rise = true;
            output.fall = false;
        }
    }
    pins.txd = word_of(outputs[..NIBBLE].iter().map(|output| output.pin));
    pins.tx_ctl = outputs[NIBBLE].pin;
    pins.txc = outputs[WIRES].pin;
}

#[cfg(test)]
mod tests {
    use super::PllSettings;

    #[test]
    fn knows_which_settings_lock() {
        let outputs = |feedback, first, second| {
            PllSettings {
                feedback,
                first,
                second,
            }
            .outputs_hz(25_000_000)
        };
        // As `ecppll` answers for 125 and 62.5 MHz.
        assert_eq!(outputs(5, 5, 10), Some([125_000_000, 62_500_000]));
        // An oscillator that is too fast or too slow, and a divider of 0.
        assert_eq!(outputs(5, 7, 10), None);
        assert_eq!(outputs(5, 3, 10), None);
        assert_eq!(outputs(5, 5, 0), None);
    }
}
