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

    // What is under way, from the ports alone.
    reg aw_in = 0, w_in = 0, ar_in = 0; // Taken from the host and not answered.
    reg r_aw = 0, r_w = 0, r_ar = 0; // Taken by the registers and not answered.
    reg c_aw = 0, c_w = 0, c_ar = 0; // Taken by the cluster and not answered.

    always @(posedge clk) begin
        aw_in <= !rst && ((awvalid && awready) || (aw_in && !(bvalid && bready)));
        w_in <= !rst && ((wvalid && wready) || (w_in && !(bvalid && bready)));
        ar_in <= !rst && ((arvalid && arready) || (ar_in && !(rvalid && rready)));
        r_aw <= !rst && !r_bvalid && (r_aw || (r_awvalid && r_awready));
        r_w <= !rst && !r_bvalid && (r_w || (r_wvalid && r_wready));
        r_ar <= !rst && !r_rvalid && (r_ar || (r_arvalid && r_arready));
        c_aw <= !rst && !held && !c_bvalid && (c_aw || (c_awvalid && c_awready));
        c_w <= !rst && !held && !c_bvalid && (c_w || (c_wvalid && c_wready));
        c_ar <= !rst && !held && !c_rvalid && (c_ar || (c_arvalid && c_arready));
    end

    // The host keeps what it offers; the others answer what they have taken.
    stream_environment #(.WIDTH(A + 3)) host_aw (.clk(clk), .rst(rst), .valid(awvalid), .ready(awready), .payload({awaddr, awprot}));
    stream_environment #(.WIDTH(36)) host_w (.clk(clk), .rst(rst), .valid(wvalid), .ready(wready), .payload({wdata, wstrb}));
    stream_environment #(.WIDTH(A + 3)) host_ar (.clk(clk), .rst(rst), .valid(arvalid), .ready(arready), .payload({araddr, arprot}));
    always @* begin
        assume (!r_bvalid || (r_aw && r_w));
        assume (!r_rvalid || r_ar);
        assume (!c_bvalid || (c_aw && c_w));
        assume (!c_rvalid || c_ar);
    end

    // What is offered stays as it is; to the cluster, unless it is held in reset.
    stream_rules #(.WIDTH(2)) b (.clk(clk), .rst(rst), .valid(bvalid), .ready(bready), .payload(bresp));
    stream_rules #(.WIDTH(34)) r (.clk(clk), .rst(rst), .valid(rvalid), .ready(rready), .payload({rdata, rresp}));
    stream_rules #(.WIDTH(19)) register_aw (.clk(clk), .rst(rst), .valid(r_awvalid), .ready(r_awready), .payload({r_awaddr, r_awprot}));
    stream_rules #(.WIDTH(36)) register_w (.clk(clk), .rst(rst), .valid(r_wvalid), .ready(r_wready), .payload({r_wdata, r_wstrb}));
    stream_rules #(.WIDTH(19)) register_ar (.clk(clk), .rst(rst), .valid(r_arvalid), .ready(r_arready), .payload({r_araddr, r_arprot}));
    stream_rules #(.WIDTH(35)) cluster_aw (.clk(clk), .rst(rst || held), .valid(c_awvalid), .ready(c_awready), .payload({c_awaddr, c_awprot}));
    stream_rules #(.WIDTH(D + D / 8)) cluster_w (.clk(clk), .rst(rst || held), .valid(c_wvalid), .ready(c_wready), .payload({c_wdata, c_wstrb}));
    stream_rules #(.WIDTH(35)) cluster_ar (.clk(clk), .rst(rst || held), .valid(c_arvalid), .ready(c_arready), .payload({c_araddr, c_arprot}));

    always @* begin
        answers_are_taken: assert (r_bready && r_rready && c_bready && c_rready);
        one_write_from_the_host: assert (!(awready && aw_in) && !(wready && w_in));
        one_read_from_the_host: assert (!(arready && ar_in));
        one_write_at_the_registers: assert (!(r_awvalid && r_aw) && !(r_wvalid && r_w));
        one_read_at_the_registers: assert (!(r_arvalid && r_ar));
        one_write_at_the_cluster: assert (!(c_awvalid && c_aw) && !(c_wvalid && c_w));
        one_read_at_the_cluster: assert (!(c_arvalid && c_ar));
        answers_writes_only: assert (!bvalid || (aw_in && w_in));
        answers_reads_only: assert (!rvalid || ar_in);
    end

    wire write_active, write_at_registers, read_active, read_at_registers;
    wire [$clog2(T)-1:0] write_left, read_left;

    bar_half #(.T(T)) write (
        .clk(clk), .rst(rst), .held(held), .open(aw_in && w_in), .valid(bvalid), .code(bresp),
        .r_offer(r_awvalid || r_wvalid), .r_answer(r_bvalid), .r_code(r_bresp),
        .c_offer(c_awvalid || c_wvalid), .c_answer(c_bvalid), .c_code(c_bresp),
        .active(write_active), .at_registers(write_at_registers), .left(write_left)
    );

    bar_half #(.T(T)) read (
        .clk(clk), .rst(rst), .held(held), .open(ar_in), .valid(rvalid), .code(rresp),
        .r_offer(r_arvalid), .r_answer(r_rvalid), .r_code(r_rresp),
        .c_offer(c_arvalid), .c_answer(c_rvalid), .c_code(c_rresp),
        .active(read_active), .at_registers(read_at_registers), .left(read_left)
    );

    // Data of a read is that of the registers or of its lane, or 0.
    reg before = 0;
    reg at_registers_before, good_before;
    reg [31:0] register_before, lane_before;

    always @(posedge clk) begin
        before <= !rst && !rvalid && ar_in;
        at_registers_before <= r_rvalid;
        good_before <= c_rvalid && c_rresp == 0 && !held;
        register_before <= r_rdata;
        lane_before <= c_rdata >> (32 * ((c_araddr >> 2) & (D / 32 - 1)));
    end

    always @* begin
        if (before && rvalid && at_registers_before && !good_before) begin
            registers_data: assert (rdata == register_before);
        end
        if (before && rvalid && !at_registers_before) begin
            cluster_data: assert (rdata == 0 || (good_before && rdata == lane_before));
        end
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.u_write.u_access.busy" *) wire write_busy;
    (* internal = "dut.u_write.address_held" *) wire address_held;
    (* internal = "dut.u_write.data_held" *) wire data_held;
    (* internal = "dut.u_write.address_ready" *) wire write_address_ready;
    (* internal = "dut.u_write.data_ready" *) wire data_ready;
    (* internal = "dut.u_write.u_access.at_registers" *) wire write_at;
    (* internal = "dut.u_write.u_access.active" *) wire write_act;
    (* internal = "dut.u_write.u_access.late" *) wire write_late;
    (* internal = "dut.u_write.u_access.left" *) wire [$clog2(T)-1:0] write_rest;
    (* internal = "dut.u_read.u_access.busy" *) wire read_busy;
    (* internal = "dut.u_read.address_ready" *) wire read_address_ready;
    (* internal = "dut.u_read.u_access.at_registers" *) wire read_at;
    (* internal = "dut.u_read.u_access.active" *) wire read_act;
    (* internal = "dut.u_read.u_access.late" *) wire read_late;
    (* internal = "dut.u_read.u_access.left" *) wire [$clog2(T)-1:0] read_rest;

    assign write_active = write_act;
    assign write_at_registers = write_at;
    assign write_left = write_rest;
    assign read_active = read_act;
    assign read_at_registers = read_at;
    assign read_left = read_rest;

    always @* begin
        write_under_way: assert (write_busy == (aw_in && w_in));
        address_waits: assert (address_held == (aw_in && !w_in));
        data_waits: assert (data_held == (w_in && !aw_in));
        ready_only_when_free: assert (!(write_address_ready && aw_in) && !(data_ready && w_in));
        write_is_somewhere: assert (write_busy == (bvalid || write_at || write_act));
        write_is_in_one_place: assert (bvalid + write_at + write_act <= 1);
        write_at_the_registers: assert (write_at == (r_awvalid || r_aw) && write_at == (r_wvalid || r_w));
        write_at_the_cluster: assert ((write_act || write_late) == (c_awvalid || c_aw));
        write_whole_at_the_cluster: assert ((c_awvalid || c_aw) == (c_wvalid || c_w));
        write_late_or_active: assert (!(write_act && write_late));
        read_under_way: assert (read_busy == ar_in && !(read_address_ready && ar_in));
        read_is_somewhere: assert (read_busy == (rvalid || read_at || read_act));
        read_is_in_one_place: assert (rvalid + read_at + read_act <= 1);
        read_at_the_registers: assert (read_at == (r_arvalid || r_ar));
        read_at_the_cluster: assert ((read_act || read_late) == (c_arvalid || c_ar));
        read_late_or_active: assert (!(read_act && read_late));
    end
