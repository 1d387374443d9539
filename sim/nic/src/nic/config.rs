//! The configuration of a simulated NIC.

use clap::ValueEnum;
use spinneret_cluster::Config;

/// The clusters of a simulated NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// A model in Rust of PsPIN's clusters
    #[default]
    Model,
    /// The same model with the costs and instructions of spinneret's own clusters
    #[value(name = "model:spinneret")]
    Own,
    /// Spinneret's own hardware, clock by clock, in one model with the rest of the NIC
    Rtl,
}

impl Backend {
    /// The one of that name on the command line.
    pub fn named(name: &str) -> Option<Self> {
        Self::from_str(name, false).ok()
    }
}

/// Shape and speed of a NIC.
#[derive(Clone, Debug)]
pub struct NicConfig {
    /// The simulation of the cluster.
    pub backend: Backend,
    /// The cluster; that of [`Backend::Rtl`] has 1, 2, 4 or 8 clusters, and is the default one otherwise.
    pub cluster: Config,
    /// Period of the core's clock in picoseconds.
    pub core_ps: u64,
    /// Period of the cluster's clock in picoseconds.
    pub cluster_ps: u64,
    /// Round-trip latency to host memory, from a descriptor to its status, in clocks of the core.
    pub host_latency: u64,
    /// Whether idle time is skipped.
    pub skips: bool,
    /// Whether the hardware of [`Backend::Rtl`] is one that can write a waveform: it is slower, and built separately.
    pub waves: bool,
}

impl Default for NicConfig {
    /// 250 MHz and 40 MHz, and 450 ns to host memory, as the paper measured it (Table II).
    fn default() -> Self {
        Self {
            backend: Backend::Model,
            cluster: Config::default(),
            core_ps: 4000,
            cluster_ps: 25_000,
            host_latency: 112,
            skips: true,
            waves: false,
        }
    }
}

impl NicConfig {
    /// The default configuration with these clusters: those of spinneret have the core's clock.
    pub fn with(backend: Backend) -> Self {
        let config = Self {
            backend,
            ..Self::default()
        };
        match backend {
            Backend::Model => config,
            Backend::Own | Backend::Rtl => Self {
                cluster: Config::spinneret(),
                cluster_ps: config.core_ps,
                ..config
            },
        }
    }

    /// Refuses an option that only the model of the cluster allows.
    ///
    /// # Errors
    /// With another backend: why it does not allow it.
    pub(crate) fn check_model(&self, option: &str, why: &str) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.backend != Backend::Rtl,
            "{option} needs a model of the clusters: {why}"
        );
        Ok(())
    }
}
