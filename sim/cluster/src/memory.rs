//! The memories of all clusters, byte by byte.

use crate::map::{self, Place};
use spinneret_regmap::pspin::{HANDLER_BYTES, L1_BYTES, PACKET_BYTES, PROGRAM_BYTES};

/// L1 of each cluster and the three memories of L2.
#[derive(Clone, Debug)]
pub struct Memory {
    l1: Vec<Box<[u8]>>,
    handler: Box<[u8]>,
    packet: Box<[u8]>,
    program: Box<[u8]>,
}

impl Memory {
    /// Memories for that many clusters, all bytes 0.
    pub fn new(clusters: usize) -> Self {
        let zeros = |bytes: u32| vec![0; bytes as usize].into_boxed_slice();
        Self {
            l1: (0..clusters).map(|_| zeros(L1_BYTES)).collect(),
            handler: zeros(HANDLER_BYTES),
            packet: zeros(PACKET_BYTES),
            program: zeros(PROGRAM_BYTES),
        }
    }

    /// Clusters that have L1.
    pub fn clusters(&self) -> usize {
        self.l1.len()
    }

    /// From a place on to the end of its memory.
    pub fn from(&self, place: Place) -> &[u8] {
        match place {
            Place::L1(cluster, offset) => &self.l1[cluster][offset..],
            Place::Handler(offset) => &self.handler[offset..],
            Place::Packet(offset) => &self.packet[offset..],
            Place::Program(offset) => &self.program[offset..],
        }
    }

    /// The same, to be changed.
    pub fn from_mut(&mut self, place: Place) -> &mut [u8] {
        match place {
            Place::L1(cluster, offset) => &mut self.l1[cluster][offset..],
            Place::Handler(offset) => &mut self.handler[offset..],
            Place::Packet(offset) => &mut self.packet[offset..],
            Place::Program(offset) => &mut self.program[offset..],
        }
    }

    /// Bytes at a global address; nothing if they are not all in one memory.
    pub fn read(&self, address: u32, bytes: u32) -> Option<&[u8]> {
        let place = map::place(address, bytes, self.clusters())?;
        Some(&self.from(place)[..bytes as usize])
    }

    /// Writes bytes at a global address, all or none: whether they are all in one memory.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> bool {
        let length = u32::try_from(bytes.len()).ok();
        match length.and_then(|length| map::place(address, length, self.clusters())) {
            Some(place) => {
                self.from_mut(place)[..bytes.len()].copy_from_slice(bytes);
                true
            }
            None => false,
        }
    }

    /// Copies bytes from one global address to another, as far as both are memory: whether they are.
    pub fn copy(&mut self, source: u32, destination: u32, bytes: u32) -> bool {
        let Some(data) = self.read(source, bytes).map(<[u8]>::to_vec) else {
            return false;
        };
        self.write(destination, &data)
    }
}

#[cfg(test)]
mod tests {
    use super::Memory;

    #[test]
    fn bytes_are_where_they_were_written() {
        let mut memory = Memory::new(2);
        assert!(memory.write(0x1040_0010, &[1, 2, 3]));
        assert_eq!(memory.read(0x1040_000f, 5), Some(&[0, 1, 2, 3, 0][..]));
        assert_eq!(memory.read(0x1000_0010, 3), Some(&[0; 3][..]));
    }

    #[test]
    fn what_is_not_in_one_memory_changes_nothing() {
        let mut memory = Memory::new(1);
        assert!(!memory.write(0x1c17_ffff, &[1, 2]));
        assert_eq!(memory.read(0x1c17_ffff, 1), Some(&[0][..]));
        assert_eq!(memory.read(0x1c17_ffff, 2), None);
        assert!(!memory.copy(0x1c00_0000, 0x1c18_0000, 4));
    }
}
