// HpuPipeline: every instruction of one thread ends, whatever all others do; the solver chooses the thread.
//
// Memory takes or refuses the second offer of an access at the latest. Then an instruction retires or traps at the latest in its
// 17th slot if it divides, else in its 6th, and in its second if it has asked memory for nothing.
//
// Program memory, registers, products and quotients are cut off. A word that is fetched again is the same.
`default_nettype none

module hpu_liveness_proof (
    input wire clk,
    input wire rst,
    input wire [31:0] hart_base,
    input wire [7:0] stop,
    input wire range_write,
    input wire [2:0] range_thread,
    input wire range_number,
    input wire [22:0] range_first,
    input wire [22:0] range_end,
    input wire m_ready,
    input wire m_refused,
    input wire [31:0] m_read_data,
    input wire [31:0] fetched_word,
    input wire fetched_outside,
    input wire [31:0] read_1,
    input wire [31:0] read_2,
    input wire [31:0] any_product,
    input wire [31:0] any_quotient
);
    (* anyconst *) wire [2:0] chosen;
    wire m_valid, rvfi_valid;
    wire [2:0] m_thread, rvfi_thread;
    hpu_pipeline dut (
        .clk(clk), .rst(rst), .hart_base(hart_base), .stop(stop),
        .program_write(1'b0), .program_addr(6'd0), .program_data(32'd0),
        .range_write(range_write), .range_thread(range_thread), .range_number(range_number),
        .range_first(range_first), .range_end(range_end),
        .m_valid(m_valid), .m_thread(m_thread), .m_ready(m_ready), .m_refused(m_refused), .m_read_data(m_read_data),
        .rvfi_valid(rvfi_valid), .rvfi_thread(rvfi_thread)
    );
    (* drives = "dut.program_word" *) wire [31:0] word = fetched_word;
    (* drives = "dut.program_outside" *) wire outside = fetched_outside;
    (* drives = "dut.registers_value_0" *) wire [31:0] value_1 = read_1;
    (* drives = "dut.registers_value_1" *) wire [31:0] value_2 = read_2;
    (* drives = "dut.product" *) wire [31:0] product = any_product;
    (* drives = "dut.quotient" *) wire [31:0] quotient = any_quotient;

    // Reset for the first four clocks. The first slot of thread 0 begins then.
    reg [3:0] age = 4'd0;
    always @(posedge clk) if (age != 4'd14) age <= age + 4'd1;
    always @* assume (rst == (age < 4'd4));
    (* internal = "dut.slot" *) wire [2:0] slot;
    wire at_2 = age >= 4'd6 && slot - 3'd2 == chosen;
    wire at_5 = age >= 4'd9 && slot - 3'd5 == chosen;
    wire at_7 = age >= 4'd11 && slot - 3'd7 == chosen;
    wire at_8 = age >= 4'd12 && slot == chosen;
    wire at_9 = age >= 4'd13 && slot - 3'd1 == chosen;

    (* internal = "dut.pc_2" *) wire [30:0] pc_2;
    reg [30:0] pc_before;
    reg [32:0] word_before;
    reg was_fetched = 1'b0;
    wire divides = word_before[6:0] == 7'h33 && word_before[31:25] == 7'd1 && word_before[14];
    // Slots without an end, offers that were not taken, and whether there was one, of this instruction.
    reg [4:0] waits = 5'd0;
    reg waited = 1'b0;
    reg offered = 1'b0;
    wire offers = m_valid && m_thread == chosen;

    always @(posedge clk) begin
        if (at_2) {was_fetched, pc_before, word_before} <= {1'b1, pc_2, outside, word};
        if (offers) {waited, offered} <= {!m_ready && !m_refused, 1'b1};
        if (at_9) waits <= rvfi_valid ? 5'd0 : waits + 5'd1;
        if (at_9 && rvfi_valid) {waited, offered} <= 2'd0;
    end
    always @* begin
        if (at_2 && was_fetched && pc_2 == pc_before) assume ({outside, word} == word_before);
        if (offers && waited) assume (m_ready || m_refused);
        if (at_9) in_its_slot: assert (rvfi_thread == chosen);
        ends: assert (waits <= (divides ? 5'd16 : offered ? 5'd5 : 5'd1));
        waits_twice: cover (waits == 5'd2);
    end

`ifndef CONTRACT_ONLY
    (* internal = "dut.issued_5" *) wire issued_5;
    (* internal = "dut.second_5" *) wire second_5;
    (* internal = "dut.upper_5" *) wire upper_5;
    (* internal = "dut.u_divider.slots" *) wire [4:0] slots_5;
    always @* begin
        if (at_5) begin
            is_issued: assert (issued_5);
            if (slots_5 != 5'd0) division: assert (divides && waits == slots_5 && waits <= 5'd16 && !second_5 && !upper_5 && !waited);
            else access: assert (waits <= 3 * second_5 + upper_5 + waited);
            offered_before: assert (offered || !second_5 && !waited);
        end
    end
`endif
endmodule

`default_nettype wire
