// HpuDivider: divisions of one thread, which the solver chooses; all others are free.
//
// The last of 17 slots gives the quotient or the remainder as the manual says: the dividend is divisor times quotient plus
// remainder, and the remainder is smaller than the divisor, in absolute values; signs, division by zero and the overflow are as
// the manual has them. The bits of the quotient are taken from the block; the harness multiplies by shifting and adding,
// because the solver cannot multiply words of 32 bits. Other quotients than these do not fulfil the equation.
//
// OPERANDS_SMALL: whole divisions from the start, with operands from -8 to 7. Mutations are tried with it.
`default_nettype none

module hpu_divider_proof (
    input wire clk,
    input wire rst,
    input wire [31:0] x,
    input wire [31:0] y,
    input wire [1:0] funct3,
    input wire is_none,
    input wire goes_on,
    input wire ends
);
    (* anyconst *) wire [2:0] chosen;
    // Thread in stage 4.
    reg [2:0] turn = 3'd0;
    wire is_last;
    wire [31:0] result;

    hpu_divider_8 dut (
        .clk(clk), .rst(rst), .thread(turn), .x(x), .y(y), .funct3(funct3),
        .is_none(is_none), .goes_on(goes_on), .ends(ends), .is_last(is_last), .result(result)
    );

    wire at_5 = turn - 3'd1 == chosen;
    wire at_7 = turn - 3'd3 == chosen;
    wire at_8 = turn - 3'd4 == chosen;
    // Clocks since the reset: slots that were inside are none.
    reg [3:0] age = 4'd0;

    // The division of the chosen thread: its operands, slots it has had in stage 5 and in stage 8.
    reg [31:0] dividend, divisor;
    reg [1:0] kind;
    reg is_same;
    reg [4:0] slots = 5'd0;
    reg [4:0] had = 5'd0;
    wire is_signed = !kind[0];
    wire [31:0] a = is_signed && dividend[31] ? -dividend : dividend;
    wire [31:0] b = is_signed && divisor[31] ? -divisor : divisor;

    // Stage 7, one clock later.
    reg went_on = 1'b0;
    reg ended = 1'b0;
    reg was_last, was_none;
    // Quotient so far, and its product with the divisor.
    (* internal = "dut.u_left.write_data" *) wire [63:0] left_8;
    reg [31:0] quotient = 32'd0;
    reg [63:0] product = 64'd0;
    wire [63:0] remainder = a - product;
    wire [63:0] product_8 = 2 * (2 * product + (left_8[1] ? b : 0)) + (left_8[0] ? b : 0);
    wire steps = at_8 && went_on && had != 5'd16;
    wire clears = at_8 && !steps && (went_on || ended);

    always @(posedge clk) begin
        turn <= rst ? 3'd0 : turn + 3'd1;
        age <= rst ? 4'd1 : age == 4'd9 ? age : age + 4'd1;
        if (at_5 && slots == 5'd0) {dividend, divisor, kind} <= {x, y, funct3};
        if (at_5) is_same <= slots == 5'd0 || {x, y, funct3} == {dividend, divisor, kind};
        if (at_7 && goes_on) slots <= slots == 5'd16 ? 5'd0 : slots + 5'd1;
        else if (at_7 && ends) slots <= 5'd0;
        {went_on, ended, was_last, was_none} <= {goes_on, ends, is_last, is_none};
        if (steps) {had, quotient, product} <= {had + 5'd1, quotient[29:0], left_8[1:0], product_8};
        if (clears) {had, quotient, product} <= 0;
        if (rst) {slots, went_on, ended, had, quotient, product} <= 0;
    end

    always @* begin
        if (age == 4'd0) assume (rst);
        if (age < 4'd4) assume (!goes_on && !ends);
        assume (!goes_on || !ends);
        // The same operands in each slot.
        if (at_7 && goes_on) assume (is_same);
        // Contract.
        if (at_7 && goes_on) ends_in_time: assert (is_last == (slots == 5'd16));
        if (at_8 && age > 4'd1 && was_none) nothing_else: assert (result == 32'd0);
        if (at_8 && went_on && was_last && !was_none) begin
            if (divisor == 32'd0) begin
                by_zero: assert (result == (kind[1] ? dividend : 32'hffffffff));
            end else if (is_signed && dividend == 32'h80000000 && divisor == 32'hffffffff) begin
                overflows: assert (result == (kind[1] ? 32'd0 : dividend));
            end else begin
                is_remainder: assert (remainder < b);
                if (kind[1]) remains: assert (result == (is_signed && dividend[31] ? -remainder[31:0] : remainder[31:0]));
                else divides: assert (result == (is_signed && dividend[31] != divisor[31] ? -quotient : quotient));
            end
        end
`ifdef OPERANDS_SMALL
        if (at_5) assume (x[31:3] == {29{x[31]}} && y[31:3] == {29{y[31]}});
        if (age != 4'd0) assume (!rst);
        divides_once: cover (at_8 && went_on && was_last && !was_none && quotient == 32'd3 && remainder == 32'd1);
`else
        divides_so_far: cover (at_8 && had == 5'd1 && quotient == 32'd1);
`endif
    end

`ifndef CONTRACT_ONLY
`ifndef OPERANDS_SMALL
    (* internal = "dut.slots" *) wire [4:0] slots_5;
    (* internal = "dut.signal_1" *) wire [31:0] divisor_6;
    (* internal = "dut.signal_2" *) wire [31:0] quotient_6;
    (* internal = "dut.signal_3" *) wire [31:0] remainder_6;
    (* internal = "dut.divisor_7" *) wire [31:0] divisor_7;
    (* internal = "dut.signal_6" *) wire [31:0] remainder_7;
    (* internal = "dut.signal_7" *) wire [31:0] quotient_7;
    (* internal = "dut.u_left.memory[0]" *) wire [63:0] left_0;
    (* internal = "dut.u_left.memory[1]" *) wire [63:0] left_1;
    (* internal = "dut.u_left.memory[2]" *) wire [63:0] left_2;
    (* internal = "dut.u_left.memory[3]" *) wire [63:0] left_3;
    (* internal = "dut.u_left.memory[4]" *) wire [63:0] left_4;
    (* internal = "dut.u_left.memory[5]" *) wire [63:0] left_5;
    (* internal = "dut.u_left.memory[6]" *) wire [63:0] left_6;
    (* internal = "dut.u_left.memory[7]" *) wire [63:0] left_7;
    wire [63:0] left = {left_7, left_6, left_5, left_4, left_3, left_2, left_1, left_0} >> {chosen, 6'd0};
    // The dividend on its way: bits that are divided, and those that are not above the bits of the quotient.
    reg [31:0] upper = 32'd0;
    reg [31:0] lower;
    wire [31:0] word = had == 5'd0 ? a : lower;
    wire [31:0] low_bits = ~(32'hffffffff << {had, 1'b0});
    wire [63:0] rest = upper - product;
    wire [63:0] rest_7 = {upper, word[31]} - 2 * product - (quotient_7[0] ? b : 0);
    wire [63:0] rest_8 = {upper, word[31:30]} - product_8;
    wire at_6 = turn - 3'd2 == chosen;
    wire is_open = is_same && had != 5'd16;

    always @(posedge clk) begin
        if (steps) {upper, lower} <= {upper[29:0], word, left_8[1:0]};
        if (clears || rst) upper <= 32'd0;
    end
    always @* begin
        if (at_5 && age > 4'd0) same_slots: assert (slots_5 == slots);
        if (!at_8) same_count: assert (had == slots);
        few_slots: assert (slots <= 5'd16 && had <= 5'd16);
        has_the_dividend: assert ({32'd0, a} << {had, 1'b0} == {upper, word & ~low_bits});
        has_the_quotient: assert (quotient == (word & low_bits) && product[63:32] == 32'd0);
        if (had != 5'd0) keeps: assert (left == {rest[31:0], lower});
        is_smaller: assert (rest < b || b == 32'd0 || had == 5'd0 && rest == 64'd0);
        if (b == 32'd0) all_ones: assert (quotient == low_bits && product == 64'd0);
        if (b == 32'd1) same: assert (product == quotient);
        if (had == 5'd0) begins: assert (quotient == 32'd0 && product == 64'd0);
        if (at_6 && age > 4'd2 && is_same) begin
            begins_slot: assert (divisor_6 == b && quotient_6 == word && remainder_6 == rest);
        end
        if (at_7 && age > 4'd3 && is_open) begin
            first_step: assert (divisor_7 == b && quotient_7 == {word[30:0], quotient_7[0]} && remainder_7 == rest_7);
            first_is_smaller: assert (b == 32'd0 ? quotient_7[0] : rest_7 < b);
        end
        if (at_8 && age > 4'd4 && is_open) begin
            second_step: assert (left_8[31:0] == {word[29:0], left_8[1:0]} && left_8[63:32] == rest_8);
            second_is_smaller: assert (b == 32'd0 ? &left_8[1:0] : rest_8 < b);
        end
    end
`endif
`endif
endmodule

`default_nettype wire
