//! The ports of the channels.

use crate::handshake::{Handshake, Side};
use crate::model::{Instance, ModelError, PortHandle};

/// An address channel: AW or AR.
#[derive(Clone, Debug)]
pub(super) struct AddressPorts {
    pub(super) channel: Handshake,
    pub(super) address: PortHandle,
    /// AxPROT, where the design has it.
    pub(super) protection: Option<PortHandle>,
}

/// The write channels with a common prefix.
#[derive(Clone, Debug)]
pub(super) struct WritePorts {
    pub(super) address: AddressPorts,
    pub(super) data: Handshake,
    pub(super) response: Handshake,
    pub(super) wdata: PortHandle,
    pub(super) wstrb: PortHandle,
    pub(super) bresp: PortHandle,
}

/// The read channels with a common prefix.
#[derive(Clone, Debug)]
pub(super) struct ReadPorts {
    pub(super) address: AddressPorts,
    pub(super) data: Handshake,
    pub(super) rdata: PortHandle,
    pub(super) rresp: PortHandle,
}

/// The channels that a design has with a common prefix: writes, reads or both.
#[derive(Clone, Debug)]
pub(super) struct LitePorts {
    pub(super) write: Option<WritePorts>,
    pub(super) read: Option<ReadPorts>,
    /// Who the master is: the design if it sends addresses.
    pub(super) side: Side,
}

/// Finds ports with a common prefix.
#[derive(Clone, Copy)]
struct Names<'a> {
    dut: &'a Instance,
    prefix: &'a str,
}

impl LitePorts {
    /// Looks up the ports and checks that their directions and widths make AXI4-Lite; without a side it is
    /// the one that the direction of the first address channel gives.
    pub(super) fn find(dut: &Instance, prefix: &str, side: Option<Side>) -> Result<Self, ModelError> {
        let names = Names { dut, prefix };
        let writes = names.optional("awvalid");
        let reads = names.optional("arvalid");
        let valid = match writes.or(reads) {
            Some(port) => port,
            None => names.port("awvalid")?,
        };
        let side = side.unwrap_or_else(|| Side::of(dut, valid));
        Ok(Self {
            write: writes.map(|_| names.write(side)).transpose()?,
            read: reads.map(|_| names.read(side)).transpose()?,
            side,
        })
    }

    /// Bytes of a word.
    pub(super) fn bytes(&self) -> usize {
        let data = self.write.as_ref().map(|write| write.wdata);
        let data = data.or(self.read.as_ref().map(|read| read.rdata));
        data.map_or(0, |port| port.width() / 8)
    }
}

impl Names<'_> {
    fn name(self, signal: &str) -> String {
        format!("{}_{signal}", self.prefix)
    }

    fn optional(self, signal: &str) -> Option<PortHandle> {
        self.dut.find(&self.name(signal))
    }

    fn port(self, signal: &str) -> Result<PortHandle, ModelError> {
        let name = self.name(signal);
        self.dut.find(&name).ok_or_else(|| self.dut.unknown(&name))
    }

    /// The handshake of a channel.
    fn channel(self, letters: &str, payload: Vec<PortHandle>, side: Side) -> Result<Handshake, ModelError> {
        let [valid, ready] = ["valid", "ready"].map(|signal| self.name(&format!("{letters}{signal}")));
        Handshake::find(
            self.dut,
            &self.name(letters),
            [&valid, &ready],
            payload,
            Some(side),
        )
    }

    fn address(self, letters: &str, side: Side) -> Result<AddressPorts, ModelError> {
        let address = self.port(&format!("{letters}addr"))?;
        let protection = self.optional(&format!("{letters}prot"));
        self.check(address, address.width() <= 64, "at most 64 bits")?;
        if let Some(port) = protection {
            self.check(port, port.width() == 3, "3 bits")?;
        }
        let payload = [address].into_iter().chain(protection).collect();
        Ok(AddressPorts {
            channel: self.channel(letters, payload, side)?,
            address,
            protection,
        })
    }

    fn write(self, side: Side) -> Result<WritePorts, ModelError> {
        let [wdata, wstrb, bresp] = [self.port("wdata")?, self.port("wstrb")?, self.port("bresp")?];
        self.check_data(wdata)?;
        self.check(
            wstrb,
            wstrb.width() == wdata.width() / 8,
            "one bit per byte of wdata",
        )?;
        self.check(bresp, bresp.width() == 2, "2 bits")?;
        Ok(WritePorts {
            address: self.address("aw", side)?,
            data: self.channel("w", vec![wdata, wstrb], side)?,
            response: self.channel("b", vec![bresp], side.opposite())?,
            wdata,
            wstrb,
            bresp,
        })
    }

    fn read(self, side: Side) -> Result<ReadPorts, ModelError> {
        let [rdata, rresp] = [self.port("rdata")?, self.port("rresp")?];
        self.check_data(rdata)?;
        self.check(rresp, rresp.width() == 2, "2 bits")?;
        Ok(ReadPorts {
            address: self.address("ar", side)?,
            data: self.channel("r", vec![rdata, rresp], side.opposite())?,
            rdata,
            rresp,
        })
    }

    fn check_data(self, port: PortHandle) -> Result<(), ModelError> {
        let bits = port.width();
        let fits = bits.is_power_of_two() && (8..=64).contains(&bits);
        self.check(port, fits, "a power of two from 8 to 64 bits")
    }

    fn check(self, port: PortHandle, fits: bool, need: &str) -> Result<(), ModelError> {
        if fits {
            return Ok(());
        }
        Err(ModelError::UnfitPort {
            model: self.dut.name(),
            port: self.dut.info(port).name.to_owned(),
            reason: format!(
                "is {} bits wide; this model of AXI4-Lite needs {need}",
                port.width()
            ),
        })
    }
}
