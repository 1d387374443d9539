//! A call as an API sees it.

use super::area::Areas;
use super::arguments::{Argument, Head, Id};
use super::refused;
use crate::server::Refusal;

/// What a function gives.
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

/// A call: its function, and arguments behind those of transfers, from 0 on.
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

    /// What a pointer leads to, to the end of its transfer, unless it is null. A pointer to characters may have none:
    /// the stub has sent them as a string.
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

    /// Where a pointer leads to that the device gets back, to the end of its transfer, unless it is null. What the
    /// function does not write is what the device has sent from there, or 0.
    ///
    /// # Errors
    /// If the argument is no pointer, or leads to nothing that goes back.
    pub fn output(&mut self, index: usize) -> Result<Option<&mut [u8]>, Refusal> {
        match self.handle(index)? {
            0 => Ok(None),
            address => self.areas.output(address).map(Some).ok_or(refused::POINTER),
        }
    }

    /// Says that only so many bytes from a pointer on go back; the device's memory behind them stays as it is.
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
