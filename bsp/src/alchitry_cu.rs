//! The Alchitry Cu: a small iCE40 board for a first design that fits on a desk.
//!
//! Balls of clock and LEDs come from `rust-hdl-bsp-alchitry-cu`, so that there is one list of them.

use crate::{Board, Family, Pin};
use rust_hdl::prelude::{Atom, Constraint};
use rust_hdl_bsp_alchitry_cu::pins::{self, CLOCK_SPEED_100MHZ};
use spinneret_hdl::entry::{ParameterError, Values};
use spinneret_hdl::uart::{ConsoleShape, UartMatch};
use spinneret_verilog::prelude::*;

/// The board; its part is an iCE40 HX8K in the cb132 package.
pub const BOARD: Board = Board {
    name: "alchitry-cu",
    title: "Alchitry Cu",
    family: Family::Ice40,
    part: "ice40hx8k-cb132",
    core_clock_hz: CLOCK_SPEED_100MHZ,
    pci_express: None,
    corundum: None,
    floor_plan: None,
    pins: on_board_pins,
};

/// The balls of the USB chip's serial lines, which that crate does not have; directions are those of the FPGA.
const UART: [(&str, &str); 2] = [("uart_rx", "P14"), ("uart_tx", "M9")];

/// The clock input, the eight LEDs and the serial lines.
fn on_board_pins() -> Vec<Pin> {
    let mut all = pins_of("clock", &pins::clock());
    all.extend(pins_of("leds", &pins::leds()));
    all.extend(UART.map(|(signal, ball)| Pin {
        signal: signal.to_owned(),
        ball: ball.to_owned(),
    }));
    all
}

fn pins_of(signal: &str, atom: &dyn Atom) -> Vec<Pin> {
    let bus = atom.bits() > 1;
    let located = atom
        .constraints()
        .into_iter()
        .filter_map(|pin| match pin.constraint {
            Constraint::Location(ball) => Some((pin.index, ball)),
            _ => None,
        });
    located
        .map(|(index, ball)| Pin {
            signal: if bus {
                format!("{signal}[{index}]")
            } else {
                signal.to_owned()
            },
            ball,
        })
        .collect()
}

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

/// Derives another clock from that of the board, with the vendor's primitive `SB_PLL40_CORE`.
#[module(no_clock, settings: PllSettings)]
pub struct IcePll {
    /// The clock of the board.
    pub reference: Signal<In, Clock>,
    /// The clock that is made from it.
    pub clk: Signal<Out, Clock>,
    /// The clock is steady; it changes at any time.
    pub locked: Wire<Out, bool>,
}

impl Logic for IcePll {
    fn update(&mut self) {}

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

/// Frequency of the design's clock, in Hz.
pub const CLOCK_HZ: u64 = 40_000_000;
/// Speed of the serial line, in bits a second; the clock is a multiple of it.
pub const UART_BAUD: u64 = 1_000_000;

/// Clocks without a byte after which a frame is given up: 26 ms.
pub(crate) const QUIET_CLOCKS: u64 = 1 << 20;

/// 100 MHz to 40 MHz.
pub(crate) const PLL: PllSettings = PllSettings {
    divr: 4,
    divf: 31,
    divq: 4,
    filter_range: 2,
};
const _: () = assert!(CLOCK_HZ.is_multiple_of(UART_BAUD));

/// Width of the counter of clocks in reset after power-up: block RAM answers a few microseconds after configuration.
const POWER_UP_WIDTH: usize = 10;

/// Reset of a design: until the PLL is steady, and 1024 clocks more.
#[module(no_clock)]
pub struct PowerUp {
    /// Clock of the design.
    pub clk: Signal<In, Clock>,
    /// The PLL is steady; it changes at any time.
    pub locked: Wire<In, bool>,
    /// The design is in reset.
    pub reset: Wire<Out, bool>,
    /// The PLL is steady, in its own clock.
    steady: [Reg<bool>; 2],
    unsteady: Wire<Local, bool>,
    #[clock(clk, unsteady)]
    clocks: Reg<{ POWER_UP_WIDTH }, Reset>,
    #[clock(clk, unsteady)]
    awake: Reg<bool, Reset>,
}

#[kernel(PowerUp)]
fn update() {
    steady[0] = locked;
    steady[1] = steady[0];
    unsteady = !steady[1];
    if clocks == (1_usize << POWER_UP_WIDTH) - 1 {
        awake = true;
    } else {
        clocks = clocks + 1;
    }
    reset = !awake;
}

/// A matching engine behind a serial line.
///
/// The protocol is that of [`spinneret_hdl::uart::protocol`].
#[module(
    no_clock,
    error = ParameterError,
    console = ConsoleShape::new(&console_values())?,
)]
pub struct AlchitryCu {
    /// 100 MHz.
    pub clock: Signal<In, Clock>,
    /// Serial line from the USB chip.
    pub uart_rx: Wire<In, bool>,
    /// Serial line to the USB chip.
    pub uart_tx: Wire<Out, bool>,
    /// LEDs, 1 is on.
    pub leds: Wire<Out, 8>,
    clk: Signal<Local, Clock>,
    pll: IcePll<{ PLL }>,
    #[clock(clk)]
    power_up: PowerUp,
    #[clock(clk)]
    console: Checked<UartMatch<{ console }>>,
}

/// Parameters of the console.
fn console_values() -> Values {
    [
        ("rulesets", 2),
        ("rules", 4),
        ("inspected_bytes", 64),
        ("clocks_per_bit", CLOCK_HZ / UART_BAUD),
        ("quiet_clocks", QUIET_CLOCKS),
        // Twice in 0.84 s.
        ("heartbeat_bits", 24),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

#[kernel(AlchitryCu)]
fn update() {
    pll.reference = clock;
    clk = pll.clk;
    power_up.locked = pll.locked;
    console.rst = power_up.reset;
    console.uart_rx = uart_rx;
    uart_tx = console.uart_tx;
    leds = console.leds;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alchitry_cu_hpu::AlchitryCuHpu;
    use spinneret_verilog::generate;

    #[test]
    fn pins_match_the_board() {
        let pins: Vec<_> = on_board_pins()
            .iter()
            .map(|pin| format!("{} {}", pin.signal, pin.ball))
            .collect();
        let expected = [
            "clock P7",
            "leds[0] J11",
            "leds[1] K11",
            "leds[2] K12",
            "leds[3] K14",
            "leds[4] L12",
            "leds[5] L14",
            "leds[6] M12",
            "leds[7] N14",
            "uart_rx P14",
            "uart_tx M9",
        ];
        assert_eq!(pins, expected);
    }

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

    #[test]
    fn pll_output_is_the_design_clock() {
        assert_eq!(PLL.output_hz(BOARD.core_clock_hz), Some(CLOCK_HZ));
    }

    #[test]
    fn every_port_has_pins_and_every_pin_a_port() {
        let designs = [
            generate(&AlchitryCu::new().unwrap(), "alchitry_cu").unwrap(),
            generate(&AlchitryCuHpu::new().unwrap(), "alchitry_cu_hpu").unwrap(),
        ];
        for design in designs {
            let mut ports: Vec<String> = Vec::new();
            for port in &design.ports {
                match port.width {
                    1 => ports.push(port.name.clone()),
                    width => ports.extend((0..width).map(|bit| format!("{}[{bit}]", port.name))),
                }
            }
            let mut pins: Vec<String> = (BOARD.pins)().into_iter().map(|pin| pin.signal).collect();
            ports.sort();
            pins.sort();
            assert_eq!(ports, pins);
        }
    }
}
