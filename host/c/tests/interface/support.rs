//! A NIC that the interface can open, and what it gives back.

use crate::fake::{Fake, PSPIN, program};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use spinneret::*;
use spinneret_host::chardev::Card;
use spinneret_host::device::socket::{Served, Server};
use spinneret_host::device::{Area, Mapping};
use spinneret_host::{Device, DeviceError};
use spinneret_regmap::model::Variant;
use std::ffi::{CStr, CString, c_int};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A fake card behind a socket, served by a thread.
pub(crate) struct Nic {
    pub(crate) fake: Fake,
    pub(crate) name: CString,
    pub(crate) elf: CString,
    is_over: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

impl Nic {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let [socket, elf] = ["nic.sock", "handlers.elf"].map(|name| folder.path().join(name));
        std::fs::write(&elf, program().file()).expect("there is room");
        let fake = Fake::new(Variant::Extended);
        let is_over = Arc::new(AtomicBool::new(false));
        let server = Server::bind(&socket).expect("there is room");
        let serving = (fake.clone(), Arc::clone(&is_over));
        Self {
            fake,
            name: string(&format!("unix:{}", socket.display())),
            elf: string(&elf.display().to_string()),
            is_over,
            server: Some(std::thread::spawn(move || serve(server, serving.0, &serving.1))),
            _folder: folder,
        }
    }
}

impl Drop for Nic {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let served = self.server.take().expect("it is dropped once").join();
        assert!(served.is_ok() || std::thread::panicking(), "the server panics");
    }
}

fn serve(mut server: Server, fake: Fake, is_over: &AtomicBool) {
    let mut card = ServedCard::open(fake);
    while !is_over.load(Ordering::Relaxed) {
        let milliseconds = match server.serve(&mut card).expect("the socket works") {
            Served::Waits(until) => {
                std::thread::sleep(until.saturating_sub(card.now()));
                0
            }
            Served::Nothing => 10,
            Served::Requests | Served::Gone => 0,
        };
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: milliseconds * 1_000_000,
        };
        let wakes = server.wakes().into_iter();
        let mut wakes: Vec<_> = wakes
            .map(|wake| PollFd::from_borrowed_fd(wake, PollFlags::IN))
            .collect();
        poll(&mut wakes, Some(&timeout)).expect("the socket works");
    }
}

pub(crate) fn string(text: &str) -> CString {
    CString::new(text).expect("it has no 0")
}

/// Why the last call failed.
pub(crate) fn message() -> String {
    // SAFETY: the message is there until the next failure of this thread.
    let message = unsafe { CStr::from_ptr(spinneret_error_message()) };
    message.to_str().expect("it is UTF-8").to_owned()
}

#[track_caller]
pub(crate) fn ok(result: c_int) {
    assert_eq!(result, SPINNERET_OK, "{}", message());
}

/// A call that failed like that, with a message that contains something.
#[track_caller]
pub(crate) fn fails(result: c_int, code: c_int, wanted: &str) {
    let message = message();
    assert_eq!(result, code, "{message}");
    assert!(
        message.contains(wanted),
        "`{message}` does not contain `{wanted}`"
    );
}

#[track_caller]
pub(crate) fn open(nic: &Nic) -> *mut spinneret_nic {
    let mut handle = null_mut();
    // SAFETY: a string and a place.
    ok(unsafe { spinneret_open(nic.name.as_ptr(), &raw mut handle) });
    handle
}

pub(crate) fn open_program(nic: &Nic) -> *mut spinneret_program {
    let mut handle = null_mut();
    // SAFETY: a string and a place.
    ok(unsafe { spinneret_program_open(nic.elf.as_ptr(), &raw mut handle) });
    handle
}

/// UDP packets to some ports.
pub(crate) fn ports(first: u16, last: u16) -> spinneret_ruleset {
    let port = spinneret_rule_udp_destination_port(first, last);
    spinneret_ruleset {
        join: SPINNERET_ALL,
        count: 2,
        rules: [spinneret_rule_ipv4(), port, port],
        has_messages: 0,
        end_of_message: port,
    }
}

pub(crate) fn open_context(
    nic: *mut spinneret_nic,
    program: *mut spinneret_program,
) -> *mut spinneret_context {
    let mut handle = null_mut();
    let rules = ports(9000, 9999);
    // SAFETY: a string, rules and a place; options may be null.
    ok(unsafe {
        spinneret_open_context(
            nic,
            program,
            c"count".as_ptr(),
            &raw const rules,
            null(),
            &raw mut handle,
        )
    });
    handle
}

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

    fn host_mapping(&self, context: u32) -> Option<&Mapping> {
        self.card.host_mapping(context)
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
