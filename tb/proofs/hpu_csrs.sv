// HpuCsrs: the registers of one thread, which the solver chooses; all others are free.
//
// A model of the manual's registers (mode, mstatus, mtvec, mscratch, mepc, mcause, mtval, mcycle, minstret) is updated by what
// retires, returns and traps; every read gives what it holds. What a register holds at power-up is not known until it is written.
//
// The memories are cut off: what the chosen thread reads is what was written there last.
`default_nettype none

module hpu_csrs_proof (
    input wire clk,
    input wire rst,
    input wire [31:0] hart_base,
    input wire [2:0] any_thread,
    input wire [11:0] number,
    input wire [31:0] operand,
    input wire [1:0] action,
    input wire writes,
    input wire is_access,
    input wire is_return,
    input wire retires,
    input wire traps,
    input wire [4:0] cause,
    input wire [30:0] pc,
    input wire [31:0] trap_value,
    // What memories give to others.
    input wire [30:0] any_vector,
    input wire [31:0] any_word,
    input wire [4:0] any_cause,
    input wire [63:0] any_count
);
    (* anyconst *) wire [2:0] chosen;
    // Clocks since the reset; the first slot is in stage 5 six clocks after it.
    reg [3:0] age = 4'd0;
    reg [2:0] turn = 3'd0;
    wire [2:0] thread = age < 4'd6 ? any_thread : turn;
    wire is_first = age >= 4'd6 && age < 4'd14;
    wire at_5 = age >= 4'd6 && turn == chosen;
    wire at_6 = age >= 4'd7 && turn - 3'd1 == chosen;
    wire at_7 = age >= 4'd8 && turn - 3'd2 == chosen;
    wire at_8 = age >= 4'd9 && turn - 3'd3 == chosen;
    wire at_9 = age >= 4'd10 && turn - 3'd4 == chosen;

    wire illegal, is_user, is_data_user;
    wire [31:0] value, counter;
    wire [30:0] vector;
    hpu_csrs_ranges_1_program_words_64_trace_1 dut (
        .clk(clk), .rst(rst), .hart_base(hart_base), .is_first(is_first), .thread(thread), .number(number), .operand(operand),
        .action(action), .writes(writes), .illegal(illegal), .value(value), .is_user(is_user), .is_data_user(is_data_user),
        .vector(vector), .counter(counter), .is_access(is_access), .is_return(is_return), .retires(retires), .traps(traps),
        .cause(cause), .pc(pc), .trap_value(trap_value)
    );

    // The memories, for the chosen thread.
    (* internal = "dut.takes_mepc" *) wire takes_mepc;
    (* internal = "dut.is_mtval_6" *) wire takes_mtval;
    (* internal = "dut.vectors_write_enable" *) wire writes_vector;
    (* internal = "dut.vectors_write_addr" *) wire [3:0] vector_place;
    (* internal = "dut.vectors_write_data" *) wire [30:0] new_vector;
    (* internal = "dut.words_write_enable" *) wire writes_word;
    (* internal = "dut.words_write_addr" *) wire [3:0] word_place;
    (* internal = "dut.words_write_data" *) wire [31:0] new_word;
    (* internal = "dut.mcause_write_enable" *) wire writes_cause;
    (* internal = "dut.thread_8" *) wire [2:0] thread_8;
    (* internal = "dut.mcause_write_data" *) wire [4:0] new_cause;
    (* internal = "dut.u_instret.write_enable" *) wire writes_count;
    (* internal = "dut.u_instret.write_addr" *) wire [2:0] count_place;
    (* internal = "dut.u_instret.write_data" *) wire [63:0] new_count;
    reg [30:0] held_mtvec, held_mepc;
    reg [31:0] held_mscratch, held_mtval;
    reg [4:0] held_mcause;
    reg [63:0] held_count;
    wire [30:0] vector_read = !at_6 ? any_vector : takes_mepc ? held_mepc : held_mtvec;
    wire [31:0] word_read = !at_6 ? any_word : takes_mtval ? held_mtval : held_mscratch;
    wire [4:0] cause_read = at_6 ? held_mcause : any_cause;
    wire [63:0] count_read = at_8 ? held_count : any_count;
    (* drives = "dut.vectors_read_data" *) wire [30:0] vector_given = vector_read;
    (* drives = "dut.words_read_data" *) wire [31:0] word_given = word_read;
    (* drives = "dut.mcause_read_data" *) wire [4:0] cause_given = cause_read;
    (* drives = "dut.instret_read_data" *) wire [63:0] count_given = count_read;

    always @(posedge clk) begin
        if (writes_vector && vector_place == {1'b0, chosen}) held_mtvec <= new_vector;
        if (writes_vector && vector_place == {1'b1, chosen}) held_mepc <= new_vector;
        if (writes_word && word_place == {1'b0, chosen}) held_mscratch <= new_word;
        if (writes_word && word_place == {1'b1, chosen}) held_mtval <= new_word;
        if (writes_cause && thread_8 == chosen) held_mcause <= new_cause;
        if (writes_count && count_place == chosen) held_count <= new_count;
    end

    // The slot of the chosen thread, from stage 5 on.
    reg [11:0] csr;
    reg [31:0] word;
    reg [1:0] how;
    reg was_illegal, changes, accesses, returns, retired, trapped;
    // The model. A bit of `known` for each of mtvec, mepc, mscratch, mtval.
    reg user, mie, mpie, mpp_user, mprv;
    reg [31:0] mtvec, mepc, mscratch, mtval, mcause;
    reg [63:0] minstret, clocks;
    reg [3:0] known = 4'd0;

    // What a read gives. `is_stored`: it is not a counter, and known.
    reg [31:0] old, hart_base_6;
    reg is_stored, exists;
    wire is_counter = csr[11:7] == 5'h16 && csr[6:0] < 7'd3 && csr[6:0] != 7'd1 || csr[11:8] == 4'hb && csr[7] && csr[6:0] < 7'd3 && csr[6:0] != 7'd1
        || csr[11:8] == 4'hc && csr[6:0] < 7'd3;
    wire is_event = (csr[11:5] == 7'h19 || csr[11:8] == 4'hb && csr[6:5] == 2'd0 || csr[11:8] == 4'hc && csr[6:5] == 2'd0) && csr[4:0] >= 5'd3;
    always @* begin
        {old, is_stored, exists} = {32'd0, 2'b11};
        case (csr)
            12'h300: old = {14'd0, mprv, 4'd0, {2{!mpp_user}}, 3'd0, mpie, 3'd0, mie, 3'd0};
            12'h301: old = 32'h40901105;
            12'h305: {is_stored, old} = {known[0], mtvec};
            12'h306: old = 32'd7;
            12'h340: {is_stored, old} = {known[2], mscratch};
            12'h341: {is_stored, old} = {known[1], mepc};
            12'h342: old = mcause;
            12'h343: {is_stored, old} = {known[3], mtval};
            12'hf14: old = hart_base_6 | chosen;
            12'h304, 12'h344, 12'h310, 12'h320, 12'hf11, 12'hf12, 12'hf13, 12'hf15: old = 32'd0;
            default: exists = is_counter || is_event;
        endcase
    end
    wire [63:0] count = csr[3:0] == 4'd2 ? minstret : clocks;
    wire [31:0] half = csr[7] ? count[63:32] : count[31:0];
    wire [31:0] next = how == 2'd1 ? word : how == 2'd2 ? old | word : old & ~word;
    reg [31:0] half_9;
    reg reads_count;

    always @(posedge clk) begin
        age <= rst ? 4'd1 : age == 4'd15 ? age : age + 4'd1;
        turn <= rst ? 3'd3 : turn + 3'd1;
        if (at_5) {csr, word, how, changes} <= {number, operand, action, writes};
        if (at_6) {accesses, returns, was_illegal, hart_base_6} <= {is_access, is_return, illegal, hart_base};
        if (at_7) {retired, trapped} <= {retires, traps};
        if (at_8) {half_9, reads_count} <= {half, accesses && is_counter};
        clocks <= clocks + 64'd1;
        if (at_8 && trapped) begin
            {user, mie, mpie, mpp_user} <= {1'b0, 1'b0, mie, user};
            {mepc, mcause, mtval} <= {pc, 1'b0, 27'd0, cause, trap_value};
            known <= known | 4'b1010;
        end else if (at_8 && retired && returns) begin
            {user, mie, mpie, mpp_user, mprv} <= {mpp_user, mpie, 1'b1, 1'b1, mprv && !mpp_user};
        end else if (at_8 && retired && accesses && changes) begin
            case (csr)
                12'h300: begin
                    {mprv, mpie, mie} <= {next[17], next[7], next[3]};
                    if (next[12:11] == 2'd0) mpp_user <= 1'b1;
                    if (next[12:11] == 2'd3) mpp_user <= 1'b0;
                end
                12'h305: {mtvec, known[0]} <= {next[31:2], 2'd0, known[0] || how == 2'd1};
                12'h340: {mscratch, known[2]} <= {next, known[2] || how == 2'd1};
                12'h341: {mepc, known[1]} <= {next[31:1], 1'b0, known[1] || how == 2'd1};
                12'h342: mcause <= {27'd0, next[4:0]};
                12'h343: {mtval, known[3]} <= {next, known[3] || how == 2'd1};
                default: ;
            endcase
        end
        if (at_8 && retired) minstret <= minstret + 64'd1;
        if (rst) {user, mie, mpie, mpp_user, mprv, mcause, minstret, clocks, retired, trapped} <= 0;
    end

    wire is_mepc = returns || accesses && csr == 12'h341;
    always @* begin
        if (age == 4'd0) assume (rst);
        if (age < 4'd8) assume (!retires && !traps);
        assume (!(retires && traps) && !(is_access && is_return));
        // The pipeline neither retires what is illegal, nor makes these trap in machine mode.
        if (at_7 && retires) assume (!(accesses && was_illegal) && !(returns && user));
        if (at_7 && traps) assume (user || !is_mepc);
        if (at_8 && !trapped) assume (trap_value == 32'd0);
        // Contract.
        if (at_6) begin
            modes: assert (is_user == user && is_data_user == (user || mprv && mpp_user));
            is_legal: assert (illegal == (!exists || user && csr[9:8] != 2'd0 || changes && csr[11:10] == 2'd3));
        end
        if (at_7) begin
            if (accesses && exists && !is_counter && is_stored && !(user && csr == 12'h341)) reads: assert (value == old);
            if (traps && known[0]) to_handler: assert (vector == mtvec[31:1]);
            if (retires && returns && known[1]) returns_to: assert (vector == mepc[31:1]);
        end
        if (at_9) counts: assert (counter == (reads_count ? half_9 : 32'd0));
        traps_from_user: cover (at_8 && trapped && user);
        reads_count_of_two: cover (at_9 && reads_count && half_9 == 32'd2 && csr == 12'hb02);
    end

`ifndef CONTRACT_ONLY
    (* internal = "dut.status" *) wire [4:0] status;
    (* internal = "dut.cycle" *) wire [63:0] cycle;
    // Memory has forgotten what was before the reset.
    reg has_begun = 1'b0;
    reg has_counted = 1'b0;
    always @(posedge clk) {has_begun, has_counted} <= rst ? 2'd0 : {has_begun || at_8, has_counted || at_9};
    always @* begin
        if (at_5) same_status: assert (status == {mprv, mpp_user, mpie, mie, user});
        if (age != 4'd0) same_clock: assert (cycle == clocks);
        if (known[0]) same_mtvec: assert ({held_mtvec, 1'b0} == mtvec && mtvec[1:0] == 2'd0);
        if (known[1]) same_mepc: assert ({held_mepc, 1'b0} == mepc);
        if (known[2]) same_mscratch: assert (held_mscratch == mscratch);
        if (known[3]) same_mtval: assert (held_mtval == mtval);
        if (has_begun) same_mcause: assert (held_mcause == mcause && mcause[31:5] == 27'd0);
        if (has_counted && !at_9) same_count: assert (held_count == minstret);
        if (age != 4'd0 && !has_begun) nothing_yet: assert ({minstret, mcause} == 96'd0);
    end
`endif
endmodule

`default_nettype wire
