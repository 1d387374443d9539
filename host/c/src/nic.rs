//! NICs: opening, time, counters, output of handlers, and simulated networks.

use crate::ffi::{
    self, Failure, Kind, Object, SPINNERET_OK, bytes, c_string, check_place, guarded, put, put_bytes, text,
};
use spinneret_host::{Lines, Nic, Printed, Stdout};
use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A NIC.
#[derive(Debug)]
pub struct spinneret_nic {
    _opaque: [u8; 0],
}

/// Maximum size of a handler's line in bytes, with the terminating 0. An invalid byte takes three.
pub const SPINNERET_LONGEST_LINE: usize = 12289;
const _: () = assert!(SPINNERET_LONGEST_LINE == 3 * Lines::LONGEST + 1);

/// A callback for counters: it receives the pointer `user`, and the name and value of a counter.
pub type spinneret_each_counter =
    Option<unsafe extern "C" fn(user: *mut c_void, name: *const c_char, value: u32)>;

/// A NIC with a handle, and the output of its handlers.
#[derive(Debug)]
pub(crate) struct OpenNic {
    pub(crate) nic: Nic,
    printed: Mutex<Output>,
}

impl Kind for OpenNic {
    const NAME: &str = "NIC";
}

impl Object for OpenNic {}

#[derive(Debug)]
struct Output {
    stdout: Stdout,
    lines: VecDeque<Printed>,
}

/// Opens a NIC by its name: `unix:PATH` for a simulated one in another process, the device file of a card, such as
/// `/dev/spinneret0`, or `card` for the one of this machine. Several
/// programs can use a simulated one. Of another, this stops what runs on it, and only one program can use it.
///
/// # Safety
/// `name` is a string; the handle is written to `nic`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_open(name: *const c_char, nic: *mut *mut spinneret_nic) -> c_int {
    guarded(|| {
        check_place(nic, "nic")?;
        // SAFETY: the caller promises a string.
        let opened = Nic::open(unsafe { text(name, "name") }?)?;
        let printed = Mutex::new(Output {
            stdout: opened.stdout(),
            lines: VecDeque::new(),
        });
        let handle = ffi::insert(OpenNic { nic: opened, printed });
        // SAFETY: the caller promises the place.
        unsafe { put(nic, "nic", handle) }?;
        Ok(SPINNERET_OK)
    })
}

/// Closes a NIC and all contexts on it: their handlers end, and their packets go to the host again. The handles are invalid
/// afterwards, even if the call fails.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_close(nic: *mut spinneret_nic) -> c_int {
    guarded(|| {
        let removed = ffi::remove::<OpenNic, _>(nic)?;
        let contexts = ffi::remove_all(nic);
        let closed: Vec<_> = contexts.into_iter().map(Object::close).collect();
        drop(removed);
        closed.into_iter().collect::<Result<(), Failure>>()?;
        Ok(SPINNERET_OK)
    })
}

/// Waits. A simulated NIC handles packets only while time passes.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_wait(nic: *mut spinneret_nic, nanoseconds: u64) -> c_int {
    guarded(|| {
        let open: Arc<OpenNic> = ffi::get(nic)?;
        open.nic.wait(Duration::from_nanos(nanoseconds))?;
        Ok(SPINNERET_OK)
    })
}

/// Returns the time since the NIC was opened; simulated time for a simulated NIC.
///
/// # Safety
/// The time is written to `nanoseconds`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_now(nic: *mut spinneret_nic, nanoseconds: *mut u64) -> c_int {
    guarded(|| {
        let open: Arc<OpenNic> = ffi::get(nic)?;
        let now = open.nic.now().as_nanos().try_into().unwrap_or(u64::MAX);
        // SAFETY: the caller promises the place.
        unsafe { put(nanoseconds, "nanoseconds", now) }?;
        Ok(SPINNERET_OK)
    })
}

/// Reads a hardware counter by its name in the register table, such as `ingress.hers`. Cards with FPsPIN's driver do not have
/// them.
///
/// # Safety
/// `name` is a string; the value is written to `value`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_counter(
    nic: *mut spinneret_nic,
    name: *const c_char,
    value: *mut u32,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenNic> = ffi::get(nic)?;
        check_place(value, "value")?;
        // SAFETY: the caller promises a string.
        let name = unsafe { text(name, "name") }?;
        let counters = open.nic.counters()?;
        let counted = counters.get(name).ok_or_else(|| {
            let names: Vec<_> = counters.iter().map(|(name, _)| name).collect();
            Failure::argument(match &names[..] {
                [] => format!("this NIC gives no access to counters, so there is no `{name}`"),
                names => format!("there is no counter `{name}`; there are {}", names.join(", ")),
            })
        })?;
        // SAFETY: the caller promises the place.
        unsafe { put(value, "value", counted) }?;
        Ok(SPINNERET_OK)
    })
}

