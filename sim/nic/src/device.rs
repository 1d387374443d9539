//! The simulated NIC as a device for software.

use crate::net::{Interrupt, picoseconds};
use crate::nic::{Backend, ControlError, LAST_PS, Nic, NicConfig, NicError};
use spinneret_cluster::Program;
use spinneret_fabric::MAX_FRAME_BYTES;
use spinneret_host::device::{Area, SharedMemory};
use spinneret_host::{Address, Device, DeviceError, NOTHING_PRINTED};
use spinneret_regmap::{CONTEXTS, cl};
use spinneret_sim::dma::Backing;
use std::cell::{Ref, RefCell, RefMut};
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::rc::Rc;
use std::time::Duration;

/// Address of the host memory of the first context; above 4 GiB, to test the upper halves of addresses.
pub const HOST_BASE: u64 = 0x1_0000_0000;
/// Distance between the host memories of contexts, and the maximum size of each.
pub const HOST_STRIDE: u64 = 0x1000_0000;

/// Granularity of host memory.
const PAGE_BYTES: u32 = 4096;

/// Queued frames of a program at most.
const TRANSMIT_FRAMES: usize = 64;
/// Bytes of an Ethernet header, which every frame has.
const HEADER_BYTES: usize = 14;

/// A shared handle of a simulated NIC within one thread: software and the source of packets have one each.
///
/// Simulated time passes only in their calls.
#[derive(Clone, Debug)]
pub struct Simulated {
    nic: Rc<RefCell<Nic>>,
    /// Host memory of each context, shared with the simulated DMA and maybe another process.
    areas: Rc<RefCell<[Option<Rc<HostArea>>; CONTEXTS as usize]>>,
    address: Option<Address>,
    /// Waiting stops at this interrupt.
    interrupt: Rc<RefCell<Option<Interrupt>>>,
}

/// Host memory of a context.
#[derive(Debug)]
struct HostArea(SharedMemory);

impl Backing for HostArea {
    fn read(&self, offset: u64, bytes: &mut [u8]) {
        self.0.mapping().read(offset as usize, bytes);
    }

    fn write(&self, offset: u64, bytes: &[u8]) {
        self.0.mapping().write(offset as usize, bytes);
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

    /// A NIC that is there.
    pub fn of(nic: Nic) -> Self {
        Self {
            nic: Rc::new(RefCell::new(nic)),
            areas: Rc::default(),
            address: None,
            interrupt: Rc::default(),
        }
    }

    /// Shared access.
    pub fn borrow(&self) -> Ref<'_, Nic> {
        self.nic.borrow()
    }

    /// Exclusive access; other handles must not be in use.
    pub fn borrow_mut(&self) -> RefMut<'_, Nic> {
        self.nic.borrow_mut()
    }

    /// The NIC itself, if this is the last handle.
    pub fn into_nic(self) -> Option<Nic> {
        Rc::into_inner(self.nic).map(RefCell::into_inner)
    }

    /// Makes the addresses of host memory visible.
    #[must_use]
    pub fn with_address(mut self, address: Address) -> Self {
        self.address = Some(address);
        self
    }

    /// Sets or removes the interrupt that stops waiting.
    pub(crate) fn wait_unless(&self, interrupt: Option<Interrupt>) {
        *self.interrupt.borrow_mut() = interrupt;
    }

    /// Whether waiting was interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.borrow().as_ref().is_some_and(Interrupt::is_set)
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

impl Device for Simulated {
    fn has_register(&self, _offset: u32) -> bool {
        true
    }

