//! The Alchitry Cu: a small iCE40 board for a first design that fits on a desk.
//!
//! Balls of clock and LEDs come from `rust-hdl-bsp-alchitry-cu`, so that there is one list of them.

mod pll;
mod top;

pub use pll::{IcePll, PllSettings};
pub use top::{AlchitryCu, CLOCK_HZ, UART_BAUD};

use crate::board::{Board, Family, Pin};
use rust_hdl::prelude::{Atom, Constraint};
use rust_hdl_bsp_alchitry_cu::pins::{self, CLOCK_SPEED_100MHZ};

/// The board; its part is an iCE40 HX8K in the cb132 package.
pub const BOARD: Board = Board {
    name: "alchitry-cu",
    title: "Alchitry Cu",
    family: Family::Ice40,
    part: "ice40hx8k-cb132",
    core_clock_hz: CLOCK_SPEED_100MHZ,
    pci_express: None,
    corundum: None,
    pins: on_board_pins,
};

/// The balls that the USB chip's serial lines are wired to, which that crate does not have; directions are those of
/// the FPGA.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_leds_and_serial_lines_have_the_balls_of_the_board() {
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
}