`else
    assign {write_active, write_at_registers, write_left} = 0;
    assign {read_active, read_at_registers, read_left} = 0;
`endif
endmodule

// When and how the accesses of one direction are answered.
module bar_half #(
    parameter T = 2,
    parameter PATIENCE = 6, // Clocks from the offer to the registers to their answer, at most.
    parameter MOST = T > PATIENCE + 1 ? T : PATIENCE + 1
) (
    input wire clk,
    input wire rst,
    input wire held,
    input wire open, // Everything is taken from the host, and not answered.
    input wire valid,
    input wire [1:0] code,
    input wire r_offer,
    input wire r_answer,
    input wire [1:0] r_code,
    input wire c_offer,
    input wire c_answer,
    input wire [1:0] c_code,
    input wire active,
    input wire at_registers,
    input wire [$clog2(T)-1:0] left
);
    reg [7:0] waited = 0; // Clocks that the host waits for an answer.
    reg at_r_before = 0, at_c_before = 0, offered_before = 0;
    wire waits = open && !valid;
    // An access that goes to the registers or to the cluster is offered in the first clock in which the host waits.
    wire at_r = waits && (waited == 0 ? r_offer : at_r_before);
    wire at_c = waits && (waited == 0 ? c_offer && !offered_before : at_c_before);

    always @(posedge clk) begin
        waited <= rst || !waits ? 0 : waited + 1;
        at_r_before <= !rst && at_r;
        at_c_before <= !rst && at_c;
        offered_before <= !rst && c_offer;
    end

    always @* assume (!(at_r && waited >= PATIENCE - 1) || r_answer);

    always @* begin
        answers_in_time: assert (waited < MOST || !waits);
        waits_for_somebody: assert (!waits || at_r || at_c);
    end

    // What happened in the clock before says what the answer is.
    reg past = 0;
    reg open_before, held_before, c_came, r_came, over;
    reg [1:0] c_code_before, r_code_before;

    always @(posedge clk) begin
        past <= !rst && waits;
        held_before <= held;
        c_came <= at_c && c_answer;
        r_came <= at_r && r_answer;
        over <= at_c && waited == T - 1;
        c_code_before <= c_code;
        r_code_before <= r_code;
    end

    always @* begin
        if (past) begin
            answers_when_known: assert (valid == (at_r_before ? r_came : held_before || c_came || over));
            if (valid && at_r_before) passes_on_registers: assert (code == r_code_before);
            if (valid && !at_r_before) begin
                if (!held_before && c_came && c_code_before != 1) passes_on_cluster: assert (code == c_code_before);
                else answers_for_the_cluster: assert (code == 2);
            end
        end
        refuses_at_once: assert (past || !valid || !open || waited == 0);
    end

    always @* begin
        times_out: cover (past && valid && over && !c_came && !held_before);
        held_during: cover (past && valid && held_before && !at_r_before);
        from_registers: cover (past && valid && r_came);
        from_cluster: cover (past && valid && c_came && !held_before);
    end

`ifndef CONTRACT_ONLY
    always @* begin
        same_place: assert (!waits || (at_c == active && at_r == at_registers));
        same_time: assert (!active || left + waited == T - 1);
        in_one_place: assert (!(at_r && at_c));
        bounded: assert (waited <= MOST);
    end
`endif
endmodule

`default_nettype wire
