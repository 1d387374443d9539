//! The bus of the harts: each access of an instruction has to be one that its thread has made on the data port.

use super::memory::{DATA_BYTES, Done};
use super::{DATA, PROGRAM};
use spinneret_cluster::rv::{Access, Bus, Fault, Privilege, Reservations, Width};

/// Bytes of a grain of the protection ranges.
pub(super) const GRAIN: u32 = 64;

/// Program memory, protection ranges, and the accesses since the last report of each thread.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) program: Vec<u8>,
    pub(super) ranges: Vec<Vec<(u32, u32)>>,
    pub(super) done: Vec<Vec<Done>>,
    /// The thread whose instruction is compared.
    pub(super) thread: usize,
}

impl View {
    fn check(&self, address: u32, bytes: u32, who: Privilege) -> Result<(), Fault> {
        let inside = |(first, end): &(u32, u32)| (first * GRAIN..end * GRAIN).contains(&address);
        let is_allowed = who == Privilege::Machine || self.ranges[self.thread].iter().any(inside);
        let end = address.wrapping_sub(DATA) as usize + bytes as usize;
        if is_allowed && end <= DATA_BYTES {
            Ok(())
        } else {
            Err(Fault)
        }
    }

    /// The access of the port that has these bytes.
    fn find(&mut self, address: u32, bytes: u32, who: Privilege) -> Result<&mut Done, Fault> {
        self.check(address, bytes, who)?;
        let lanes = ((1 << bytes) - 1) << (address & 3);
        let is_user = who == Privilege::User;
        let fits = |done: &&mut Done| {
            let offer = done.offer;
            offer.address == address & !3 && offer.strobe & lanes == lanes && offer.is_user == is_user
        };
        let found = self.done[self.thread].iter_mut().find(fits);
        let done = found.unwrap_or_else(|| panic!("no access of {address:#010x}"));
        done.used |= lanes;
        Ok(done)
    }
}

fn result(value: u32) -> Result<Access, Fault> {
    Ok(Access::Done { value, clocks: 0 })
}

impl Bus for View {
    fn fetch(&mut self, address: u32, _: Privilege) -> Result<u32, Fault> {
        let at = address.wrapping_sub(PROGRAM) as usize;
        let half = |at: usize| {
            let bytes = self.program.get(at..at.checked_add(2)?)?;
            Some(u32::from(bytes[0]) | u32::from(bytes[1]) << 8)
        };
        let low = half(at).ok_or(Fault)?;
        if low & 3 == 3 {
            half(at + 2).map(|high| high << 16 | low).ok_or(Fault)
        } else {
            Ok(low)
        }
    }

    /// A failing `sc.w` is refused as a store would be.
    fn reserves(&self, address: u32, who: Privilege) -> Reservations {
        match self.check(address, 4, who) {
            Ok(()) => Reservations::Kept,
            Err(Fault) => Reservations::Refused,
        }
    }

    fn load(&mut self, address: u32, width: Width, who: Privilege) -> Result<Access, Fault> {
        let done = self.find(address, width.bytes(), who)?;
        assert!(!done.has_stored(), "a load that stores: {:?}", done.offer);
        let mask = u32::MAX >> (32 - 8 * width.bytes());
        result(done.answer >> (8 * (address & 3)) & mask)
    }

    fn store(&mut self, address: u32, width: Width, value: u32, who: Privilege) -> Result<Access, Fault> {
        let done = self.find(address, width.bytes(), who)?;
        let mask = u32::MAX >> (32 - 8 * width.bytes());
        let stored = done.words[1] >> (8 * (address & 3));
        assert!(done.has_stored(), "nothing is stored: {:?}", done.offer);
        assert_eq!(stored & mask, value & mask, "stored at {address:#010x}");
        result(0)
    }

    fn modify(
        &mut self,
        address: u32,
        who: Privilege,
        change: &mut dyn FnMut(u32) -> u32,
    ) -> Result<Access, Fault> {
        let done = self.find(address, 4, who)?;
        let [old, new] = done.words;
        assert_eq!(new, change(old), "word after {:?}", done.offer);
        result(old)
    }
}
