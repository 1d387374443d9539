// A thread of HpuPipeline as the core that the checks of riscv-formal look at. The solver chooses the thread; all others are free.
//
// Program memory is cut off: a word that is fetched again is the same, and no fetch is outside of the program. The registers of the
// thread are kept here. A division takes as many slots as the solver likes; products and quotients are what the rules of riscv-formal
// put in their place (RISCV_FORMAL_ALTOPS), because the solver cannot multiply. Nothing is refused or stopped, and there are no
// protection ranges, so only instructions trap.
`default_nettype none

module rvfi_wrapper (
    input wire clock,
    input wire reset,
    `RVFI_OUTPUTS
);
    (* anyconst *) wire [2:0] chosen;
    (* anyseq *) wire m_ready;
    (* anyseq *) wire [31:0] hart_base, m_read_data, any_word, any_value_1, any_value_2;
    (* anyseq *) wire any_last;
    wire valid, is_user;
    wire [2:0] thread;

    hpu_pipeline dut (
        .clk(clock), .rst(reset), .hart_base(hart_base), .stop(8'd0),
        .program_write(1'b0), .program_addr(6'd0), .program_data(32'd0),
        .m_ready(m_ready), .m_refused(1'b0), .m_read_data(m_read_data),
        .rvfi_valid(valid), .rvfi_thread(thread), .rvfi_insn(rvfi_insn), .rvfi_trap(rvfi_trap), .rvfi_is_user(is_user),
        .rvfi_rs1_addr(rvfi_rs1_addr), .rvfi_rs2_addr(rvfi_rs2_addr),
        .rvfi_rs1_rdata(rvfi_rs1_rdata), .rvfi_rs2_rdata(rvfi_rs2_rdata), .rvfi_rd_addr(rvfi_rd_addr), .rvfi_rd_wdata(rvfi_rd_wdata),
        .rvfi_pc_rdata(rvfi_pc_rdata), .rvfi_pc_wdata(rvfi_pc_wdata), .rvfi_mem_addr(rvfi_mem_addr),
        .rvfi_mem_rmask(rvfi_mem_rmask), .rvfi_mem_wmask(rvfi_mem_wmask),
        .rvfi_mem_rdata(rvfi_mem_rdata), .rvfi_mem_wdata(rvfi_mem_wdata)
    );
    reg [63:0] order = 64'd0;
    assign rvfi_valid = valid && thread == chosen;
    assign rvfi_order = order;
    assign rvfi_halt = 1'b0;
    assign rvfi_intr = 1'b0;
    assign rvfi_mode = {2{!is_user}};
    assign rvfi_ixl = 2'd1;
    always @(posedge clock) order <= reset ? 64'd0 : order + rvfi_valid;

    // Program.
    (* internal = "dut.slot" *) wire [2:0] slot;
    (* internal = "dut.pc_2" *) wire [30:0] pc_2;
    wire word_outside = 1'b0;
    (* drives = "dut.program_word" *) wire [31:0] word = any_word;
    (* drives = "dut.program_outside" *) wire outside = word_outside;
    reg [30:0] pc_before;
    reg [31:0] word_before;
    reg was_fetched = 1'b0;
    wire at_2 = slot - 3'd2 == chosen;
    always @(posedge clock) if (at_2) {was_fetched, pc_before, word_before} <= {!reset, pc_2, word};
    always @* if (at_2 && was_fetched && pc_2 == pc_before) assume (word == word_before);

    // Registers: stage 3 reads, stage 4 has the words.
    (* internal = "dut.decoder_rs1" *) wire [4:0] number_1;
    (* internal = "dut.decoder_rs2" *) wire [4:0] number_2;
    reg [31:0] registers [31:0];
    reg [31:0] register_1, register_2;
    wire at_4 = slot - 3'd4 == chosen;
    wire [31:0] given_1 = at_4 ? register_1 : any_value_1;
    wire [31:0] given_2 = at_4 ? register_2 : any_value_2;
    (* drives = "dut.registers_value_0" *) wire [31:0] value_1 = given_1;
    (* drives = "dut.registers_value_1" *) wire [31:0] value_2 = given_2;
    always @(posedge clock) begin
        register_1 <= number_1 == 5'd0 ? 32'd0 : registers[number_1];
        register_2 <= number_2 == 5'd0 ? 32'd0 : registers[number_2];
        if (rvfi_valid && rvfi_rd_addr != 5'd0) registers[rvfi_rd_addr] <= rvfi_rd_wdata;
    end

    // Products and quotients.
    (* drives = "dut.divider_is_last" *) wire is_last = any_last;
    (* internal = "dut.is_multiply_6" *) wire is_multiply_6;
    (* internal = "dut.is_divide_6" *) wire is_divide_6;
    (* internal = "dut.insn_6" *) wire [31:0] insn_6;
    (* internal = "dut.rs1_rdata_6" *) wire [31:0] x_6;
    (* internal = "dut.rs2_rdata_6" *) wire [31:0] y_6;
    wire [31:0] stand_in;
`ifdef RISCV_FORMAL_INSN_MODEL
    `RISCV_FORMAL_INSN_MODEL model (
        .rvfi_valid(1'b1), .rvfi_insn(insn_6), .rvfi_pc_rdata(32'd0), .rvfi_mem_rdata(32'd0),
        .rvfi_rs1_rdata(x_6), .rvfi_rs2_rdata(y_6), .spec_rd_wdata(stand_in)
    );
`else
    assign stand_in = x_6 ^ y_6;
`endif
    reg [31:0] product_7, product_8, quotient_7, quotient_8;
    (* drives = "dut.product" *) wire [31:0] product = product_8;
    (* drives = "dut.quotient" *) wire [31:0] quotient = quotient_8;
    always @(posedge clock) begin
        {product_7, product_8} <= {stand_in & {32{is_multiply_6}}, product_7};
        {quotient_7, quotient_8} <= {stand_in & {32{is_divide_6}}, quotient_7};
    end

    // What always ends: memory takes all offers, a division its first slot.
`ifdef ENDS
    always @* assume (m_ready && any_last);
`endif
endmodule

`default_nettype wire
