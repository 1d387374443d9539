//! The block with everything around it.

use super::layout::Layout;
use super::surroundings::{Activity, Surroundings};
use spinneret_sim::axil::{LiteMaster, LiteRead, LiteReadDone, LiteWrite, LiteWriteDone, MasterConfig};
use spinneret_sim::model::Model;
use spinneret_sim::simulation::Simulation;

/// The block with everything around it.
#[derive(Debug)]
pub struct Bench<M: Model> {
    /// The simulation.
    pub sim: Simulation<M>,
    /// Who accesses the registers.
    pub master: LiteMaster,
    /// What is around the block.
    pub around: Surroundings,
    /// What the block has.
    pub layout: Layout,
}

impl<M: Model> Bench<M> {
    /// Puts everything around the block and resets it; nothing happens by itself.
    pub fn new(sim: Simulation<M>) -> Self {
        Self::with(sim, MasterConfig::default(), Activity::default())
    }

    /// The same with pauses and activity.
    pub fn with(mut sim: Simulation<M>, config: MasterConfig, activity: Activity) -> Self {
        let master = sim.axil_master("s_axil", config);
        let around = Surroundings::attach(&mut sim, activity);
        sim.reset();
        Self {
            sim,
            master,
            around,
            layout: Layout::of::<M>(),
        }
    }

    /// Writes a word, and waits for the answer.
    ///
    /// # Panics
    /// If the block breaks its contract, as for all that follow.
    pub fn write(&mut self, offset: u32, data: u32) -> LiteWriteDone {
        self.write_with(LiteWrite::new(offset.into(), data.into()))
    }

    /// Writes, and waits for the answer.
    pub fn write_with(&mut self, write: LiteWrite) -> LiteWriteDone {
        self.master.write(write);
        self.settle();
        self.master.take_writes().remove(0)
    }

    /// Reads a word, and waits for the answer.
    pub fn read(&mut self, offset: u32) -> LiteReadDone {
        self.master.read(LiteRead::new(offset.into()));
        self.settle();
        self.master.take_reads().remove(0)
    }

    /// Waits until everything is answered.
    pub fn settle(&mut self) {
        while !self.master.is_idle() {
            self.sim.cycle();
        }
        // A word of standard output is taken while its read is answered; two clocks are ample.
        self.sim.run(2);
    }

    /// Ends the test.
    pub fn finish(self) {
        self.sim.finish();
    }
}
