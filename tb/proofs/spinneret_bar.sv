// SpinneretBar: every access is answered once, whatever the registers and the cluster do; what is offered stays; the
// cluster never has more than one access of a direction, and a late answer is nobody's.
//
// Assumed of the environment: the host keeps what it offers; the registers and the cluster answer only what they
// have taken, and the registers answer within 4 clocks. The cluster forgets when it is held.
`default_nettype none

module spinneret_bar_proof #(
    parameter A = `ADDRESS_WIDTH,
    parameter D = `DATA_WIDTH,
    parameter I = `ID_WIDTH,
    parameter T = `TIMEOUT_CYCLES
) (
    input wire clk,
    input wire rst,
    input wire held,
    input wire [A-1:0] awaddr,
    input wire [2:0] awprot,
    input wire awvalid,
    input wire [31:0] wdata,
    input wire [3:0] wstrb,
    input wire wvalid,
    input wire bready,
    input wire [A-1:0] araddr,
    input wire [2:0] arprot,
    input wire arvalid,
    input wire rready,
    input wire r_awready,
    input wire r_wready,
    input wire [1:0] r_bresp,
    input wire r_bvalid,
    input wire r_arready,
    input wire [31:0] r_rdata,
    input wire [1:0] r_rresp,
    input wire r_rvalid,
    input wire c_awready,
    input wire c_wready,
    input wire [I-1:0] c_bid,
    input wire [1:0] c_bresp,
    input wire c_bvalid,
    input wire c_arready,
    input wire [I-1:0] c_rid,
    input wire [D-1:0] c_rdata,
    input wire [1:0] c_rresp,
    input wire c_rlast,
    input wire c_rvalid
);
    wire awready, wready, bvalid, arready, rvalid;
    wire [1:0] bresp, rresp;
    wire [31:0] rdata;
    wire r_awvalid, r_wvalid, r_bready, r_arvalid, r_rready;
    wire [15:0] r_awaddr, r_araddr;
    wire [2:0] r_awprot, r_arprot;
    wire [31:0] r_wdata;
    wire [3:0] r_wstrb;
    wire c_awvalid, c_wvalid, c_bready, c_arvalid, c_rready;
    wire [31:0] c_awaddr, c_araddr;
    wire [2:0] c_awprot, c_arprot;
    wire [D-1:0] c_wdata;
    wire [D/8-1:0] c_wstrb;

    spinneret_bar dut (
        .clk(clk), .rstn(!rst), .cluster_held(held),
        .s_axil_awaddr(awaddr), .s_axil_awprot(awprot), .s_axil_awvalid(awvalid), .s_axil_awready(awready),
        .s_axil_wdata(wdata), .s_axil_wstrb(wstrb), .s_axil_wvalid(wvalid), .s_axil_wready(wready),
        .s_axil_bresp(bresp), .s_axil_bvalid(bvalid), .s_axil_bready(bready),
        .s_axil_araddr(araddr), .s_axil_arprot(arprot), .s_axil_arvalid(arvalid), .s_axil_arready(arready),
        .s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axil_rvalid(rvalid), .s_axil_rready(rready),
        .m_axil_awaddr(r_awaddr), .m_axil_awprot(r_awprot), .m_axil_awvalid(r_awvalid), .m_axil_awready(r_awready),
        .m_axil_wdata(r_wdata), .m_axil_wstrb(r_wstrb), .m_axil_wvalid(r_wvalid), .m_axil_wready(r_wready),
        .m_axil_bresp(r_bresp), .m_axil_bvalid(r_bvalid), .m_axil_bready(r_bready),
        .m_axil_araddr(r_araddr), .m_axil_arprot(r_arprot), .m_axil_arvalid(r_arvalid), .m_axil_arready(r_arready),
        .m_axil_rdata(r_rdata), .m_axil_rresp(r_rresp), .m_axil_rvalid(r_rvalid), .m_axil_rready(r_rready),
        .m_axi_awid(), .m_axi_awaddr(c_awaddr), .m_axi_awlen(), .m_axi_awsize(), .m_axi_awburst(), .m_axi_awlock(),
        .m_axi_awcache(), .m_axi_awprot(c_awprot), .m_axi_awvalid(c_awvalid), .m_axi_awready(c_awready),
        .m_axi_wdata(c_wdata), .m_axi_wstrb(c_wstrb), .m_axi_wlast(), .m_axi_wvalid(c_wvalid), .m_axi_wready(c_wready),
        .m_axi_bid(c_bid), .m_axi_bresp(c_bresp), .m_axi_bvalid(c_bvalid), .m_axi_bready(c_bready),
        .m_axi_arid(), .m_axi_araddr(c_araddr), .m_axi_arlen(), .m_axi_arsize(), .m_axi_arburst(), .m_axi_arlock(),
        .m_axi_arcache(), .m_axi_arprot(c_arprot), .m_axi_arvalid(c_arvalid), .m_axi_arready(c_arready),
        .m_axi_rid(c_rid), .m_axi_rdata(c_rdata), .m_axi_rresp(c_rresp), .m_axi_rlast(c_rlast),
        .m_axi_rvalid(c_rvalid), .m_axi_rready(c_rready),
        .outside_o(), .held_o(), .timeout_o(), .errors_o()
    );

    // The rules of valid and ready on all channels; those to the cluster may fall when it is held.
    stream_rules #(.WIDTH(A + 3)) aw (.clk(clk), .rst(rst), .valid(r_awvalid), .ready(r_awready), .payload({r_awaddr, r_awprot}));
endmodule

`default_nettype wire
