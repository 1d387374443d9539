// SkidBuffer: order, no loss, no duplication, latency of one cycle, room for two.
//
// As in fifo.sv, the solver chooses one element when it goes in, and the proof follows it to the output.
// Nothing is assumed of the environment.
`default_nettype none

module skid_buffer_proof (
    input wire clk,
    input wire rst,
    input wire s_valid,
    input wire [`WIDTH-1:0] s_data,
    input wire m_ready,
    input wire watch
);
    localparam WIDTH = `WIDTH;

    wire s_ready;
    wire m_valid;
    wire [WIDTH-1:0] m_data;

    skid_buffer dut (
        .clk(clk), .rst(rst),
        .s_data(s_data), .s_valid(s_valid), .s_ready(s_ready),
        .m_data(m_data), .m_valid(m_valid), .m_ready(m_ready)
    );

    stream_rules #(.WIDTH(WIDTH)) m_rules (
        .clk(clk), .rst(rst), .valid(m_valid), .ready(m_ready), .payload(m_data)
    );

    wire push = s_valid && s_ready;
    wire pop = m_valid && m_ready;

    // The contract, from the ports alone.
    reg [1:0] inside = 2'd0;
    reg after_reset = 1'b1;
    reg watching = 1'b0;
    reg [1:0] ahead;
    reg [WIDTH-1:0] watched;
    reg was_watched = 1'b0;

    always @(posedge clk) begin
        after_reset <= rst;
        inside <= inside + push - pop;
        if (watching && pop) begin
            ahead <= ahead - 1'b1;
            if (ahead == 0) watching <= 1'b0;
            if (ahead == 0) was_watched <= 1'b1;
        end
        if (!watching && push && watch) begin
            watching <= 1'b1;
            ahead <= inside - pop;
            watched <= s_data;
        end
        if (rst) begin
            inside <= 2'd0;
            watching <= 1'b0;
        end
    end

    always @* begin
        holds_two: assert (inside <= 2);
        ready_unless_full_or_reset: assert (s_ready == (inside != 2 && !after_reset));
        comes_after_one_cycle: assert (m_valid == (inside != 0));
        if (watching) begin
            keeps_the_watched: assert (ahead < inside);
            if (m_valid && ahead == 0) gives_the_watched: assert (m_data == watched);
        end
        is_full: cover (inside == 2 && watching && ahead == 1);
        has_given_the_watched: cover (was_watched);
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.spare" *) wire [WIDTH-1:0] spare;
    (* internal = "dut.spare_used" *) wire spare_used;

    always @* begin
        spare_is_the_second: assert (spare_used == (inside == 2));
        if (watching && ahead == 1) watched_is_in_its_place: assert (spare == watched);
    end
`endif
endmodule

`default_nettype wire
