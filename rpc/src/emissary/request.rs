//! Requests: a call as an API sees it.

use super::{Argument, Head, Id, refused};
use crate::server::Refusal;
use std::ops::Range;

/// The result of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reply {
    /// An integer of any width.
    Integer(i64),
    /// A double, by its bits.
    Double(f64),
    /// A double for stubs that make it of the word's value, as those of LLVM's #218473 do. It has to be a whole number
    /// from 0 to 2^53; any other is a failure, not a wrong result.
    WholeDouble(f64),
}

impl Reply {
    /// The word that a client gets.
    pub(super) fn word(self) -> Result<u64, Refusal> {
        /// Up to here, every whole number is a double.
        const MOST: f64 = 9_007_199_254_740_992.0;
        match self {
            Self::Integer(value) => Ok(value as u64),
            Self::Double(value) => Ok(value.to_bits()),
            Self::WholeDouble(value) if (0.0..=MOST).contains(&value) && value.fract() == 0.0 => {
                Ok(value as u64)
            }
            Self::WholeDouble(_) => Err(refused::RESULT),
        }
    }
}

/// A call: its function, and the arguments after those of transfers, from 0 on.
#[derive(Debug)]
pub struct Request {
    id: Id,
    arguments: Vec<Argument>,
    pub(super) areas: Areas,
}

impl Request {
    pub(super) fn new(head: Head<'_>, most_bytes: usize) -> Result<Self, Refusal> {
        let id = head.id();
        let mut arguments = head.arguments().map_err(|_| refused::ARGUMENTS)?;
        let transfers = 2 * (usize::from(id.sends) + usize::from(id.receives));
        if transfers > arguments.len() {
            return Err(refused::TRANSFERS);
        }
        let rest = arguments.split_off(transfers);
        Ok(Self {
            id,
            areas: Areas::plan(&arguments, id, most_bytes)?,
            arguments: rest,
        })
    }

    /// The number of the API.
    pub fn api(&self) -> u16 {
        self.id.api
    }

    /// The number of its function.
    pub fn function(&self) -> u16 {
        self.id.function
    }

    /// How many arguments there are.
    pub fn arguments(&self) -> usize {
        self.arguments.len()
    }

    /// An integer, whose sign is that of its own width.
    ///
    /// # Errors
    /// If the argument is none.
    pub fn integer(&self, index: usize) -> Result<i64, Refusal> {
        match self.arguments.get(index) {
            Some(Argument::Integer32(value)) => Ok((*value).into()),
            Some(Argument::Integer64(value)) => Ok(*value),
            _ => Err(refused::TYPE),
        }
    }

    /// A double.
    ///
    /// # Errors
    /// If the argument is none.
    pub fn double(&self, index: usize) -> Result<f64, Refusal> {
        match self.arguments.get(index) {
            Some(Argument::Double(value)) => Ok(*value),
            _ => Err(refused::TYPE),
        }
    }

    /// A string without the byte that ends it, unless the pointer is null.
    ///
    /// # Errors
    /// If the argument is none, or was cut before its end.
    pub fn string(&self, index: usize) -> Result<Option<&[u8]>, Refusal> {
        match self.arguments.get(index) {
            Some(Argument::String(None)) => Ok(None),
            Some(Argument::String(Some(bytes))) => {
                let end = bytes.iter().position(|byte| *byte == 0).ok_or(refused::STRING)?;
                Ok(Some(&bytes[..end]))
            }
            _ => Err(refused::TYPE),
        }
    }

    /// A pointer as a number, for handles that are pointers in the library that the stub was made for. It is no address
    /// of the host: look it up in a table.
    ///
    /// # Errors
    /// If the argument is no pointer.
    pub fn handle(&self, index: usize) -> Result<u64, Refusal> {
        match self.arguments.get(index) {
            Some(Argument::Pointer(value)) => Ok(*value),
            _ => Err(refused::TYPE),
        }
    }

    /// The bytes at a pointer, to the end of its transfer, unless it is null. A pointer to characters may have no
    /// transfer: the stub has sent them as a string.
    ///
    /// # Errors
    /// If the argument is no pointer, or leads to nothing that has come.
    pub fn input(&self, index: usize) -> Result<Option<&[u8]>, Refusal> {
        match self.arguments.get(index) {
            Some(Argument::String(bytes)) => Ok(bytes.as_deref()),
            _ => match self.handle(index)? {
                0 => Ok(None),
                address => self.areas.input(address).map(Some).ok_or(refused::POINTER),
            },
        }
    }

    /// The bytes at a pointer that the device gets back, to the end of its transfer, unless it is null. Bytes that the
    /// function does not write are those that the device has sent from there, or 0.
    ///
    /// # Errors
    /// If the argument is no pointer, or leads to nothing that goes back.
    pub fn output(&mut self, index: usize) -> Result<Option<&mut [u8]>, Refusal> {
        match self.handle(index)? {
            0 => Ok(None),
            address => self.areas.output(address).map(Some).ok_or(refused::POINTER),
        }
    }

    /// Limits the bytes that go back to a pointer; the device's memory after them stays as it is.
    ///
    /// # Errors
    /// As [`output`](Self::output), or if there are fewer.
    pub fn filled(&mut self, index: usize, bytes: usize) -> Result<(), Refusal> {
        let address = self.handle(index)?;
        match self.areas.fill(address, bytes) {
            true => Ok(()),
            false => Err(refused::POINTER),
        }
    }
}

// Memory of transfers: what the device sends before a call, and gets back after it.

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

    /// The bytes that came for an address, from there to the end of its transfer.
    pub(super) fn input(&self, address: u64) -> Option<&[u8]> {
        let (index, at) = self.find(address, |area| area.comes)?;
        self.areas[index].bytes.get(at..)
    }

    /// The bytes that go back to an address, from there to the end of its transfer.
    pub(super) fn output(&mut self, address: u64) -> Option<&mut [u8]> {
        let (index, range) = self.going(address)?;
        self.areas[index].bytes.get_mut(range)
    }

    /// Limits the bytes that go back to an address, and returns whether there are that many.
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
