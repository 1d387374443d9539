// FrameValve: towards the path only whole frames, unless a hold cuts them, and nothing while it is held; what does not
// pass is taken at once; metadata goes the way of its frame, also if it is there before; losses are counted exactly.
//
// What is assumed: the path takes no metadata before the frame has begun, as the admission gate does; no more than
// FRAMES frames have begun and wait for their metadata; fewer than 100 packets are in the path.
`default_nettype none

module frame_valve_proof (
    input wire clk,
    input wire rst,
    input wire held,
    input wire [15:0] data,
    input wire [1:0] keep,
    input wire last,
    input wire frame_is_bad,
    input wire s_valid,
    input wire [1:0] meta_s,
    input wire meta_s_valid,
    input wire m_ready,
    input wire meta_m_ready,
    input wire [3:0] left
);
    localparam FRAMES = 6;

    wire [19:0] s = {frame_is_bad, last, keep, data};
    wire s_ready;
    wire meta_s_ready;
    wire [19:0] m;
    wire m_valid;
    wire [1:0] meta_m;
    wire meta_m_valid;
    wire [31:0] lost;

    frame_valve dut (
        .clk(clk), .rst(rst), .held(held),
        .s_data(s), .s_valid(s_valid), .s_ready(s_ready),
        .meta_s_data(meta_s), .meta_s_valid(meta_s_valid), .meta_s_ready(meta_s_ready),
        .m_data(m), .m_valid(m_valid), .m_ready(m_ready),
        .meta_m_data(meta_m), .meta_m_valid(meta_m_valid), .meta_m_ready(meta_m_ready),
        .left(left), .lost(lost)
    );

    wire beat = s_valid && s_ready;
    wire meta = meta_s_valid && meta_s_ready;
    wire passes = m_valid && m_ready;

    // The contract, from the ports alone.
    reg was_held = 1'b1; // In the clock before, or reset.
    reg in_frame = 1'b0;
    reg m_in_frame = 1'b0; // The path has the beginning of a frame, and waits for its end.
    // Frames that have begun and whose metadata has not come: the older ones are gone, the younger ones are in the path.
    reg [3:0] gone = 4'd0;
    reg [3:0] there = 4'd0;
    wire begins = beat && !in_frame;
    wire enters = begins && m_valid;
    wire of_gone = meta && gone != 4'd0;
    wire [3:0] gone_next = gone + (begins && !enters) - of_gone;
    wire [3:0] there_next = there + enters - (meta && !of_gone);

    always @(posedge clk) begin
        was_held <= held || rst;
        if (beat) in_frame <= !last;
        if (held) m_in_frame <= 1'b0;
        else if (passes) m_in_frame <= !last;
        gone <= held ? gone_next + there_next : gone_next;
        there <= held ? 4'd0 : there_next;
        if (rst) begin
            in_frame <= 1'b0;
            m_in_frame <= 1'b0;
            gone <= 4'd0;
            there <= 4'd0;
        end
    end

    always @* begin
        if (gone + there == FRAMES) assume (!begins);
        if (gone + there == 4'd0) assume (!meta_m_ready);
    end

    always @* begin
        no_delay: assert (m == s && meta_m == meta_s && (s_valid || !m_valid) && (meta_s_valid || !meta_m_valid));
        nothing_passes_a_hold: assert (!was_held || (!m_valid && !meta_m_valid));
        never_stops_what_is_gone: assert (!s_valid || m_valid || s_ready);
        stops_nobody_of_its_own: assert (!m_valid || s_ready == m_ready);
        if (s_valid && !in_frame && !was_held) opens_with_the_next_frame: assert (m_valid);
        if (m_valid && !held && !m_in_frame) begins_with_a_first_beat: assert (!in_frame);
        if (s_valid && m_in_frame) goes_on_to_the_end: assert (m_valid);
        metadata_not_before_its_frame: assert (!meta || gone + there != 4'd0);
        metadata_goes_the_way_of_its_frame: assert (
            (!meta_m_valid || gone == 4'd0) && (!meta || meta_m_valid == (gone == 4'd0))
        );
        never_stops_metadata_that_is_gone: assert (!meta_s_valid || gone == 4'd0 || meta_s_ready);
        passes_metadata: assert (!meta_s_valid || was_held || gone != 4'd0 || there == 4'd0 || meta_m_valid);
        metadata_waited: cover (m_valid && meta_m_valid && gone == 4'd0 && there == 4'd0);
        some_are_gone_and_others_not: cover (gone == 4'd2 && there == 4'd2);
    end

    // The account, four clocks late.
    reg [8:0] inside = 9'd0; // Packets in the path, as a signed number.
    wire [8:0] inside_next = inside + (passes && last) - left[0] - left[1] - left[2] - left[3];
    wire [8:0] taken_away = held ? inside_next : 9'd0;
    wire swallowed = beat && last && !m_valid;
    reg [31:0] losses = 32'd0;
    reg [31:0] losses_1 = 32'd0;
    reg [31:0] losses_2 = 32'd0;
    reg [31:0] losses_3 = 32'd0;
    always @(posedge clk) begin
        inside <= held ? 9'd0 : inside_next;
        losses <= losses + {{23{taken_away[8]}}, taken_away} + swallowed;
        losses_1 <= losses;
        losses_2 <= losses_1;
        losses_3 <= losses_2;
        if (rst) begin
            inside <= 9'd0;
            losses <= 32'd0;
            losses_1 <= 32'd0;
            losses_2 <= 32'd0;
            losses_3 <= 32'd0;
        end
    end
    always @* begin
        assume (inside_next < 9'd100 || inside_next == 9'h1ff);
        counts_losses_exactly: assert (lost == losses_3);
        loses_some: cover (losses_3 == 32'd3);
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.in_frame" *) wire dut_in_frame;
    (* internal = "dut.pass" *) wire dut_pass;
    (* internal = "dut.owed" *) wire [8:0] dut_owed;
    (* internal = "dut.skip" *) wire [8:0] dut_skip;
    (* internal = "dut.flight" *) wire [11:0] dut_flight;
    (* internal = "dut.arrived" *) wire dut_arrived;
    (* internal = "dut.departed" *) wire [3:0] dut_departed;
    (* internal = "dut.change" *) wire [3:0] dut_change;
    (* internal = "dut.gone" *) wire [11:0] dut_gone;
    (* internal = "dut.was_held_0" *) wire dut_held_0;
    (* internal = "dut.was_held_1" *) wire dut_held_1;
    (* internal = "dut.swallowed_0" *) wire dut_swallowed_0;
    (* internal = "dut.swallowed_1" *) wire dut_swallowed_1;
    (* internal = "dut.swallowed_2" *) wire dut_swallowed_2;
    always @* begin
        same_frame: assert (dut_in_frame == in_frame);
        held_does_not_pass: assert (!was_held || !dut_pass);
        open_between_frames: assert (was_held || in_frame || dut_pass);
        path_has_what_passes: assert (!m_in_frame || (dut_pass && in_frame));
        begun_in_the_path: assert (!dut_pass || m_in_frame == in_frame);
        owed_are_all: assert (dut_owed == gone + there && gone + there <= FRAMES);
        skipped_are_gone: assert (dut_pass ? dut_skip == gone : there == 4'd0);
        skipped_are_owed: assert (dut_skip <= dut_owed);
    end

    // The stages of the account hold what the ports showed.
    reg passed_1 = 1'b0;
    reg [3:0] left_1 = 4'd0;
    reg held_1 = 1'b0;
    reg swallowed_1 = 1'b0;
    reg [8:0] change_2 = 9'd0;
    reg held_2 = 1'b0;
    reg swallowed_2 = 1'b0;
    reg [8:0] inside_2 = 9'd0;
    reg [8:0] away_3 = 9'd0;
    reg swallowed_3 = 1'b0;
    wire [8:0] change_1 = {8'd0, passed_1} - left_1[0] - left_1[1] - left_1[2] - left_1[3];
    wire [8:0] inside_1 = held_2 ? 9'd0 : inside_2 + change_2; // Before the change of stage 1.
    wire [8:0] away_2 = held_2 ? inside_2 + change_2 : 9'd0;
    wire [8:0] away_1 = held_1 ? inside_1 + change_1 : 9'd0;
    always @(posedge clk) begin
        passed_1 <= passes && last;
        left_1 <= left;
        held_1 <= held;
        swallowed_1 <= swallowed;
        change_2 <= change_1;
        held_2 <= held_1;
        swallowed_2 <= swallowed_1;
        inside_2 <= inside_1;
        away_3 <= away_2;
        swallowed_3 <= swallowed_2;
        if (rst) begin
            passed_1 <= 1'b0;
            left_1 <= 4'd0;
            held_1 <= 1'b0;
            swallowed_1 <= 1'b0;
            change_2 <= 9'd0;
            held_2 <= 1'b0;
            swallowed_2 <= 1'b0;
            inside_2 <= 9'd0;
            away_3 <= 9'd0;
            swallowed_3 <= 1'b0;
        end
    end
    wire [8:0] change_bits = {{5{dut_change[3]}}, dut_change};
    always @* begin
        stage_1: assert (
            dut_arrived == passed_1 && dut_departed == left_1 && dut_held_0 == held_1 && dut_swallowed_0 == swallowed_1
        );
        stage_2: assert (change_bits == change_2 && dut_held_1 == held_2 && dut_swallowed_1 == swallowed_2);
        in_flight: assert (dut_flight == {{3{inside_2[8]}}, inside_2});
        stage_3: assert (dut_gone == {{3{away_3[8]}}, away_3} && dut_swallowed_2 == swallowed_3);
        few_in_stage_2: assert (inside_2 < 9'd100 || inside_2 == 9'h1ff);
        few_in_stage_1: assert (inside_1 < 9'd100 || inside_1 == 9'h1ff);
        follows: assert (inside == (held_1 ? 9'd0 : inside_1 + change_1));
        few_inside: assert (inside < 9'd100 || inside == 9'h1ff);
        losses_follow: assert (
            losses == losses_1 + {{23{away_1[8]}}, away_1} + swallowed_1
            && losses_1 == losses_2 + {{23{away_2[8]}}, away_2} + swallowed_2
            && losses_2 == losses_3 + {{23{away_3[8]}}, away_3} + swallowed_3
        );
    end
`endif
endmodule

`default_nettype wire
