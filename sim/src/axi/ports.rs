//! The ports of the write channels.

use crate::handshake::{Handshake, Side};
use crate::model::{Instance, ModelError, PortHandle};

/// The write channels with a common prefix.
#[derive(Clone, Debug)]
pub(super) struct WritePorts {
    pub(super) address: Handshake,
    pub(super) data: Handshake,
    pub(super) response: Handshake,
    pub(super) awid: PortHandle,
    pub(super) awaddr: PortHandle,
    pub(super) awlen: PortHandle,
    pub(super) awsize: PortHandle,
    pub(super) awburst: PortHandle,
    pub(super) wdata: PortHandle,
    pub(super) wstrb: PortHandle,
    pub(super) wlast: PortHandle,
    pub(super) bid: PortHandle,
    pub(super) bresp: PortHandle,
    /// Bytes in a beat.
    pub(super) bytes: usize,
}

/// Signals of the address channel that only have to be stable.
const OTHERS: [&str; 6] = ["awlock", "awcache", "awprot", "awqos", "awregion", "awuser"];

impl WritePorts {
    /// Looks up the ports and checks that their directions and widths make write channels; without a
    /// side it is the one that the direction of AWVALID gives.
    pub(super) fn find(dut: &Instance, prefix: &str, side: Option<Side>) -> Result<Self, ModelError> {
        let name = |signal: &str| format!("{prefix}_{signal}");
        let port = |signal: &str| dut.find(&name(signal)).ok_or_else(|| dut.unknown(&name(signal)));
        let side = side.unwrap_or(Side::of(dut, port("awvalid")?));
        let back = match side {
            Side::IntoDesign => Side::OutOfDesign,
            Side::OutOfDesign => Side::IntoDesign,
        };
        let channel = |letters: &str, payload, side| {
            let [valid, ready] = ["valid", "ready"].map(|signal| name(&format!("{letters}{signal}")));
            Handshake::find(dut, &name(letters), [&valid, &ready], payload, Some(side))
        };
        let [awid, awaddr, awlen] = [port("awid")?, port("awaddr")?, port("awlen")?];
        let [awsize, awburst] = [port("awsize")?, port("awburst")?];
        let [wdata, wstrb, wlast] = [port("wdata")?, port("wstrb")?, port("wlast")?];
        let [bid, bresp] = [port("bid")?, port("bresp")?];
        let others = OTHERS.iter().filter_map(|signal| dut.find(&name(signal)));
        let payload = [awid, awaddr, awlen, awsize, awburst];
        let found = Self {
            address: channel("aw", payload.into_iter().chain(others).collect(), side)?,
            data: channel("w", vec![wdata, wstrb, wlast], side)?,
            response: channel("b", vec![bid, bresp], back)?,
            awid,
            awaddr,
            awlen,
            awsize,
            awburst,
            wdata,
            wstrb,
            wlast,
            bid,
            bresp,
            bytes: wdata.width() / 8,
        };
        found.check_widths(dut)?;
        Ok(found)
    }

    fn check_widths(&self, dut: &Instance) -> Result<(), ModelError> {
        let bits = self.wdata.width();
        let whole = bits.is_multiple_of(8) && self.bytes.is_power_of_two() && self.bytes <= 128;
        let same_id = self.bid.width() == self.awid.width();
        let rules = [
            (self.wdata, whole, "a power of two from 8 to 1024 bits"),
            (
                self.wstrb,
                self.wstrb.width() == self.bytes,
                "one bit per byte of wdata",
            ),
            (self.awaddr, self.awaddr.width() <= 64, "at most 64 bits"),
            (self.awid, self.awid.width() <= 64, "at most 64 bits"),
            (self.bid, same_id, "the width of awid"),
            (self.awlen, self.awlen.width() == 8, "8 bits"),
            (self.awsize, self.awsize.width() == 3, "3 bits"),
            (self.awburst, self.awburst.width() == 2, "2 bits"),
            (self.bresp, self.bresp.width() == 2, "2 bits"),
            (self.wlast, self.wlast.width() == 1, "1 bit"),
        ];
        for (port, fits, need) in rules {
            if !fits {
                let reason = format!("is {} bits wide; AXI4 needs {need}", port.width());
                let port = dut.info(port).name.to_owned();
                return Err(ModelError::UnfitPort {
                    model: dut.name(),
                    port,
                    reason,
                });
            }
        }
        Ok(())
    }
}
