//! The simulated NIC as software has it.

use crate::net::picoseconds;
use crate::nic::{Behind, ControlError, LAST_PS, Modelled, Nic, NicConfig, NicError};
use crate::share::Share;
use spinneret_cluster::Program;
use spinneret_fabric::MAX_FRAME_BYTES;
use spinneret_host::device::Area;
use spinneret_host::{Address, Device, DeviceError, NOTHING_PRINTED};
use spinneret_regmap::{CONTEXTS, cl};
use std::cell::{Ref, RefMut};
use std::time::Duration;

/// Where the host memory of the first context is; an address above 4 GiB, so that no upper half is forgotten.
pub const HOST_BASE: u64 = 0x1_0000_0000;
/// From one context's host memory to the next one's, and the most that each can have.
pub const HOST_STRIDE: u64 = 0x1000_0000;

/// Frames of a program that wait to be sent, at most.
const TRANSMIT_FRAMES: usize = 64;
/// Bytes of an Ethernet header, which every frame has.
const HEADER_BYTES: usize = 14;

/// A simulated NIC, in several hands of one thread: software has one, and whoever feeds it with packets another.
///
/// Nothing happens on it but while one of them lets time pass.
#[derive(Debug)]
pub struct Simulated<B = Modelled>(Share<Nic<B>>, Option<Address>);

impl<B> Clone for Simulated<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), self.1)
    }
}

impl Simulated {
    /// A NIC after reset.
    ///
    /// # Errors
    /// If the hardware fails in reset.
    pub fn new(config: NicConfig) -> Result<Self, NicError> {
        Ok(Self::of(Nic::new(config)?))
    }
}

impl<B: Behind> Simulated<B> {
    /// A NIC that is there.
    pub fn of(nic: Nic<B>) -> Self {
        Self(Share::new(nic), None)
    }

    /// To look at it.
    pub fn borrow(&self) -> Ref<'_, Nic<B>> {
        self.0.borrow()
    }

    /// To use it. No other hand may use it meanwhile.
    pub fn borrow_mut(&self) -> RefMut<'_, Nic<B>> {
        self.0.borrow_mut()
    }

    /// The NIC itself, if nobody else has it.
    ///
    /// # Errors
    /// If somebody has; this hand comes back.
    pub fn into_nic(self) -> Result<Nic<B>, Self> {
        let address = self.1;
        self.0.into_inner().map_err(|inner| Self(inner, address))
    }

    /// The same NIC, which tells its addresses.
    #[must_use]
    pub fn with_address(mut self, address: Address) -> Self {
        self.1 = Some(address);
        self
    }

    /// Where a context's host memory begins.
    fn host(context: u32, offset: u32) -> u64 {
        HOST_BASE + u64::from(context) * HOST_STRIDE + u64::from(offset)
    }
}

fn refused(error: ControlError) -> DeviceError {
    match error {
        ControlError::Nic(error) => DeviceError::Gone(error.to_string()),
        error => DeviceError::Refused(error.to_string()),
    }
}

impl<B: Behind> Device for Simulated<B> {
    fn has_register(&self, _offset: u32) -> bool {
        true
    }

    fn read_register(&mut self, offset: u32) -> Result<u32, DeviceError> {
        let mut nic = self.borrow_mut();
        // The simulation reads what is printed by itself, because HPUs wait for somebody who does.
        match offset == cl::FIFO.offset {
            true => Ok(nic.read_printed().unwrap_or(NOTHING_PRINTED)),
            false => nic.get(offset).map_err(refused),
        }
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.borrow_mut().set(offset, value).map_err(refused)
    }

    fn read_cluster(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let mut nic = self.borrow_mut();
        for (word, address) in bytes.chunks_exact_mut(4).zip((address..).step_by(4)) {
            let value = nic.read_cluster(address).map_err(refused)?;
            word.copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    }

    fn write_cluster(&mut self, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        let mut nic = self.borrow_mut();
        let (words, _) = bytes.as_chunks();
        for (word, address) in words.iter().zip((address..).step_by(4)) {
            nic.write_cluster(address, u32::from_le_bytes(*word))
                .map_err(refused)?;
        }
        Ok(())
    }

    fn load(&mut self, program: &Program) -> Result<(), DeviceError> {
        let is_there = self.borrow_mut().load(program);
        match is_there {
            true => Ok(()),
            false => self.load_segments(program),
        }
    }

    fn open_area(&mut self, context: u32, bytes: u32) -> Result<Area, DeviceError> {
        if context >= CONTEXTS || u64::from(bytes) > HOST_STRIDE {
            return Err(DeviceError::NoMemory(format!(
                "{bytes} bytes for context {context}: there are {CONTEXTS} contexts of up to {HOST_STRIDE} bytes"
            )));
        }
        let address = Self::host(context, 0);
        self.borrow().host_memory().zero(address..address + HOST_STRIDE);
        Ok(Area { address, bytes })
    }

    fn close_area(&mut self, context: u32) {
        let start = Self::host(context, 0);
        self.borrow().host_memory().forget(start..start + HOST_STRIDE);
    }

    fn read_host(&mut self, context: u32, offset: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let nic = self.borrow();
        nic.host_memory().read_to(Self::host(context, offset), bytes);
        Ok(())
    }

    fn write_host(&mut self, context: u32, offset: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        self.borrow()
            .host_memory()
            .set(Self::host(context, offset), bytes);
        Ok(())
    }

    fn tells_contexts(&self) -> bool {
        self.borrow().behind().tells_contexts()
    }

    fn shape(&self) -> [u32; 2] {
        self.borrow().behind().shape()
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.borrow().now_ps() / 1000)
    }

    fn last_moment(&self) -> Duration {
        Duration::from_nanos(LAST_PS / 1000)
    }

    fn wait(&mut self, time: Duration) -> Result<(), DeviceError> {
        self.moment_after(time)?;
        let mut nic = self.borrow_mut();
        let end_ps = nic.now_ps() + picoseconds(time);
        nic.run_until(end_ps)
            .map_err(|error| DeviceError::Gone(error.to_string()))
    }

    fn compute(&mut self, time: Duration) -> Result<(), DeviceError> {
        self.wait(time)
    }

    fn address(&self) -> Option<Address> {
        self.1
    }

    fn transmit(&mut self, frame: &[u8]) -> Result<bool, DeviceError> {
        if !(HEADER_BYTES..=MAX_FRAME_BYTES).contains(&frame.len()) {
            return Err(DeviceError::Refused(format!(
                "a frame of {} bytes: {HEADER_BYTES} to {MAX_FRAME_BYTES} are possible",
                frame.len()
            )));
        }
        let mut nic = self.borrow_mut();
        let has_room = nic.transmitting() < TRANSMIT_FRAMES;
        if has_room {
            nic.transmit(frame.to_vec());
        }
        Ok(has_room)
    }

    fn receive(&mut self) -> Result<Option<Vec<u8>>, DeviceError> {
        Ok(self.borrow_mut().take_host().map(|out| out.bytes))
    }
}
