//! The cluster of a NIC: programs, memory, and observation by reports and debuggers.

use super::{Backend, ClusterBackend, Hardware, Nic, NicConfig, NicError, rtl};
use spinneret_cluster::{Debugger, Event, Program, Segment, TraceEntry};
use spinneret_sim::model::Model as _;

/// Programs that are kept until a report takes them; without one the oldest are forgotten.
const KEPT_PROGRAMS: usize = 32;

impl NicConfig {
    /// The hardware that is simulated; that of [`Backend::Rtl`] is built when it is first used.
    ///
    /// # Errors
    /// If it cannot be built.
    pub(crate) fn hardware(&self) -> Result<Hardware, NicError> {
        match self.backend {
            Backend::Model | Backend::Own => Ok(Hardware::application()),
            Backend::Rtl => rtl::hardware(self.cluster.clusters, self.waves),
        }
    }
}

impl Nic {
    /// The cluster.
    pub fn cluster(&self) -> &dyn ClusterBackend {
        &*self.backend
    }

    /// Enables the profile of HPUs, which [`ClusterBackend::profile`] returns.
    pub fn enable_profile(&mut self) {
        self.backend.enable_profile();
    }

    /// Attaches a debugger, if the cluster is the model.
    pub fn debug(&mut self, debugger: Box<dyn Debugger>) {
        if let Some(mut cluster) = self.backend.model() {
            cluster.debug(debugger);
        }
    }

    /// Lets the debugger handle its connection.
    pub fn attend_debugger(&mut self) {
        if let Some(mut cluster) = self.backend.model() {
            cluster.attend_debugger();
        }
    }

    /// Enables the trace of HPUs and their drivers, which [`take_trace`](Self::take_trace) returns.
    pub fn enable_trace(&mut self) {
        self.backend.enable_trace();
    }

    /// The trace since the last call.
    pub fn take_trace(&mut self) -> Vec<TraceEntry> {
        self.backend.take_trace()
    }

    /// Events of the cluster since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.backend.take_events()
    }

    /// Converts clocks of the cluster to picoseconds since the start.
    pub fn cluster_time(&self) -> impl Fn(u64) -> u64 + Copy + use<> {
        let (now_ps, now, period) = (self.now_ps(), self.backend.now(), self.config.cluster_ps);
        move |clock| (now_ps + clock * period).saturating_sub(now * period)
    }

    /// Bytes of handler memory, without simulating any time; `None` where there is no such memory.
    pub fn peek(&mut self, address: u32, bytes: u32) -> Option<Vec<u8>> {
        self.backend.peek(self.sim.dut.instance_mut(), address, bytes)
    }

    /// Loads a program into the cluster's memory before it fetches: directly, because through the BAR it would take as
    /// long as the rest of the run. Returns false if it has to go through the BAR.
    pub(crate) fn load(&mut self, program: &Program) -> bool {
        self.loaded = vec![program.clone()];
        self.stdout.clear();
        self.backend.load(self.sim.dut.instance_mut(), program)
    }

    /// Loads a program next to others, as [`load`](Self::load).
    pub(crate) fn load_beside(&mut self, program: &Program) -> bool {
        if self.loaded.len() == KEPT_PROGRAMS {
            self.loaded.remove(0);
        }
        self.loaded.push(program.clone());
        self.backend.write(self.sim.dut.instance_mut(), &program.segments)
    }

    /// Writes zeros to the cluster's memory directly. Returns false if it has to go through the BAR.
    pub(crate) fn clear(&mut self, address: u32, bytes: u32) -> bool {
        let zeros = Segment {
            address,
            bytes: vec![0; bytes as usize],
            is_code: false,
        };
        self.backend.write(self.sim.dut.instance_mut(), &[zeros])
    }

    /// The programs that were loaded since the last call; the resident runtime, and others next to it, are separate ones.
    pub(crate) fn take_loaded(&mut self) -> Vec<Program> {
        std::mem::take(&mut self.loaded)
    }
}