    fn read_register(&mut self, offset: u32) -> Result<u32, DeviceError> {
        let mut nic = self.borrow_mut();
        // The simulation reads standard output automatically, because HPUs wait while the FIFO is full.
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

    fn post_cluster(&mut self, address: u32, word: u32) -> Result<(), DeviceError> {
        self.borrow_mut().post_cluster(address, word).map_err(refused)
    }

    fn load(&mut self, program: &Program) -> Result<(), DeviceError> {
        let is_there = self.borrow_mut().load(program);
        match is_there {
            true => Ok(()),
            false => self.load_segments(program),
        }
    }

    fn load_beside(&mut self, program: &Program) -> Result<(), DeviceError> {
        let is_there = self.borrow_mut().load_beside(program);
        match is_there {
            true => Ok(()),
            false => self.load_segments(program),
        }
    }

    fn clear_cluster(&mut self, address: u32, bytes: u32) -> Result<(), DeviceError> {
        let is_done = self.borrow_mut().clear(address, bytes);
        match is_done {
            true => Ok(()),
            false => self.write_cluster(address, &vec![0; bytes as usize]),
        }
    }

    fn open_area(&mut self, context: u32, bytes: u32) -> Result<Area, DeviceError> {
        if context >= CONTEXTS || u64::from(bytes) > HOST_STRIDE {
            return Err(DeviceError::NoMemory(format!(
                "{bytes} bytes for context {context}: there are {CONTEXTS} contexts of up to {HOST_STRIDE} bytes"
            )));
        }
        let address = Self::host(context, 0);
        self.close_area(context);
        // The padding is cleared as well: handlers of a cluster without context numbers reach it.
        self.borrow().host_memory().zero(address..address + HOST_STRIDE);
        if bytes == 0 {
            return Ok(Area { address, bytes });
        }
        let bytes = bytes.next_multiple_of(PAGE_BYTES);
        let area = SharedMemory::new(bytes as usize)
            .map_err(|error| DeviceError::NoMemory(format!("{bytes} bytes of host memory: {error}")))?;
        let area = Rc::new(HostArea(area));
        let backing = Rc::clone(&area) as Rc<dyn Backing>;
        self.borrow()
            .host_memory()
            .back(address..address + u64::from(bytes), backing);
        self.areas.borrow_mut()[context as usize] = Some(area);
        Ok(Area { address, bytes })
    }

    fn close_area(&mut self, context: u32) {
        let start = Self::host(context, 0);
        self.borrow().host_memory().forget(start..start + HOST_STRIDE);
        self.areas.borrow_mut()[context as usize] = None;
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

    fn host_pointer(&self, context: u32) -> Option<NonNull<u8>> {
        let areas = self.areas.borrow();
        Some(areas.get(context as usize)?.as_ref()?.0.mapping().start())
    }

    fn host_file(&self, context: u32) -> Result<OwnedFd, DeviceError> {
        let refused = |why: String| DeviceError::Refused(format!("host memory of context {context}: {why}"));
        let areas = self.areas.borrow();
        let area = areas.get(context as usize).and_then(Option::as_ref);
        let area = area.ok_or_else(|| refused("it was not taken".to_owned()))?;
        let file = area.0.file().map_err(|error| refused(error.to_string()))?;
        file.try_clone_to_owned()
            .map_err(|error| refused(error.to_string()))
    }

    fn tells_contexts(&self) -> bool {
        self.borrow().cluster().tells_contexts()
    }

    fn has_shares(&self) -> bool {
        self.borrow().config().backend == Backend::Rtl
    }

    fn shape(&self) -> [u32; 2] {
        self.borrow().cluster().shape()
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.borrow().now_ps() / 1000)
    }

    fn last_moment(&self) -> Duration {
        Duration::from_nanos(LAST_PS / 1000)
    }

    fn wait(&mut self, time: Duration) -> Result<(), DeviceError> {
        self.moment_after(time)?;
        if self.is_interrupted() {
            return Err(DeviceError::Gone("interrupted".to_owned()));
        }
        let mut nic = self.borrow_mut();
        let end_ps = nic.now_ps() + picoseconds(time);
        nic.run_until(end_ps)
            .map_err(|error| DeviceError::Gone(error.to_string()))
    }

    fn compute(&mut self, time: Duration) -> Result<(), DeviceError> {
        self.wait(time)
    }

    fn address(&self) -> Option<Address> {
        self.address
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
