// HpuPipeline: what a thread does, and when, does not depend on other threads.
//
// Two copies of the pipeline run side by side. The solver chooses a thread. In both, it finds the same instructions, gets the
// same answers of memory, and is stopped at the same time; everything that concerns other threads is free and differs. Then the
// thread does the same in both, in every clock: its fetches, offers to memory, traps, retirements and register writes.
//
// Program memory, registers, the memories of CSRs, divider and ranges, and products are cut off: they give the thread the same
// in both copies, because it asks and writes the same, which is asserted. Power-up values of its memories are the same.
`default_nettype none

module hpu_isolation_proof (
    input wire clk,
    input wire rst,
    input wire [31:0] hart_base,
    input wire [`THREADS-1:0] a_stop,
    input wire a_range_write,
    input wire [$clog2(`THREADS)-1:0] a_range_thread,
    input wire [46:0] a_range,
    input wire [33:0] a_m_in,
    input wire [32:0] a_fetched,
    input wire [63:0] a_read,
    input wire [31:0] a_multiplied,
    input wire [`THREADS-1:0] b_stop,
    input wire b_range_write,
    input wire [$clog2(`THREADS)-1:0] b_range_thread,
    input wire [46:0] b_range,
    input wire [33:0] b_m_in,
    input wire [32:0] b_fetched,
    input wire [63:0] b_read,
    input wire [31:0] b_multiplied
);
    localparam INDEX = $clog2(`THREADS);
    (* anyconst *) wire [INDEX-1:0] chosen;

    wire a_m_valid, a_trap, a_rvfi_valid;
    wire [INDEX-1:0] a_m_thread, a_trap_thread, a_rvfi_thread;
    wire [31:0] a_m_address, a_m_data;
    wire [11:0] a_m_rest;
    wire [4:0] a_trap_cause;
    wire [317:0] a_rvfi;
    hpu_pipeline a (
        .clk(clk), .rst(rst), .hart_base(hart_base), .stop(a_stop),
        .program_write(1'b0), .program_addr(0), .program_data(0),
        .range_write(a_range_write), .range_thread(a_range_thread), .range_number(a_range[46]),
        .range_first(a_range[22:0]), .range_end(a_range[45:23]),
        .m_valid(a_m_valid), .m_thread(a_m_thread), .m_address(a_m_address), .m_is_write(a_m_rest[0]),
        .m_atomic(a_m_rest[6:1]), .m_strobe(a_m_rest[10:7]), .m_data(a_m_data), .m_is_user(a_m_rest[11]),
        .m_ready(a_m_in[33]), .m_refused(a_m_in[32]), .m_read_data(a_m_in[31:0]),
        .trap(a_trap), .trap_thread(a_trap_thread), .trap_cause(a_trap_cause),
        .rvfi_valid(a_rvfi_valid), .rvfi_thread(a_rvfi_thread),
        .rvfi_insn(a_rvfi[31:0]), .rvfi_trap(a_rvfi[32]), .rvfi_cause(a_rvfi[37:33]),
        .rvfi_is_user(a_rvfi[38]), .rvfi_rs1_addr(a_rvfi[43:39]), .rvfi_rs2_addr(a_rvfi[48:44]),
        .rvfi_rs1_rdata(a_rvfi[80:49]), .rvfi_rs2_rdata(a_rvfi[112:81]), .rvfi_rd_addr(a_rvfi[117:113]),
        .rvfi_rd_wdata(a_rvfi[149:118]), .rvfi_pc_rdata(a_rvfi[181:150]), .rvfi_pc_wdata(a_rvfi[213:182]),
        .rvfi_mem_addr(a_rvfi[245:214]), .rvfi_mem_rmask(a_rvfi[249:246]), .rvfi_mem_wmask(a_rvfi[253:250]),
        .rvfi_mem_rdata(a_rvfi[285:254]), .rvfi_mem_wdata(a_rvfi[317:286])
    );

    wire b_m_valid, b_trap, b_rvfi_valid;
    wire [INDEX-1:0] b_m_thread, b_trap_thread, b_rvfi_thread;
    wire [31:0] b_m_address, b_m_data;
    wire [11:0] b_m_rest;
    wire [4:0] b_trap_cause;
    wire [317:0] b_rvfi;
    hpu_pipeline b (
        .clk(clk), .rst(rst), .hart_base(hart_base), .stop(b_stop),
        .program_write(1'b0), .program_addr(0), .program_data(0),
        .range_write(b_range_write), .range_thread(b_range_thread), .range_number(b_range[46]),
        .range_first(b_range[22:0]), .range_end(b_range[45:23]),
        .m_valid(b_m_valid), .m_thread(b_m_thread), .m_address(b_m_address), .m_is_write(b_m_rest[0]),
        .m_atomic(b_m_rest[6:1]), .m_strobe(b_m_rest[10:7]), .m_data(b_m_data), .m_is_user(b_m_rest[11]),
        .m_ready(b_m_in[33]), .m_refused(b_m_in[32]), .m_read_data(b_m_in[31:0]),
        .trap(b_trap), .trap_thread(b_trap_thread), .trap_cause(b_trap_cause),
        .rvfi_valid(b_rvfi_valid), .rvfi_thread(b_rvfi_thread),
        .rvfi_insn(b_rvfi[31:0]), .rvfi_trap(b_rvfi[32]), .rvfi_cause(b_rvfi[37:33]),
        .rvfi_is_user(b_rvfi[38]), .rvfi_rs1_addr(b_rvfi[43:39]), .rvfi_rs2_addr(b_rvfi[48:44]),
        .rvfi_rs1_rdata(b_rvfi[80:49]), .rvfi_rs2_rdata(b_rvfi[112:81]), .rvfi_rd_addr(b_rvfi[117:113]),
        .rvfi_rd_wdata(b_rvfi[149:118]), .rvfi_pc_rdata(b_rvfi[181:150]), .rvfi_pc_wdata(b_rvfi[213:182]),
        .rvfi_mem_addr(b_rvfi[245:214]), .rvfi_mem_rmask(b_rvfi[249:246]), .rvfi_mem_wmask(b_rvfi[253:250]),
        .rvfi_mem_rdata(b_rvfi[285:254]), .rvfi_mem_wdata(b_rvfi[317:286])
    );

    // Reset for the first four clocks. What was in the pipeline before has left it ten clocks later.
    reg [3:0] age = 4'd0;
    always @(posedge clk) if (age != 4'd14) age <= age + 4'd1;
    always @* assume (rst == (age < 4'd4));

    // What is cut off, and what is common to all threads.
    (* drives = "a.program_word" *) wire [31:0] a_word = a_fetched[31:0];
    (* drives = "a.program_outside" *) wire a_outside = a_fetched[32];
    (* drives = "a.registers_value_0" *) wire [31:0] a_value_1 = a_read[31:0];
    (* drives = "a.registers_value_1" *) wire [31:0] a_value_2 = a_read[63:32];
    (* drives = "a.product" *) wire [31:0] a_product = a_multiplied;
    (* internal = "a.u_registers.write" *) wire a_write;
    (* internal = "a.u_registers.write_to" *) wire [INDEX+4:0] a_write_to;
    (* internal = "a.u_registers.write_value" *) wire [31:0] a_write_value;
    (* internal = "a.started" *) wire a_started;
    (* internal = "a.slot" *) wire [INDEX-1:0] a_slot;
    (* internal = "a.u_csrs.cycle" *) wire [63:0] a_cycle;
    (* drives = "b.program_word" *) wire [31:0] b_word = b_fetched[31:0];
    (* drives = "b.program_outside" *) wire b_outside = b_fetched[32];
    (* drives = "b.registers_value_0" *) wire [31:0] b_value_1 = b_read[31:0];
    (* drives = "b.registers_value_1" *) wire [31:0] b_value_2 = b_read[63:32];
    (* drives = "b.product" *) wire [31:0] b_product = b_multiplied;
    (* internal = "b.u_registers.write" *) wire b_write;
    (* internal = "b.u_registers.write_to" *) wire [INDEX+4:0] b_write_to;
    (* internal = "b.u_registers.write_value" *) wire [31:0] b_write_value;
    (* internal = "b.started" *) wire b_started;
    (* internal = "b.slot" *) wire [INDEX-1:0] b_slot;
    (* internal = "b.u_csrs.cycle" *) wire [63:0] b_cycle;

    // The chosen thread is in this stage, and what is there came after the reset.
    wire [9:0] at, since;
    genvar n;
    generate
        for (n = 0; n < 10; n = n + 1) begin : stages
            wire [INDEX-1:0] thread = a_slot - n;
            assign at[n] = thread == chosen;
            assign since[n] = age >= n + 4;
        end
    endgenerate

    // The state of the chosen thread, where the pipeline reads it.
    (* internal = "a.pc" *) wire [30:0] a_pc;
    (* internal = "a.issued" *) wire a_issued;
    (* internal = "a.second" *) wire a_second;
    (* internal = "a.upper" *) wire a_upper;
    (* internal = "a.rs1_rdata_5" *) wire [31:0] a_x;
    (* internal = "a.rs2_rdata_5" *) wire [31:0] a_y;
    (* internal = "a.u_divider.slots" *) wire [4:0] a_slots;
    (* internal = "a.u_csrs.status" *) wire [4:0] a_status;
    (* internal = "b.pc" *) wire [30:0] b_pc;
    (* internal = "b.issued" *) wire b_issued;
    (* internal = "b.second" *) wire b_second;
    (* internal = "b.upper" *) wire b_upper;
    (* internal = "b.rs1_rdata_5" *) wire [31:0] b_x;
    (* internal = "b.rs2_rdata_5" *) wire [31:0] b_y;
    (* internal = "b.u_divider.slots" *) wire [4:0] b_slots;
    (* internal = "b.u_csrs.status" *) wire [4:0] b_status;

    // The environment treats the chosen thread in the same way in both.
    wire a_sets = a_range_write && a_range_thread == chosen;
    wire b_sets = b_range_write && b_range_thread == chosen;
    always @* begin
        assume (a_stop[chosen] == b_stop[chosen]);
        assume (a_sets == b_sets);
        if (a_sets) assume (a_range == b_range);
        if (at[2]) assume (a_fetched == b_fetched);
        if (at[4]) assume (a_read == b_read);
        if (at[7]) assume (a_m_in[33:32] == b_m_in[33:32]);
        if (at[8]) assume (a_m_in[31:0] == b_m_in[31:0] && a_multiplied == b_multiplied);
    end

    // twins: u_csrs u_divider, not cross lowest multiply
    // memory: u_csrs.vectors 31 6 1
    // memory: u_csrs.words 32 6 1
    // memory: u_csrs.mcause 5 6
    // memory: u_csrs.instret 64 8
    // memory: u_divider.left 64 4
    // memory: u_ranges.ranges_0 46 5 1
    // memory: saved 32 9

    always @* begin
        if (age != 4'd0) same_clock: assert (a_slot == b_slot && a_started == b_started && a_cycle == b_cycle);
        if (age != 4'd0 && age != 4'd14) first_slot: assert (a_slot == (age < 4'd4 ? 4'd0 : age - 4'd4) % `THREADS);
        if (at[0] && since[0]) same_in_stage_0: assert (a_pc == b_pc);
        if (at[4] && since[4]) same_in_stage_4: assert ({a_issued, a_second, a_upper} == {b_issued, b_second, b_upper});
        if (at[5] && since[5]) same_operands: assert ({a_x, a_y} == {b_x, b_y});
        if (age != 4'd0 && !since[4]) nothing_yet: assert ({a_issued, a_second, a_upper, b_issued, b_second, b_upper} == 6'd0);
        if (age != 4'd0 && !since[5]) no_state_yet: assert ({a_slots, a_status, b_slots, b_status} == 20'd0);
        if (at[5] && since[5]) same_slots: assert (a_slots == b_slots);
        if (at[5] && since[5]) same_status: assert (a_status == b_status);
        if (at[7] && since[7]) same_offer: assert (a_m_valid == b_m_valid && a_m_thread == chosen && b_m_thread == chosen
            && (!a_m_valid || {a_m_address, a_m_data, a_m_rest} == {b_m_address, b_m_data, b_m_rest}));
        if (at[8] && since[8]) same_trap: assert (a_trap == b_trap && a_trap_thread == chosen && b_trap_thread == chosen
            && (!a_trap || a_trap_cause == b_trap_cause));
        if (at[9] && since[9]) same_retirement: assert (a_rvfi_valid == b_rvfi_valid && a_rvfi_thread == chosen && b_rvfi_thread == chosen
            && (!a_rvfi_valid || a_rvfi == b_rvfi));
        if (at[9] && since[9]) same_write: assert (a_write == b_write && a_write_to[INDEX+4:5] == chosen && b_write_to[INDEX+4:5] == chosen
            && (!a_write || {a_write_to, a_write_value} == {b_write_to, b_write_value}));
        retires_while_others_differ: cover (at[9] && since[9] && a_rvfi_valid && a_m_valid && !b_m_valid);
    end
endmodule

`default_nettype wire
