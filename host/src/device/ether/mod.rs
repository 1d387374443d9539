//! A board that is reached by Ethernet frames at a network interface.
//!
//! ```text
//! Ethernet ── requests ──► Session ── FrameSocket ──► board: registers, L2 memory of the cluster
//!    │                        │ host writes and reads
//!    └ host memory ◄──────────┴── a thread, and each call
//! ```
//!
//! The protocol is in `docs/boards/control.md`.

mod error;
mod socket;

pub use error::EtherError;
pub use socket::FrameSocket;
pub use spinneret_ether::{Found, Info, Mac};

use super::areas::Areas;
use super::{Area, Device, DeviceError, Mapping, SharedMemory, has_feature, hold_cluster, slower};
use spinneret_ether::{Error, HostMemory, Session, discover};
use spinneret_regmap::ether::REGISTERS;
use spinneret_regmap::{CONTEXTS, caps, find};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How long all boards of an interface, and one board, have to answer a search.
const SEARCH: Duration = Duration::from_millis(100);
const SEARCH_ONE: Duration = Duration::from_secs(1);
/// Spacing of contexts' host memory in the board's address space.
const AREA_SPACING: u32 = 1 << 28;
/// How often the thread looks whether its board is still open.
const LOOK: Duration = Duration::from_millis(100);
/// Upper bytes of the key; the host's address follows.
const KEY: u64 = u64::from_be_bytes(*b"sp\0\0\0\0\0\0");

/// A board. Dropping it resets the cluster if handlers may still use host memory, and ends the session.
#[derive(Debug)]
pub struct Ethernet {
    shared: Arc<Mutex<Shared>>,
    areas: Areas,
    shape: [u32; 2],
    features: u32,
    opened: Instant,
    /// Factor by which time on the board is slower than wall-clock time.
    slower: u32,
    /// Other programs of this host see that the board is in use.
    _only: Option<UnixDatagram>,
}

type Shared = Session<FrameSocket, Mapped>;

/// Host memory of each context, mapped once more.
#[derive(Debug)]
struct Mapped([Option<Mapping>; CONTEXTS as usize]);

impl Mapped {
    /// The area that holds all bytes from an address on, and their place in it. The board confines handlers to the memory of
    /// contexts; an access that comes after its memory was freed finds none.
    fn find(&self, address: u32, bytes: usize) -> Option<(&Mapping, usize)> {
        let context = (address / AREA_SPACING).checked_sub(1)?;
        let area = self.0.get(context as usize)?.as_ref()?;
        let offset = (address % AREA_SPACING) as usize;
        (offset + bytes <= area.len()).then_some((area, offset))
    }
}

impl HostMemory for Mapped {
    fn write(&mut self, address: u32, bytes: &[u8]) {
        if let Some((area, offset)) = self.find(address, bytes.len()) {
            area.write(offset, bytes);
        }
    }

    fn read(&mut self, address: u32, bytes: &mut [u8]) -> bool {
        let found = self.find(address, bytes.len());
        found.is_some_and(|(area, offset)| {
            area.read(offset, bytes);
            true
        })
    }
}

/// Finds the boards at an interface.
///
/// # Errors
/// The interface cannot be used.
pub fn boards(interface: &str) -> Result<Found, EtherError> {
    search(&mut FrameSocket::open(interface)?, interface, None)
}

fn search(link: &mut FrameSocket, interface: &str, board: Option<Mac>) -> Result<Found, EtherError> {
    let (target, time) = match board {
        Some(board) => (board, SEARCH_ONE),
        None => (Mac::BROADCAST, SEARCH),
    };
    discover(link, target, time).map_err(|error| match error.raw_os_error() {
        Some(libc::ENETDOWN) => EtherError::Down(interface.to_owned()),
        _ => EtherError::Socket(interface.to_owned(), error),
    })
}

impl Ethernet {
    /// Opens `INTERFACE` or `INTERFACE,ADDRESS`, with `,slower=N` behind it if time on the board is N times slower than
    /// wall-clock time, as on a simulated one.
    ///
    /// # Errors
    /// There is no such interface or board, or another program or host uses it.
    pub fn open(place: &str) -> Result<Self, EtherError> {
        let name = || EtherError::Name(format!("ether:{place}"));
        let (rest, slower) = slower(place).ok_or_else(name)?;
        let (interface, board) = match rest.split_once(',') {
            Some((interface, board)) => (interface, Some(board.parse::<Mac>().map_err(|_| name())?)),
            None => (rest, None),
        };
        if interface.is_empty() {
            return Err(name());
        }
        let mut link = FrameSocket::open(interface)?;
        let found = search(&mut link, interface, board)?;
        let info = match &found.boards[..] {
            [info] => info.clone(),
            [] => {
                let foreign = found.foreign.first();
                return Err(foreign.map_or_else(
                    || EtherError::Nobody(interface.to_owned()),
                    |(board, version)| EtherError::Version(*board, *version),
                ));
            }
            several => {
                return Err(EtherError::Several {
                    interface: interface.to_owned(),
                    boards: several.iter().map(|info| info.mac).collect(),
                });
            }
        };
        let only = only(info.mac, interface)?;
        let mut opened = Self::new(link, &info, slower)?;
        opened._only = Some(only);
        Ok(opened)
    }

