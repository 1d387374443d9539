// The pointers of an asynchronous FIFO, and what each side sees of the other's.
`default_nettype none

module pointer_rules #(
    parameter POINTER = 3
) (
    input wire s_clk,
    input wire m_clk,
    input wire [POINTER-1:0] write_count,
    input wire [POINTER-1:0] write_gray,
    input wire not_full,
    input wire [POINTER-1:0] read_0,
    input wire [POINTER-1:0] read_1,
    input wire [POINTER-1:0] read_count,
    input wire [POINTER-1:0] read_gray,
    input wire [POINTER-1:0] write_0,
    input wire [POINTER-1:0] write_1
);
    localparam DEPTH = 1 << (POINTER - 1);

    // The number that a gray code stands for.
    function [POINTER-1:0] number(input [POINTER-1:0] gray);
        integer bit_number;
        begin
            number[POINTER-1] = gray[POINTER-1];
            for (bit_number = POINTER - 2; bit_number >= 0; bit_number = bit_number - 1)
                number[bit_number] = number[bit_number+1] ^ gray[bit_number];
        end
    endfunction

    // From the oldest to the newest: what the writer sees, what left, what the reader sees, what came in.
    wire [POINTER-1:0] a = number(read_0) - number(read_1);
    wire [POINTER-1:0] b = read_count - number(read_0);
    wire [POINTER-1:0] c = number(write_1) - read_count;
    wire [POINTER-1:0] d = number(write_0) - number(write_1);
    wire [POINTER-1:0] e = write_count - number(write_0);
    wire [POINTER+2:0] all = a + b + c + d + e;

    always @* begin
        write_pointer_is_gray: assert (write_gray == (write_count ^ (write_count >> 1)));
        read_pointer_is_gray: assert (read_gray == (read_count ^ (read_count >> 1)));
        follow_each_other: assert (all <= DEPTH);
        knows_when_it_is_full: assert (!not_full || all < DEPTH);
    end

    // What leaves for the other clock changes in one bit at most.
    reg [POINTER-1:0] write_before;
    reg [POINTER-1:0] read_before;
    reg write_known = 1'b0;
    reg read_known = 1'b0;
    wire [POINTER-1:0] write_change = write_before ^ write_gray;
    wire [POINTER-1:0] read_change = read_before ^ read_gray;

    always @(posedge s_clk) begin
        write_before <= write_gray;
        write_known <= 1'b1;
    end

    always @(posedge m_clk) begin
        read_before <= read_gray;
        read_known <= 1'b1;
    end

    always @* begin
        if (write_known) write_changes_one_bit: assert ((write_change & (write_change - 1'b1)) == 0);
        if (read_known) read_changes_one_bit: assert ((read_change & (read_change - 1'b1)) == 0);
    end
endmodule

`default_nettype wire
