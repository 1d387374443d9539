// payload_sum: the sum of every frame is that of RFC 1071, by definition: of the bytes from the start of its payload to its end,
// two by two, with end-around carry.
//
// Beats of 64 bits, four words each. Frames have any number of beats, any length, any place of the payload, and may follow one
// another at once or with pauses. The place is known before the payload begins, as PayloadFinder tells it; whether there is one
// may be known later than the first beat.
`default_nettype none

module payload_sum_proof (
    input wire clk,
    input wire rst,
    input wire [63:0] data,
    input wire [2:0] missing,
    input wire last,
    input wire valid,
    input wire found,
    input wire [4:0] base
);
    // The beat is numbered as in the matching engine, which stops at 12; `beat` goes on.
    localparam LAST = 4'd12;
    reg [3:0] number = 4'd0;
    reg [4:0] beat = 5'd0;
    wire [7:0] keep = last ? 8'hff >> missing : 8'hff;
    wire [16:0] sum;

    payload_sum dut (
        .clk(clk), .rst(rst), .beat_data(data), .beat_keep(keep), .beat_number(number), .beat_last(last),
        .beat_valid(valid), .found(found), .base(base), .sum(sum)
    );

    always @* begin
        no_base_in_a_header: assume (base >= 5'd9 && base <= 5'd21);
    end

    // A 16-bit sum with end-around carry: 0 only if both are 0.
    function [15:0] plus(input [15:0] a, input [15:0] b);
        reg [16:0] all;
        begin
            all = {1'b0, a} + {1'b0, b};
            plus = all[15:0] + {15'd0, all[16]};
        end
    endfunction

    // The bytes of the beat that count.
    reg [63:0] bytes;
    integer i;
    always @* begin
        for (i = 0; i < 8; i = i + 1)
            bytes[8*i +: 8] = keep[i] && found && {beat, 3'd0} + i >= {1'b0, base, 2'd0} - 8'd2 ? data[8*i +: 8] : 8'd0;
    end

    // Its clocks: bytes, words, the sum so far.
    reg [63:0] bytes_1, bytes_2;
    reg valid_1 = 1'b0, valid_2 = 1'b0, last_1, last_2;
    reg [15:0] so_far = 16'd0, whole;
    reg is_whole = 1'b0;
    wire [15:0] next = plus(plus(plus(plus(so_far, bytes_2[15:0]), bytes_2[31:16]), bytes_2[47:32]), bytes_2[63:48]);

    always @(posedge clk) begin
        bytes_1 <= bytes;
        bytes_2 <= bytes_1;
        {last_1, last_2} <= {last, last_1};
        {valid_1, valid_2} <= rst ? 2'd0 : {valid, valid_1};
        if (rst || (valid_2 && last_2)) so_far <= 16'd0;
        else if (valid_2) so_far <= next;
        whole <= next;
        is_whole <= valid_2 && last_2 && !rst;
        if (rst || (valid && last)) {number, beat} <= 9'd0;
        else if (valid) begin
            if (number != LAST) number <= number + 4'd1;
            if (beat != 5'd31) beat <= beat + 5'd1;
        end
    end

    always @* begin
        if (is_whole) is_the_sum: assert (plus(sum[15:0], {15'd0, sum[16]}) == whole);
        if (is_whole) is_zero_for_zeros: assert ((sum == 17'd0) == (whole == 16'd0));
        carries: cover (is_whole && sum[16] && whole == 16'd1);
    end

`ifndef CONTRACT_ONLY
    (* internal = "dut.bytes_0" *) wire [7:0] b0;
    (* internal = "dut.bytes_1" *) wire [7:0] b1;
    (* internal = "dut.bytes_2" *) wire [7:0] b2;
    (* internal = "dut.bytes_3" *) wire [7:0] b3;
    (* internal = "dut.bytes_4" *) wire [7:0] b4;
    (* internal = "dut.bytes_5" *) wire [7:0] b5;
    (* internal = "dut.bytes_6" *) wire [7:0] b6;
    (* internal = "dut.bytes_7" *) wire [7:0] b7;
    (* internal = "dut.words_0" *) wire [15:0] w0;
    (* internal = "dut.words_1" *) wire [15:0] w1;
    (* internal = "dut.words_2" *) wire [15:0] w2;
    (* internal = "dut.words_3" *) wire [15:0] w3;
    (* internal = "dut.running" *) wire [16:0] running;
    (* internal = "dut.is_masked" *) wire is_masked;
    (* internal = "dut.masked_last" *) wire masked_last;
    (* internal = "dut.is_counted" *) wire is_counted;
    (* internal = "dut.counted_last" *) wire counted_last;
    reg [1:0] age = 2'd0;
    always @(posedge clk) if (age != 2'd3) age <= age + 2'd1;
    always @* begin
        numbered: assert (number == (beat > 5'd12 ? LAST : beat[3:0]));
        if (age >= 2'd1) begin
            same_bytes: assert ({b7, b6, b5, b4, b3, b2, b1, b0} == bytes_1);
            same_flags_1: assert (is_masked == valid_1 && masked_last == last_1);
            same_flags_2: assert (is_counted == valid_2);
            same_sum: assert (plus(running[15:0], {15'd0, running[16]}) == so_far);
            zero_is_zero: assert ((running == 17'd0) == (so_far == 16'd0));
        end
        if (age >= 2'd2) begin
            same_words: assert ({w3, w2, w1, w0} == bytes_2);
            same_flags_3: assert (counted_last == last_2);
        end
    end
`endif
endmodule

`default_nettype wire
