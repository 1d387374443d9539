//! The ports of the channels.

use crate::handshake::{Handshake, Side};
use crate::model::{Instance, ModelError, PortHandle};
use crate::names::{Names, Need};

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

impl LitePorts {
    /// Looks up the ports and checks that their directions and widths make AXI4-Lite; without a side it is
    /// the one that the direction of the first address channel gives.
    pub(super) fn find(dut: &Instance, prefix: &str, side: Option<Side>) -> Result<Self, ModelError> {
        let names = Names {
            dut,
            prefix,
            bus: "this model of AXI4-Lite",
        };
        let writes = names.optional("awvalid");
        let reads = names.optional("arvalid");
        let valid = match writes.or(reads) {
            Some(port) => port,
            None => names.port("awvalid")?,
        };
        let side = side.unwrap_or_else(|| Side::of(dut, valid));
        Ok(Self {
            write: writes.map(|_| WritePorts::find(names, side)).transpose()?,
            read: reads.map(|_| ReadPorts::find(names, side)).transpose()?,
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

impl AddressPorts {
    fn find(names: Names<'_>, letters: &str, side: Side) -> Result<Self, ModelError> {
        let address = names.port(&format!("{letters}addr"))?;
        let protection = names.optional(&format!("{letters}prot"));
        let mut needs = vec![(address, address.width() <= 64, "at most 64 bits")];
        needs.extend(protection.map(|port| (port, port.width() == 3, "3 bits")));
        names.check_widths(&needs)?;
        let payload = [address].into_iter().chain(protection).collect();
        Ok(Self {
            channel: names.channel(letters, payload, side)?,
            address,
            protection,
        })
    }
}

impl WritePorts {
    fn find(names: Names<'_>, side: Side) -> Result<Self, ModelError> {
        let [wdata, wstrb, bresp] = [names.port("wdata")?, names.port("wstrb")?, names.port("bresp")?];
        let bytes = wdata.width() / 8;
        names.check_widths(&[
            data_need(wdata),
            (wstrb, wstrb.width() == bytes, "one bit per byte of wdata"),
            (bresp, bresp.width() == 2, "2 bits"),
        ])?;
        Ok(Self {
            address: AddressPorts::find(names, "aw", side)?,
            data: names.channel("w", vec![wdata, wstrb], side)?,
            response: names.channel("b", vec![bresp], side.opposite())?,
            wdata,
            wstrb,
            bresp,
        })
    }
}

impl ReadPorts {
    fn find(names: Names<'_>, side: Side) -> Result<Self, ModelError> {
        let [rdata, rresp] = [names.port("rdata")?, names.port("rresp")?];
        names.check_widths(&[data_need(rdata), (rresp, rresp.width() == 2, "2 bits")])?;
        Ok(Self {
            address: AddressPorts::find(names, "ar", side)?,
            data: names.channel("r", vec![rdata, rresp], side.opposite())?,
            rdata,
            rresp,
        })
    }
}

fn data_need(port: PortHandle) -> Need {
    let bits = port.width();
    let fits = bits.is_power_of_two() && (8..=64).contains(&bits);
    (port, fits, "a power of two from 8 to 64 bits")
}
