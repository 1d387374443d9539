//! The ports of the channels.

use super::burst::{Burst, BurstKind, Request};
use crate::handshake::{Handshake, Side};
use crate::model::{Instance, ModelError, PortHandle};
use crate::names::{Names, Need};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// An address channel: AW or AR.
#[derive(Clone, Debug)]
pub(super) struct AddressPorts {
    pub(super) channel: Handshake,
    pub(super) id: PortHandle,
    pub(super) address: PortHandle,
    pub(super) length: PortHandle,
    pub(super) size: PortHandle,
    pub(super) kind: PortHandle,
    /// Where the design has exclusive accesses.
    pub(super) lock: Option<PortHandle>,
    /// Where the design has atomic operations; never of AR.
    pub(super) atop: Option<PortHandle>,
    /// AxUSER, where the design has it; also among those that may have any value.
    pub(super) user: Option<PortHandle>,
    /// AxCACHE, where the design has it.
    cache: Option<PortHandle>,
    /// What may have any value.
    free: Vec<PortHandle>,
}

/// The write channels with a common prefix.
#[derive(Clone, Debug)]
pub(super) struct WritePorts {
    pub(super) address: AddressPorts,
    pub(super) data: Handshake,
    pub(super) response: Handshake,
    pub(super) wdata: PortHandle,
    pub(super) wstrb: PortHandle,
    pub(super) wlast: PortHandle,
    pub(super) wuser: Option<PortHandle>,
    pub(super) bid: PortHandle,
    pub(super) bresp: PortHandle,
    /// Bytes in a beat.
    pub(super) bytes: usize,
}

/// The read channels with a common prefix.
#[derive(Clone, Debug)]
pub(super) struct ReadPorts {
    pub(super) address: AddressPorts,
    pub(super) data: Handshake,
    pub(super) rid: PortHandle,
    pub(super) rdata: PortHandle,
    pub(super) rresp: PortHandle,
    pub(super) rlast: PortHandle,
    /// The write addresses, where the design has atomic operations: those that load are answered here.
    pub(super) atomics: Option<AddressPorts>,
    /// Bytes in a beat.
    pub(super) bytes: usize,
}

/// Signals of an address channel that may have any value, as long as it is stable.
const FREE: [&str; 3] = ["prot", "qos", "user"];

/// AxCACHE of normal memory that is not cached.
const NORMAL: u8 = 0b0011;

/// What asks for widths.
const BUS: &str = "AXI4";

impl AddressPorts {
    /// Looks up `aw` or `ar`.
    fn find(names: Names<'_>, letters: &str, side: Side) -> Result<Self, ModelError> {
        let signal = |name: &str| format!("{letters}{name}");
        let port = |name: &str| names.port(&signal(name));
        let optional = |name: &str| names.optional(&signal(name));
        let [id, address, length] = [port("id")?, port("addr")?, port("len")?];
        let [size, kind] = [port("size")?, port("burst")?];
        let [lock, atop, cache] = ["lock", "atop", "cache"].map(optional);
        let free: Vec<PortHandle> = FREE.iter().filter_map(|name| optional(name)).collect();
        let others = [lock, atop, cache, optional("region")].into_iter().flatten();
        let payload = [id, address, length, size, kind].into_iter().chain(others);
        let payload = payload.chain(free.iter().copied()).collect();
        let found = Self {
            channel: names.channel(letters, payload, side)?,
            id,
            address,
            length,
            size,
            kind,
            lock,
            atop,
            user: optional("user"),
            cache,
            free,
        };
        names.check_widths(&found.needs())?;
        Ok(found)
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![
            (self.address, self.address.width() <= 64, "at most 64 bits"),
            (self.id, self.id.width() <= 64, "at most 64 bits"),
            (self.length, self.length.width() == 8, "8 bits"),
            (self.size, self.size.width() == 3, "3 bits"),
            (self.kind, self.kind.width() == 2, "2 bits"),
        ];
        needs.extend(self.lock.map(|lock| (lock, lock.width() == 1, "1 bit")));
        needs.extend(self.atop.map(|atop| (atop, atop.width() == 6, "6 bits")));
        needs
    }

    /// What is on the channel.
    pub(super) fn request(&self, dut: &Instance) -> Request {
        let value = |port: PortHandle| dut.value(port) as u64;
        Request {
            burst: Burst {
                id: value(self.id),
                address: value(self.address),
                beats: value(self.length) + 1,
                size: 1 << value(self.size),
                kind: BurstKind::from_code(value(self.kind)),
            },
            exclusive: self.lock.is_some_and(|lock| dut.is_high(lock)),
            atop: self.atop.map_or(0, |atop| value(atop) as u8),
            user: None,
        }
    }

