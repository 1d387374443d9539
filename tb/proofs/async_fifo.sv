// AsyncFifo without resets: order, no loss, no duplication, no overflow, with clocks that come as they like.
//
// As in fifo.sv, the solver chooses one element at the time it goes in (`watch`). Elements are numbered on
// both sides; the one at the output has to be the watched one when it has that one's number. Nothing is
// assumed of the environment, not even the stream rules. Resets are the matter of linked_fifos.sv.
`default_nettype none

(* clocks = "free" *)
module async_fifo_proof (
    input wire s_clk,
    input wire s_valid,
    input wire [`WIDTH-1:0] s_data,
    input wire watch,
    input wire m_clk,
    input wire m_ready
);
    localparam WIDTH = `WIDTH;
    localparam DEPTH = `DEPTH;
    localparam POINTER = $clog2(DEPTH) + 1;

    wire s_ready;
    wire m_valid;
    wire [WIDTH-1:0] m_data;

    async_fifo dut (
        .s_clk(s_clk), .s_rst(1'b0), .s_data(s_data), .s_valid(s_valid), .s_ready(s_ready),
        .m_clk(m_clk), .m_rst(1'b0), .m_data(m_data), .m_valid(m_valid), .m_ready(m_ready)
    );

    stream_rules #(.WIDTH(WIDTH)) m_rules (
        .clk(m_clk), .rst(1'b0), .valid(m_valid), .ready(m_ready), .payload(m_data)
    );

    wire push = s_valid && s_ready;
    wire pop = m_valid && m_ready;

    // The contract, from the ports alone. The numbers go around late enough to tell all elements inside apart.
    reg [POINTER:0] pushed = 0;
    reg [POINTER:0] popped = 0;
    reg watching = 1'b0;
    reg [POINTER:0] number;
    reg [WIDTH-1:0] watched;
    reg left = 1'b0;
    wire [POINTER:0] inside = pushed - popped;
    wire [POINTER:0] ahead = number - popped; // Elements that leave before the watched one.

    always @(posedge s_clk) begin
        if (push) pushed <= pushed + 1'b1;
        if (push && watch && !watching) begin
            watching <= 1'b1;
            number <= pushed;
            watched <= s_data;
        end
    end

    always @(posedge m_clk) begin
        if (pop) popped <= popped + 1'b1;
        if (pop && watching && popped == number) left <= 1'b1;
    end

    always @* begin
        holds_its_depth_and_one: assert (inside <= DEPTH + 1);
        takes_only_with_room: assert (!s_ready || inside <= DEPTH);
        gives_what_it_has: assert (!m_valid || inside != 0);
        if (watching && !left) begin
            keeps_the_watched: assert (ahead < inside);
            if (m_valid && ahead == 0) gives_the_watched: assert (m_data == watched);
        end
    end

    always @* begin
        fills: cover (inside == DEPTH + 1);
        gives_what_waited: cover (left && inside == DEPTH);
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it. Everything is as far on as what it follows, or
    // behind, and all of it together is not longer than the memory.
    (* internal = "dut.u_write.count" *) wire [POINTER-1:0] write_count;
    (* internal = "dut.u_write.gray" *) wire [POINTER-1:0] write_gray;
    (* internal = "dut.u_write.not_full" *) wire not_full;
    (* internal = "dut.u_write.u_far.pointer_stage_0" *) wire [POINTER-1:0] read_0;
    (* internal = "dut.u_write.u_far.pointer_stage_1" *) wire [POINTER-1:0] read_1;
    (* internal = "dut.u_read.count" *) wire [POINTER-1:0] read_count;
    (* internal = "dut.u_read.gray" *) wire [POINTER-1:0] read_gray;
    (* internal = "dut.u_read.u_far.pointer_stage_0" *) wire [POINTER-1:0] write_0;
    (* internal = "dut.u_read.u_far.pointer_stage_1" *) wire [POINTER-1:0] write_1;
    (* internal = "dut.u_memory.memory[0]" *) wire [WIDTH-1:0] cell_0;
    (* internal = "dut.u_memory.memory[1]" *) wire [WIDTH-1:0] cell_1;
    (* internal = "dut.u_memory.memory[2]" *) wire [WIDTH-1:0] cell_2;
    (* internal = "dut.u_memory.memory[3]" *) wire [WIDTH-1:0] cell_3;
    wire [DEPTH*WIDTH-1:0] memory = {cell_3, cell_2, cell_1, cell_0};

    pointer_rules #(.POINTER(POINTER)) pointers (
        .s_clk(s_clk), .m_clk(m_clk),
        .write_count(write_count), .write_gray(write_gray), .not_full(not_full), .read_0(read_0), .read_1(read_1),
        .read_count(read_count), .read_gray(read_gray), .write_0(write_0), .write_1(write_1)
    );

    wire [POINTER-1:0] stored = write_count - read_count;
    wire [POINTER-1:0] place = read_count + ahead[POINTER-1:0] - m_valid;

    always @* begin
        all_are_counted: assert (inside == stored + m_valid);
        if (watching && !left && ahead >= m_valid) begin
            watched_is_in_its_place: assert (memory[place[POINTER-2:0]*WIDTH +: WIDTH] == watched);
        end
    end
`endif
endmodule

`default_nettype wire
