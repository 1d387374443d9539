// HpuPipeline: one thread, which the solver chooses, does what its instructions say; all others are free.
//
// RULES_UNIT: an instruction of this unit does what the table of instructions says, or traps for a reason that it may have.
// CHECK_REGISTERS: what an instruction reads is what the thread wrote last. CHECK_PC: the next instruction is the one at
// pc_wdata, after a trap that of the handler.
// CHECK_MEMORY: what retires is what memory was asked for, in one or two offers, and reads what memory gave for them.
//
// Program memory and registers are cut off: the harness gives any words that a memory could give. Their own proofs show that
// they are memories. Products and results of divisions are cut off in the same way: functions that the solver can compute stand
// for them, as in riscv-formal; multiplier and divider are checked apart.
`default_nettype none

module hpu_pipeline_proof (
    input wire clk,
    input wire rst,
    input wire [31:0] hart_base,
    input wire [`THREADS-1:0] stop,
    input wire range_write,
    input wire [$clog2(`THREADS)-1:0] range_thread,
    input wire range_number,
    input wire [22:0] range_first,
    input wire [22:0] range_end,
    input wire m_ready,
    input wire m_refused,
    input wire [31:0] m_read_data,
    // What memories give that are cut off.
    input wire [31:0] fetched_word,
    input wire fetched_outside,
    input wire has_1,
    input wire has_2,
    input wire [31:0] read_1,
    input wire [31:0] read_2
);
    localparam INDEX = $clog2(`THREADS);
    (* anyconst *) wire [INDEX-1:0] chosen;

    wire m_valid, m_is_write, m_is_user, trap;
    wire [INDEX-1:0] m_thread, trap_thread, rvfi_thread;
    wire [31:0] m_address, m_data;
    wire [5:0] m_atomic;
    wire [3:0] m_strobe;
    wire [4:0] trap_cause;
    wire rvfi_valid, rvfi_trap, rvfi_is_user;
    wire [31:0] insn, rs1_rdata, rs2_rdata, rd_wdata, pc_rdata, pc_wdata, mem_addr, mem_rdata, mem_wdata;
    wire [4:0] cause, rs1_addr, rs2_addr, rd_addr;
    wire [3:0] mem_rmask, mem_wmask;

    hpu_pipeline dut (
        .clk(clk), .rst(rst), .hart_base(hart_base), .stop(stop),
        .program_write(1'b0), .program_addr(0), .program_data(0),
        .range_write(range_write), .range_thread(range_thread), .range_number(range_number),
        .range_first(range_first), .range_end(range_end),
        .m_valid(m_valid), .m_thread(m_thread), .m_address(m_address), .m_is_write(m_is_write), .m_atomic(m_atomic),
        .m_strobe(m_strobe), .m_data(m_data), .m_is_user(m_is_user), .m_ready(m_ready), .m_refused(m_refused),
        .m_read_data(m_read_data), .trap(trap), .trap_thread(trap_thread), .trap_cause(trap_cause),
        .rvfi_valid(rvfi_valid), .rvfi_thread(rvfi_thread), .rvfi_insn(insn), .rvfi_trap(rvfi_trap), .rvfi_cause(cause),
        .rvfi_is_user(rvfi_is_user), .rvfi_rs1_addr(rs1_addr), .rvfi_rs2_addr(rs2_addr),
        .rvfi_rs1_rdata(rs1_rdata), .rvfi_rs2_rdata(rs2_rdata), .rvfi_rd_addr(rd_addr), .rvfi_rd_wdata(rd_wdata),
        .rvfi_pc_rdata(pc_rdata), .rvfi_pc_wdata(pc_wdata), .rvfi_mem_addr(mem_addr),
        .rvfi_mem_rmask(mem_rmask), .rvfi_mem_wmask(mem_wmask), .rvfi_mem_rdata(mem_rdata), .rvfi_mem_wdata(mem_wdata)
    );

    // Reset for the first four clocks. What was in the pipeline before has left it nine clocks later.
    reg [3:0] age = 4'd0;
    wire started = age == 4'd13;
    always @(posedge clk) if (!started) age <= age + 4'd1;
    always @* assume (rst == (age < 4'd4));

    // The chosen thread retires an instruction, or traps.
    wire done = !rst && rvfi_valid && rvfi_thread == chosen;
    wire retires = done && !rvfi_trap;
    wire traps = done && rvfi_trap;

    // Stages of the chosen thread.
    (* internal = "dut.slot" *) wire [INDEX-1:0] slot;
    wire [INDEX-1:0] thread_2 = slot - 2, thread_4 = slot - 4, thread_9 = slot - 9;
    (* internal = "dut.issued_7" *) wire issued_7;
    reg issued_8, issued_9;
    wire in_fetch = thread_2 == chosen;
    wire in_operands = thread_4 == chosen;

    // Program memory: a word that is fetched again, because its instruction was not done, is the same one. Nothing else is
    // asked of it.
    (* drives = "dut.program_word" *) wire [31:0] word = fetched_word;
    (* drives = "dut.program_outside" *) wire outside = fetched_outside;
    (* internal = "dut.pc_2" *) wire [30:0] pc_2;
    reg [30:0] pc_before [1:0];
    reg [32:0] word_before [1:0];

    always @(posedge clk) begin
        if (in_fetch) begin
            pc_before[0] <= pc_2;
            pc_before[1] <= pc_before[0];
            word_before[0] <= {outside, word};
            word_before[1] <= word_before[0];
        end
    end
    always @* begin
        if (in_fetch && pc_2 == pc_before[0]) assume ({outside, word} == word_before[0]);
        else if (in_fetch && pc_2 == pc_before[1]) assume ({outside, word} == word_before[1]);
    end

    // Registers: the solver chooses two. They hold what was written last; what others give is free. An instruction is looked at
    // if these are its rs1 and its rs2. x0 is 0.
    (* drives = "dut.registers_value_0" *) wire [31:0] value_1 = read_1;
    (* drives = "dut.registers_value_1" *) wire [31:0] value_2 = read_2;
`ifdef CHECK_REGISTERS
    // An instruction reads what was written, whichever of both it reads: the decoder is not needed for that.
    (* drives = "dut.decoder_has_rs1" *) wire reads_1 = has_1;
    (* drives = "dut.decoder_has_rs2" *) wire reads_2 = has_2;
`endif
    (* internal = "dut.decoder_rs1" *) wire [4:0] decoded_1;
    (* internal = "dut.decoder_rs2" *) wire [4:0] decoded_2;
    (* internal = "dut.u_registers.write" *) wire write;
    (* internal = "dut.u_registers.write_to" *) wire [INDEX+4:0] write_to;
    (* internal = "dut.u_registers.write_value" *) wire [31:0] written;
    (* anyconst *) wire [4:0] x;
    (* anyconst *) wire [4:0] y;
    reg [4:0] number_1, number_2;
    reg [31:0] x_now, y_now, x_read, y_read;
    wire reads_chosen = (rs1_addr == 5'd0 || rs1_addr == x) && (rs2_addr == 5'd0 || rs2_addr == y);

    // A read sees writes of the clocks before it, and gives its word one clock later.
    always @(posedge clk) begin
        number_1 <= decoded_1;
        number_2 <= decoded_2;
        if (write && write_to == {chosen, x}) x_now <= written;
        if (write && write_to == {chosen, y}) y_now <= written;
        x_read <= x_now;
        y_read <= y_now;
    end
    always @* begin
        if (in_operands) begin
            if (number_1 == 5'd0) assume (value_1 == 32'd0);
            if (number_2 == 5'd0) assume (value_2 == 32'd0);
            if (number_1 == x && x != 5'd0) assume (value_1 == x_read);
            if (number_2 == y && y != 5'd0) assume (value_2 == y_read);
        end
    end

`ifdef CHECK_REGISTERS
    // One register: what the memory of registers gives for it. Of x0 that is 0.
    (* anyconst *) wire [4:0] number;
    reg [31:0] held, held_before, last;
    wire writes_it = write && write_to == {chosen, number};

    always @(posedge clk) begin
        if (writes_it) held <= written;
        held_before <= held;
        if (done && rd_addr == number) last <= rd_wdata;
    end
    always @* begin
        assume (number != 5'd0);
        if (rst) assume (held == last);
        if (in_operands && number_1 == number) assume (value_1 == held_before);
        if (in_operands && number_2 == number) assume (value_2 == held_before);
        if (age != 4'd0) holds_the_last: assert (held == last);
        if (done && rs1_addr == number) reads_the_last_1: assert (rs1_rdata == last);
        if (done && rs2_addr == number) reads_the_last_2: assert (rs2_rdata == last);
        if (done && rs1_addr == 5'd0) x0_is_0: assert (rs1_rdata == 32'd0);
    end

`ifndef CONTRACT_ONLY
    // On its way to the end an instruction keeps what it has read. With four threads the instruction before it writes in its
    // stage 5, after that none does.
    (* internal = "dut.issued_5" *) wire issued_5;
    (* internal = "dut.issued_6" *) wire issued_6;
    (* internal = "dut.retired_9" *) wire retired_9;
    always @* if (started) retires_or_traps: assert (rvfi_valid == (retired_9 || rvfi_trap) && !(retired_9 && rvfi_trap));

    (* internal = "dut.rs1_addr_5" *) wire [4:0] addr_1_5;
    (* internal = "dut.rs1_rdata_5" *) wire [31:0] data_1_5;
    (* internal = "dut.rs2_addr_5" *) wire [4:0] addr_2_5;
    (* internal = "dut.rs2_rdata_5" *) wire [31:0] data_2_5;
    (* internal = "dut.rs1_addr_6" *) wire [4:0] addr_1_6;
    (* internal = "dut.rs1_rdata_6" *) wire [31:0] data_1_6;
    (* internal = "dut.rs2_addr_6" *) wire [4:0] addr_2_6;
    (* internal = "dut.rs2_rdata_6" *) wire [31:0] data_2_6;
    (* internal = "dut.rs1_addr_7" *) wire [4:0] addr_1_7;
    (* internal = "dut.rs1_rdata_7" *) wire [31:0] data_1_7;
    (* internal = "dut.rs2_addr_7" *) wire [4:0] addr_2_7;
    (* internal = "dut.rs2_rdata_7" *) wire [31:0] data_2_7;
    (* internal = "dut.rs1_addr_8" *) wire [4:0] addr_1_8;
    (* internal = "dut.rs1_rdata_8" *) wire [31:0] data_1_8;
    (* internal = "dut.rs2_addr_8" *) wire [4:0] addr_2_8;
    (* internal = "dut.rs2_rdata_8" *) wire [31:0] data_2_8;

`define KEEPS(STAGE, ISSUED, NOW) \
    wire [INDEX-1:0] inside_``STAGE = slot - STAGE; \
    always @* if (started && ISSUED && inside_``STAGE == chosen) begin \
        if (addr_1_``STAGE == number) keeps_1_``STAGE: assert (data_1_``STAGE == (NOW)); \
        if (addr_2_``STAGE == number) keeps_2_``STAGE: assert (data_2_``STAGE == (NOW)); \
        if (addr_1_``STAGE == 5'd0) keeps_0_``STAGE: assert (data_1_``STAGE == 32'd0); \
    end

    `KEEPS(5, issued_5, writes_it ? written : held)
    `KEEPS(6, issued_6, held)
    `KEEPS(7, issued_7, held)
    `KEEPS(8, issued_8, held)

    always @* reads_it: cover (issued_7 && inside_7 == chosen && addr_1_7 == number && addr_2_7 == number);
`endif
`endif

`ifdef CHECK_PC
    // Stage 7 decides. What it has decided for a thread is out two clocks later, before it decides again.
    (* internal = "dut.thread_7" *) wire [INDEX-1:0] thread_7;
    (* internal = "dut.pc_7" *) wire [30:0] pc_7;
    reg [31:0] next;
    (* internal = "dut.csrs_vector" *) wire [30:0] handler_7;
    reg [30:0] handler_8, handler_9;

    always @(posedge clk) begin
        handler_8 <= handler_7;
        handler_9 <= handler_8;
        if (done) next <= pc_wdata;
        if (rst) next <= 32'h1d000080;
    end
    always @* begin
        if (started && issued_7 && thread_7 == chosen) executes_the_next: assert (pc_7 == next[31:1]);
        if (!rst) is_even: assert (!next[0]);
        if (done) follows: assert (pc_rdata == next);
        if (traps && started) goes_to_handler: assert (pc_wdata == {handler_9, 1'b0});
        jumps_back: cover (retires && pc_wdata < pc_rdata);
    end
`endif

    // Lanes of the access in stage 9, those of the next word in bits 7 to 4.
    wire [3:0] size = mem_rmask | mem_wmask;
    wire [7:0] lanes = {4'd0, size} << mem_addr[1:0];
    wire crosses = |lanes[7:4];

`ifndef CONTRACT_ONLY
    // After the reset each thread is in its stage, before that no instruction. An access at its second part is one that crosses
    // a word, and no byte of the saved word lies where those of the second word go.
    (* internal = "dut.second_9" *) wire second_9;
    (* internal = "dut.saved_read_data" *) wire [31:0] saved;
    wire at_second_part = started && rvfi_thread == chosen && issued_9 && second_9 && !rvfi_trap;

    always @(posedge clk) begin
        issued_8 <= issued_7;
        issued_9 <= issued_8;
    end
    always @* begin
`ifdef CHECK_REGISTERS
        // All other proofs of this file show it.
        if (started) assume (rvfi_thread == thread_9);
        if (!started && age != 4'd0) assume (!rvfi_valid && !write && !second_9);
        if (at_second_part) assume (size != 4'd0);
`else
        if (started) takes_turns: assert (rvfi_thread == thread_9);
        if (!started && age != 4'd0) nothing_yet: assert (!rvfi_valid && !write && !second_9);
        if (at_second_part) is_an_access: assert (size != 4'd0);
        if (at_second_part && reads_chosen) is_in_two_parts: assert (crosses && saved >> {3'd4 - mem_addr[1:0], 3'd0} == 32'd0);
`endif
    end
`endif

`ifdef CHECK_MEMORY
    // Stage 7 makes an offer; two clocks later, in stage 9, the word is there that memory gave. The first part of an access in two
    // parts is taken and its instruction does not retire; then the same access is there for its second part.
    reg [76:0] offer_8, offer_9;
    reg [31:0] given, first_word;
    reg has_first;
    reg [72:0] first;
    wire taken = rvfi_thread == chosen && offer_9[76];
    wire [5:0] atomic = offer_9[74:69];
    wire [3:0] strobe = offer_9[68:65];
    wire [72:0] asked = {insn[6:0] == 7'h2f, mem_rmask, mem_wmask, mem_wdata, mem_addr};
    wire [31:0] rotated = ({2{mem_wdata}} << {mem_addr[1:0], 3'd0}) >> 32;
    wire [31:0] words = {given, has_first ? first_word : given} >> {mem_addr[1:0], 3'd0};

    function [31:0] bits(input [3:0] bytes);
        bits = {{8{bytes[3]}}, {8{bytes[2]}}, {8{bytes[1]}}, {8{bytes[0]}}};
    endfunction

    always @(posedge clk) begin
        offer_8 <= {m_valid && m_ready && !m_refused, m_is_write, m_atomic, m_strobe, m_is_user, m_data, m_address};
        offer_9 <= offer_8;
        given <= m_read_data;
        if (taken) first <= asked;
        if (taken) first_word <= given;
        if (taken || done) has_first <= taken && !done;
        if (rst) has_first <= 1'b0;
    end
    always @* begin
        if (started && taken && reads_chosen) begin
            address_fits: assert (offer_9[31:2] == mem_addr[31:2] + has_first && offer_9[1:0] == 2'd0);
            lanes_fit: assert (strobe == (has_first ? lanes[7:4] : lanes[3:0]));
            kind_fits: assert (offer_9[75] == (mem_wmask != 4'd0 && !atomic[5]));
            atomic_fits: assert (atomic[5] == asked[72] && (!atomic[5] || atomic[4:0] == insn[31:27]));
            if (mem_wmask != 4'd0) data_fits: assert (((offer_9[63:32] ^ rotated) & bits(strobe)) == 32'd0);
            if (rvfi_is_user) user_stays_user: assert (offer_9[64]);
            ends_with_last_part: assert (retires == (has_first || !crosses));
            if (has_first) is_the_same_access: assert (asked == first);
        end
        if (started && retires && reads_chosen) begin
            asks_for_what_it_does: assert (taken == (size != 4'd0));
            reads_what_was_given: assert (mem_rdata == (words & bits(mem_rmask)));
        end
        accesses_two_words: cover (retires && taken && has_first);
    end
`ifndef CONTRACT_ONLY
    always @* begin
        if (started && rvfi_thread == chosen && issued_9) knows_part: assert (second_9 == has_first);
        if (at_second_part && reads_chosen) goes_on: assert (asked == first
            && (mem_rmask == 4'd0 || saved == first_word >> {mem_addr[1:0], 3'd0}));
    end
`endif
`endif

    // Products and divisions.
    (* internal = "dut.rs1_rdata_5" *) wire [31:0] x_5;
    (* internal = "dut.rs2_rdata_5" *) wire [31:0] y_5;
    (* internal = "dut.function_5" *) wire [2:0] function_5;
    reg [31:0] stand_in_6, stand_in_7, stand_in_8;
    (* internal = "dut.is_multiply_6" *) wire multiplies_6;
    (* internal = "dut.is_divide_6" *) wire divides_6;
    reg multiplies_7, multiplies_8, divides_7, divides_8;
    wire [31:0] multiplied = multiplies_8 ? stand_in_8 : 32'd0;
    wire [31:0] divided = divides_8 ? stand_in_8 : 32'd0;
    (* drives = "dut.product" *) wire [31:0] product = multiplied;
    (* drives = "dut.quotient" *) wire [31:0] quotient = divided;

    function [31:0] stand_in(input [31:0] x, input [31:0] y, input [2:0] funct3);
        stand_in = (funct3[0] ? x + y : x - y) ^ {8{1'b0, funct3}};
    endfunction

    always @(posedge clk) begin
        stand_in_6 <= stand_in(x_5, y_5, function_5);
        stand_in_7 <= stand_in_6;
        stand_in_8 <= stand_in_7;
        multiplies_7 <= multiplies_6;
        multiplies_8 <= multiplies_7;
        divides_7 <= divides_6;
        divides_8 <= divides_7;
    end

`ifndef CHECK_REGISTERS
`ifndef CHECK_PC
`ifndef CHECK_MEMORY
    wire legal, fits, rule_trap, next_reserved, writes_csr;
    wire [31:0] rule_word, rule_rd_value, rule_next_pc, rule_address, rule_wdata, next_csr;
    wire [4:0] rule_rd, rule_rs1, rule_rs2, rule_cause;
    wire [1:0] next_mode;
    wire [3:0] rule_rmask, rule_wmask;
    wire [11:0] csr_number;
    wire is_sc = rule_word[31:27] == 5'd3;

    hpu_rules rules (
        .insn(insn), .pc(pc_rdata), .mode({2{!rvfi_is_user}}), .rs1_value(rs1_rdata), .rs2_value(rs2_rdata),
        .memory(mem_rdata), .csr(rd_wdata), .mepc(pc_wdata), .mpp(2'd0),
        // The memory says by 0 that it has stored.
        .reserved(mem_rdata == 32'd0),
        .legal(legal), .fits(fits), .word(rule_word), .rd(rule_rd), .rs1(rule_rs1), .rs2(rule_rs2),
        .rd_value(rule_rd_value), .next_pc(rule_next_pc), .next_mode(next_mode), .trap(rule_trap), .cause(rule_cause),
        .address(rule_address), .rmask(rule_rmask), .wmask(rule_wmask), .wdata(rule_wdata),
        .next_reserved(next_reserved), .csr_number(csr_number), .writes_csr(writes_csr), .next_csr(next_csr)
    );

    // The ALU takes the solver too long as a whole.
    wire [2:0] funct3 = rule_word[14:12];
`ifdef PART_SHIFT
    wire is_part = funct3[1:0] == 2'd1 && !rule_word[2];
`elsif PART_SUM
    wire is_part = funct3 == 3'd0 || rule_word[2];
`elsif PART_OTHER
    wire is_part = funct3 != 3'd0 && funct3[1:0] != 2'd1 && !rule_word[2];
`else
    wire is_part = 1'b1;
`endif
    wire does = retires && fits && is_part && reads_chosen;
    // Not stopped, and not outside of the program.
    wire fails = traps && fits && cause != 5'd24 && cause != 5'd1;

    always @* begin
        if (does) begin
            does_not_trap: assert (!rule_trap);
            reads_rs1: assert (rs1_addr == rule_rs1);
            reads_rs2: assert (rs2_addr == rule_rs2);
            writes_rd: assert (rd_addr == rule_rd);
            next_pc_fits: assert (pc_wdata == rule_next_pc);
`ifdef RULES_ATOMIC
            result_fits: assert (rd_wdata == (rule_rd == 5'd0 ? 32'd0 : mem_rdata));
            accesses_its_word: assert (mem_addr == rs1_rdata && mem_addr[1:0] == 2'd0 && mem_rmask == 4'd15);
            changes_unless_lr: assert (mem_wmask == (rule_word[31:27] == 5'd2 ? 4'd0 : 4'd15));
            if (mem_wmask != 4'd0) operand_fits: assert (mem_wdata == rs2_rdata);
`else
`ifdef RULES_MULTIPLY
            `define STANDS_IN
`endif
`ifdef RULES_DIVIDE
            `define STANDS_IN
`endif
`ifdef STANDS_IN
            result_fits: assert (rd_wdata == (rule_rd == 5'd0 ? 32'd0 : stand_in(rs1_rdata, rs2_rdata, rule_word[14:12])));
`else
            result_fits: assert (rd_wdata == rule_rd_value);
`endif
            reads_memory: assert (mem_rmask == rule_rmask);
            writes_memory: assert (mem_wmask == rule_wmask && mem_wdata == rule_wdata);
            if (rule_rmask != 4'd0 || rule_wmask != 4'd0) address_fits: assert (mem_addr == rule_address);
`endif
        end
        if (fails) begin
`ifdef RULES_LOAD
            is_refused: assert (cause == 5'd5);
`elsif RULES_STORE
            is_refused: assert (cause == 5'd7);
`elsif RULES_ATOMIC
            is_refused: assert (cause == (rule_word[31:27] == 5'd2 ? 5'd4 : 5'd6) + (rs1_rdata[1:0] == 2'd0));
`elsif RULES_CSR
            is_refused: assert (cause == 5'd2);
`elsif RULES_SYSTEM
            is_refused: assert (rule_trap && cause == rule_cause);
`else
            never_fails: assert (1'b0);
`endif
        end
        if (retires) is_legal: assert (legal);
        if (traps) changes_nothing: assert (rd_addr == 5'd0 && rd_wdata == 32'd0 && mem_rmask == 4'd0 && mem_wmask == 4'd0);
`ifdef RULES_CUSTOM
        if (traps && !legal && cause != 5'd24 && cause != 5'd1) illegal_traps: assert (cause == 5'd2);
`endif
        retires_one: cover (does);
    end
`endif
`endif
`endif
endmodule

`default_nettype wire
