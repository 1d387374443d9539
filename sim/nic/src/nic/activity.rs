//! Whether anything moves at the application's ports.

use spinneret_sim::agent::{Agent, Violation};
use spinneret_sim::model::{Direction, Instance, ModelError, PortHandle};

/// Ports that say that something is offered. The reports of statistics are not among them: they go on for ever, and lose
/// nothing when they stand still.
const OFFERS: &[&str] = &[
    "s_axil_app_ctrl_awvalid",
    "s_axil_app_ctrl_wvalid",
    "s_axil_app_ctrl_arvalid",
    "s_axil_app_ctrl_bvalid",
    "s_axil_app_ctrl_rvalid",
    "m_axis_data_dma_read_desc_valid",
    "m_axis_data_dma_write_desc_valid",
    "s_axis_data_dma_read_desc_status_valid",
    "s_axis_data_dma_write_desc_status_valid",
    "data_dma_ram_wr_cmd_valid",
    "data_dma_ram_rd_cmd_valid",
    "s_axis_if_tx_tvalid",
    "m_axis_if_tx_tvalid",
    "s_axis_if_tx_cpl_valid",
    "m_axis_if_tx_cpl_valid",
    "s_axis_if_rx_tvalid",
    "m_axis_if_rx_tvalid",
    "ni_slave_aw_valid",
    "ni_slave_w_valid",
    "ni_slave_b_valid",
    "no_slave_ar_valid",
    "no_slave_r_valid",
    "host_slave_aw_valid",
    "host_slave_w_valid",
    "host_slave_ar_valid",
    "host_slave_b_valid",
    "host_slave_r_valid",
    "host_master_aw_valid",
    "host_master_w_valid",
    "host_master_ar_valid",
    "host_master_b_valid",
    "host_master_r_valid",
    "her_valid",
    "feedback_valid",
    "nic_cmd_req_valid",
    "nic_cmd_resp_valid",
    "stdout_rd_en",
];

/// Clocks in which the application makes ready the slots of the packet buffer, after the cluster has left reset: that is
/// seen at no port.
const OPENING_CLOCKS: u64 = 1100;

/// Counts the clocks since something moved.
#[derive(Debug)]
pub(super) struct Activity {
    offers: Vec<PortHandle>,
    /// Where in this list something was offered last: there it mostly is again.
    last: usize,
    cluster_runs: PortHandle,
    /// Clocks in which slots are still made ready.
    opening: u64,
    quiet: u64,
}

impl Activity {
    pub(super) fn new(dut: &Instance) -> Result<Self, ModelError> {
        let find = |name: &&str| {
            let input = dut.port(name, Direction::Input);
            input.or_else(|_| dut.port(name, Direction::Output))
        };
        Ok(Self {
            offers: OFFERS.iter().map(find).collect::<Result<_, _>>()?,
            last: 0,
            cluster_runs: dut.port("cluster_rstn", Direction::Output)?,
            opening: OPENING_CLOCKS,
            quiet: 0,
        })
    }

    /// Whether something is offered at any port.
    fn offers(&mut self, dut: &Instance) -> bool {
        let is_offered = |port: &PortHandle| dut.value(*port) != 0;
        if is_offered(&self.offers[self.last]) {
            return true;
        }
        let place = self.offers.iter().position(is_offered);
        self.last = place.unwrap_or(self.last);
        place.is_some()
    }

    /// Clocks since something moved.
    pub(super) fn quiet(&self) -> u64 {
        self.quiet
    }
}

impl Agent for Activity {
    fn drive(&mut self, _: &mut Instance) {}

    fn sample(&mut self, dut: &Instance, _: u64) -> Result<(), Violation> {
        let is_opening = dut.is_high(self.cluster_runs) && self.opening > 0;
        self.opening = match dut.is_high(self.cluster_runs) {
            true => self.opening.saturating_sub(1),
            false => OPENING_CLOCKS,
        };
        let moves = is_opening || self.offers(dut);
        self.quiet = if moves { 0 } else { self.quiet + 1 };
        Ok(())
    }

    fn reset(&mut self, _: &mut Instance) {
        self.quiet = 0;
        self.opening = OPENING_CLOCKS;
    }

    fn describe(&self) -> String {
        format!("nothing has moved for {} clocks", self.quiet)
    }
}
