//! The ports of the channels.

use super::burst::{Burst, BurstKind, Request};
use crate::handshake::{Handshake, Names, Need, Side};
use crate::model::{Instance, ModelError, PortHandle};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Half of a bus: one direction of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// AW, W and B.
    Write,
    /// AR and R.
    Read,
}

impl Half {
    /// The letters of the channels for addresses, data and answers.
    pub(super) fn letters(self) -> [&'static str; 3] {
        match self {
            Self::Write => ["aw", "w", "b"],
            Self::Read => ["ar", "r", "r"],
        }
    }

    /// `writes` or `reads`.
    pub(super) fn plural(self) -> &'static str {
        match self {
            Self::Write => "writes",
            Self::Read => "reads",
        }
    }
}

/// Which signals a bus has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// AXI4.
    Full,
    /// AXI4-Lite: every burst is one beat, the aligned word around its address, with id 0.
    Lite,
}

/// An address channel: AW or AR.
#[derive(Clone, Debug)]
pub(super) struct AddressPorts {
    pub(super) channel: Handshake,
    pub(super) id: Option<PortHandle>,
    pub(super) address: PortHandle,
    length: Option<PortHandle>,
    size: Option<PortHandle>,
    kind: Option<PortHandle>,
    /// Where the design has exclusive accesses.
    pub(super) lock: Option<PortHandle>,
    /// Where the design has atomic operations; never of AR.
    pub(super) atop: Option<PortHandle>,
    /// AxPROT and AxUSER, where the design has them; they are also in the list of free signals.
    pub(super) protection: Option<PortHandle>,
    pub(super) user: Option<PortHandle>,
    /// AxCACHE, where the design has it.
    cache: Option<PortHandle>,
    /// Signals that may have any value, as long as it is stable.
    free: Vec<PortHandle>,
    /// Bytes in a beat.
    bytes: u64,
}

/// The channels of one half with a common prefix.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    pub(super) half: Half,
    pub(super) address: AddressPorts,
    pub(super) data: Handshake,
    /// B; reads are answered by their data.
    pub(super) response: Option<Handshake>,
    /// WDATA or RDATA.
    pub(super) lanes: PortHandle,
    /// WSTRB.
    pub(super) strobes: Option<PortHandle>,
    /// WLAST or RLAST.
    pub(super) last: Option<PortHandle>,
    /// WUSER, where the design has it.
    pub(super) user: Option<PortHandle>,
    /// BID or RID.
    id: Option<PortHandle>,
    /// BRESP or RRESP.
    code: PortHandle,
    /// For reads: the write addresses, where the design has atomic operations: those that load are answered here.
    pub(super) atomics: Option<AddressPorts>,
    /// Bytes in a beat.
    pub(super) bytes: usize,
}

/// AxCACHE of normal non-cacheable memory.
const NORMAL: u8 = 0b0011;

/// Signals of an address channel that may have any value.
const FREE: [&str; 3] = ["prot", "qos", "user"];

impl AddressPorts {
    /// Looks up `aw` or `ar` of a bus with that many bytes in a beat.
    fn find(
        names: Names<'_>,
        letters: &str,
        (protocol, side, bytes): (Protocol, Side, usize),
    ) -> Result<Self, ModelError> {
        let lite = protocol == Protocol::Lite;
        let signal = |name: &str| format!("{letters}{name}");
        let needed = |name: &str| (!lite).then(|| names.port(&signal(name))).transpose();
        let optional = |name: &str| {
            let known = !lite || name == "prot";
            known.then(|| names.optional(&signal(name))).flatten()
        };
        let (id, address) = (needed("id")?, names.port(&signal("addr"))?);
        let [length, size, kind] = [needed("len")?, needed("size")?, needed("burst")?];
        let [lock, atop, cache, protection] = ["lock", "atop", "cache", "prot"].map(optional);
        let free: Vec<PortHandle> = FREE.iter().filter_map(|name| optional(name)).collect();
        let others = [length, size, kind, lock, atop, cache, optional("region")];
        let payload = [id, Some(address)].into_iter().chain(others).flatten();
        let payload = payload.chain(free.iter().copied()).collect();
        let channel = names.channel(letters, payload, side)?;
        let mut needs = vec![(address, address.width() <= 64, "at most 64 bits")];
        needs.extend(id.map(|id| (id, id.width() <= 64, "at most 64 bits")));
        for (port, width, need) in [
            (length, 8, "8 bits"),
            (size, 3, "3 bits"),
            (kind, 2, "2 bits"),
            (lock, 1, "1 bit"),
            (atop, 6, "6 bits"),
            (protection, 3, "3 bits"),
        ] {
            needs.extend(port.map(|port| (port, port.width() == width, need)));
        }
        names.check_widths(&needs)?;
        Ok(Self {
            channel,
            id,
            address,
            length,
            size,
            kind,
            lock,
            atop,
            protection,
            user: optional("user"),
            cache,
            free,
            bytes: bytes as u64,
        })
    }

    /// The request on the channel.
    pub(super) fn request(&self, dut: &Instance) -> Request {
        let value = |port: PortHandle| dut.value(port) as u64;
        Request {
            burst: Burst {
                id: self.id.map_or(0, value),
                address: value(self.address),
                beats: self.length.map_or(0, value) + 1,
                size: self.size.map_or(self.bytes, |port| 1 << value(port)),
                kind: self
                    .kind
                    .map_or(BurstKind::Word, |port| BurstKind::from_code(value(port))),
            },
            exclusive: self.lock.is_some_and(|lock| dut.is_high(lock)),
            atop: self.atop.map_or(0, |atop| value(atop) as u8),
            protection: self.protection.map(|port| value(port) as u8),
            user: None,
        }
    }

