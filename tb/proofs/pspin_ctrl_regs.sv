// PspinCtrlRegs: every access is answered once, in its clock; a register has and gives what was written last;
// standard output is taken once for each read that gives its word.
//
// The harness follows accesses through the steps that the contract names. The solver chooses one word of the
// execution contexts, which are most of the registers, and the proof follows what is written to it. Nothing is
// assumed of the environment but that it keeps what it offers, which AXI wants.
`default_nettype none

module pspin_ctrl_regs_proof (
    input wire clk,
    input wire rst,
    input wire [15:0] awaddr,
    input wire awvalid,
    input wire [31:0] wdata,
    input wire [3:0] wstrb,
    input wire wvalid,
    input wire bready,
    input wire [15:0] araddr,
    input wire arvalid,
    input wire rready,
    input wire [31:0] stdout_dout,
    input wire stdout_data_valid
);
    wire awready, wready, bvalid, arready, rvalid, stdout_rd_en;
    wire [1:0] bresp, rresp;
    wire [31:0] rdata;
    wire [127:0] field [0:18];
    wire [255:0] host_mem_addr;

    pspin_ctrl_regs dut (
        .clk(clk), .rst(rst),
        .s_axil_awaddr(awaddr), .s_axil_awprot(3'd0), .s_axil_awvalid(awvalid), .s_axil_awready(awready),
        .s_axil_wdata(wdata), .s_axil_wstrb(wstrb), .s_axil_wvalid(wvalid), .s_axil_wready(wready),
        .s_axil_bresp(bresp), .s_axil_bvalid(bvalid), .s_axil_bready(bready),
        .s_axil_araddr(araddr), .s_axil_arprot(3'd0), .s_axil_arvalid(arvalid), .s_axil_arready(arready),
        .s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axil_rvalid(rvalid), .s_axil_rready(rready),
        .cl_fetch_en_o(), .aux_rst_o(), .cl_eoc_i(2'd0), .cl_busy_i(2'd0), .mpq_full_i(16'd0),
        .stdout_rd_en(stdout_rd_en), .stdout_dout(stdout_dout), .stdout_data_valid(stdout_data_valid),
        .alloc_dropped_pkts(32'd0),
        .match_valid(), .match_mode(), .match_idx(), .match_mask(), .match_start(), .match_end(),
        .her_gen_valid(), .her_gen_ctx_enabled(),
        .her_gen_handler_mem_addr(field[0]), .her_gen_handler_mem_size(field[1]),
        .her_gen_host_mem_addr(host_mem_addr), .her_gen_host_mem_size(field[4]),
        .her_gen_hh_addr(field[5]), .her_gen_hh_size(field[6]),
        .her_gen_ph_addr(field[7]), .her_gen_ph_size(field[8]),
        .her_gen_th_addr(field[9]), .her_gen_th_size(field[10]),
        .her_gen_scratchpad_0_addr(field[11]), .her_gen_scratchpad_0_size(field[12]),
        .her_gen_scratchpad_1_addr(field[13]), .her_gen_scratchpad_1_size(field[14]),
        .her_gen_scratchpad_2_addr(field[15]), .her_gen_scratchpad_2_size(field[16]),
        .her_gen_scratchpad_3_addr(field[17]), .her_gen_scratchpad_3_size(field[18]),
        .egress_dma_last_error(4'd0)
    );

    // All words of the contexts in the order of their addresses.
    wire [19*128-1:0] contexts;
    genvar n;
    generate
        for (n = 0; n < 19; n = n + 1) begin : g_field
            assign contexts[128*n +: 128] = field[n];
        end
        for (n = 0; n < 4; n = n + 1) begin : g_host
            assign field[2][32*n +: 32] = host_mem_addr[64*n +: 32];
            assign field[3][32*n +: 32] = host_mem_addr[64*n+32 +: 32];
        end
    endgenerate

    stream_environment #(.WIDTH(16)) aw (
        .clk(clk), .rst(rst), .valid(awvalid), .ready(awready), .payload(awaddr)
    );
    stream_environment #(.WIDTH(36)) w (
        .clk(clk), .rst(rst), .valid(wvalid), .ready(wready), .payload({wstrb, wdata})
    );
    stream_environment #(.WIDTH(16)) ar (
        .clk(clk), .rst(rst), .valid(arvalid), .ready(arready), .payload(araddr)
    );
    stream_rules #(.WIDTH(2)) b_rules (
        .clk(clk), .rst(rst), .valid(bvalid), .ready(bready), .payload(bresp)
    );
    stream_rules #(.WIDTH(34)) r_rules (
        .clk(clk), .rst(rst), .valid(rvalid), .ready(rready), .payload({rresp, rdata})
    );

    // The word that is watched.
    localparam [6:0] place = 7'd41;
    localparam [15:0] watched = 16'h4000 + {7'd0, place, 2'd0};

    localparam [1:0] OKAY = 2'd0, SLVERR = 2'd2;
    localparam [15:0] STDOUT = 16'h0008;

    // Whether there is no register, as far as the proof looks: behind the last one, and in two gaps.
    function no_register(input [15:0] address);
        no_register = address >= 16'h4130
            || (address >= 16'h000c && address < 16'h1000)
            || (address >= 16'h1014 && address < 16'h2000);
    endfunction

    // Writes: address and data are kept until both are there, then done, then answered.
    reg after_reset = 1'b1;
    reg w_address_kept = 1'b0, w_data_kept = 1'b0, w_answered = 1'b0;
    reg [15:0] w_address;
    reg [31:0] w_data;
    reg [3:0] w_strobes;
    reg [15:0] w_done;
    reg [31:0] written = 32'd0;
    wire w_doing = w_address_kept && w_data_kept && !w_answered;
    integer b;

    always @(posedge clk) begin
        after_reset <= rst;
        if (bvalid && bready) w_answered <= 1'b0;
        if (w_doing) begin
            w_address_kept <= 1'b0;
            w_data_kept <= 1'b0;
            w_answered <= 1'b1;
            w_done <= w_address;
            if ({w_address[15:2], 2'd0} == watched) begin
                for (b = 0; b < 4; b = b + 1) begin
                    if (w_strobes[b]) written[8*b +: 8] <= w_data[8*b +: 8];
                end
            end
        end
        if (awvalid && awready) begin
            w_address_kept <= 1'b1;
            w_address <= awaddr;
        end
        if (wvalid && wready) begin
            w_data_kept <= 1'b1;
            w_data <= wdata;
            w_strobes <= wstrb;
        end
        if (rst) begin
            w_address_kept <= 1'b0;
            w_data_kept <= 1'b0;
            w_answered <= 1'b0;
            written <= 32'd0;
        end
    end

    // Reads: the address is kept, then the word is looked at, then answered.
    reg r_kept = 1'b0, r_looked = 1'b0, r_answered = 1'b0, taken = 1'b0, was_taken = 1'b0;
    reg [15:0] r_address, l_address, r_done;
    reg [31:0] l_word, r_word;
    wire r_looking = r_kept && !r_looked;
    wire r_stdout = {r_address[15:2], 2'd0} == STDOUT;

    always @(posedge clk) begin
        if (rvalid && rready) r_answered <= 1'b0;
        if (r_looked && !r_answered) begin
            r_looked <= 1'b0;
            r_answered <= 1'b1;
            r_done <= l_address;
            r_word <= l_word;
        end
        taken <= 1'b0;
        if (r_looking) begin
            r_kept <= 1'b0;
            r_looked <= 1'b1;
            l_address <= r_address;
            l_word <= r_stdout ? (stdout_data_valid ? stdout_dout : 32'hffffffff) : written;
            taken <= r_stdout && stdout_data_valid;
        end
        if (arvalid && arready) begin
            r_kept <= 1'b1;
            r_address <= araddr;
        end
        if (taken) was_taken <= 1'b1;
        if (rst) begin
            r_kept <= 1'b0;
            r_looked <= 1'b0;
            r_answered <= 1'b0;
            taken <= 1'b0;
        end
    end

    wire [15:0] r_done_word = {r_done[15:2], 2'd0};
    wire [15:0] w_done_word = {w_done[15:2], 2'd0};

    always @* begin
        takes_an_address_unless_one_is_kept: assert (awready == (!w_address_kept && !after_reset));
        takes_data_unless_some_is_kept: assert (wready == (!w_data_kept && !after_reset));
        takes_a_read_unless_one_is_kept: assert (arready == (!r_kept && !after_reset));
        answers_each_write_once_in_its_clock: assert (bvalid == w_answered);
        answers_each_read_once_in_its_clock: assert (rvalid == r_answered);
        shows_what_was_written_last: assert (contexts[{place, 5'd0} +: 32] == written);
        takes_a_word_once_for_its_read: assert (stdout_rd_en == taken);
        does_not_look_while_it_takes: assert (!(taken && r_looking));
        if (bvalid) begin
            no_other_answer_to_a_write: assert (bresp == OKAY || bresp == SLVERR);
            if (w_done_word == watched) writes_what_is_there: assert (bresp == OKAY);
            if (no_register(w_done) || w_done_word == STDOUT) refuses_other_writes: assert (bresp == SLVERR);
        end
        if (rvalid) begin
            no_other_answer_to_a_read: assert (rresp == OKAY || rresp == SLVERR);
            if (r_done_word == watched || r_done_word == STDOUT)
                reads_what_was_there: assert (rresp == OKAY && rdata == r_word);
            if (no_register(r_done)) refuses_other_reads: assert (rresp == SLVERR && rdata == 32'd0);
        end
        has_read_what_was_written: cover (rvalid && r_done_word == watched && rdata == 32'h600df00d);
        has_taken_a_word: cover (was_taken && rvalid);
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.u_write.u_decoder.blocks" *) wire [12:0] w_blocks;
    (* internal = "dut.u_write.u_decoder.word" *) wire [3:0] w_word;
    (* internal = "dut.u_write.word" *) wire [31:0] kept_data;
    (* internal = "dut.u_write.bytes" *) wire [3:0] kept_strobes;
    (* internal = "dut.u_write.address_there" *) wire address_there;
    (* internal = "dut.u_write.data_there" *) wire data_there;
    (* internal = "dut.u_read.u_decoder.blocks" *) wire [12:0] r_blocks;
    (* internal = "dut.u_read.u_decoder.word" *) wire [3:0] r_place;
    (* internal = "dut.u_read.waiting" *) wire waiting;
    (* internal = "dut.u_read.looked" *) wire looked;
    (* internal = "dut.u_read.unknown" *) wire unknown;
    (* internal = "dut.u_read.parts_0" *) wire [31:0] parts_0;
    (* internal = "dut.u_read.parts_1" *) wire [31:0] parts_1;
    (* internal = "dut.u_read.parts_2" *) wire [31:0] parts_2;

    // The blocks of 16 words, a bit each.
    function [12:0] blocks(input [15:0] address);
        blocks = {
            address[15:6] == 10'h104, address[15:6] == 10'h103, address[15:6] == 10'h102, address[15:6] == 10'h101,
            address[15:6] == 10'h100, address[15:6] == 10'h0c0, address[15:6] == 10'h084, address[15:6] == 10'h083,
            address[15:6] == 10'h082, address[15:6] == 10'h081, address[15:6] == 10'h080, address[15:6] == 10'h040,
            address[15:6] == 10'h000
        };
    endfunction

    wire [15:0] l_address_word = {l_address[15:2], 2'd0};
    wire [31:0] parts = parts_0 | parts_1 | parts_2;

    always @* begin
        keeps_the_same: assert (address_there == w_address_kept && data_there == w_data_kept);
        reads_the_same: assert (waiting == r_kept && looked == r_looked);
        if (w_address_kept) write_is_decoded: assert (w_blocks == blocks(w_address) && w_word == w_address[5:2]);
        if (w_data_kept) data_is_kept: assert (kept_data == w_data && kept_strobes == w_strobes);
        if (r_kept) read_is_decoded: assert (r_blocks == blocks(r_address) && r_place == r_address[5:2]);
        if (r_looked) begin
            if (l_address_word == watched || l_address_word == STDOUT)
                word_is_on_its_way: assert (!unknown && parts == l_word);
            if (no_register(l_address)) nothing_is_on_its_way: assert (unknown && parts == 32'd0);
        end
    end
`endif
endmodule

`default_nettype wire
