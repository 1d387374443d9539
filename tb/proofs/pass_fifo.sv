// PassFifo: order, no loss, no duplication, no latency while empty, and exact flags.
//
// As in fifo.sv, the solver chooses one element at the time it goes in (`watch`), and `ahead` counts those
// that leave before it; one that passes is compared at once. What is assumed: the input obeys the stream
// rules, as an element is shown before it is taken.
`default_nettype none

module pass_fifo_proof (
    input wire clk,
    input wire rst,
    input wire s_valid,
    input wire [`WIDTH-1:0] s_data,
    input wire m_ready,
    input wire watch
);
    localparam WIDTH = `WIDTH;
    localparam DEPTH = `DEPTH;
    localparam MARGIN = `MARGIN;
    localparam REGISTERED = `REGISTERED;
    localparam BLOCK = `BLOCK;
    localparam POINTER = $clog2(DEPTH);

    wire s_ready;
    wire m_valid;
    wire [WIDTH-1:0] m_data;
    wire almost_full;

    pass_fifo dut (
        .clk(clk), .rst(rst),
        .s_data(s_data), .s_valid(s_valid), .s_ready(s_ready),
        .m_data(m_data), .m_valid(m_valid), .m_ready(m_ready),
        .almost_full(almost_full)
    );

    stream_environment #(.WIDTH(WIDTH)) s_rules (
        .clk(clk), .rst(rst), .valid(s_valid), .ready(s_ready), .payload(s_data)
    );
    stream_rules #(.WIDTH(WIDTH)) m_rules (
        .clk(clk), .rst(rst), .valid(m_valid), .ready(m_ready), .payload(m_data)
    );

    wire push = s_valid && s_ready;
    wire pop = m_valid && m_ready;

    // The contract, from the ports alone.
    reg beside = 1'b0; // A registered FIFO has an element beside it.
    reg [POINTER:0] queued = 0; // Elements behind that one.
    reg after_reset = 1'b1;
    reg waited = 1'b0; // An element was queued in the last cycle, and stayed.
    reg watching = 1'b0;
    reg [POINTER:0] ahead;
    reg [WIDTH-1:0] watched;
    wire [POINTER:0] inside = queued + beside;
    // In front of distributed RAM it is the first of all that is beside, not only the first that had to wait.
    wire to_beside = REGISTERED && (push && queued == 0 && beside == pop || !BLOCK && queued != 0 && pop);
    wire stays_beside = to_beside || (beside && !pop);

    always @(posedge clk) begin
        after_reset <= rst;
        beside <= stays_beside;
        queued <= inside + push - pop - stays_beside;
        waited <= !rst && queued != (pop && !beside);
        if (watching && pop) begin
            ahead <= ahead - 1'b1;
            if (ahead == 0) watching <= 1'b0;
        end
        if (!watching && push && watch && !(inside == 0 && pop)) begin
            watching <= 1'b1;
            ahead <= inside - pop;
            watched <= s_data;
        end
        if (rst) begin
            beside <= 1'b0;
            queued <= 0;
            watching <= 1'b0;
        end
    end

    always @* begin
        holds_its_depth: assert (queued <= DEPTH);
        ready_unless_full_or_reset: assert (s_ready == (queued != DEPTH && !after_reset));
        almost_full_is_exact: assert (almost_full == (queued + MARGIN >= DEPTH));
        if (inside == 0) passes_at_once: assert (m_valid == push && (!push || m_data == s_data));
        else if (BLOCK) comes_after_two_cycles: assert (m_valid || (!beside && !waited));
        else comes_after_one_cycle: assert (m_valid);
        if (watching) begin
            keeps_the_watched: assert (ahead < inside);
            if (m_valid && ahead == 0) gives_the_watched: assert (m_data == watched);
        end
    end

    always @* begin
        fills: cover (queued == DEPTH && beside == REGISTERED);
        gives_what_waited: cover (watching && ahead == 0 && queued == DEPTH && pop);
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.u_fifo.count" *) wire [POINTER:0] count;
    (* internal = "dut.u_fifo.write_ptr" *) wire [POINTER-1:0] write_ptr;
    (* internal = "dut.u_fifo.read_ptr" *) wire [POINTER-1:0] read_ptr;
    (* internal = "dut.u_fifo.stored" *) wire stored;
    (* internal = "dut.fifo_m_data" *) wire [WIDTH-1:0] fifo_m_data;
`ifdef REGISTERED_1
    (* internal = "dut.first" *) wire [WIDTH-1:0] first;
    (* internal = "dut.first_used" *) wire first_used;
    always @* begin
        first_is_beside: assert (first_used == beside);
        if (watching && ahead == 0 && beside) watched_is_beside: assert (first == watched);
        if (!BLOCK && queued != 0) the_first_is_beside: assert (beside);
    end
`else
    always @* nothing_is_beside: assert (!beside);
`endif
`ifdef BLOCK_1
    (* internal = "dut.u_fifo.held" *) wire held;
    (* internal = "dut.waiting" *) wire waiting;
    always @* begin
        waiting_is_exact: assert (waiting == (queued != 0));
        if (watching && ahead == beside && held) watched_is_at_the_output: assert (fifo_m_data == watched);
    end
`else
    wire held = 1'b0;
`endif
    wire [POINTER:0] in_memory = count - held;
    wire [POINTER:0] behind = ahead - beside;
    wire [POINTER-1:0] place = read_ptr + behind - held;

    (* internal = "dut.u_fifo.u_memory.memory[0]" *) wire [WIDTH-1:0] cell_0;
    (* internal = "dut.u_fifo.u_memory.memory[1]" *) wire [WIDTH-1:0] cell_1;
`ifdef DEPTH_2
    wire [DEPTH*WIDTH-1:0] memory = {cell_1, cell_0};
`else
    (* internal = "dut.u_fifo.u_memory.memory[2]" *) wire [WIDTH-1:0] cell_2;
    (* internal = "dut.u_fifo.u_memory.memory[3]" *) wire [WIDTH-1:0] cell_3;
    wire [DEPTH*WIDTH-1:0] memory = {
        cell_3, cell_2, cell_1, cell_0
    };
`endif

    always @* begin
        all_are_counted: assert (count == queued && in_memory <= DEPTH);
        memory_is_counted: assert (stored == (in_memory != 0));
        pointers_are_apart: assert ((write_ptr - read_ptr - in_memory) % DEPTH == 0);
        if (watching && ahead >= beside + held)
            watched_is_in_its_place: assert (memory[place*WIDTH +: WIDTH] == watched);
    end
`endif
endmodule

`default_nettype wire
