//! What handlers print: one stream of characters from all HPUs, taken apart into lines.

use crate::control::Control;
use crate::device::{Device, OpenDevice};
use crate::error::{Error, In as _};
use crate::nic::Nic;
use spinneret_regmap::cl;
use std::collections::BTreeMap;

/// The word that says that there is nothing.
pub const NOTHING_PRINTED: u32 = u32::MAX;
/// A line of an HPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The HPU's cluster.
    pub cluster: u32,
    /// The HPU in its cluster.
    pub hpu: u32,
    /// The line without its end.
    pub line: String,
}

/// Joins the characters of all HPUs to lines, each of one HPU.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    open: BTreeMap<(u32, u32), Vec<u8>>,
}

impl Lines {
    /// Characters after which a line is broken.
    pub const LONGEST: usize = 4096;

    /// Takes a word of standard output, {cluster, core, character} in its lowest 24 bits: the line that it ends, if it ends
    /// one.
    pub fn word(&mut self, word: u32) -> Option<Printed> {
        let [character, hpu, cluster, _] = word.to_le_bytes();
        let hpu = (u32::from(cluster), u32::from(hpu));
        let line = self.open.entry(hpu).or_default();
        if character != b'\n' {
            line.push(character);
            if line.len() < Self::LONGEST {
                return None;
            }
        }
        Some(printed(hpu, &std::mem::take(line)))
    }

    /// The lines that were begun and have no end.
    pub fn rest(&mut self) -> Vec<Printed> {
        let open = std::mem::take(&mut self.open);
        let begun = open.iter().filter(|(_, line)| !line.is_empty());
        begun.map(|(hpu, line)| printed(*hpu, line)).collect()
    }
}

fn printed((cluster, hpu): (u32, u32), line: &[u8]) -> Printed {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = String::from_utf8_lossy(line).into_owned();
    Printed { cluster, hpu, line }
}

/// What handlers of a NIC print.
#[derive(Debug)]
pub struct Stdout<D: Device = OpenDevice> {
    nic: Nic<D>,
    lines: Lines,
}

impl<D: Device> Nic<D> {
    /// What handlers print.
    pub fn stdout(&self) -> Stdout<D> {
        Stdout {
            nic: self.clone(),
            lines: Lines::default(),
        }
    }
}

impl<D: Device> Stdout<D> {
    /// The lines that have been completed since the last call. The hardware holds some hundred characters: HPUs that print
    /// more wait until they are read.
    ///
    /// # Errors
    /// If the NIC does not answer.
    pub fn lines(&mut self) -> Result<Vec<Printed>, Error> {
        let mut lines = Vec::new();
        let mut state = self.nic.lock();
        let mut control = Control(&mut state.device);
        loop {
            match control.get(cl::FIFO.offset).call("Stdout::lines")? {
                NOTHING_PRINTED => return Ok(lines),
                word => lines.extend(self.lines.word(word)),
            }
        }
    }

    /// What has been printed without the end of a line.
    pub fn rest(&mut self) -> Vec<Printed> {
        self.lines.rest()
    }
}
