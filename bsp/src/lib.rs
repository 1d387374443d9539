//! Boards that spinneret is made for: part, clocks, host interface, pins, and the Corundum design it plugs into.
//!
//! Vendors' primitives are nowhere else.

pub mod alchitry_cu;
pub mod alveo;
mod board;
pub mod ultrascale;

pub use board::{Board, CorundumDesign, Family, PciExpress, Pin};

/// All boards, in alphabetical order of their names.
pub fn boards() -> &'static [Board] {
    const BOARDS: &[Board] = &[
        alchitry_cu::BOARD,
        alveo::AU200,
        alveo::AU250,
        alveo::AU280,
        alveo::AU50,
        alveo::AU55N,
        alveo::VCU1525,
    ];
    BOARDS
}

/// The board of that name.
pub fn find(name: &str) -> Option<&'static Board> {
    boards().iter().find(|board| board.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_sorted_and_found() {
        let names: Vec<_> = boards().iter().map(|board| board.name).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(names, sorted);
        for name in names {
            assert_eq!(find(name).map(|board| board.name), Some(name));
        }
        assert!(find("vcu9999").is_none());
    }

    #[test]
    fn every_ultrascale_board_has_a_corundum_design_at_250_mhz() {
        for board in boards()
            .iter()
            .filter(|board| board.family == Family::UltraScalePlus)
        {
            let places = board.corundum.map(|design| design.directories);
            assert!(places.is_some_and(|places| !places.is_empty()), "{}", board.name);
            assert_eq!(board.core_clock_hz, 250_000_000, "{}", board.name);
            assert_eq!(
                board.pci_express,
                Some(PciExpress {
                    generation: 3,
                    lanes: 16
                }),
                "{}",
                board.name
            );
            assert!(board.part.starts_with("xc"), "{}", board.name);
        }
    }
}
