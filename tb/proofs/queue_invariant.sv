`default_nettype none

// How the registers of a FIFO go together (fifo.sv proves it of a small one; here induction needs it).
module queue_invariant #(
    parameter POINTER = 4
) (
    input wire after_reset,
    input wire [POINTER:0] count,
    input wire [POINTER-1:0] write_ptr,
    input wire [POINTER-1:0] read_ptr,
    input wire not_full,
    input wire stored,
    input wire held
);
    localparam DEPTH = 1 << POINTER;
    wire [POINTER:0] in_memory = count - held;
    wire [POINTER-1:0] apart = write_ptr - read_ptr;

    always @* begin
        holds_its_depth: assert (count <= DEPTH && in_memory <= DEPTH);
        ready_unless_full_or_reset: assert (not_full == (count != DEPTH && !after_reset));
        memory_is_counted: assert (stored == (in_memory != 0));
        pointers_are_apart: assert (apart == in_memory[POINTER-1:0]);
    end
endmodule

`default_nettype wire
