//! The Colorlight 5A-75B: a receiver card of LED walls, with an ECP5 and two gigabit ports, as a bump in the wire.
//!
//! Pins are those of revisions 8.0 and 8.2, after `5a-75b/hardware_V8.0.md` of q3k/chubby75.

use crate::alchitry_cu::PowerUp;
use crate::ecp5::{EcpPll, EcpRgmii, PllSettings, RgmiiPins};
use crate::{Board, Family, Pin};
use spinneret_hdl::COUNTER_WIDTH;
use spinneret_hdl::entry::ParameterError;
use spinneret_hdl::mac::{BumpShape, EthernetBump, SELECT};
use spinneret_verilog::prelude::*;

/// Frequency of the board's clock, in Hz.
pub const REFERENCE_HZ: u64 = 25_000_000;
/// Frequency of the clocks of the lines, in Hz.
pub const LINE_HZ: u64 = 125_000_000;
/// Frequency of the system's clock, in Hz.
pub const CLOCK_HZ: u64 = 62_500_000;

/// The board; its part is an LFE5U-25F, speed grade 6, in the CABGA256 package.
pub const BOARD: Board = Board {
    name: "colorlight-5a-75b",
    title: "Colorlight 5A-75B",
    family: Family::Ecp5,
    part: "LFE5U-25F-6BG256C",
    core_clock_hz: CLOCK_HZ,
    pci_express: None,
    corundum: None,
    floor_plan: None,
    pins: on_board_pins,
};

/// 25 MHz to 125 MHz and 62.5 MHz.
const PLL: PllSettings = PllSettings {
    feedback: 5,
    first: 5,
    second: 10,
};

/// Balls of the signals; those of a bus from bit 0 on.
const PINS: [(&str, &[&str]); 15] = [
    ("clock", &["P6"]),
    ("rgmii0_rxc", &["J1"]),
    ("rgmii0_rx_ctl", &["J2"]),
    ("rgmii0_rxd", &["K2", "J3", "K1", "K3"]),
    ("rgmii0_txc", &["L1"]),
    ("rgmii0_tx_ctl", &["L2"]),
    ("rgmii0_txd", &["M2", "M1", "P1", "R1"]),
    ("rgmii1_rxc", &["M16"]),
    ("rgmii1_rx_ctl", &["P16"]),
    ("rgmii1_rxd", &["M15", "R16", "L15", "L16"]),
    ("rgmii1_txc", &["J16"]),
    ("rgmii1_tx_ctl", &["K14"]),
    ("rgmii1_txd", &["K16", "J15", "J14", "K15"]),
    ("phy_reset_n", &["R6"]),
    ("led_n", &["T6"]),
];

/// The clock inputs with their frequencies in Hz.
pub const CLOCKS: [(&str, u64); 3] = [
    ("clock", REFERENCE_HZ),
    ("rgmii0_rxc", LINE_HZ),
    ("rgmii1_rxc", LINE_HZ),
];

fn on_board_pins() -> Vec<Pin> {
    let named = |(signal, balls): (&str, &'static [&'static str])| {
        let signal = signal.to_owned();
        let is_bus = balls.len() > 1;
        balls.iter().enumerate().map(move |(bit, ball)| Pin {
            signal: if is_bus {
                format!("{signal}[{bit}]")
            } else {
                signal.clone()
            },
            ball: (*ball).to_owned(),
        })
    };
    PINS.into_iter().flat_map(named).collect()
}

/// Width of the counter of clocks for half a blink, twice: 67 ms.
const BLINK: usize = 22;

/// All of the board but its PLL: the bump, from pins to pins.
#[module(
    no_clock,
    error = ParameterError,
    shape = BumpShape::STANDARD,
)]
pub struct ColorlightBump {
    /// System clock.
    pub clk: Signal<In, Clock>,
    /// Synchronous reset.
    pub rst: Wire<In, bool>,
    /// Clock of what is sent.
    pub tx_clk: Signal<In, Clock>,
    /// Clock of what port 0 receives.
    pub rgmii0_rxc: Signal<In, Clock>,
    /// Pins of port 0, to the host.
    pub rgmii0: RgmiiPins,
    /// Clock of what port 1 receives.
    pub rgmii1_rxc: Signal<In, Clock>,
    /// Pins of port 1, to the network.
    pub rgmii1: RgmiiPins,
    /// LED, 0 is on.
    pub led_n: Wire<Out, bool>,
    /// Port and number of a counter.
    pub select: Wire<In, { SELECT }>,
    /// That counter.
    pub value: Wire<Out, { COUNTER_WIDTH }>,
    phys: [EcpRgmii; 2],
    bump: Checked<EthernetBump<{ shape }>>,
    #[clock(clk, rst)]
    led: ActivityLed,
}

