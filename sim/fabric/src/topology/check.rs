//! What a topology may be.

use super::{
    CableConfig, Kind, MAX_LATENCY_PS, MAX_NODES, MIN_BUFFER_BYTES, MIN_LATENCY_PS, RATES_BPS, Topology,
};
use std::collections::HashSet;

/// Why something is no topology.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// The file cannot be read.
    #[error("{file} cannot be read: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// Something in the file is wrong.
    #[error("{file}:{line}: {what}")]
    InFile {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// Something is wrong.
    #[error("{0}")]
    Wrong(String),
}

/// What is wrong, and with what, so that who knows the line can name it.
pub(super) struct Fault {
    pub(super) at: At,
    pub(super) what: String,
}

/// A part of a topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Node(usize),
    Cable(usize),
    All,
}

impl Topology {
    /// Whether it can be simulated.
    ///
    /// # Errors
    /// If it cannot.
    pub(super) fn check(&self) -> Result<(), TopologyError> {
        self.find_fault()
            .map_err(|fault| TopologyError::Wrong(fault.what))
    }

    /// The first thing that is wrong.
    pub(super) fn find_fault(&self) -> Result<(), Fault> {
        let nics = self.nics().count();
        require(nics >= 1, At::All, || "there is no NIC".to_owned())?;
        require(self.nodes.len() <= MAX_NODES, At::All, || {
            format!("{} NICs and switches: {MAX_NODES} are the most", self.nodes.len())
        })?;
        self.check_names()?;
        let cables = self.cables.iter().enumerate();
        cables
            .into_iter()
            .try_for_each(|(place, cable)| self.check_cable(place, cable))?;
        self.check_nodes()?;
        self.check_flooding()
    }

    fn check_names(&self) -> Result<(), Fault> {
        let mut names = HashSet::new();
        for (place, node) in self.nodes.iter().enumerate() {
            let name = &node.name;
            let is_good = |one: char| one.is_ascii_alphanumeric() || "-_".contains(one);
            require(
                (1..=32).contains(&name.len()) && name.chars().all(is_good),
                At::Node(place),
                || format!("`{name}` is no name: 1 to 32 letters, digits, - and _, as it is also a file's"),
            )?;
            require(names.insert(name), At::Node(place), || {
                format!("there are two nodes of the name {name}")
            })?;
        }
        Ok(())
    }

    fn check_cable(&self, place: usize, cable: &CableConfig) -> Result<(), Fault> {
        let at = At::Cable(place);
        let [one, other] = cable.ends;
        let both = || format!("{} and {}", self.nodes[one].name, self.nodes[other].name);
        require(one != other, at, || {
            format!("a cable from {} to itself", self.nodes[one].name)
        })?;
        require(RATES_BPS.contains(&cable.rate_bps), at, || {
            let rate = cable.rate_bps;
            format!(
                "{rate} bits a second between {}: 1 Mbps to 1000 Gbps are possible",
                both()
            )
        })?;
        require(
            (MIN_LATENCY_PS..=MAX_LATENCY_PS).contains(&cable.latency_ps),
            at,
            || {
                let ns = cable.latency_ps as f64 / 1000.0;
                format!(
                    "a latency of {ns} ns between {}: 100 ns to 1 s are possible",
                    both()
                )
            },
        )
    }

    fn check_nodes(&self) -> Result<(), Fault> {
        for (place, node) in self.nodes.iter().enumerate() {
            let cables = self.cables_at(place).count();
            let name = &node.name;
            let (is_right, why) = match &node.kind {
                Kind::Nic(_) if self.nodes.len() == 1 => (cables == 0, "has nobody to be connected to"),
                Kind::Nic(_) if cables == 0 => (false, "is a NIC without a cable"),
                Kind::Nic(_) => (cables == 1, "is a NIC with more than one cable: it has one port"),
                Kind::Switch(switch) => (
                    switch.buffer_bytes >= MIN_BUFFER_BYTES,
                    "has a buffer that is smaller than a frame of 9216 bytes",
                ),
            };
            require(is_right, At::Node(place), || format!("{name} {why}"))?;
        }
        Ok(())
    }

    /// Frames to everybody must reach everybody once.
    fn check_flooding(&self) -> Result<(), Fault> {
        let mut flooded = Groups::new(self.nodes.len());
        for (place, cable) in self.cables.iter().enumerate().filter(|(_, cable)| cable.floods) {
            let [one, other] = cable.ends;
            require(flooded.join(one, other), At::Cable(place), || {
                let name = |end: usize| &self.nodes[end].name;
                format!(
                    "the cable between {} and {} closes a circle, in which frames to everybody would never end: write \
                     `flood = false` for one cable of the circle",
                    name(one),
                    name(other)
                )
            })?;
        }
        for (place, cable) in self.cables.iter().enumerate() {
            let [one, other] = cable.ends;
            require(flooded.find(one) == flooded.find(other), At::Cable(place), || {
                format!(
                    "frames to everybody do not pass between {} and {}: `flood = false` is only for cables that close a circle",
                    self.nodes[one].name, self.nodes[other].name
                )
            })?;
        }
        Ok(())
    }
}

fn require(is_so: bool, at: At, what: impl FnOnce() -> String) -> Result<(), Fault> {
    match is_so {
        true => Ok(()),
        false => Err(Fault { at, what: what() }),
    }
}

/// Who is connected with whom.
struct Groups(Vec<usize>);

impl Groups {
    fn new(nodes: usize) -> Self {
        Self((0..nodes).collect())
    }

    /// Who stands for the group of a node.
    fn find(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }

    /// Makes one group of two; false if they are one already.
    fn join(&mut self, one: usize, other: usize) -> bool {
        let [one, other] = [self.find(one), self.find(other)];
        self.0[one] = other;
        one != other
    }
}
