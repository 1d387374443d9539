//! Text of handlers for people, beside that of a program.

use super::stream::Output;
use crate::nic::HPUS_OF_CLUSTER;
use spinneret_host::{Lines, Printed};
use std::fmt;
use std::io::{self, Write};

/// Text of handlers in lines, each of one HPU and after its name, without characters that a terminal obeys: as `[1.3] text`, as
/// what the NIC itself prints is shown. So no handler takes a terminal over, or writes a line that looks like another
/// one's or the program's. A line without an end is shown when the handler flushes it, or at the end.
///
/// Each HPU has one port here, as [`Offer`](crate::Offer) has it by default.
pub struct Shown<W: Write> {
    writer: W,
    lines: Lines,
}

impl<W: Write> Shown<W> {
    /// Shows lines by a writer.
    pub fn new(writer: W) -> Self {
        Self {
            writer,
            lines: Lines::default(),
        }
    }

    /// Whole lines are written at once, so that others' do not come between.
    fn show(&mut self, lines: &[Printed]) -> io::Result<()> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.writer.write_all(text.as_bytes())?;
        self.writer.flush()
    }
}

impl<W: Write> Output for Shown<W> {
    fn write_of(&mut self, port: u32, text: &[u8]) -> io::Result<usize> {
        let hpu = (port / HPUS_OF_CLUSTER) << 16 | (port % HPUS_OF_CLUSTER) << 8;
        let words = text.iter().map(|character| hpu | u32::from(*character));
        let lines: Vec<Printed> = words.filter_map(|word| self.lines.word(word)).collect();
        if !lines.is_empty() {
            self.show(&lines)?;
        }
        Ok(text.len())
    }

    fn flush_of(&mut self, port: Option<u32>) -> io::Result<()> {
        let begun = match port {
            Some(port) => {
                let [cluster, hpu] = [port / HPUS_OF_CLUSTER, port % HPUS_OF_CLUSTER];
                self.lines.rest_of(cluster, hpu).into_iter().collect()
            }
            None => self.lines.rest(),
        };
        self.show(&begun)
    }
}

impl<W: Write> fmt::Debug for Shown<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shown")
            .field("lines", &self.lines)
            .finish_non_exhaustive()
    }
}
