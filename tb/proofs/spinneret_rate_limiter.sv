// SpinneretRateLimiter with beats of two bytes: every beat leaves once, in order, unchanged; a frame begins exactly when
// its credit is not negative, and has then no pause of its own; credit and counters are exact; in no window of clocks more
// passes than burst, rate and the longest frame.
//
// The solver chooses one beat when it is taken (`watch`), and one clock in which a window begins (`measure`). Nothing is
// assumed of the environment but the stream rules of the input, and while a window is measured that settings stay and
// frames have four bytes at most.
`default_nettype none

module spinneret_rate_limiter_proof (
    input wire clk,
    input wire rst,
    input wire [21:0] s, // {last, tuser, tdest, tid, tkeep, tdata}
    input wire s_valid,
    input wire m_ready,
    input wire enforce,
    input wire [2:0] rate,
    input wire [`CREDIT_WIDTH-1:0] burst,
    input wire watch,
    input wire measure
);
    // The credit in half bytes, as the period is two clocks, with its sign and room above the burst.
    localparam STEPS = `CREDIT_WIDTH + 3;

    wire s_ready, m_valid;
    wire [21:0] m;
    wire [31:0] frames_passed, cycles_held;
    wire [63:0] bytes_passed;

    spinneret_rate_limiter dut (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s[15:0]), .s_axis_tkeep(s[17:16]), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready),
        .s_axis_tlast(s[21]), .s_axis_tid(s[18]), .s_axis_tdest(s[19]), .s_axis_tuser(s[20]),
        .m_axis_tdata(m[15:0]), .m_axis_tkeep(m[17:16]), .m_axis_tvalid(m_valid), .m_axis_tready(m_ready),
        .m_axis_tlast(m[21]), .m_axis_tid(m[18]), .m_axis_tdest(m[19]), .m_axis_tuser(m[20]),
        .limit_enforce(enforce), .limit_rate(rate), .limit_burst(burst),
        .frames_passed(frames_passed), .bytes_passed(bytes_passed), .cycles_held(cycles_held)
    );

    stream_environment #(.WIDTH(22)) s_rules (
        .clk(clk), .rst(rst), .valid(s_valid), .ready(s_ready), .payload(s)
    );
    stream_rules #(.WIDTH(22)) m_rules (
        .clk(clk), .rst(rst), .valid(m_valid), .ready(m_ready), .payload(m)
    );

    wire push = s_valid && s_ready;
    wire pop = m_valid && m_ready;

    // Where beats are, from the ports alone: the register of the input, both in front of the output, the output.
    reg after_reset = 1'b1;
    reg in_spare = 1'b0;
    reg in_counted = 1'b0;
    reg in_gate = 1'b0;
    reg in_output = 1'b0;
    reg [21:0] spare, counted, gate, output_beat;
    reg within = 1'b0;
    reg full = 1'b0;
    reg signed [STEPS-1:0] credit = 0;

    wire free = !in_output || m_ready;
    wire passes = in_gate && free && (within || !enforce || credit >= 0);
    wire held = in_gate && free && !passes;
    wire to_gate = !in_gate || passes;
    wire to_counted = !in_counted || to_gate;
    wire [1:0] bytes = gate[16] + gate[17];
    wire [1:0] paid = passes && enforce ? bytes : 2'd0;

    // One bit more than the credit has: what falls below its lowest value is forgiven.
    wire signed [STEPS:0] balance = credit + (full ? 0 : $signed({1'b0, rate})) - $signed({2'b00, paid, 1'b0});
    localparam signed [STEPS:0] LOWEST = -(1 <<< (STEPS - 1));

    reg happened_frame = 1'b0;
    reg happened_held = 1'b0;
    reg [1:0] happened_bytes = 2'd0;
    reg [31:0] expected_frames = 32'd0;
    reg [31:0] expected_held = 32'd0;
    reg [63:0] expected_bytes = 64'd0;

    always @(posedge clk) begin
        after_reset <= rst;
        if (free) begin
            in_output <= passes;
            output_beat <= gate;
        end
        if (to_gate) begin
            in_gate <= in_counted;
            gate <= counted;
        end
        if (to_counted) begin
            in_counted <= in_spare || push;
            counted <= in_spare ? spare : s;
            in_spare <= 1'b0;
        end else if (push) begin
            in_spare <= 1'b1;
            spare <= s;
        end
        if (passes) within <= !gate[21];
        credit <= balance < LOWEST ? LOWEST : balance;
        full <= credit > $signed({3'b000, burst, 1'b0});
        happened_frame <= passes && gate[21];
        happened_held <= held;
        happened_bytes <= passes ? bytes : 2'd0;
        expected_frames <= expected_frames + happened_frame;
        expected_held <= expected_held + happened_held;
        expected_bytes <= expected_bytes + happened_bytes;
        if (rst) begin
            in_spare <= 1'b0;
            in_counted <= 1'b0;
            in_gate <= 1'b0;
            in_output <= 1'b0;
            within <= 1'b0;
            full <= 1'b0;
            credit <= 0;
            happened_frame <= 1'b0;
            happened_held <= 1'b0;
            happened_bytes <= 2'd0;
            expected_frames <= 32'd0;
            expected_held <= 32'd0;
            expected_bytes <= 64'd0;
        end
    end

    // One beat, from input to output, without a word of what lies between.
    reg [2:0] inside = 3'd0;
    reg watching = 1'b0;
    reg [2:0] ahead;
    reg [21:0] watched;
    always @(posedge clk) begin
        inside <= inside + push - pop;
        if (watching && pop) begin
            ahead <= ahead - 3'd1;
            if (ahead == 0) watching <= 1'b0;
        end
        if (!watching && push && watch) begin
            watching <= 1'b1;
            ahead <= inside - pop;
            watched <= s;
        end
        if (rst) begin
            inside <= 3'd0;
            watching <= 1'b0;
        end
    end

    // A window begins at any time at which the settings have been the same since reset: what may still pass until its end,
    // beside the longest frame. It stops growing where no credit reaches.
    reg steady = 1'b1;
    reg measuring = 1'b0;
    reg signed [STEPS+1:0] left;
    reg [2:0] frame_bytes = 3'd0;
    reg [2:0] last_rate;
    reg [`CREDIT_WIDTH-1:0] last_burst;
    localparam signed [STEPS+1:0] ENOUGH = 1 <<< STEPS;
    wire signed [STEPS+1:0] grown = left + $signed({1'b0, rate});
    wire same = rate == last_rate && burst == last_burst;
    wire steady_now = steady && (after_reset || same);
    always @(posedge clk) begin
        last_rate <= rate;
        last_burst <= burst;
        steady <= steady_now || rst;
        if (passes) frame_bytes <= gate[21] ? 3'd0 : frame_bytes + bytes;
        if (measuring) left <= (grown > ENOUGH ? ENOUGH : grown) - $signed({1'b0, paid, 1'b0});
        else left <= $signed({1'b0, burst, 1'b0}) + $signed({1'b0, rate, 1'b0});
        measuring <= !rst && (measuring || (measure && steady_now));
        if (rst) frame_bytes <= 3'd0;
    end

    always @* begin
        if (measuring) begin
            assume (same && enforce);
            assume (!in_gate || frame_bytes + bytes <= 4);
            no_more_than_burst_rate_and_a_frame: assert (left >= -8);
        end
        takes_with_room: assert (s_ready == (!after_reset && !in_spare));
        leaves_when_it_may: assert (m_valid == in_output);
        if (in_output) leaves_unchanged: assert (m == output_beat);
        holds_four: assert (inside <= 4);
        gives_what_is_inside: assert (!m_valid || inside != 0);
        if (watching) begin
            keeps_the_watched: assert (ahead < inside);
            if (m_valid && ahead == 0) gives_the_watched: assert (m == watched);
        end
        counts_frames: assert (frames_passed == expected_frames);
        counts_bytes: assert (bytes_passed == expected_bytes);
        counts_held: assert (cycles_held == expected_held);
        fourth_is_watched: cover (watching && ahead == 3);
        was_held: cover (expected_held == 2 && passes);
        pays_in_a_window: cover (measuring && left < 0 && passes);
    end

`ifndef CONTRACT_ONLY
    // The registers inside are those of the contract; induction needs it.
    (* internal = "dut.u_slice.spare_used" *) wire dut_spare_used;
    (* internal = "dut.u_slice.spare" *) wire [21:0] dut_spare;
    (* internal = "dut.u_slice.ready" *) wire dut_ready;
    (* internal = "dut.counted_valid" *) wire dut_counted_valid;
    (* internal = "dut.counted_last" *) wire dut_counted_last;
    (* internal = "dut.counted_beat" *) wire [20:0] dut_counted_beat;
    (* internal = "dut.counted_0" *) wire [1:0] dut_counted;
    (* internal = "dut.gate_valid" *) wire dut_gate_valid;
    (* internal = "dut.gate_last" *) wire dut_gate_last;
    (* internal = "dut.gate_beat" *) wire [20:0] dut_gate_beat;
    (* internal = "dut.gate_bytes" *) wire [1:0] dut_gate_bytes;
    (* internal = "dut.within_frame" *) wire dut_within;
    (* internal = "dut.full" *) wire dut_full;
    (* internal = "dut.credit" *) wire [STEPS-1:0] dut_credit;
    (* internal = "dut.happened_bytes" *) wire [1:0] dut_happened_bytes;
    (* internal = "dut.u_counters.happened" *) wire [1:0] dut_happened;

    wire [2:0] places = in_output + in_gate + in_counted + in_spare;
    // The place of the watched beat, counted from the output.
    wire [2:0] at_gate = in_output;
    wire [2:0] at_counted = in_output + in_gate;
    wire [2:0] at_spare = in_output + in_gate + in_counted;

    always @* begin
        spare_is: assert (dut_spare_used == in_spare && dut_ready == (!in_spare && !after_reset));
        if (in_spare) spare_beat: assert (dut_spare == spare);
        counted_is: assert (dut_counted_valid == in_counted);
        if (in_counted) counted_beat:
            assert ({dut_counted_last, dut_counted_beat} == counted && dut_counted == counted[16] + counted[17]);
        gate_is: assert (dut_gate_valid == in_gate);
        if (in_gate) gate_beat: assert ({dut_gate_last, dut_gate_beat} == gate && dut_gate_bytes == bytes);
        frame_is: assert (dut_within == within);
        credit_is: assert (dut_credit == credit && dut_full == full);
        events: assert (dut_happened == {happened_held, happened_frame} && dut_happened_bytes == happened_bytes);
        all_places: assert (inside == places);
        spare_waits_for_counted: assert (!in_spare || in_counted);
        if (watching) begin
            if (in_output && ahead == 0) watched_at_output: assert (output_beat == watched);
            if (in_gate && ahead == at_gate) watched_at_gate: assert (gate == watched);
            if (in_counted && ahead == at_counted) watched_counted: assert (counted == watched);
            if (in_spare && ahead == at_spare) watched_spare: assert (spare == watched);
        end
        never_overflows: assert (credit <= 2 * ((1 << `CREDIT_WIDTH) - 1) + 7 + (full ? 7 : 0));
        if (steady && !after_reset) begin
            // What the settings of the clock before have let in.
            saved: assert (credit <= $signed({1'b0, last_burst, 1'b0}) + $signed({1'b0, last_rate})
                + (full ? $signed({1'b0, last_rate}) : 0));
        end
        if (measuring) begin
            credit_is_within_what_is_left: assert (credit <= left);
            debt_is_of_one_frame: assert (left >= (within ? -$signed({1'b0, frame_bytes, 1'b0}) : -8));
            settings_stay: assert (steady);
            grows_no_further: assert (left <= ENOUGH);
        end
    end
`endif
endmodule

`default_nettype wire
