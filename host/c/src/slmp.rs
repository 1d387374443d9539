//! SLMP messages over UDP, between programs or to handlers on a NIC.

use crate::ffi::{
    self, Failure, Kind, Object, SPINNERET_ERROR_ARGUMENT, SPINNERET_ERROR_DEVICE, SPINNERET_ERROR_OPEN,
    SPINNERET_ERROR_TIMEOUT, SPINNERET_OK, bytes, check_place, guarded, put, put_bytes, text,
};
use spinneret_slmp::udp::{self, Event, Listener, UdpError};
use spinneret_slmp::{Mode, Received, ReceiverConfig, SenderConfig};
use std::ffi::{c_char, c_int, c_void};
use std::net::{SocketAddrV4, UdpSocket};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A receiver of SLMP messages at a UDP port.
#[derive(Debug)]
pub struct spinneret_receiver {
    _opaque: [u8; 0],
}

/// Messages without progress for so long are given up.
const IDLE: Duration = Duration::from_secs(10);

/// A receiver with a handle, and a message for which there was no room.
#[derive(Debug)]
struct Inbox(Mutex<(Listener, Option<Received>)>);

impl Kind for Inbox {
    const NAME: &str = "receiver of SLMP";
}

impl Object for Inbox {}

impl From<UdpError> for Failure {
    fn from(error: UdpError) -> Self {
        let code = match error {
            UdpError::Sender(_) | UdpError::Receiver(_) => SPINNERET_ERROR_ARGUMENT,
            UdpError::Bind(..) => SPINNERET_ERROR_OPEN,
            UdpError::Failed(..) => SPINNERET_ERROR_TIMEOUT,
            _ => SPINNERET_ERROR_DEVICE,
        };
        Self::new(code, error.to_string())
    }
}

/// Sends a message over this machine's network, and returns when it has arrived. At most `window` segments are
/// unacknowledged; 64 is a good value.
///
/// # Safety
/// `to` is a string, address and port such as `10.0.0.1:9330`; `size` bytes can be read at `message`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_slmp_send(
    to: *const c_char,
    message: *const c_void,
    size: usize,
    window: u16,
) -> c_int {
    guarded(|| {
        // SAFETY: the caller promises a string and the bytes.
        let (to, message) = unsafe { (address(to, "to")?, bytes(message, size)?) };
        let config = SenderConfig {
            mode: Mode::Window(window),
            ..SenderConfig::default()
        };
        let socket = UdpSocket::bind("0.0.0.0:0").map_err(UdpError::Socket)?;
        udp::send(&socket, to, message, config, |_| ControlFlow::Continue(()))?;
        Ok(SPINNERET_OK)
    })
}

/// How a message is sent.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spinneret_slmp_options {
    /// Message id.
    pub id: u32,
    /// Maximum number of unacknowledged segments; 0: the first and the last segment are acknowledged.
    pub window: u16,
    /// Payload of a segment in bytes, 1 to 1462.
    pub segment_bytes: u16,
    /// Maximum rate in bits per second; 0 for no limit.
    pub bits_per_second: u64,
}

/// As spinneret_slmp_send, with options.
///
/// # Safety
/// As for spinneret_slmp_send; `options` can be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_slmp_send_with(
    to: *const c_char,
    message: *const c_void,
    size: usize,
    options: *const spinneret_slmp_options,
) -> c_int {
    guarded(|| {
        if options.is_null() {
            return Err(Failure::argument("options is a null pointer"));
        }
        // SAFETY: the caller promises a string, the bytes and the options.
        let (to, message, options) = unsafe {
            (
                address(to, "to")?,
                bytes(message, size)?,
                options.read_unaligned(),
            )
        };
        let config = SenderConfig {
            mode: match options.window {
                0 => Mode::Message,
                window => Mode::Window(window),
            },
            segment_bytes: options.segment_bytes.into(),
            rate_bits_per_s: Some(options.bits_per_second).filter(|rate| *rate != 0),
            ..SenderConfig::default()
        };
        let socket = UdpSocket::bind("0.0.0.0:0").map_err(UdpError::Socket)?;
        let progress = |_: &_| ControlFlow::Continue(());
        udp::send_numbered(&socket, to, options.id, message, config, progress)?;
        Ok(SPINNERET_OK)
    })
}