#[kernel(
    ColorlightBump {
        clk, rst, tx_clk, rgmii0_rxc, rgmii0, rgmii1_rxc, rgmii1, led_n, select, value, phys, bump, led
    },
)]
fn update() {
    bump.clk = clk;
    bump.rst = rst;
    bump.tx_clk = tx_clk;
    phys[0].tx_clk = tx_clk;
    phys[0].rx_clk = rgmii0_rxc;
    phys[0].pins = rgmii0;
    bump.rx0_clk = rgmii0_rxc;
    bump.rx0 = phys[0].rx;
    bump.link0 = phys[0].link;
    phys[0].tx = bump.tx0;
    phys[1].tx_clk = tx_clk;
    phys[1].rx_clk = rgmii1_rxc;
    phys[1].pins = rgmii1;
    bump.rx1_clk = rgmii1_rxc;
    bump.rx1 = phys[1].rx;
    bump.link1 = phys[1].link;
    phys[1].tx = bump.tx1;
    bump.select = select;
    value = bump.value;
    led.up = bump.up.all();
    led.active = bump.good.any();
    led_n = led.led_n;
}

/// Shows the state of a link: off without one, on with one, blinking while there are frames.
#[module]
pub struct ActivityLed {
    /// The link is up.
    pub up: Wire<In, bool>,
    /// A frame came.
    pub active: Wire<In, bool>,
    /// The LED, 0 is on.
    pub led_n: Wire<Out, bool>,
    clocks: Reg<{ BLINK }, Reset>,
    /// A frame came in this blink.
    came: Reg<bool, Reset>,
    blinks: Reg<bool, Reset>,
}

#[kernel(ActivityLed { up, active, led_n, clocks, came, blinks })]
fn update() {
    clocks = clocks + 1;
    came = came || active;
    if clocks == 0 {
        blinks = came;
        came = active;
    }
    led_n = reg(!up || (blinks && clocks[BLINK - 1]));
}

/// The board as a bump in the wire.
#[module(no_clock, error = ParameterError)]
pub struct Colorlight5a75b {
    /// 25 MHz, from the second PHY.
    pub clock: Signal<In, Clock>,
    /// Clock of what port 0 receives.
    pub rgmii0_rxc: Signal<In, Clock>,
    /// Pins of port 0, to the host.
    pub rgmii0: RgmiiPins,
    /// Clock of what port 1 receives.
    pub rgmii1_rxc: Signal<In, Clock>,
    /// Pins of port 1, to the network.
    pub rgmii1: RgmiiPins,
    /// Reset of both PHYs, always high: one of them makes the clock.
    pub phy_reset_n: Wire<Out, bool>,
    /// LED, 0 is on.
    pub led_n: Wire<Out, bool>,
    clk: Signal<Local, Clock>,
    pll: EcpPll<{ PLL }>,
    #[clock(clk)]
    power_up: PowerUp,
    #[new(ColorlightBump::new()?)]
    bump: ColorlightBump,
}

#[kernel(
    Colorlight5a75b { clock, rgmii0_rxc, rgmii0, rgmii1_rxc, rgmii1, phy_reset_n, led_n, clk, pll, power_up, bump },
)]
fn update() {
    pll.reference = clock;
    clk = pll.second;
    power_up.locked = pll.locked;
    bump.clk = clk;
    bump.rst = power_up.reset;
    bump.tx_clk = pll.first;
    bump.rgmii0_rxc = rgmii0_rxc;
    bump.rgmii0 = rgmii0;
    bump.rgmii1_rxc = rgmii1_rxc;
    bump.rgmii1 = rgmii1;
    phy_reset_n = true;
    led_n = bump.led_n;
    bump.select = lit(0, SELECT);
}

#[cfg(test)]
mod tests {
    use super::{BOARD, CLOCK_HZ, Colorlight5a75b, LINE_HZ, PLL, REFERENCE_HZ};
    use spinneret_verilog::generate;

    #[test]
    fn pll_outputs_are_the_clocks_of_the_design() {
        assert_eq!(PLL.outputs_hz(REFERENCE_HZ), Some([LINE_HZ, CLOCK_HZ]));
    }

    #[test]
    fn every_port_has_pins_and_every_pin_a_port() {
        let design = generate(&Colorlight5a75b::new().unwrap(), "colorlight_5a_75b").unwrap();
        let mut ports: Vec<String> = Vec::new();
        for port in &design.ports {
            match port.width {
                1 => ports.push(port.name.clone()),
                width => ports.extend((0..width).map(|bit| format!("{}[{bit}]", port.name))),
            }
        }
        let pins = (BOARD.pins)();
        let mut signals: Vec<String> = pins.iter().map(|pin| pin.signal.clone()).collect();
        let mut balls: Vec<&str> = pins.iter().map(|pin| pin.ball.as_str()).collect();
        ports.sort();
        signals.sort();
        assert_eq!(ports, signals);
        balls.sort_unstable();
        balls.dedup();
        assert_eq!(balls.len(), pins.len());
    }
}
