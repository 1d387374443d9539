// The application without a cluster: packets from the wire that match nothing pass to the host.
`timescale 1ps / 1ps
module bench;
    reg clk = 0;
    reg cluster_clk = 0;
    reg rst = 1;
    always #2000 clk = !clk;
    always #12500 cluster_clk = !cluster_clk;

    reg [511:0] data = 0;
    reg valid = 0;
    wire ready;
    wire out_valid;
    integer clocks = 0;
    integer limit;
    integer beats = 0;

    spinneret_app app (
        .clk(clk), .rst(rst), .cluster_clk(cluster_clk), .cluster_running(1'b1),
        .s_axil_app_ctrl_awaddr(24'd0), .s_axil_app_ctrl_awprot(3'd0), .s_axil_app_ctrl_awvalid(1'b0),
        .s_axil_app_ctrl_wdata(32'd0), .s_axil_app_ctrl_wstrb(4'd0), .s_axil_app_ctrl_wvalid(1'b0),
        .s_axil_app_ctrl_bready(1'b1), .s_axil_app_ctrl_araddr(24'd0), .s_axil_app_ctrl_arprot(3'd0),
        .s_axil_app_ctrl_arvalid(1'b0), .s_axil_app_ctrl_rready(1'b1),
        .m_axis_data_dma_read_desc_ready(1'b1), .s_axis_data_dma_read_desc_status_valid(1'b0),
        .m_axis_data_dma_write_desc_ready(1'b1), .s_axis_data_dma_write_desc_status_valid(1'b0),
        .data_dma_ram_wr_cmd_valid(2'd0), .data_dma_ram_rd_cmd_valid(2'd0), .data_dma_ram_rd_resp_ready(2'd3),
        .s_axis_if_tx_tvalid(1'b0), .m_axis_if_tx_tready(1'b1), .s_axis_if_tx_cpl_valid(1'b0),
        .m_axis_if_tx_cpl_ready(1'b1),
        .s_axis_if_rx_tdata(data), .s_axis_if_rx_tkeep({64{1'b1}}), .s_axis_if_rx_tvalid(valid),
        .s_axis_if_rx_tready(ready), .s_axis_if_rx_tlast(1'b1), .s_axis_if_rx_tid(8'd0),
        .s_axis_if_rx_tdest(16'd0), .s_axis_if_rx_tuser(97'd0),
        .m_axis_if_rx_tvalid(out_valid), .m_axis_if_rx_tready(1'b1), .m_axis_stat_tready(1'b1),
        .cl_eoc(2'd0), .cl_busy(2'd0), .mpq_full(16'd0),
        .ni_slave_aw_ready(1'b1), .ni_slave_w_ready(1'b1), .ni_slave_ar_ready(1'b1), .ni_slave_b_valid(1'b0),
        .ni_slave_r_valid(1'b0), .no_slave_aw_ready(1'b1), .no_slave_w_ready(1'b1), .no_slave_ar_ready(1'b1),
        .no_slave_b_valid(1'b0), .no_slave_r_valid(1'b0), .host_slave_aw_ready(1'b1), .host_slave_w_ready(1'b1),
        .host_slave_ar_ready(1'b1), .host_slave_b_valid(1'b0), .host_slave_r_valid(1'b0),
        .host_master_aw_valid(1'b0), .host_master_w_valid(1'b0), .host_master_ar_valid(1'b0),
        .host_master_b_ready(1'b1), .host_master_r_ready(1'b1), .her_ready(1'b1), .feedback_valid(1'b0),
        .nic_cmd_req_valid(1'b0), .stdout_data_valid(1'b0)
    );

    initial if (!$value$plusargs("clocks=%d", limit)) limit = 100;
    always @(posedge clk) begin
        clocks <= clocks + 1;
        if (clocks == 20) rst <= 0;
        valid <= clocks > 40;
        data <= {data[510:0], data[511] ^ data[0] ^ 1'b1};
        if (out_valid) beats <= beats + 1;
        if (clocks == limit) begin
            if (limit > 100 && beats == 0) $fatal(1, "no packet has passed");
            $finish;
        end
    end
endmodule
