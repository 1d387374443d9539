//! Frames of the host, addresses, and the time that a program takes.

use crate::border::{Failure, SPINNERET_OK, bytes, check_place, guarded, put, put_bytes};
use crate::handles;
use crate::nic::{OpenNic, spinneret_nic};
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::time::Duration;

/// Addresses of a NIC.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct spinneret_addresses {
    /// Ethernet.
    pub mac: [u8; 6],
    /// IPv4, of its host.
    pub ip: [u8; 4],
}

/// Says that the program has computed for so long. On a simulated NIC that much time passes, and packets are handled meanwhile;
/// on a card it has passed already, and nothing is done.
#[unsafe(no_mangle)]
pub extern "C" fn spinneret_compute(nic: *mut spinneret_nic, nanoseconds: u64) -> c_int {
    guarded(|| {
        let open: Arc<OpenNic> = handles::get(nic)?;
        open.nic.compute(Duration::from_nanos(nanoseconds))?;
        Ok(SPINNERET_OK)
    })
}

/// Tells the addresses of a NIC of `spinneret fabric`: 1 if it has some, 0 if it has none.
///
/// # Safety
/// The addresses are left at `address`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spinneret_address(
    nic: *mut spinneret_nic,
    address: *mut spinneret_addresses,
) -> c_int {
    guarded(|| {
        let open: Arc<OpenNic> = handles::get(nic)?;
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

/// Sends an Ethernet frame without its check sequence from a simulated NIC, as the host: 1 if it is on its way, 0 if there is
/// no room for it before time passes. On a card this is what a socket of the network interface does.
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
        let open: Arc<OpenNic> = handles::get(nic)?;
        // SAFETY: the caller promises the bytes.
        let frame = unsafe { bytes(frame, size) }?;
        Ok(c_int::from(open.nic.transmit(frame)?))
    })
}

/// Takes the next Ethernet frame that came to the host of a simulated NIC because no rule matched it: its bytes, without its
/// check sequence, or 0 if there is none. `capacity` is 9216 or more, so that every frame fits.
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
        let open: Arc<OpenNic> = handles::get(nic)?;
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

/// Most bytes of a frame, without its check sequence.
pub const SPINNERET_LARGEST_FRAME: usize = 9216;
