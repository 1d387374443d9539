use super::{DriverRangeIn, GRAIN, RANGE};
use crate::hpu::SCRATCHPAD_RANGE;
use crate::hpu::cluster::{HPU, OFFSET, WORD};
use spinneret_regmap::pspin::L1_ALIKE;
use spinneret_verilog::prelude::*;

/// Ranges of an HPU.
const RANGES: usize = 1 << RANGE;
/// Bits of the number of a clock of the check: two after that of the last range.
const COUNT: usize = RANGE + 1;

/// Checks that one or two areas of memory are each inside of a range of an HPU.
///
/// It takes ten clocks an area at most: it ends with the range that the area is inside of. An area without bytes is inside. All inputs stay until it is done. Ranges from
/// [`SCRATCHPAD_RANGE`] on do not compare the bits [`L1_ALIKE`]: scratchpads are at the same place in every second cluster.
#[module]
pub struct RangeCheck {
    /// Ranges that are set.
    pub range: DriverRangeIn,
    /// A check begins in the next clock.
    pub start: Wire<In, bool>,
    /// Of this HPU.
    pub hpu: Wire<In, { HPU }>,
    /// Addresses of the areas.
    pub address: [Wire<In, { WORD }>; 2],
    /// Bytes of each.
    pub bytes: Wire<In, { WORD }>,
    /// There is a second area.
    pub has_second: Wire<In, bool>,
    /// Bits of the address above 32 are set.
    pub is_beyond: Wire<In, bool>,
    /// The check ends in this clock.
    pub done: Wire<Out, bool>,
    /// From the next clock on: they are inside.
    pub allowed: Wire<Out, bool>,
    #[new(Ram::new(RamStyle::Distributed, RANGES << HPU, 2 * GRAIN).holding("zero", Vec::new()))]
    ranges: Ram,
    runs: Reg<bool, Reset>,
    count: Reg<{ COUNT }>,
    second: Reg<bool>,
    found: Reg<bool>,
    are_inside: Reg<bool>,
    /// The address after the area.
    after: Reg<{ WORD + 1 }>,
    is_empty: Reg<bool>,
    /// The range of a scratchpad is compared in this clock.
    is_scratchpad: Reg<bool>,
}

#[kernel(RangeCheck)]
fn update() {
    ranges.write(
        range.write,
        cat!(range.hpu, range.number),
        cat!(range.end, range.first),
    );
    let address = if second { address[1] } else { address[0] };
    let grain = reg(address.slice(OFFSET, GRAIN));
    after = address.resize(WORD + 1) + bytes.resize(WORD + 1);
    is_empty = !bytes.any();
    let (part, grains) = after.split_at(OFFSET);
    let (end, above) = grains.split_at(GRAIN);

    /// The range of the clock before is compared.
    let (range_first, range_end) = reg(ranges.read(0, cat!(hpu, count.slice(0, RANGE)))).split_at(GRAIN);
    is_scratchpad = count.slice(0, RANGE) >= SCRATCHPAD_RANGE as u64;
    let alike = is_scratchpad.repeat(GRAIN) & u64::from(L1_ALIKE >> OFFSET);
    let is_after = range_first <= grain & !alike;
    let is_before = cat!(end & !alike, part.any()) <= cat!(range_end, lit(0, 1));
    let is_in_one = reg(!((grain ^ end) & u64::from(L1_ALIKE >> OFFSET)).any());

    /// Its result is added one clock later.
    let is_found = found || reg(is_after && is_before && (is_in_one || !is_scratchpad));
    let counts = count.slice(1, RANGE).any();
    found = is_found && counts;
    let ends = runs && (count == RANGES + 1 || is_found && counts);
    done = ends && (second || !has_second);
    allowed = are_inside;
    if start || ends {
        count = 0;
        second = !start;
    } else {
        count = count + 1;
    }
    if start {
        are_inside = true;
    } else if ends {
        are_inside = are_inside && (is_empty || (is_found && !above.any() && !is_beyond));
    }
    runs = start || (runs && !done);
}
