// HpuMemory of two words for two threads: when accesses take place, that every read gives what was written last, what atomic
// operations write, and exactly which reservations there are.
//
// The solver chooses one word. Its contents are known from the first write of all its bytes on.
`default_nettype none

module hpu_memory_proof (
    input wire clk,
    input wire rst,
    input wire valid,
    input wire thread,
    input wire [31:0] address,
    input wire is_write,
    input wire [5:0] atomic,
    input wire [3:0] strobe,
    input wire [31:0] data,
    input wire is_user,
    input wire trap,
    input wire trap_thread,
    input wire host_valid,
    input wire host_is_write,
    input wire host_address,
    input wire [3:0] host_strobe,
    input wire [31:0] host_data
);
    wire ready, refused, host_ready;
    wire [31:0] read_data, host_read_data;

    hpu_memory dut (
        .clk(clk), .rst(rst),
        .s_valid(valid), .s_thread(thread), .s_address(address), .s_is_write(is_write), .s_atomic(atomic),
        .s_strobe(strobe), .s_data(data), .s_is_user(is_user),
        .s_ready(ready), .s_refused(refused), .s_read_data(read_data),
        .trap(trap), .trap_thread(trap_thread),
        .host_valid(host_valid), .host_ready(host_ready), .host_is_write(host_is_write),
        .host_address(host_address), .host_strobe(host_strobe), .host_data(host_data),
        .host_read_data(host_read_data)
    );

    function [31:0] new_word(input [4:0] op, input [31:0] old, input [31:0] operand);
        case (op)
            5'b00000: new_word = old + operand;
            5'b00100: new_word = old ^ operand;
            5'b01100: new_word = old & operand;
            5'b01000: new_word = old | operand;
            5'b10000: new_word = $signed(old) < $signed(operand) ? old : operand;
            5'b10100: new_word = $signed(old) < $signed(operand) ? operand : old;
            5'b11000: new_word = old < operand ? old : operand;
            5'b11100: new_word = old < operand ? operand : old;
            default: new_word = operand;
        endcase
    endfunction

    (* anyconst *) reg watched;
    // The watched word: {known, contents}.
    reg [32:0] now = 33'd0;
    reg [1:0] held = 2'd0;
    reg [1:0] held_word;
    // An operation that has to write: clocks left, and what it is.
    reg [1:0] left = 2'd0;
    reg op_word, op_thread;
    reg [4:0] op;
    reg [31:0] operand, result;
    // The clock before.
    reg was_sc = 1'b0;
    reg was_read = 1'b0;
    reg was_host_read = 1'b0;
    reg failed;
    reg [31:0] before;

    wire number = address[2];
    wire takes = valid && ready && !refused;
    wire serves = host_valid && host_ready;
    wire is_lr = takes && atomic == 6'h22;
    wire is_sc = takes && atomic == 6'h23;
    wire succeeds = is_sc && held[thread] && held_word[thread] == number;
    wire opens = takes && atomic[5] && !is_lr && !is_sc || succeeds;
    // The write of this clock.
    wire ends = left == 1;
    wire writes = ends || takes && is_write || serves && host_is_write;
    wire word = ends ? op_word : valid ? number : host_address;
    wire [3:0] bytes = ends ? 4'hf : valid ? strobe : host_strobe;
    wire [31:0] written = ends ? result : valid ? data : host_data;
    wire writer = ends ? op_thread : thread;
    wire by_thread = ends || valid;

    integer n;
    always @(posedge clk) begin
        if (writes && word == watched) begin
            for (n = 0; n < 4; n = n + 1) if (bytes[n]) now[8*n +: 8] <= written[8*n +: 8];
            now[32] <= now[32] || (ends ? op == 5'h03 : &bytes);
        end
        for (n = 0; n < 2; n = n + 1) begin
            if (is_lr && thread == n) begin
                held[n] <= 1'b1;
                held_word[n] <= number;
            end else if (is_sc && thread == n) begin
                held[n] <= 1'b0;
            end else if (writes && word == held_word[n] && !(by_thread && writer == n)) begin
                held[n] <= 1'b0;
            end
            if (trap && trap_thread == n) held[n] <= 1'b0;
        end
        if (left != 0) left <= left - 1;
        if (opens) begin
            left <= 2'd2;
            op_word <= number;
            op_thread <= thread;
            op <= atomic[4:0];
            operand <= data;
        end
        if (left == 2) result <= new_word(op, now[31:0], operand);
        was_sc <= is_sc;
        failed <= !succeeds;
        was_read <= takes && !is_sc && number == watched && now[32];
        was_host_read <= serves && host_address == watched && now[32];
        before <= now[31:0];
        if (rst) begin
            held <= 2'd0;
            left <= 2'd0;
        end
    end

    always @* begin
        if (atomic[5]) no_store_is_atomic: assume (!is_write);
        ready_unless_open: assert (ready == (left == 0));
        host_is_second: assert (host_ready == (left == 0 && !valid));
        refuses_other_addresses: assert (refused == (address < 32'h10000000 || address >= 32'h10000008));
        if (was_sc) answers: assert (read_data == {31'd0, failed});
        if (was_read) reads_what_was_written: assert (read_data == before);
        if (was_host_read) host_reads_what_was_written: assert (host_read_data == before);
        stores_conditionally: cover (ends && op == 5'h03);
        keeps_the_smaller: cover (was_read && before == 32'h80000000 && op == 5'h10);
        loses_to_the_host: cover (serves && writes && held == 2'b11 && held_word[0] == word && held_word[1] == word);
    end

`ifndef CONTRACT_ONLY
    // How the registers go together; induction needs it.
    (* internal = "dut.computes" *) wire computes;
    (* internal = "dut.is_open" *) wire is_open;
    (* internal = "dut.open_word" *) wire open_word;
    (* internal = "dut.open_thread" *) wire open_thread;
    (* internal = "dut.last_function" *) wire [4:0] dut_function;
    (* internal = "dut.operand" *) wire [31:0] dut_operand;
    (* internal = "dut.result" *) wire [31:0] dut_result;
    (* internal = "dut.memory_read_data" *) wire [31:0] dut_read;
    (* internal = "dut.reserved_0" *) wire reserved_0;
    (* internal = "dut.reserved_1" *) wire reserved_1;
    (* internal = "dut.reserved_word_0" *) wire reserved_word_0;
    (* internal = "dut.reserved_word_1" *) wire reserved_word_1;
    (* internal = "dut.u_memory.memory[0]" *) wire [31:0] cell_0;
    (* internal = "dut.u_memory.memory[1]" *) wire [31:0] cell_1;
    wire is_known = op_word == watched && (now[32] || op == 5'h03);
    always @* begin
        two_clocks: assert (left != 3);
        is_open_until_it_has_written: assert (is_open == (left != 0));
        computes_first: assert (computes == (left == 2));
        same_reservations: assert ({reserved_1, reserved_0} == held);
        if (held[0]) same_word_0: assert (reserved_word_0 == held_word[0]);
        if (held[1]) same_word_1: assert (reserved_word_1 == held_word[1]);
        if (left != 0) same_operation: assert ({open_word, open_thread} == {op_word, op_thread});
        if (left == 2) same_function: assert (dut_function == op && dut_operand == operand);
        if (left == 2 && op_word == watched && now[32]) has_read: assert (dut_read == now[31:0]);
        if (left == 1 && is_known) same_result: assert (dut_result == result);
        if (now[32]) memory_has_it: assert ((watched ? cell_1 : cell_0) == now[31:0]);
    end
`endif
endmodule

`default_nettype wire