/// Reads all hardware counters, and calls `each` for each of them, in the order of their registers. The name is valid only
/// during the call.
///
/// # Safety
/// `each` is a function that returns, or null; `user` is whatever it takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_counters(
    nic: *mut spinneret_nic,
    each: spinneret_each_counter,
    user: *mut c_void,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenNic> = ffi::get(nic)?;
        let each = each.ok_or_else(|| Failure::argument("each is a null pointer"))?;
        for (name, value) in open.nic.counters()?.iter() {
            let name = c_string(name);
            // SAFETY: the caller promises a function that can be called.
            unsafe { each(user, name.as_ptr(), value) };
        }
        Ok(SPINNERET_OK)
    })
}

/// Takes the next line that a handler has printed. Returns 1 if there is one, 0 if not. Fails, and keeps the line, if it does
/// not fit into `size` bytes; `SPINNERET_LONGEST_LINE` bytes are enough for every line.
///
/// # Safety
/// The line is written to `line`, with a terminating 0 and at most `size` bytes; its cluster and HPU to `cluster` and `hpu`,
/// which may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_line(
    nic: *mut spinneret_nic,
    line: *mut c_char,
    size: usize,
    cluster: *mut u32,
    hpu: *mut u32,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenNic> = ffi::get(nic)?;
        check_place(line, "line")?;
        let mut output = open.printed.lock().unwrap_or_else(PoisonError::into_inner);
        if output.lines.is_empty() {
            let lines = output.stdout.lines()?;
            output.lines.extend(lines);
        }
        let Some(printed) = output.lines.front() else {
            return Ok(0);
        };
        let text = c_string(&printed.line);
        let bytes = text.as_bytes_with_nul();
        if bytes.len() > size {
            return Err(Failure::argument(format!(
                "the line takes {} bytes, and there is room for {size}",
                bytes.len()
            )));
        }
        // SAFETY: the caller promises so much room, and it is enough.
        unsafe { put_bytes(line.cast(), bytes) }?;
        for (place, value) in [(cluster, printed.cluster), (hpu, printed.hpu)] {
            if !place.is_null() {
                // SAFETY: the caller promises the places.
                unsafe { put(place, "place", value) }?;
            }
        }
        output.lines.pop_front();
        Ok(1)
    })
}

/// Addresses of a NIC.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct spinneret_addresses {
    /// Ethernet.
    pub mac: [u8; 6],
    /// IPv4, of its host.
    pub ip: [u8; 4],
}

/// Accounts for computation of the program. On a simulated NIC this time passes, and packets are handled meanwhile. On a card it
/// has passed already, so nothing happens.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_compute(nic: *mut spinneret_nic, nanoseconds: u64) -> c_int {
    guarded(|| {
        let open: Arc<OpenNic> = ffi::get(nic)?;
        open.nic.compute(Duration::from_nanos(nanoseconds))?;
        Ok(SPINNERET_OK)
    })
}

/// Returns the addresses of a NIC of `spinneret fabric`. Returns 1 if it has addresses, else 0.
///
/// # Safety
/// The addresses are written to `address`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_address(
    nic: *mut spinneret_nic,
    address: *mut spinneret_addresses,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenNic> = ffi::get(nic)?;
        check_place(address, "address")?;
        let Some(found) = open.nic.address() else {
            return Ok(0);
        };
        let (mac, ip) = (found.mac, found.ip.octets());
        // SAFETY: the caller promises the place.
        unsafe { put(address, "address", spinneret_addresses { mac, ip }) }?;
        Ok(1)
    })
}

/// Sends an Ethernet frame without its check sequence, as the host of a simulated NIC. Returns 1 if it is sent, 0 if the queue
/// is full; wait and retry. On a card, use a socket of the network interface instead.
///
/// # Safety
/// `size` bytes can be read at `frame`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_transmit(
    nic: *mut spinneret_nic,
    frame: *const c_void,
    size: usize,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenNic> = ffi::get(nic)?;
        // SAFETY: the caller promises the bytes.
        let frame = unsafe { bytes(frame, size) }?;
        Ok(c_int::from(open.nic.transmit(frame)?))
    })
}

/// Takes the next Ethernet frame for the host of a simulated NIC, which no rule matched. Returns its length without the check
/// sequence, or 0 if there is none. `capacity` must be at least 9216, so that every frame fits.
///
/// # Safety
/// `capacity` bytes can be written at `frame`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_receive(
    nic: *mut spinneret_nic,
    frame: *mut c_void,
    capacity: usize,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenNic> = ffi::get(nic)?;
        check_place(frame, "frame")?;
        if capacity < SPINNERET_LARGEST_FRAME {
            return Err(Failure::argument(format!(
                "capacity is {capacity}, and a frame may have {SPINNERET_LARGEST_FRAME} bytes"
            )));
        }
        let Some(received) = open.nic.receive()? else {
            return Ok(0);
        };
        let received = &received[..received.len().min(capacity)];
        // SAFETY: the caller promises the place, which is large enough.
        unsafe { put_bytes(frame, received) }?;
        Ok(received.len() as c_int)
    })
}

/// Maximum size of a frame in bytes, without its check sequence.
pub const SPINNERET_LARGEST_FRAME: usize = 9216;
