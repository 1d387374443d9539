// OutputQueue: order, no loss, no duplication, latency, and exact flags.
//
// As in fifo.sv, the solver chooses one element at the time it goes in (`watch`), and `ahead` counts those
// that leave before it. Nothing is assumed of the environment, not even the stream rules.
`default_nettype none

module output_queue_proof (
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
    localparam POINTER = $clog2(DEPTH);

    wire s_ready;
    wire m_valid;
    wire [WIDTH-1:0] m_data;
    wire almost_full;

    output_queue dut (
        .clk(clk), .rst(rst),
        .s_data(s_data), .s_valid(s_valid), .s_ready(s_ready),
        .m_data(m_data), .m_valid(m_valid), .m_ready(m_ready),
        .almost_full(almost_full)
    );

    stream_rules #(.WIDTH(WIDTH)) m_rules (
        .clk(clk), .rst(rst), .valid(m_valid), .ready(m_ready), .payload(m_data)
    );

    wire push = s_valid && s_ready;
    wire pop = m_valid && m_ready;

    // The contract, from the ports alone.
    reg [POINTER:0] inside = 0;
    reg after_reset = 1'b1;
    reg watching = 1'b0;
    reg [POINTER:0] ahead;
    reg [WIDTH-1:0] watched;

    always @(posedge clk) begin
        after_reset <= rst;
        inside <= inside + push - pop;
        if (watching && pop) begin
            ahead <= ahead - 1'b1;
            if (ahead == 0) watching <= 1'b0;
        end
        if (!watching && push && watch) begin
            watching <= 1'b1;
            ahead <= inside - pop;
            watched <= s_data;
        end
        if (rst) begin
            inside <= 0;
            watching <= 1'b0;
        end
    end

    always @* begin
        holds_its_depth_and_one: assert (inside <= DEPTH + 1);
        ready_unless_full_or_reset: assert (s_ready == (inside != DEPTH + 1 && !after_reset));
        almost_full_is_exact: assert (almost_full == (inside + MARGIN >= DEPTH + 1));
        comes_after_one_cycle: assert (m_valid == (inside != 0));
        if (watching) begin
            keeps_the_watched: assert (ahead < inside);
            if (ahead == 0) gives_the_watched: assert (m_data == watched);
        end
    end

    always @* begin
        fills: cover (inside == DEPTH + 1);
        gives_what_waited: cover (watching && ahead == 0 && inside == DEPTH + 1);
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.u_fifo.count" *) wire [POINTER:0] count;
    (* internal = "dut.u_fifo.write_ptr" *) wire [POINTER-1:0] write_ptr;
    (* internal = "dut.u_fifo.read_ptr" *) wire [POINTER-1:0] read_ptr;
    (* internal = "dut.u_fifo.stored" *) wire stored;
    wire [POINTER-1:0] place = read_ptr + ahead - 1'b1;

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
        all_are_counted: assert (inside == count + m_valid);
        memory_is_counted: assert (stored == (count != 0));
        pointers_are_apart: assert ((write_ptr - read_ptr - count) % DEPTH == 0);
        if (watching && ahead != 0) watched_is_in_its_place: assert (memory[place*WIDTH +: WIDTH] == watched);
    end
`endif
endmodule

`default_nettype wire
