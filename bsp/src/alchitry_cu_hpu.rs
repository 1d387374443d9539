//! The Alchitry Cu with a pipeline of handler processing units.

use crate::Board;
use crate::alchitry_cu::{self, CLOCK_HZ, IcePll, PLL, PowerUp, QUIET_CLOCKS, UART_BAUD};
use spinneret_hdl::entry::{ParameterError, Values};
use spinneret_hdl::hpu::{SerialHpu, SerialHpuShape};
use spinneret_verilog::prelude::*;

/// The same board with another design.
pub const BOARD: Board = Board {
    name: "alchitry-cu-hpu",
    title: "Alchitry Cu with a pipeline",
    ..alchitry_cu::BOARD
};

/// A pipeline behind a serial line.
///
/// The protocol is that of [`spinneret_hdl::hpu::serial_protocol`].
#[module(no_clock, error = ParameterError, shape = SerialHpuShape::new(&values())?)]
pub struct AlchitryCuHpu {
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
    hpu: SerialHpu<{ shape }>,
}

fn values() -> Values {
    [
        ("threads", 8),
        ("program_words", 2048),
        ("clocks_per_bit", CLOCK_HZ / UART_BAUD),
        ("quiet_clocks", QUIET_CLOCKS),
        ("heartbeat_bits", 24),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

#[kernel(AlchitryCuHpu)]
fn update() {
    pll.reference = clock;
    clk = pll.clk;
    power_up.locked = pll.locked;
    hpu.rst = power_up.reset;
    hpu.uart_rx = uart_rx;
    uart_tx = hpu.uart_tx;
    leds = hpu.leds;
}