    /// Puts an address on the channel, with random values where any is right.
    pub(super) fn drive(&self, dut: &mut Instance, request: &Request, rng: &mut ChaCha8Rng) {
        let burst = &request.burst;
        for port in &self.free {
            drive_random(dut, *port, rng);
        }
        let chosen = |port: Option<PortHandle>, value: Option<u64>| port.zip(value);
        for (port, value) in [
            chosen(self.id, Some(burst.id)),
            chosen(Some(self.address), Some(burst.address)),
            chosen(self.length, Some(burst.beats - 1)),
            chosen(self.size, Some(burst.size.trailing_zeros().into())),
            chosen(self.kind, Some(burst.kind.code().into())),
            chosen(self.lock, Some(request.exclusive.into())),
            chosen(self.atop, Some(request.atop.into())),
            chosen(self.cache, Some(NORMAL.into())),
            chosen(self.protection, request.protection.map(u64::from)),
            chosen(self.user, request.user),
        ]
        .into_iter()
        .flatten()
        {
            dut.set_value(port, value.into());
        }
    }
}

impl Ports {
    /// Looks up the ports and checks that their directions and widths form that half of a bus; without a side, the
    /// direction of AxVALID decides.
    pub(super) fn find(
        dut: &Instance,
        prefix: &str,
        (half, protocol): (Half, Protocol),
        side: Option<Side>,
    ) -> Result<Self, ModelError> {
        let lite = protocol == Protocol::Lite;
        let bus = if lite { "this model of AXI4-Lite" } else { "AXI4" };
        let names = Names { dut, prefix, bus };
        let [requests, data, answers] = half.letters();
        let valid = names.port(&format!("{requests}valid"))?;
        let side = side.unwrap_or_else(|| Side::of(dut, valid));
        let lanes = names.port(&format!("{data}data"))?;
        let bytes = lanes.width() / 8;
        let address = AddressPorts::find(names, requests, (protocol, side, bytes))?;
        let needed = |name: String| (!lite).then(|| names.port(&name)).transpose();
        let optional = |name: String| if lite { None } else { names.optional(&name) };
        let last = needed(format!("{data}last"))?;
        let id = needed(format!("{answers}id"))?;
        let code = names.port(&format!("{answers}resp"))?;
        let strobes = (half == Half::Write).then(|| names.port("wstrb")).transpose()?;
        let [user, answer_user] = [data, answers].map(|letters| optional(format!("{letters}user")));
        let most = if lite { 64 } else { 1024 };
        let bits = lanes.width();
        let mut needs: Vec<Need> = vec![
            (
                lanes,
                bits.is_power_of_two() && (8..=most).contains(&bits),
                if lite {
                    "a power of two from 8 to 64 bits"
                } else {
                    "a power of two from 8 to 1024 bits"
                },
            ),
            (code, code.width() == 2, "2 bits"),
        ];
        needs.extend(strobes.map(|port| (port, port.width() == bytes, "one bit per byte of wdata")));
        needs.extend(last.map(|port| (port, port.width() == 1, "1 bit")));
        let ids = address.id.map(|port| port.width());
        needs.extend(id.map(|port| (port, Some(port.width()) == ids, "the width of the address's id")));
        names.check_widths(&needs)?;
        let payload = |ports: &[Option<PortHandle>]| ports.iter().copied().flatten().collect();
        let (data, response, atomics) = match half {
            Half::Write => {
                let data = names.channel("w", payload(&[Some(lanes), strobes, last, user]), side)?;
                let response = payload(&[id, Some(code), answer_user]);
                let response = names.channel("b", response, side.opposite())?;
                (data, Some(response), None)
            }
            Half::Read => {
                let data = payload(&[id, Some(lanes), Some(code), last, answer_user]);
                let data = names.channel("r", data, side.opposite())?;
                let atomics = optional("awatop".to_owned())
                    .map(|_| AddressPorts::find(names, "aw", (protocol, side, bytes)))
                    .transpose()?;
                (data, None, atomics)
            }
        };
        Ok(Self {
            half,
            address,
            data,
            response,
            lanes,
            strobes,
            last,
            user,
            id,
            code,
            atomics,
            bytes,
        })
    }

    /// The channel that answers: B or R.
    pub(super) fn answers(&self) -> &Handshake {
        self.response.as_ref().unwrap_or(&self.data)
    }

    /// Id and code on the channel that answers.
    #[inline]
    pub(super) fn answer(&self, dut: &Instance) -> (u64, u8) {
        let id = self.id.map_or(0, |port| dut.value(port) as u64);
        (id, dut.value(self.code) as u8)
    }

    /// Drives id and code on the channel that answers.
    pub(super) fn drive_answer(&self, dut: &mut Instance, id: u64, code: u8) {
        if let Some(port) = self.id {
            dut.set_value(port, id.into());
        }
        dut.set_value(self.code, code.into());
    }

    /// Whether the beat on the data channel is the last of its burst.
    pub(super) fn is_last(&self, dut: &Instance) -> bool {
        self.last.is_none_or(|port| dut.is_high(port))
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
