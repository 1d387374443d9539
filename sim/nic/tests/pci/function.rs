//! The PCI function as a device of the library for applications: what a driver in a virtual machine does, without one.

use crate::served::ok;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use spinneret_host::device::{Area, Mapping};
use spinneret_host::{Device, DeviceError};
use spinneret_regmap::pci;
use spinneret_regmap::pspin::{HANDLER_BASE, PROGRAM_BASE};
use spinneret_regmap::{CONTEXTS, bar};
use std::fmt;
use std::os::fd::AsRawFd as _;
use std::ptr::NonNull;
use std::time::{Duration, Instant};
use vfio_user::Client;

/// Region of the configuration space.
pub(crate) const CONFIG: u32 = 7;
/// Where the memory of a context begins for the NIC, and from one context's to the next one's.
const BASE: u64 = 0x2_0000_0000;
const STRIDE: u64 = 0x1000_0000;
const PAGE: u64 = 4096;
/// The simulated NIC is slower than the clock on the wall by about that much.
const SLOWER: u32 = 1000;
/// Most bytes of the cluster's memory in one access.
const PIECE: usize = 4096;

/// A function, and memory for it that is mapped page by page.
pub(crate) struct Function {
    pub(crate) client: Client,
    memories: [Option<(Mapping, u64)>; CONTEXTS as usize],
    begun: Instant,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Function")
    }
}

fn gone(error: vfio_user::Error) -> DeviceError {
    DeviceError::Gone(error.to_string())
}

/// Offset in the BAR of an address of the cluster.
fn offset(address: u32) -> u64 {
    match address >= PROGRAM_BASE {
        true => u64::from(address - PROGRAM_BASE) + 0x40_0000,
        false => (address - HANDLER_BASE).into(),
    }
}

impl Function {
    /// A function whose BARs answer, and which may send requests.
    pub(crate) fn new(mut client: Client) -> Self {
        ok(client.region_write(CONFIG, 4, &[0b110, 0]));
        Self {
            client,
            memories: [const { None }; CONTEXTS as usize],
            begun: Instant::now(),
        }
    }

    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.client
            .region_read(pci::APPLICATION_BAR, offset, bytes)
            .map_err(gone)
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.client
            .region_write(pci::APPLICATION_BAR, offset, bytes)
            .map_err(gone)
    }

    fn memory(&self, context: u32) -> &Mapping {
        &self.memories[context as usize].as_ref().expect("it was taken").0
    }
}

impl Device for Function {
    fn has_register(&self, _offset: u32) -> bool {
        true
    }

    fn read_register(&mut self, offset: u32) -> Result<u32, DeviceError> {
        let mut word = [0; 4];
        self.read((bar::CONTROL_REGISTERS.start + offset).into(), &mut word)?;
        Ok(u32::from_le_bytes(word))
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.write(
            (bar::CONTROL_REGISTERS.start + offset).into(),
            &value.to_le_bytes(),
        )
    }

    fn read_cluster(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        for (piece, at) in bytes.chunks_mut(PIECE).zip((offset(address)..).step_by(PIECE)) {
            self.read(at, piece)?;
        }
        Ok(())
    }

    fn write_cluster(&mut self, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        for (piece, at) in bytes.chunks(PIECE).zip((offset(address)..).step_by(PIECE)) {
            self.write(at, piece)?;
        }
        Ok(())
    }

    fn open_area(&mut self, context: u32, bytes: u32) -> Result<Area, DeviceError> {
        let address = BASE + u64::from(context) * STRIDE;
        let pages = u64::from(bytes).div_ceil(PAGE).max(1);
        let file = ok(memfd_create(
            "guest",
            MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING,
        ));
        ok(ftruncate(&file, pages * PAGE));
        ok(fcntl_add_seals(&file, SealFlags::SHRINK));
        let mapping = ok(Mapping::new(&file, 0, (pages * PAGE) as usize));
        for page in 0..pages {
            let mapped = self
                .client
                .dma_map(page * PAGE, address + page * PAGE, PAGE, file.as_raw_fd());
            mapped.map_err(gone)?;
        }
        self.memories[context as usize] = Some((mapping, pages * PAGE));
        Ok(Area {
            address,
            bytes: (pages * PAGE) as u32,
        })
    }

    fn close_area(&mut self, context: u32) {
        if let Some((_, bytes)) = self.memories[context as usize].take() {
            ok(self.client.dma_unmap(BASE + u64::from(context) * STRIDE, bytes));
        }
    }

    fn read_host(&mut self, context: u32, offset: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.memory(context).read(offset as usize, bytes);
        Ok(())
    }

    fn write_host(&mut self, context: u32, offset: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        self.memory(context).write(offset as usize, bytes);
        Ok(())
    }

    fn host_pointer(&self, context: u32) -> Option<NonNull<u8>> {
        Some(self.memories.get(context as usize)?.as_ref()?.0.start())
    }

    fn tells_contexts(&self) -> bool {
        true
    }

    fn now(&self) -> Duration {
        self.begun.elapsed() / SLOWER
    }

    fn wait(&mut self, time: Duration) -> Result<(), DeviceError> {
        std::thread::sleep(time * SLOWER);
        Ok(())
    }
}
