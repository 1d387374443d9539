//! Looks at the strobes of a beat.

use spinneret_verilog::prelude::*;

/// Bytes that the first level of the search takes at once.
const LANES_AT_ONCE: usize = 4;
/// Groups that later levels take at once, so that a function has at most six inputs.
const GROUPS_AT_ONCE: usize = 3;

/// Says whether the strobed bytes are several runs; combinational, as a shallow tree.
#[hardware(lanes: usize)]
#[derive(LogicBlock, Describe, Clone, Debug)]
pub struct SeveralRuns {
    /// The strobes.
    pub strobes: Wire<In, { lanes }>,
    /// There is more than one run.
    pub several: Wire<Out, bool>,
    /// Bit n: a run starts at byte n.
    rise: Wire<Local, { lanes }>,
    /// For each level of the tree: whether a group has a start, and whether it has several.
    #[new(levels(lanes))]
    any: Vec<Wire<Local>>,
    #[new(levels(lanes))]
    many: Vec<Wire<Local>>,
}

/// A bit for each group, level by level, up to the one that is everything.
fn levels(lanes: usize) -> Vec<Wire<Local>> {
    let mut groups = vec![lanes.div_ceil(LANES_AT_ONCE)];
    while let Some(&last) = groups.last().filter(|last| **last > 1) {
        groups.push(last.div_ceil(GROUPS_AT_ONCE));
    }
    groups.into_iter().map(Wire::word).collect()
}

impl Logic for SeveralRuns {
    #[kernel(suffix = self._lanes)]
    fn update(&mut self) {
        let lanes = self._lanes;
        let levels = self.any.len();
        self.rise.next = self.strobes.val() & !(self.strobes.val() << 1);
        for level in 0..levels {
            self.any[level].next = 0.into();
            self.many[level].next = 0.into();
        }
        for lane in 0..lanes {
            let group = lane / LANES_AT_ONCE;
            if self.rise.val().get_bit(lane) {
                if self.any[0].val().get_bit(group) {
                    self.many[0].next.set_bit(group, true);
                }
                self.any[0].next.set_bit(group, true);
            }
        }
        for level in 1..levels {
            for below in 0..self.any[level - 1].width() {
                let group = below / GROUPS_AT_ONCE;
                if self.many[level - 1].val().get_bit(below) {
                    self.many[level].next.set_bit(group, true);
                }
                if self.any[level - 1].val().get_bit(below) {
                    if self.any[level].val().get_bit(group) {
                        self.many[level].next.set_bit(group, true);
                    }
                    self.any[level].next.set_bit(group, true);
                }
            }
        }
        self.several.next = self.many[levels - 1].val().get_bit(0);
    }
}
