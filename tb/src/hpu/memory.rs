//! The memory behind the data port of a pipeline.

use super::DATA;
use crate::hpu_memory::new_word;

/// Bytes of the memory.
pub(super) const DATA_BYTES: usize = 0x1_0000;

/// An offer on the data port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) thread: usize,
    pub(super) address: u32,
    pub(super) is_write: bool,
    /// Bit 5 and bits 31:27 of an atomic instruction, else 0.
    pub(super) atomic: u32,
    pub(super) strobe: u32,
    pub(super) data: u32,
    pub(super) is_user: bool,
}

impl Offer {
    pub(super) fn is_refused(&self) -> bool {
        self.address.wrapping_sub(DATA) as usize >= DATA_BYTES
    }
}

/// An access that took place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) offer: Offer,
    /// The answer of the port.
    pub(super) answer: u32,
    /// The word before and after it.
    pub(super) words: [u32; 2],
    /// Bytes that the hart has accounted for.
    pub(super) used: u32,
}

impl Done {
    /// It was `sc.w` that did not store.
    pub(super) fn is_failed_store(&self) -> bool {
        self.offer.atomic == STORE_CONDITIONAL && self.answer == 1
    }

    /// It stored, as far as other threads can tell.
    pub(super) fn has_stored(&self) -> bool {
        let is_load = self.offer.atomic == LOAD_RESERVED || (self.offer.atomic == 0 && !self.offer.is_write);
        !is_load && !self.is_failed_store()
    }
}

const LOAD_RESERVED: u32 = 0b10_0010;
const STORE_CONDITIONAL: u32 = 0b10_0011;

/// Words, and a reservation for each thread.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) words: Vec<u32>,
    pub(super) reserved: Vec<Option<u32>>,
}

impl Memory {
    /// Does an access.
    pub(super) fn access(&mut self, offer: Offer) -> Done {
        let Offer {
            thread,
            address,
            data,
            ..
        } = offer;
        let at = (address - DATA) as usize / 4;
        let old = self.words[at];
        let mut answer = old;
        let new = match offer.atomic {
            LOAD_RESERVED => {
                self.reserved[thread] = Some(address);
                old
            }
            STORE_CONDITIONAL => {
                let stores = self.reserved[thread].take() == Some(address);
                answer = u32::from(!stores);
                if stores { data } else { old }
            }
            0 if offer.is_write => {
                let lanes = (0..4).filter(|byte| offer.strobe >> byte & 1 == 1);
                let mask = lanes.fold(0, |mask, byte| mask | 0xff << (8 * byte));
                old & !mask | data & mask
            }
            0 => old,
            atomic => new_word(atomic as u8 & 31, old, data),
        };
        self.words[at] = new;
        let done = Done {
            offer,
            answer,
            words: [old, new],
            used: 0,
        };
        if done.has_stored() {
            for (other, reserved) in self.reserved.iter_mut().enumerate() {
                if other != thread && *reserved == Some(address) {
                    *reserved = None;
                }
            }
        }
        done
    }
}
