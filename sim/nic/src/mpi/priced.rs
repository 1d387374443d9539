//! A device whose accesses take a given time on the host.
//!
//! On a simulated NIC, time passes only while software waits. Here each access of the host
//! has a latency, which advances simulated time. The duration of a read in the simulation is part of its latency.
//! Writes are posted: the host continues after their latency, even if the simulated access ends later; the
//! device's clock is ahead of the host's then, until the host waits or computes. Not modelled: caches,
//! memory bandwidth shared with computation, system calls and interrupts.

use spinneret_host::device::Area;
use spinneret_host::{Address, Device, DeviceError, Program};
use std::ops::{Add, AddAssign, Sub};
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::time::Duration;

/// Words that a program reads in one poll: those of 16 HPUs, or of 16 messages.
const WORDS_OF_A_LOOK: u64 = 16;

/// Latencies of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HostLatencies {
    /// A poll: of the queue of frames, or of 16 words of host memory.
    pub look: Duration,
    /// A write of a word to the NIC, doorbells included.
    pub written: Duration,
    /// A read of a word of the NIC.
    pub read: Duration,
}

impl HostLatencies {
    /// All latencies are 0.
    pub const NONE: Self = Self {
        look: Duration::ZERO,
        written: Duration::ZERO,
        read: Duration::ZERO,
    };
    /// A poll as in Figure 7; posted writes and blocking reads over PCIe.
    pub const STATED: Self = Self {
        look: Duration::from_nanos(100),
        written: Duration::from_nanos(100),
        read: Duration::from_nanos(900),
    };

    /// Scales all latencies.
    #[must_use]
    pub fn times(self, factor: u32) -> Self {
        Self {
            look: self.look * factor,
            written: self.written * factor,
            read: self.read * factor,
        }
    }
}

/// Counts of accesses of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HostAccesses {
    /// Polls of the queue of frames.
    pub looks: u64,
    /// Words of host memory that were polled.
    pub words_seen: u64,
    /// Words that were written to the NIC.
    pub words_written: u64,
    /// Words that were read from the NIC.
    pub words_read: u64,
    /// Frames that were sent.
    pub frames: u64,
}

impl Add for HostAccesses {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            looks: self.looks + other.looks,
            words_seen: self.words_seen + other.words_seen,
            words_written: self.words_written + other.words_written,
            words_read: self.words_read + other.words_read,
            frames: self.frames + other.frames,
        }
    }
}

impl AddAssign for HostAccesses {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for HostAccesses {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            looks: self.looks - other.looks,
            words_seen: self.words_seen - other.words_seen,
            words_written: self.words_written - other.words_written,
            words_read: self.words_read - other.words_read,
            frames: self.frames - other.frames,
        }
    }
}

impl HostAccesses {
    /// Their total latency, if no read took longer than its own.
    pub fn price(&self, prices: &HostLatencies) -> Duration {
        let nanos = |price: Duration| price.as_nanos() as u64;
        let looks = (self.looks * WORDS_OF_A_LOOK + self.words_seen) * nanos(prices.look);
        let looks = looks.div_ceil(WORDS_OF_A_LOOK);
        let writes = (self.words_written + self.frames) * nanos(prices.written);
        Duration::from_nanos(looks + writes + self.words_read * nanos(prices.read))
    }
}

/// A device with latencies.
#[derive(Debug)]
pub struct LatencyModel<D> {
    device: D,
    prices: HostLatencies,
    acts: HostAccesses,
    /// Time by which the host is ahead of the device.
    owed: Duration,
    /// Time by which the device is ahead of the host.
    ahead: Duration,
}

impl<D: Device> LatencyModel<D> {
    /// A device whose latencies are 0.
    pub fn new(device: D) -> Self {
        Self {
            device,
            prices: HostLatencies::NONE,
            acts: HostAccesses::default(),
            owed: Duration::ZERO,
            ahead: Duration::ZERO,
        }
    }

    /// The device.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Sets the latencies.
    pub fn set_latencies(&mut self, prices: HostLatencies) {
        self.prices = prices;
    }

    /// Counts so far.
    pub fn acts(&self) -> HostAccesses {
        self.acts
    }

    fn count(&mut self, acts: HostAccesses) -> Duration {
        self.acts += acts;
        acts.price(&self.prices)
    }