    /// Begins a session with a board.
    ///
    /// # Errors
    /// It does not answer, or another host has it.
    pub fn new(link: FrameSocket, info: &Info, slower: u32) -> Result<Self, EtherError> {
        let failed = |source| EtherError::Socket(info.mac.to_string(), source);
        let hears = link.as_fd().try_clone_to_owned().map_err(failed)?;
        let Mac([a, b, c, d, e, f]) = spinneret_ether::Link::address(&link);
        let key = KEY | u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        let memory = Mapped([const { None }; CONTEXTS as usize]);
        let mut session = Session::open(link, info.mac, key, memory)?;
        let mut features = [0];
        session.read(REGISTERS + caps::FEATURES.offset, &mut features)?;
        let shared = Arc::new(Mutex::new(session));
        let weak = Arc::downgrade(&shared);
        let thread = std::thread::Builder::new().name("host memory".to_owned());
        thread.spawn(move || hear(&hears, &weak)).map_err(failed)?;
        Ok(Self {
            shared,
            areas: Areas::new(AREA_SPACING.into()),
            shape: info.shape.map(u32::from),
            features: features[0],
            opened: Instant::now(),
            slower: slower.max(1),
            _only: None,
        })
    }

    /// Makes requests.
    fn ask<T>(&self, ask: impl FnOnce(&mut Shared) -> Result<T, Error>) -> Result<T, DeviceError> {
        ask(&mut lock(&self.shared)).map_err(|error| match error {
            Error::Refused { .. } => DeviceError::Refused(error.to_string()),
            error => DeviceError::Gone(error.to_string()),
        })
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hears host writes and reads until the board is closed.
fn hear(socket: &OwnedFd, shared: &Weak<Mutex<Shared>>) {
    while FrameSocket::wait(socket, LOOK).is_ok() {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        let heard = lock(&shared).listen(Duration::ZERO);
        if heard.is_err() {
            // The next call tells why. The interface may come back.
            std::thread::sleep(LOOK);
        }
    }
}

/// Keeps a board for this program, until what is returned is dropped.
fn only(board: Mac, interface: &str) -> Result<UnixDatagram, EtherError> {
    let name = SocketAddr::from_abstract_name(format!("spinneret-ether-{board}"));
    let bound = name.and_then(|name| UnixDatagram::bind_addr(&name));
    bound.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => EtherError::Busy(board),
        _ => EtherError::Socket(interface.to_owned(), error),
    })
}

impl Device for Ethernet {
    fn has_register(&self, offset: u32) -> bool {
        // Boards have no interrupts.
        find(offset).is_some_and(|(register, _)| register.group != "events")
    }

    fn read_register(&mut self, offset: u32) -> Result<u32, DeviceError> {
        let mut word = [0];
        self.ask(|session| session.read(REGISTERS + offset, &mut word))?;
        Ok(word[0])
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.ask(|session| session.write(REGISTERS + offset, &[value]))
    }

    fn read_cluster(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let mut words = vec![0; bytes.len() / 4];
        self.ask(|session| session.read(address, &mut words))?;
        for (bytes, word) in bytes.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Ok(())
    }

    fn write_cluster(&mut self, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        let words = bytes.as_chunks().0.iter();
        let words: Vec<u32> = words.map(|word| u32::from_le_bytes(*word)).collect();
        self.ask(|session| session.write(address, &words))
    }

    fn open_area(&mut self, context: u32, bytes: u32) -> Result<Area, DeviceError> {
        let failed = |size, source| DeviceError::NoMemory(format!("{size} bytes of host memory: {source}"));
        let shared = Arc::clone(&self.shared);
        self.areas.open(context, bytes, failed, |_, memory| {
            let file = memory
                .file()
                .map_err(|error| io::Error::other(error.to_string()))?;
            let mapped = SharedMemory::map(file, memory.mapping().len())?;
            lock(&shared).memory.0[context as usize] = Some(mapped);
            Ok(())
        })
    }

    fn close_area(&mut self, context: u32) {
        if self.areas.close(context).is_some() {
            lock(&self.shared).memory.0[context as usize] = None;
        }
    }

    fn host_mapping(&self, context: u32) -> Option<&Mapping> {
        self.areas.mapping(context)
    }

    fn host_file(&self, context: u32) -> Result<OwnedFd, DeviceError> {
        self.areas.file(context)
    }

    fn tells_contexts(&self) -> bool {
        has_feature(self.features, "context_in_message_id")
    }

    fn shape(&self) -> [u32; 2] {
        self.shape
    }

    fn now(&self) -> Duration {
        self.opened.elapsed() / self.slower
    }

    fn wall(&self, time: Duration) -> Duration {
        time.saturating_mul(self.slower)
    }

    fn wait(&mut self, time: Duration) -> Result<(), DeviceError> {
        std::thread::sleep(self.wall(time));
        match lock(&self.shared).take_lost() {
            0 => Ok(()),
            lost => Err(DeviceError::Refused(format!(
                "{lost} host writes or reads of handlers are lost, because this program was stopped for too long"
            ))),
        }
    }
}

impl Drop for Ethernet {
    fn drop(&mut self) {
        // Handlers may still write to memory that is about to be freed. Ignore errors: the board may be gone.
        let is_there = self.areas.is_empty() || hold_cluster(self, Duration::ZERO).is_ok();
        (0..CONTEXTS).for_each(|context| self.close_area(context));
        if is_there {
            let _ = lock(&self.shared).close();
        }
    }
}
