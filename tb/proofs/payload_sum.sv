// payload_sum: the sum is that of RFC 1071 over the bytes of the payload.
//
// Frames of any length and alignment: bytes, tkeep and number of each beat are free. What is assumed: PayloadFinder names bases
// from 9 to 21.
//
// The solver checks each step of the sum, because it cannot compare two orders of 32 additions:
// - counters take each word of the payload once, and words that other counters give in place of theirs;
// - a counter gives the number of ones at each place, and twos and fours are rotated by one and two places. As the sum is
//   modulo 0xffff, such a rotation is a multiplication, so the three words have the sum of the six;
// - the last additions are exact, and their carry counts as 1.
// So the sum of all words that are still to be added never changes. That is all that is left to arithmetic.
`default_nettype none

module payload_sum_proof (
    input wire clk,
    input wire rst,
    input wire [511:0] beat_data,
    input wire [63:0] beat_keep,
    input wire [1:0] beat_number,
    input wire beat_last,
    input wire beat_valid,
    input wire found,
    input wire [4:0] base
);
    wire [16:0] sum;

    payload_sum dut (
        .clk(clk), .rst(rst), .beat_data(beat_data), .beat_keep(beat_keep), .beat_number(beat_number),
        .beat_last(beat_last), .beat_valid(beat_valid), .found(found), .base(base), .sum(sum)
    );

    // Bytes of the payload; the last beat number stands for all later ones.
    wire [511:0] payload;
    generate
        genvar n;
        for (n = 0; n < 64; n = n + 1) begin : g_bytes
            wire is_behind = {beat_number, 6'd0} + n >= 4 * base - 2;
            assign payload[8 * n +: 8] = found && beat_keep[n] && is_behind ? beat_data[8 * n +: 8] : 8'd0;
        end
    endgenerate

    // The three clocks of a beat.
    reg started = 1'b0;
    reg [511:0] bytes;
    reg valid_1 = 1'b0;
    reg last_1;
    reg valid_2 = 1'b0;
    reg last_2;
    reg valid_3 = 1'b0;
    reg last_3;

    always @(posedge clk) begin
        started <= 1'b1;
        bytes <= payload;
        {valid_1, last_1} <= {beat_valid && !rst, beat_last};
        {valid_2, last_2} <= {valid_1 && !rst, last_1};
        {valid_3, last_3} <= {valid_2 && !rst, last_2};
    end

    always @* begin
        if (!started) assume (rst);
        if (found) assume (base >= 5'd9 && base <= 5'd21);
    end

`ifdef CONTRACT_ONLY
    // Enough to find a mistake: the definition.
    reg [511:0] bytes_2;
    reg [15:0] before = 16'd0;
    reg [15:0] sum_3;

    function automatic [15:0] added(input [15:0] to, input [511:0] words);
        reg [16:0] total;
        integer i;
        begin
            total = to;
            for (i = 0; i < 32; i = i + 1) begin
                total = {1'b0, total[15:0]} + words[16 * i +: 16];
                total[15:0] = total[15:0] + total[16];
            end
            added = total[15:0];
        end
    endfunction

    always @(posedge clk) begin
        bytes_2 <= bytes;
        sum_3 <= added(before, bytes_2);
        if (rst || (valid_2 && last_2)) before <= 16'd0;
        else if (valid_2) before <= added(before, bytes_2);
    end

    // The words of the payload that may be other than 0: few, so that the solver finds an example.
    wire [511:0] few = {{32{1'b1}}, 144'd0, {16{1'b1}}, 32'd0, {16{1'b1}}, 224'd0, {48{1'b1}}};

    always @* begin
        assume ((payload & ~few) == 512'd0);
        if (valid_3 && last_3) is_the_sum: assert ({1'b0, sum[15:0]} + sum[16] == sum_3);
    end
`else
    // The number of ones at each place of six words, as three words of which the second counts twice, the third four times.
    function automatic [47:0] count(input [95:0] six);
        reg [15:0] ones, twos, fours;
        integer i;
        for (i = 0; i < 16; i = i + 1) begin
            {fours[i], twos[i], ones[i]} =
                {2'd0, six[i]} + six[16 + i] + six[32 + i] + six[48 + i] + six[64 + i] + six[80 + i];
        end
        count = {ones, twos[14:0], twos[15], fours[13:0], fours[15:14]};
    endfunction

    // Six words in the order in which a counter takes them.
    function automatic [95:0] six(input [511:0] words, input integer first);
        integer i;
        for (i = 0; i < 6; i = i + 1) six[80 - 16 * i +: 16] = words[16 * (first + i) +: 16];
    endfunction

    (* internal = "dut.u_counters_0.words" *) wire [95:0] words_0;
    (* internal = "dut.u_counters_1.words" *) wire [95:0] words_1;
    (* internal = "dut.u_counters_2.words" *) wire [95:0] words_2;
    (* internal = "dut.u_counters_3.words" *) wire [95:0] words_3;
    (* internal = "dut.u_counters_4.words" *) wire [95:0] words_4;
    (* internal = "dut.u_counters_5.words" *) wire [95:0] words_5;
    (* internal = "dut.u_counters_6.words" *) wire [95:0] words_6;
    (* internal = "dut.u_counters_7.words" *) wire [95:0] words_7;
    (* internal = "dut.u_counters_8.words" *) wire [95:0] words_8;
    (* internal = "dut.u_counters_9.words" *) wire [95:0] words_9;
    (* internal = "dut.running" *) wire [16:0] running;

    reg [79:0] parts;
    reg [16:0] before;
    reg [16:0] total_3;
    // Whether the frame has had a byte that is not 0, before the beat of the second clock and with it.
    reg any = 1'b0;
    reg any_3;
    wire any_2 = any || parts != 80'd0;

    wire [47:0] last_count = count(words_9);
    wire [16:0] first = last_count[47:32] + last_count[31:16] + running[16];
    wire [16:0] total = first[15:0] + last_count[15:0] + first[16];

    always @(posedge clk) begin
        parts <= {count(words_8), bytes[495:480], bytes[511:496]};
        {total_3, any_3} <= {total, any_2};
        before <= rst || (valid_2 && last_2) ? 17'd0 : valid_2 ? total : running;
        any <= rst || (valid_2 && last_2) ? 1'b0 : valid_2 ? any_2 : any;
    end

    always @* begin
        if (started) begin
            counted_0: assert (words_0 == six(bytes, 0));
            counted_1: assert (words_1 == six(bytes, 6));
            counted_2: assert (words_2 == six(bytes, 12));
            counted_3: assert (words_3 == six(bytes, 18));
            counted_4: assert (words_4 == six(bytes, 24));
            counted_5: assert (words_5 == {count(words_0), count(words_1)});
            counted_6: assert (words_6 == {count(words_2), count(words_3)});
            counted_7: assert (words_7 == {count(words_5), count(words_6)});
            counted_8: assert (words_8 == {count(words_7), count(words_4)});
            running_sum: assert (running == before);
            // Form: bit 16 fits into the rest, and only zeros give 0.
            carry_fits: assert (running != 17'h1ffff);
            starts_with_zero: assert (any == (running != 17'd0));
        end
        if (valid_2) counted_9: assert (words_9 == {parts, running[15:0]});
        if (valid_3) begin
            added: assert (sum == total_3);
            sum_fits: assert (sum != 17'h1ffff);
            zero_is_nothing: assert (any_3 == (sum != 17'd0));
        end
    end
`endif
endmodule

`default_nettype wire