    /// An access that the device sees, after the time of the host: its result, and how much longer than its
    /// latency it took there.
    fn act<T>(
        &mut self,
        acts: HostAccesses,
        what: impl FnOnce(&mut D) -> Result<T, DeviceError>,
    ) -> Result<(T, Duration), DeviceError> {
        self.settle(Duration::ZERO)?;
        let begun = self.device.now();
        let result = what(&mut self.device)?;
        let passed = self.device.now().saturating_sub(begun);
        let price = self.count(acts);
        self.owed += price.saturating_sub(passed);
        Ok((result, passed.saturating_sub(price)))
    }

    /// A blocking access.
    fn ask<T>(
        &mut self,
        acts: HostAccesses,
        what: impl FnOnce(&mut D) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        Ok(self.act(acts, what)?.0)
    }

    /// A posted access.
    fn post<T>(
        &mut self,
        acts: HostAccesses,
        what: impl FnOnce(&mut D) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let (result, longer) = self.act(acts, what)?;
        if self.prices != HostLatencies::NONE {
            self.ahead += longer;
        }
        Ok(result)
    }

    /// Advances the device to the time of the host, and further.
    fn settle(&mut self, more: Duration) -> Result<(), DeviceError> {
        let time = std::mem::take(&mut self.owed) + more;
        let known = time.min(self.ahead);
        self.ahead -= known;
        match time - known {
            Duration::ZERO => Ok(()),
            time => self.device.wait(time),
        }
    }
}

fn written(bytes: usize) -> HostAccesses {
    HostAccesses {
        words_written: bytes as u64 / 4,
        ..HostAccesses::default()
    }
}

fn read(bytes: usize) -> HostAccesses {
    HostAccesses {
        words_read: bytes as u64 / 4,
        ..HostAccesses::default()
    }
}

impl<D: Device> Device for LatencyModel<D> {
    fn has_register(&self, offset: u32) -> bool {
        self.device.has_register(offset)
    }

    fn read_register(&mut self, offset: u32) -> Result<u32, DeviceError> {
        self.ask(read(4), |device| device.read_register(offset))
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.post(written(4), |device| device.write_register(offset, value))
    }

    fn read_cluster(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.ask(read(bytes.len()), |device| device.read_cluster(address, bytes))
    }

    fn write_cluster(&mut self, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        self.post(written(bytes.len()), |device| {
            device.write_cluster(address, bytes)
        })
    }

    fn load(&mut self, program: &Program) -> Result<(), DeviceError> {
        self.device.load(program)
    }

    fn load_beside(&mut self, program: &Program) -> Result<(), DeviceError> {
        self.device.load_beside(program)
    }

    fn clear_cluster(&mut self, address: u32, bytes: u32) -> Result<(), DeviceError> {
        self.device.clear_cluster(address, bytes)
    }

    fn open_area(&mut self, context: u32, bytes: u32) -> Result<Area, DeviceError> {
        self.device.open_area(context, bytes)
    }

    fn close_area(&mut self, context: u32) {
        self.device.close_area(context);
    }

    /// A poll of a word; larger reads are the program's own processing.
    fn read_host(&mut self, context: u32, offset: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        if bytes.len() <= 8 {
            let price = self.count(HostAccesses {
                words_seen: 1,
                ..HostAccesses::default()
            });
            self.owed += price;
        }
        self.device.read_host(context, offset, bytes)
    }

    fn write_host(&mut self, context: u32, offset: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        self.device.write_host(context, offset, bytes)
    }

    fn host_pointer(&self, context: u32) -> Option<NonNull<u8>> {
        self.device.host_pointer(context)
    }

    fn host_file(&self, context: u32) -> Result<OwnedFd, DeviceError> {
        self.device.host_file(context)
    }

    fn tells_contexts(&self) -> bool {
        self.device.tells_contexts()
    }

    fn shape(&self) -> [u32; 2] {
        self.device.shape()
    }

    fn now(&self) -> Duration {
        self.device.now() + self.owed - self.ahead
    }

    fn last_moment(&self) -> Duration {
        self.device.last_moment()
    }

    fn wait(&mut self, time: Duration) -> Result<(), DeviceError> {
        self.settle(time)
    }

    fn compute(&mut self, time: Duration) -> Result<(), DeviceError> {
        self.settle(time)
    }

    fn address(&self) -> Option<Address> {
        self.device.address()
    }

    fn transmit(&mut self, frame: &[u8]) -> Result<bool, DeviceError> {
        let acts = HostAccesses {
            frames: 1,
            ..HostAccesses::default()
        };
        self.post(acts, |device| device.transmit(frame))
    }

    fn receive(&mut self) -> Result<Option<Vec<u8>>, DeviceError> {
        let acts = HostAccesses {
            looks: 1,
            ..HostAccesses::default()
        };
        self.ask(acts, Device::receive)
    }
}
