// How the registers of a Fifo in distributed RAM go together, for blocks that have one inside. fifo.sv proves
// more of it alone; here induction needs it.
`default_nettype none

module queue_rules #(
    parameter POINTER = 2
) (
    input wire after_reset,
    input wire [POINTER:0] count,
    input wire [POINTER-1:0] write_ptr,
    input wire [POINTER-1:0] read_ptr,
    input wire not_full,
    input wire stored
);
    localparam DEPTH = 1 << POINTER;
    wire [POINTER-1:0] apart = write_ptr - read_ptr;

    always @* begin
        holds_its_depth: assert (count <= DEPTH);
        ready_unless_full_or_reset: assert (not_full == (count != DEPTH && !after_reset));
        memory_is_counted: assert (stored == (count != 0));
        pointers_are_apart: assert (apart == count[POINTER-1:0]);
    end
endmodule

`default_nettype wire
