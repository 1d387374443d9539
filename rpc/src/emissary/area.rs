//! Memory of transfers: what the device sends before a call, and gets back after it.

use super::arguments::{Argument, Id};
use super::refused;
use crate::server::Refusal;
use std::ops::Range;

/// Memory of the device that comes, goes, or both.
#[derive(Clone, Debug)]
struct Area {
    /// On the device.
    start: u64,
    bytes: Vec<u8>,
    comes: bool,
    /// How many bytes go back at most, if any do.
    goes: Option<usize>,
    /// How many of these go back.
    filled: usize,
}

impl Area {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

/// The areas of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Areas {
    /// Those that come first, in their order.
    areas: Vec<Area>,
    /// The areas that go, in their order.
    back: Vec<usize>,
}

impl Areas {
    /// The areas that the first arguments tell, two for each: address and length. Nothing is kept before their lengths
    /// have been compared with what a call may have.
    pub(super) fn plan(arguments: &[Argument], id: Id, most_bytes: usize) -> Result<Self, Refusal> {
        let mut pairs = Vec::new();
        let mut left = most_bytes;
        for pair in arguments.as_chunks().0 {
            let (start, bytes) = transfer(pair).ok_or(refused::TRANSFERS)?;
            left = left.checked_sub(bytes).ok_or(refused::TRANSFERS)?;
            pairs.push((start, bytes));
        }
        let mut areas = Self::default();
        let (sends, receives) = pairs
            .split_at_checked(id.sends.into())
            .ok_or(refused::TRANSFERS)?;
        for &(start, bytes) in sends {
            areas.add(start, bytes)?;
        }
        for area in &mut areas.areas {
            area.comes = true;
        }
        for &(start, bytes) in receives {
            areas.send_back(start, bytes)?;
        }
        Ok(areas)
    }

    /// Adds an area that has no byte in common with others.
    fn add(&mut self, start: u64, length: usize) -> Result<usize, Refusal> {
        let end = start.checked_add(length as u64).ok_or(refused::TRANSFERS)?;
        let meets = |area: &Area| start < area.end() && area.start < end;
        if start == 0 || self.areas.iter().any(meets) {
            return Err(refused::TRANSFERS);
        }
        self.areas.push(Area {
            start,
            bytes: vec![0; length],
            comes: false,
            goes: None,
            filled: 0,
        });
        Ok(self.areas.len() - 1)
    }

    /// Adds an area that goes back; it may be one that comes, from the same address.
    fn send_back(&mut self, start: u64, length: usize) -> Result<(), Refusal> {
        let same = self
            .areas
            .iter()
            .position(|area| area.comes && area.start == start);
        let index = match same {
            Some(index) if self.areas[index].goes.is_none() && self.areas[index].bytes.len() >= length => {
                index
            }
            Some(_) => return Err(refused::TRANSFERS),
            None => self.add(start, length)?,
        };
        let area = &mut self.areas[index];
        (area.goes, area.filled) = (Some(length), length);
        self.back.push(index);
        Ok(())
    }

    /// Bytes of a transfer to the host.
    pub(super) fn sent_bytes(&self, number: usize) -> usize {
        self.areas.get(number).map_or(0, |area| area.bytes.len())
    }

    /// The data of a transfer to the host have come.
    pub(super) fn take(&mut self, number: usize, bytes: Vec<u8>) {
        if let Some(area) = self.areas.get_mut(number) {
            area.bytes = bytes;
        }
    }

    /// The data of a transfer to the device.
    pub(super) fn returned(&self, number: usize) -> &[u8] {
        let area = self.back.get(number).and_then(|index| self.areas.get(*index));
        area.map_or(&[], |area| &area.bytes[..area.filled])
    }

    /// What came for an address, from there to the end of its transfer.
    pub(super) fn input(&self, address: u64) -> Option<&[u8]> {
        let (index, at) = self.find(address, |area| area.comes)?;
        self.areas[index].bytes.get(at..)
    }

    /// What goes back to an address, from there to the end of its transfer.
    pub(super) fn output(&mut self, address: u64) -> Option<&mut [u8]> {
        let (index, range) = self.going(address)?;
        self.areas[index].bytes.get_mut(range)
    }

    /// Only so many bytes from an address on go back; says whether that many can.
    pub(super) fn fill(&mut self, address: u64, bytes: usize) -> bool {
        match self.going(address) {
            Some((index, range)) if bytes <= range.len() => {
                self.areas[index].filled = range.start + bytes;
                true
            }
            _ => false,
        }
    }

    /// The area that goes back and has an address, and which part of it is from there on.
    fn going(&self, address: u64) -> Option<(usize, Range<usize>)> {
        let (index, at) = self.find(address, |area| area.goes.is_some())?;
        let end = self.areas[index].goes?;
        (at <= end).then_some((index, at..end))
    }

    /// The area that has an address, and how far that is in it.
    fn find(&self, address: u64, is_one: impl Fn(&Area) -> bool) -> Option<(usize, usize)> {
        let has = |area: &Area| {
            let is_in = area.start <= address && address < area.end();
            is_one(area) && (is_in || area.start == address)
        };
        let index = self.areas.iter().position(has)?;
        Some((index, (address - self.areas[index].start) as usize))
    }
}

/// Address and length of a transfer. A length of 64 bits is compared as it is.
fn transfer(pair: &[Argument; 2]) -> Option<(u64, usize)> {
    match *pair {
        [Argument::Pointer(start), Argument::Integer32(bytes)] => Some((start, bytes.try_into().ok()?)),
        [Argument::Pointer(start), Argument::Integer64(bytes)] => Some((start, bytes.try_into().ok()?)),
        _ => None,
    }
}
