//! A fake card that another process can have: what the card does not do for others is done here.

use crate::fake::{Fake, PSPIN};
use spinneret_host::chardev::Card;
use spinneret_host::device::Area;
use spinneret_host::{Device, DeviceError};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::ptr::NonNull;
use std::time::Duration;

/// The card, and the driver behind it.
#[derive(Debug)]
pub(crate) struct ServedCard {
    card: Card<Fake>,
    fake: Fake,
}

impl ServedCard {
    pub(crate) fn open(fake: Fake) -> Self {
        let card = Card::open(fake.clone(), Path::new(PSPIN)).expect("it is free");
        Self { card, fake }
    }
}

impl Device for ServedCard {
    fn host_file(&self, context: u32) -> Result<OwnedFd, DeviceError> {
        Ok(self.fake.driver().host_file(context))
    }

    fn has_register(&self, offset: u32) -> bool {
        self.card.has_register(offset)
    }

    fn read_register(&mut self, offset: u32) -> Result<u32, DeviceError> {
        self.card.read_register(offset)
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.card.write_register(offset, value)
    }

    fn read_cluster(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.card.read_cluster(address, bytes)
    }

    fn write_cluster(&mut self, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        self.card.write_cluster(address, bytes)
    }

    fn open_area(&mut self, context: u32, bytes: u32) -> Result<Area, DeviceError> {
        self.card.open_area(context, bytes)
    }

    fn close_area(&mut self, context: u32) {
        self.card.close_area(context);
    }

    fn read_host(&mut self, context: u32, offset: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.card.read_host(context, offset, bytes)
    }

    fn write_host(&mut self, context: u32, offset: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        self.card.write_host(context, offset, bytes)
    }

    fn host_pointer(&self, context: u32) -> Option<NonNull<u8>> {
        self.card.host_pointer(context)
    }

    fn tells_contexts(&self) -> bool {
        self.card.tells_contexts()
    }

    fn now(&self) -> Duration {
        self.card.now()
    }

    fn wait(&mut self, time: Duration) -> Result<(), DeviceError> {
        self.card.wait(time)
    }
}
