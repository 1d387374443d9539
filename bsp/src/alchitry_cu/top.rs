//! The design for the board: a matching engine behind the serial line of its USB chip.

use super::{IcePll, PllSettings};
use spinneret_hdl::entry::{ParameterError, Values};
use spinneret_hdl::uart::{ConsoleShape, UartMatch};
use spinneret_verilog::prelude::*;

/// Frequency of the design's clock, in Hz.
pub const CLOCK_HZ: u64 = 40_000_000;
/// Speed of the serial line, in bits a second; the clock is a multiple of it.
pub const UART_BAUD: u64 = 1_000_000;

/// 100 MHz to 40 MHz.
const PLL: PllSettings = PllSettings {
    divr: 4,
    divf: 31,
    divq: 4,
    filter_range: 2,
};
const _: () = assert!(CLOCK_HZ.is_multiple_of(UART_BAUD));

/// Width of the counter of clocks in reset after power-up: block RAM answers a few microseconds after configuration.
const POWER_UP_WIDTH: usize = 10;

/// A matching engine behind a serial line, with what the board needs around it.
///
/// ```text
///  clock ==> PLL ==> 40 MHz       reset: until the PLL is steady, and 1024 clocks more
///  uart_rx ==> UartMatch ==> uart_tx, leds
/// ```
///
/// The protocol is that of [`spinneret_hdl::uart::protocol`].
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct AlchitryCu {
    /// 100 MHz.
    pub clock: Signal<In, Clock>,
    /// Serial line from the USB chip.
    pub uart_rx: Wire<In, bool>,
    /// Serial line to the USB chip.
    pub uart_tx: Wire<Out, bool>,
    /// LEDs, 1 is on.
    pub leds: Wire<Out>,
    clk: Signal<Local, Clock>,
    pll: IcePll,
    /// The PLL is steady, in its own clock.
    steady: Vec<Reg<bool>>,
    unsteady: Wire<Local, bool>,
    clocks: Reg,
    awake: Reg<bool>,
    console: UartMatch,
}

impl AlchitryCu {
    /// The design.
    ///
    /// # Errors
    /// If the console cannot be built with its parameters.
    pub fn new() -> Result<Self, ParameterError> {
        Ok(Self {
            clock: Signal::default(),
            uart_rx: Wire::bit(),
            uart_tx: Wire::bit(),
            leds: Wire::word(8),
            clk: Signal::default(),
            pll: IcePll::new(PLL),
            steady: vec![Reg::bit(); 2],
            unsteady: Wire::bit(),
            clocks: Reg::word_reset(POWER_UP_WIDTH),
            awake: Reg::bit_reset(),
            console: UartMatch::new(ConsoleShape::new(&console_values())?)?,
        })
    }
}

/// What the console is made with.
pub(super) fn console_values() -> Values {
    [
        ("rulesets", 2),
        ("rules", 4),
        ("inspected_bytes", 64),
        ("clocks_per_bit", CLOCK_HZ / UART_BAUD),
        // 26 ms.
        ("quiet_clocks", 1 << 20),
        // Twice in 0.84 s.
        ("heartbeat_bits", 24),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

impl Logic for AlchitryCu {
    #[kernel]
    fn update(&mut self) {
        let last = (1_u64 << POWER_UP_WIDTH) - 1;
        self.pll.reference.next = self.clock.val();
        self.clk.next = self.pll.clk.val();
        clocked!(self.clk => self.steady);
        self.steady[0].d.next = self.pll.locked.val();
        self.steady[1].d.next = self.steady[0].q.val();
        self.unsteady.next = !self.steady[1].q.val();
        clocked!(self.clk, self.unsteady => self.clocks, self.awake);
        if self.clocks.q.val() == last {
            self.awake.d.next = true;
        } else {
            self.clocks.d.next = self.clocks.q.val() + 1;
        }
        self.console.clk.next = self.clk.val();
        self.console.rst.next = !self.awake.q.val();
        self.console.uart_rx.next = self.uart_rx.val();
        self.uart_tx.next = self.console.uart_tx.val();
        self.leds.next = self.console.leds.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alchitry_cu::BOARD;
    use spinneret_verilog::generate;

    #[test]
    fn the_clock_is_what_the_loop_makes_of_the_boards() {
        assert_eq!(PLL.output_hz(BOARD.core_clock_hz), Some(CLOCK_HZ));
    }

    #[test]
    fn every_port_has_pins_and_every_pin_a_port() {
        let design = generate(&AlchitryCu::new().unwrap(), "alchitry_cu").unwrap();
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