/// Receives messages at an address and port of this machine, such as `0.0.0.0:9330`. Port 0 selects a free one, which is
/// returned in `port`.
///
/// # Safety
/// `at` is a string; the handle is written to `receiver`, the port to `port`, which may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_slmp_listen(
    at: *const c_char,
    receiver: *mut *mut spinneret_receiver,
    port: *mut u16,
) -> c_int {
    guarded(|| {
        check_place(receiver, "receiver")?;
        // SAFETY: the caller promises a string.
        let at = unsafe { address(at, "at") }?;
        let listener = Listener::bind(at, ReceiverConfig::default(), IDLE)?;
        let found = listener.local_address()?.port();
        if !port.is_null() {
            // SAFETY: the caller promises the place.
            unsafe { put(port, "port", found) }?;
        }
        let handle = ffi::insert(Inbox(Mutex::new((listener, None))));
        // SAFETY: the caller promises the place.
        unsafe { put(receiver, "receiver", handle) }?;
        Ok(SPINNERET_OK)
    })
}

/// Waits for the next message, up to a timeout in wall-clock time. Returns 1 if there is one, else 0. Fails, and keeps the
/// message, if it has more than `capacity` bytes; `size` is its length. Lost acknowledgements are repeated only in this call.
///
/// # Safety
/// The message is written to `message`, which has room for `capacity` bytes, and its length to `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_slmp_receive(
    receiver: *mut spinneret_receiver,
    message: *mut c_void,
    capacity: usize,
    size: *mut usize,
    timeout_nanoseconds: u64,
) -> c_int {
    guarded(|| {
        let inbox: Arc<Inbox> = ffi::get(receiver)?;
        check_place(size, "size")?;
        let mut inbox = inbox.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (listener, kept) = &mut *inbox;
        let timeout = Duration::from_nanos(timeout_nanoseconds);
        let Some(received) = kept
            .take()
            .map_or_else(|| next(listener, timeout), |kept| Ok(Some(kept)))?
        else {
            return Ok(0);
        };
        let length = received.data.len();
        // SAFETY: the caller promises the place, and as much room as was said.
        let left = unsafe {
            put(size, "size", length).and_then(|()| match length <= capacity {
                true => put_bytes(message, &received.data),
                false => Err(Failure::argument(format!(
                    "the message has {length} bytes, and there is room for {capacity}"
                ))),
            })
        };
        if let Err(failure) = left {
            *kept = Some(received);
            return Err(failure);
        }
        Ok(1)
    })
}

/// Closes a receiver. The handle is invalid afterwards, even if the call fails.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_slmp_close(receiver: *mut spinneret_receiver) -> c_int {
    guarded(|| {
        ffi::remove::<Inbox, _>(receiver)?;
        Ok(SPINNERET_OK)
    })
}

/// Waits for the next complete message; ignores those that are given up.
fn next(listener: &mut Listener, timeout: Duration) -> Result<Option<Received>, Failure> {
    let start = Instant::now();
    loop {
        let goes_on = || match start.elapsed() < timeout {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        match listener.next_event(|_| goes_on())? {
            Some(Event::Complete(received)) => return Ok(Some(received)),
            Some(Event::GivenUp(_)) => {}
            None => return Ok(None),
        }
    }
}

/// An address of the caller.
///
/// # Safety
/// It is null, or points to a string.
unsafe fn address(string: *const c_char, what: &str) -> Result<SocketAddrV4, Failure> {
    // SAFETY: the caller guarantees it.
    let text = unsafe { text(string, what) }?;
    text.parse().map_err(|_| {
        Failure::argument(format!(
            "{what} is `{text}`, and should be an IPv4 address and a port, such as 10.0.0.1:9330"
        ))
    })
}
