//! Which slot an address is the start of.

use super::SlotClass;
use spinneret_verilog::prelude::*;

/// Finds the number of the slot that starts at an address, one address a cycle.
///
/// The offset from the first slot is divided by the size of a slot without a divider: it is multiplied by
/// the inverse of the size's odd part, in a tree of adders with registers between its levels. The product
/// is the number of a slot if the offset is a multiple of the size, and too large for one otherwise.
/// `index` and `hit` are those of the address of `levels` + 1 cycles ago.
#[hardware(class: SlotClass, address_width: usize, levels: usize, width = class.quotient_width())]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct SlotFinder {
    /// Clock.
    pub clk: Signal<In, Clock>,
    /// Address.
    pub address: Wire<In, { address_width }>,
    /// Number of the slot that starts there.
    pub index: Wire<Out, { class.index_width() }>,
    /// A slot starts there.
    pub hit: Wire<Out, bool>,
    prefix_fits: Reg<bool>,
    offset: Reg<{ class.varying_bits() }>,
    /// The offset is a whole number of units, at each level of the tree.
    exact: [Reg<bool>; levels],
    /// Sums of each level of the tree, all levels in one row.
    sums: [Reg<{ width }>; sums(class, levels)],
    quotient: Wire<Local, { width }>,
}

/// Sums of a tree of this number of levels.
fn sums(class: SlotClass, levels: usize) -> usize {
    let terms = class.inverse_terms().len();
    (1..=levels).map(|level| terms.div_ceil(1 << level)).sum()
}

impl Logic for SlotFinder {
    #[kernel(suffix = self._class.name())]
    fn update(&mut self) {
        let varying = self._class.varying_bits();
        let unit = self._class.unit_bits();
        let width = self._class.quotient_width();
        let above = self.address.width() - varying;
        let terms = self._class.inverse_terms();
        clocked!(self.clk => self.prefix_fits, self.offset, self.exact, self.sums);
        /// First cycle: the offset from the first slot.
        if above > 0 {
            self.prefix_fits.d.next = self.address.val().slice(varying, above) == self._class.prefix();
        } else {
            self.prefix_fits.d.next = true;
        }
        self.offset.d.next = self.address.val().slice(0, varying) - lit(self._class.low_base(), varying);
        self.quotient.next = self.offset.q.val().slice(unit, width);
        if unit > 0 {
            self.exact[0].d.next = self.prefix_fits.q.val() & (self.offset.q.val().slice(0, unit) == 0);
        } else {
            self.exact[0].d.next = self.prefix_fits.q.val();
        }
        /// First level of the tree: pairs of the offset's multiples by powers of two.
        for pair in 0..terms.len().div_ceil(2) {
            if 2 * pair + 1 < terms.len() {
                self.sums[pair].d.next = (self.quotient.val() << terms[2 * pair] as u64)
                    + (self.quotient.val() << terms[2 * pair + 1] as u64);
            } else {
                self.sums[pair].d.next = self.quotient.val() << terms[2 * pair] as u64;
            }
        }
        /// Further levels: pairs of the sums before them.
        for level in 1..self._levels {
            self.exact[level].d.next = self.exact[level - 1].q.val();
            for pair in 0..level_terms(terms.len(), level + 1) {
                let from = level_start(terms.len(), level - 1) + 2 * pair;
                let to = level_start(terms.len(), level) + pair;
                if 2 * pair + 1 < level_terms(terms.len(), level) {
                    self.sums[to].d.next = self.sums[from].q.val() + self.sums[from + 1].q.val();
                } else {
                    self.sums[to].d.next = self.sums[from].q.val();
                }
            }
        }
        let last = self.sums.len() - 1;
        self.index.next = self.sums[last].q.val().resize(self.index.width());
        if (self._class.count as u64) < 1 << width {
            self.hit.next =
                self.exact[self._levels - 1].q.val() & (self.sums[last].q.val() < self._class.count as u64);
        } else {
            self.hit.next = self.exact[self._levels - 1].q.val();
        }
    }
}

/// Sums that are left of `terms` after this number of levels of adding pairs.
fn level_terms(terms: usize, levels: usize) -> usize {
    (0..levels).fold(terms, |left, _| left.div_ceil(2))
}

/// Where the sums of a level begin in the row of all of them.
fn level_start(terms: usize, level: usize) -> usize {
    (1..=level).map(|level| level_terms(terms, level)).sum()
}