    /// Puts an address on the channel, with random values where any is right.
    pub(super) fn drive(&self, dut: &mut Instance, request: &Request, rng: &mut ChaCha8Rng) {
        let burst = &request.burst;
        for (port, value) in [
            (self.id, burst.id),
            (self.address, burst.address),
            (self.length, burst.beats - 1),
            (self.size, burst.size.trailing_zeros().into()),
            (self.kind, burst.kind.code().into()),
        ] {
            dut.set_value(port, value.into());
        }
        let optional = [
            (self.lock, u8::from(request.exclusive)),
            (self.atop, request.atop),
            (self.cache, NORMAL),
        ];
        for (port, value) in optional {
            if let Some(port) = port {
                dut.set_value(port, value.into());
            }
        }
        for port in &self.free {
            drive_random(dut, *port, rng);
        }
        if let (Some(port), Some(user)) = (self.user, request.user) {
            dut.set_value(port, user.into());
        }
    }
}

impl WritePorts {
    /// Looks up the ports and checks that their directions and widths make write channels; without a
    /// side it is the one that the direction of AWVALID gives.
    pub(super) fn find(dut: &Instance, prefix: &str, side: Option<Side>) -> Result<Self, ModelError> {
        let names = Names {
            dut,
            prefix,
            bus: BUS,
        };
        let side = side.unwrap_or(Side::of(dut, names.port("awvalid")?));
        let address = AddressPorts::find(names, "aw", side)?;
        let [wdata, wstrb, wlast] = [names.port("wdata")?, names.port("wstrb")?, names.port("wlast")?];
        let [bid, bresp] = [names.port("bid")?, names.port("bresp")?];
        let wuser = names.optional("wuser");
        let data = [wdata, wstrb, wlast].into_iter().chain(wuser);
        let response = [bid, bresp].into_iter().chain(names.optional("buser"));
        let bytes = wdata.width() / 8;
        names.check_widths(&[
            data_need(wdata),
            (wstrb, wstrb.width() == bytes, "one bit per byte of wdata"),
            (wlast, wlast.width() == 1, "1 bit"),
            (bid, bid.width() == address.id.width(), "the width of awid"),
            (bresp, bresp.width() == 2, "2 bits"),
        ])?;
        Ok(Self {
            data: names.channel("w", data.collect(), side)?,
            response: names.channel("b", response.collect(), side.opposite())?,
            address,
            wdata,
            wstrb,
            wlast,
            wuser,
            bid,
            bresp,
            bytes,
        })
    }
}

impl ReadPorts {
    /// Looks up the ports and checks that their directions and widths make read channels; without a side
    /// it is the one that the direction of ARVALID gives.
    pub(super) fn find(dut: &Instance, prefix: &str, side: Option<Side>) -> Result<Self, ModelError> {
        let names = Names {
            dut,
            prefix,
            bus: BUS,
        };
        let side = side.unwrap_or(Side::of(dut, names.port("arvalid")?));
        let address = AddressPorts::find(names, "ar", side)?;
        let [rid, rdata] = [names.port("rid")?, names.port("rdata")?];
        let [rresp, rlast] = [names.port("rresp")?, names.port("rlast")?];
        let data = [rid, rdata, rresp, rlast].into_iter();
        names.check_widths(&[
            data_need(rdata),
            (rid, rid.width() == address.id.width(), "the width of arid"),
            (rresp, rresp.width() == 2, "2 bits"),
            (rlast, rlast.width() == 1, "1 bit"),
        ])?;
        let atomics = names.optional("awatop");
        let atomics = atomics
            .map(|_| AddressPorts::find(names, "aw", side))
            .transpose()?;
        let data = data.chain(names.optional("ruser")).collect();
        Ok(Self {
            data: names.channel("r", data, side.opposite())?,
            address,
            rid,
            rdata,
            rresp,
            rlast,
            atomics,
            bytes: rdata.width() / 8,
        })
    }
}

/// Drives an input with a random value.
pub(super) fn drive_random(dut: &mut Instance, port: PortHandle, rng: &mut ChaCha8Rng) {
    let mut bytes = vec![0; port.width().div_ceil(8)];
    rng.fill_bytes(&mut bytes);
    if let Some(top) = bytes.last_mut() {
        *top &= u8::MAX >> (8 * port.width().div_ceil(8) - port.width());
    }
    dut.set_bytes(port, &bytes);
}

/// What a port for data needs.
fn data_need(port: PortHandle) -> Need {
    let bits = port.width();
    let fits = bits.is_power_of_two() && (8..=1024).contains(&bits);
    (port, fits, "a power of two from 8 to 1024 bits")
}
