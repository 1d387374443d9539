//! What handlers print: one stream of characters from all HPUs, taken apart into lines.

use crate::control::Control;
use crate::device::{Device, OpenDevice};
use crate::error::{Error, In as _};
use crate::nic::Nic;
use spinneret_regmap::cl;
use std::collections::BTreeMap;
use std::fmt;

/// The word that says that there is nothing.
pub const NOTHING_PRINTED: u32 = u32::MAX;

/// A line of an HPU, which is shown as `[cluster.hpu] line`, without characters that a terminal obeys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The HPU's cluster.
    pub cluster: u32,
    /// The HPU in its cluster.
    pub hpu: u32,
    /// The line without its end.
    pub line: String,
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cluster, hpu, line } = self;
        write!(f, "[{cluster}.{hpu}] {}", harmless(line))
    }
}

/// A text without characters that a terminal obeys: what handlers print and names of files may hold any. They are shown as
/// Rust writes them, and so are those that turn the direction of text round. Tabs and ends of lines stay.
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' | '\n' => shown.push(character),
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                shown.extend(character.escape_unicode());
            }
            _ if character.is_control() => shown.extend(character.escape_default()),
            _ => shown.push(character),
        }
    }
    shown
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

    /// The line that an HPU has begun and not ended.
    pub fn rest_of(&mut self, cluster: u32, hpu: u32) -> Option<Printed> {
        let line = self.open.remove(&(cluster, hpu))?;
        (!line.is_empty()).then(|| printed((cluster, hpu), &line))
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
