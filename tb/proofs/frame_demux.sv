// FrameDemux with three outputs: every beat comes out once, next, unchanged, at the selected output and at
// no other; a select element goes with the last beat of its frame; a frame for the fourth output, which
// does not exist, is discarded and reported; an output that stalls blocks its own frames only.
//
// The solver chooses the output (`port`) that is looked at. The environment obeys the stream rules.
`default_nettype none

module frame_demux_proof (
    input wire clk,
    input wire rst,
    input wire s_valid,
    input wire s_last,
    input wire [`WIDTH-1:0] s_data,
    input wire select_valid,
    input wire [1:0] select_data,
    input wire [2:0] m_ready
);
    localparam PORTS = 3;
    localparam WIDTH = `WIDTH;

    wire s_ready;
    wire select_ready;
    wire [2:0] m_valid;
    wire [2:0] m_last;
    wire [WIDTH-1:0] m_0_data;
    wire [WIDTH-1:0] m_1_data;
    wire [WIDTH-1:0] m_2_data;
    wire misrouted;

    frame_demux dut (
        .clk(clk), .rst(rst),
        .s_data(s_data), .s_last(s_last), .s_valid(s_valid), .s_ready(s_ready),
        .select_data(select_data), .select_valid(select_valid), .select_ready(select_ready),
        .m_0_data(m_0_data), .m_0_last(m_last[0]), .m_0_valid(m_valid[0]), .m_0_ready(m_ready[0]),
        .m_1_data(m_1_data), .m_1_last(m_last[1]), .m_1_valid(m_valid[1]), .m_1_ready(m_ready[1]),
        .m_2_data(m_2_data), .m_2_last(m_last[2]), .m_2_valid(m_valid[2]), .m_2_ready(m_ready[2]),
        .misrouted(misrouted)
    );

    stream_environment #(.WIDTH(WIDTH + 1)) s_rules (
        .clk(clk), .rst(rst), .valid(s_valid), .ready(s_ready), .payload({s_last, s_data})
    );
    stream_environment #(.WIDTH(2)) select_rules (
        .clk(clk), .rst(rst), .valid(select_valid), .ready(select_ready), .payload(select_data)
    );
    stream_rules #(.WIDTH(WIDTH + 1)) m_0_rules (
        .clk(clk), .rst(rst), .valid(m_valid[0]), .ready(m_ready[0]), .payload({m_last[0], m_0_data})
    );
    stream_rules #(.WIDTH(WIDTH + 1)) m_1_rules (
        .clk(clk), .rst(rst), .valid(m_valid[1]), .ready(m_ready[1]), .payload({m_last[1], m_1_data})
    );
    stream_rules #(.WIDTH(WIDTH + 1)) m_2_rules (
        .clk(clk), .rst(rst), .valid(m_valid[2]), .ready(m_ready[2]), .payload({m_last[2], m_2_data})
    );

    (* anyconst *) reg [1:0] port;
    wire [WIDTH:0] payload = port == 0 ? {m_last[0], m_0_data}
        : port == 1 ? {m_last[1], m_1_data} : {m_last[2], m_2_data};
    wire valid = m_valid[port];
    wire ready = m_ready[port];
    wire take = s_valid && s_ready;
    wire misroute = select_data >= PORTS;

    // The beat that must be at the output.
    reg holds = 1'b0;
    reg [WIDTH:0] held;
    // The frame that was going in, and where.
    reg within = 1'b0;
    reg [1:0] destination;
    reg discarded = 1'b0;

    always @(posedge clk) begin
        if (valid && ready) holds <= 1'b0;
        if (take && select_data == port) begin
            holds <= 1'b1;
            held <= {s_last, s_data};
        end
        if (take) begin
            within <= !s_last;
            destination <= select_data;
        end
        discarded <= take && s_last && misroute;
        if (rst) begin
            holds <= 1'b0;
            within <= 1'b0;
            discarded <= 1'b0;
        end
    end

    // After a reset in the middle of a frame the environment starts again on both inputs.
    always @* begin
        assume (port < PORTS);
        waits_for_select: assert (!take || select_valid);
        takes_select_with_the_last_beat: assert ((select_ready && select_valid) == (take && s_last));
        comes_after_one_cycle: assert (valid == holds);
        if (holds) gives_what_it_took: assert (payload == held);
        if (take && within) frames_stay_together: assert (select_data == destination);
        if (take && select_data == port) takes_only_with_room: assert (!valid || ready);
        if (s_valid && select_valid && select_data == port && (!valid || ready)) loses_no_cycle: assert (take);
        if (s_valid && select_valid && misroute) discards_at_once: assert (take);
        reports_discarded_frames: assert (misrouted == discarded);
        other_output_passes_a_stall: cover (valid && !ready && take && select_data != port && !misroute);
        has_discarded: cover (misrouted);
    end

`ifndef CONTRACT_ONLY
    // What keeps a frame together is that its select element waits for its end; induction needs it.
    (* internal = "select_rules.waiting" *) wire select_waiting;
    (* internal = "select_rules.waiting_payload" *) wire [1:0] select_waiting_for;

    always @* begin
        if (within) select_waits: assert (select_waiting && select_waiting_for == destination);
    end
`endif
endmodule

`default_nettype wire
