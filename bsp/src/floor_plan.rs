//! Devices of several dies as grids of clock regions, for placement.
//!
//! A device of AMD's SSI technology has its dies, the super logic regions (SLRs), one above the other, with SLR0 at the bottom
//! (UG949, "Super Logic Region"). Clock regions are a grid over all of them: `X0Y0` is at the bottom on the left. A clock region of
//! UltraScale+ is 60 CLBs, 24 DSP slices and 12 block RAMs high (UG912, `CLOCK_REGION`).

use std::ops::RangeInclusive;

/// A device as a grid of clock regions, with equal SLRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Device {
    /// Columns of clock regions.
    pub columns: u8,
    /// Rows of clock regions in an SLR.
    pub rows_of_slr: u8,
    /// SLRs.
    pub slrs: u8,
    /// Resources of the whole device.
    pub resources: DeviceResources,
}

/// Resources of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceResources {
    /// LUTs.
    pub lut: u32,
    /// Flip-flops.
    pub ff: u32,
    /// Block RAMs of 36 kbit.
    pub bram: u32,
    /// UltraRAMs.
    pub uram: u32,
    /// DSP slices.
    pub dsp: u32,
}

/// The VU9P of VCU1525 and Alveo U200. Its three SLRs have a third of its resources each (DS890), which are 12 columns of block RAM and 19
/// of DSP slices in 15 rows. The constraints of
/// Corundum and FPsPIN for these cards name the same grid: `CLOCKREGION_X4Y5:CLOCKREGION_X5Y8` in SLR1 for PCI Express,
/// `CLOCKREGION_X0Y10:CLOCKREGION_X0Y14` in SLR2 for Ethernet.
pub const VU9P: Device = Device {
    columns: 6,
    rows_of_slr: 5,
    slrs: 3,
    resources: DeviceResources {
        lut: 1_182_240,
        ff: 2_364_480,
        bram: 2160,
        uram: 960,
        dsp: 6840,
    },
};

impl Device {
    /// The rows of an SLR, counted over the whole device; none if there is no such SLR.
    pub fn rows(self, slr: u8) -> Option<RangeInclusive<u8>> {
        let first = slr.checked_mul(self.rows_of_slr)?;
        (slr < self.slrs).then(|| first..=first + self.rows_of_slr - 1)
    }

    /// A range of Vivado's for some rows of an SLR, counted from its lowest, over the whole width; none if they are not in it.
    pub fn range(self, slr: u8, rows: RangeInclusive<u8>) -> Option<String> {
        let all = self.rows(slr)?;
        let [first, last] = [rows.start(), rows.end()].map(|row| all.start() + row);
        let right = self.columns - 1;
        (first <= last && all.contains(&last))
            .then(|| format!("CLOCKREGION_X0Y{first}:CLOCKREGION_X{right}Y{last}"))
    }
}

/// How a board's device is used by the NIC around the clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloorPlan {
    /// The device.
    pub device: Device,
    /// The SLR with the PCI Express block, where Corundum places its DMA and interfaces.
    pub nic_slr: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slrs_are_a_third_of_the_vu9p_each() {
        assert_eq!(
            [0, 1, 2].map(|slr| VU9P.rows(slr)),
            [Some(0..=4), Some(5..=9), Some(10..=14)]
        );
        assert_eq!(VU9P.rows(3), None);
        assert_eq!(VU9P.rows(255), None);
    }

    #[test]
    fn ranges_stay_in_their_slr() {
        let range = |slr, rows| VU9P.range(slr, rows);
        assert_eq!(
            range(1, 0..=1).as_deref(),
            Some("CLOCKREGION_X0Y5:CLOCKREGION_X5Y6")
        );
        assert_eq!(
            range(2, 0..=4).as_deref(),
            Some("CLOCKREGION_X0Y10:CLOCKREGION_X5Y14")
        );
        assert_eq!(range(2, 0..=5), None);
        assert_eq!(range(3, 0..=0), None);
        #[expect(clippy::reversed_empty_ranges, reason = "this is the mistake")]
        let reversed = range(0, 1..=0);
        assert_eq!(reversed, None);
    }
}
