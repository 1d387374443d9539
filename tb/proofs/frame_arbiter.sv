// FrameArbiter with three inputs: every beat that is taken comes out once, next, unchanged and with its
// source; frames are not interleaved; no input waits for more than one frame of every other; no cycle is lost.
//
// The solver chooses the input (`port`) for which the waiting is counted. The environment obeys the stream
// rules; nothing is assumed of how frames are paused.
`default_nettype none

module frame_arbiter_proof (
    input wire clk,
    input wire rst,
    input wire [2:0] s_valid,
    input wire [2:0] s_last,
    input wire [`WIDTH-1:0] s_0_data,
    input wire [`WIDTH-1:0] s_1_data,
    input wire [`WIDTH-1:0] s_2_data,
    input wire m_ready
);
    localparam PORTS = 3;
    localparam WIDTH = `WIDTH;

    wire [2:0] s_ready;
    wire m_valid;
    wire m_last;
    wire [WIDTH-1:0] m_data;
    wire [1:0] source;

    frame_arbiter dut (
        .clk(clk), .rst(rst),
        .s_0_data(s_0_data), .s_0_last(s_last[0]), .s_0_valid(s_valid[0]), .s_0_ready(s_ready[0]),
        .s_1_data(s_1_data), .s_1_last(s_last[1]), .s_1_valid(s_valid[1]), .s_1_ready(s_ready[1]),
        .s_2_data(s_2_data), .s_2_last(s_last[2]), .s_2_valid(s_valid[2]), .s_2_ready(s_ready[2]),
        .m_data(m_data), .m_last(m_last), .m_valid(m_valid), .m_ready(m_ready), .source(source)
    );

    stream_environment #(.WIDTH(WIDTH + 1)) s_0_rules (
        .clk(clk), .rst(rst), .valid(s_valid[0]), .ready(s_ready[0]), .payload({s_last[0], s_0_data})
    );
    stream_environment #(.WIDTH(WIDTH + 1)) s_1_rules (
        .clk(clk), .rst(rst), .valid(s_valid[1]), .ready(s_ready[1]), .payload({s_last[1], s_1_data})
    );
    stream_environment #(.WIDTH(WIDTH + 1)) s_2_rules (
        .clk(clk), .rst(rst), .valid(s_valid[2]), .ready(s_ready[2]), .payload({s_last[2], s_2_data})
    );
    stream_rules #(.WIDTH(WIDTH + 3)) m_rules (
        .clk(clk), .rst(rst), .valid(m_valid), .ready(m_ready), .payload({source, m_last, m_data})
    );

    // What is taken, and from which input.
    wire [2:0] taken = s_valid & s_ready;
    wire take = |taken;
    wire [1:0] from = taken[2] ? 2'd2 : taken[1] ? 2'd1 : 2'd0;
    wire [WIDTH-1:0] taken_data = taken[2] ? s_2_data : taken[1] ? s_1_data : s_0_data;
    wire taken_last = |(taken & s_last);
    wire pop = m_valid && m_ready;

    // The beat that must be at the output, and the frame that is going in.
    reg holds = 1'b0;
    reg [WIDTH+2:0] held;
    reg within = 1'b0;
    reg [1:0] owner = 2'd2;
    // The frame that is going out.
    reg out_within = 1'b0;
    reg [1:0] out_source;

    always @(posedge clk) begin
        if (pop) begin
            holds <= 1'b0;
            out_within <= !m_last;
            out_source <= source;
        end
        if (take) begin
            holds <= 1'b1;
            held <= {from, taken_last, taken_data};
            within <= !taken_last;
            owner <= from;
        end
        if (rst) begin
            holds <= 1'b0;
            within <= 1'b0;
            owner <= 2'd2;
            out_within <= 1'b0;
        end
    end

    // Frames of other inputs that ended while the input waits with the first beat of one, and the number of
    // turns after which it is asked.
    (* anyconst *) reg [1:0] port;
    wire waits = s_valid[port] && !s_ready[port] && !(within && owner == port);
    wire [2:0] turns = port > owner ? port - owner : port + 3'd3 - owner;
    reg [2:0] passed = 3'd0;

    always @(posedge clk) begin
        if (!waits || rst) passed <= 3'd0;
        else if (take && taken_last) passed <= passed + 3'd1;
    end

    wire free = !m_valid || m_ready;
    wire [2:0] eligible = within ? (3'd1 << owner) : 3'd7;

    always @* begin
        assume (port < PORTS);
        takes_from_one_input: assert ((taken & (taken - 3'd1)) == 0);
        takes_only_with_room: assert (!take || free);
        comes_after_one_cycle: assert (m_valid == holds);
        if (holds) gives_what_it_took: assert ({source, m_last, m_data} == held);
        if (take && within) frames_go_in_whole: assert (from == owner);
        if (m_valid && out_within) frames_come_out_whole: assert (source == out_source);
        loses_no_cycle: assert (!(free && |(eligible & s_valid)) || take);
        waits_for_one_frame_of_every_other: assert (passed <= PORTS - 1);
        has_waited: cover (passed == PORTS - 1);
        frame_of_two_beats_came_out: cover (pop && out_within && m_last);
    end

`ifndef CONTRACT_ONLY
    // How the counters go together; induction needs it.
    (* internal = "dut.within_frame" *) wire dut_within;
    (* internal = "dut.owner" *) wire [1:0] dut_owner;

    always @* begin
        owner_exists: assert (owner < PORTS);
        block_knows_the_frame: assert (dut_within == within && dut_owner == owner);
        output_knows_the_frame: assert (holds || out_within == within);
        if (holds) output_is_one_beat_behind: assert (within == !held[WIDTH] && owner == held[WIDTH+2:WIDTH+1]);
        if (!holds && out_within) output_is_of_the_owner: assert (out_source == owner);
        if (passed != 0) turns_pass: assert (passed + turns <= (within ? PORTS - 1 : PORTS));
    end
`endif
endmodule

`default_nettype wire
