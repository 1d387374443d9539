// PspinTxInject with beats of one byte, tags of two bits and a timestamp of one: stream rules of both outputs;
// frames leave whole, in order, unchanged but for what the contract names; a frame waits for one frame of the other
// stream at most; exactly the host's completions leave, in order; both counters are exact.
//
// The solver chooses one beat of each stream and one completion when they are taken, and the proof follows each to
// the output. Nothing is assumed of the environment but the stream rules of both frame inputs.
//
// PspinRxInject is the same without completions, and changes no frame. There, passed frames have three beats at most, and the
// proof counts how many of them delay an unmatched frame.
`default_nettype none

// One stream of frames through the block: the watched beat comes out as it should, in its order.
module tx_stream_rules #(
    parameter BEAT = 15 // {last, tuser, tdest, tid, tkeep, tdata}
) (
    input wire clk,
    input wire rst,
    input wire push,
    input wire [BEAT-1:0] beat,
    input wire pop,
    input wire out_valid,
    input wire [BEAT-1:0] out,
    input wire watch,
    output reg [1:0] inside,
    output reg watching,
    output reg ahead,
    output reg [BEAT-1:0] watched
);
    initial begin
        inside = 2'd0;
        watching = 1'b0;
    end
    always @(posedge clk) begin
        inside <= inside + push - pop;
        if (watching && pop) begin
            ahead <= 1'b0;
            if (!ahead) watching <= 1'b0;
        end
        if (!watching && push && watch) begin
            watching <= 1'b1;
            ahead <= inside != pop;
            watched <= beat;
        end
        if (rst) begin
            inside <= 2'd0;
            watching <= 1'b0;
        end
    end

    always @* begin
        holds_two: assert (inside <= 2);
        gives_what_is_inside: assert (!out_valid || inside != 0);
        if (watching) begin
            keeps_the_watched: assert (ahead < inside);
            if (out_valid && !ahead) gives_the_watched: assert (out == watched);
        end
        second_is_watched: cover (watching && ahead);
    end
endmodule

module pspin_tx_inject_proof (
    input wire clk,
    input wire rstn,
    input wire [13:0] host, // {tuser, tdest, tid, tkeep, tdata}
    input wire host_last,
    input wire host_valid,
    input wire [13:0] ours,
    input wire ours_last,
    input wire ours_valid,
    input wire m_ready,
    input wire [2:0] cpl, // {tag, timestamp}
    input wire cpl_valid,
    input wire cpl_out_ready,
    input wire [2:0] watch
);
    wire rst = !rstn;
    wire host_ready, ours_ready, m_valid, m_last, cpl_ready, cpl_out_valid;
    wire [13:0] m;
    wire [2:0] cpl_out;
    wire [31:0] count_ours, count_conflict;

`ifdef HARNESS_PSPIN_TX_INJECT
    assign {cpl_ready, cpl_out_valid, cpl_out, count_ours, count_conflict} = 69'd0;
    wire [14:0] ours_out = {ours_last, ours};
    pspin_rx_inject dut (
        .clk(clk), .rstn(rstn),
        .s_axis_nic_rx_tdata(host[7:0]), .s_axis_nic_rx_tkeep(host[8]), .s_axis_nic_rx_tvalid(host_valid),
        .s_axis_nic_rx_tready(host_ready), .s_axis_nic_rx_tlast(host_last), .s_axis_nic_rx_tid(host[9]),
        .s_axis_nic_rx_tdest(host[10]), .s_axis_nic_rx_tuser(host[13:11]),
        .s_axis_pspin_rx_tdata(ours[7:0]), .s_axis_pspin_rx_tkeep(ours[8]), .s_axis_pspin_rx_tvalid(ours_valid),
        .s_axis_pspin_rx_tready(ours_ready), .s_axis_pspin_rx_tlast(ours_last), .s_axis_pspin_rx_tid(ours[9]),
        .s_axis_pspin_rx_tdest(ours[10]), .s_axis_pspin_rx_tuser(ours[13:11]),
        .m_axis_nic_rx_tdata(m[7:0]), .m_axis_nic_rx_tkeep(m[8]), .m_axis_nic_rx_tvalid(m_valid),
        .m_axis_nic_rx_tready(m_ready), .m_axis_nic_rx_tlast(m_last), .m_axis_nic_rx_tid(m[9]),
        .m_axis_nic_rx_tdest(m[10]), .m_axis_nic_rx_tuser(m[13:11])
    );
`else
    // Tag {0, as it came}, no error.
    wire [14:0] ours_out = {ours_last, 1'b0, ours[12], 1'b0, ours[10:0]};
    pspin_tx_inject dut (
        .clk(clk), .rstn(rstn),
        .s_axis_nic_tx_tdata(host[7:0]), .s_axis_nic_tx_tkeep(host[8]), .s_axis_nic_tx_tvalid(host_valid),
        .s_axis_nic_tx_tready(host_ready), .s_axis_nic_tx_tlast(host_last), .s_axis_nic_tx_tid(host[9]),
        .s_axis_nic_tx_tdest(host[10]), .s_axis_nic_tx_tuser(host[13:11]),
        .s_axis_pspin_tx_tdata(ours[7:0]), .s_axis_pspin_tx_tkeep(ours[8]), .s_axis_pspin_tx_tvalid(ours_valid),
        .s_axis_pspin_tx_tready(ours_ready), .s_axis_pspin_tx_tlast(ours_last), .s_axis_pspin_tx_tid(ours[9]),
        .s_axis_pspin_tx_tdest(ours[10]), .s_axis_pspin_tx_tuser(ours[13:11]),
        .m_axis_nic_tx_tdata(m[7:0]), .m_axis_nic_tx_tkeep(m[8]), .m_axis_nic_tx_tvalid(m_valid),
        .m_axis_nic_tx_tready(m_ready), .m_axis_nic_tx_tlast(m_last), .m_axis_nic_tx_tid(m[9]),
        .m_axis_nic_tx_tdest(m[10]), .m_axis_nic_tx_tuser(m[13:11]),
        .s_axis_tx_cpl_ts(cpl[0]), .s_axis_tx_cpl_tag(cpl[2:1]), .s_axis_tx_cpl_valid(cpl_valid),
        .s_axis_tx_cpl_ready(cpl_ready),
        .m_axis_tx_cpl_ts(cpl_out[0]), .m_axis_tx_cpl_tag(cpl_out[2:1]), .m_axis_tx_cpl_valid(cpl_out_valid),
        .m_axis_tx_cpl_ready(cpl_out_ready),
        .tx_cpl_ours_o(count_ours), .tx_host_tag_conflict_o(count_conflict)
    );
`endif

    stream_environment #(.WIDTH(15)) host_rules (
        .clk(clk), .rst(rst), .valid(host_valid), .ready(host_ready), .payload({host_last, host})
    );
    stream_environment #(.WIDTH(15)) ours_rules (
        .clk(clk), .rst(rst), .valid(ours_valid), .ready(ours_ready), .payload({ours_last, ours})
    );
    stream_rules #(.WIDTH(15)) m_rules (
        .clk(clk), .rst(rst), .valid(m_valid), .ready(m_ready), .payload({m_last, m})
    );
    stream_rules #(.WIDTH(3)) cpl_rules (
        .clk(clk), .rst(rst), .valid(cpl_out_valid), .ready(cpl_out_ready), .payload(cpl_out)
    );

    reg after_reset = 1'b1;
    always @(posedge clk) after_reset <= rst;

    // Frames. Whose beat is at the output follows from who took his turn: `source` is a register of the arbiter, and
    // a beat of the other side would break what is watched.
    (* internal = "dut.u_arbiter.owner" *) wire source;
    wire host_push = host_valid && host_ready;
    wire ours_push = ours_valid && ours_ready;
    wire pop = m_valid && m_ready;
    wire [1:0] host_inside, ours_inside;
    wire host_watching, ours_watching, host_ahead, ours_ahead;
    wire [14:0] host_watched, ours_watched;
    tx_stream_rules host_stream (
        .clk(clk), .rst(rst), .push(host_push), .beat({host_last, host}), .pop(pop && !source),
        .out_valid(m_valid && !source), .out({m_last, m}), .watch(watch[0]), .inside(host_inside),
        .watching(host_watching), .ahead(host_ahead), .watched(host_watched)
    );
    tx_stream_rules ours_stream (
        .clk(clk), .rst(rst), .push(ours_push), .beat(ours_out), .pop(pop && source), .out_valid(m_valid && source), .out({m_last, m}), .watch(watch[1]),
        .inside(ours_inside), .watching(ours_watching), .ahead(ours_ahead), .watched(ours_watched)
    );

    // Frames are whole, and taken in turn: frames of the other stream that end at the output while one waits.
    reg out_within = 1'b0;
    reg out_source;
    reg [1:0] host_passed = 2'd0;
    reg [1:0] ours_passed = 2'd0;
    // A stream waits if it has a beat inside or at its input that is not the one at the output.
    wire host_waits = (host_inside - (m_valid && !source)) != 0;
    wire ours_waits = (ours_inside - (m_valid && source)) != 0;
    always @(posedge clk) begin
        if (pop) begin
            out_within <= !m_last;
            out_source <= source;
        end
        if (!host_waits || (m_valid && !source)) host_passed <= 2'd0;
        else if (pop && m_last) host_passed <= host_passed + 2'd1;
        if (!ours_waits || (m_valid && source)) ours_passed <= 2'd0;
        else if (pop && m_last) ours_passed <= ours_passed + 2'd1;
        if (rst) begin
            out_within <= 1'b0;
            host_passed <= 2'd0;
            ours_passed <= 2'd0;
        end
    end

    always @* begin
        ready_is_a_register: assert (!after_reset || (!host_ready && !ours_ready && !cpl_ready));
        if (m_valid && out_within) frames_come_out_whole: assert (source == out_source);
        host_waits_for_one_frame: assert (host_passed <= 1);
        ours_wait_for_one_frame: assert (ours_passed <= 1);
        loses_no_cycle: assert (m_valid || (host_inside == 0 && ours_inside == 0)
            || (out_within && (out_source ? ours_inside : host_inside) == 0));
        host_is_next: cover (pop && m_last && !source && host_passed == 1);
        ends_a_frame_of_ours: cover (pop && m_last && out_within && source && host_passed == 0 && host_waits);
    end

`ifdef HARNESS_PSPIN_TX_INJECT
    // Beats of ours that have left of their frame, and that left while a frame of the host waited.
    localparam LONGEST = 3;
    reg [1:0] ours_left = 2'd0;
    reg [2:0] delay = 3'd0;
    always @(posedge clk) begin
        if (pop && source) ours_left <= m_last ? 2'd0 : ours_left + 2'd1;
        if (!host_waits || (m_valid && !source)) delay <= 3'd0;
        else if (pop) delay <= delay + 3'd1;
        if (rst) begin
            ours_left <= 2'd0;
            delay <= 3'd0;
        end
    end
    always @* begin
        assume (!m_valid || !source || m_last || ours_left < LONGEST - 1);
        delays_the_host_by_one_frame: assert (delay <= LONGEST);
        is_delayed: cover (m_valid && !source && delay == LONGEST);
    end
`ifndef CONTRACT_ONLY
    always @* begin
        counts_the_frame: assert ((ours_left != 0) == (out_within && out_source) && ours_left < LONGEST);
        if (delay != 0) delay_is_of_one_frame:
            assert ((m_valid && !source) || (out_within && out_source && delay <= ours_left));
    end
`endif
`else
    always @* comes_out_as_ours: assert (!m_valid || !source || (!m[13] && !m[11]));

    // Completions: those of the host, from input to output.
    wire cpl_push = cpl_valid && cpl_ready && cpl[2];
    wire cpl_ours = cpl_valid && cpl_ready && !cpl[2];
    wire cpl_pop = cpl_out_valid && cpl_out_ready;
    reg [1:0] cpl_inside = 2'd0;
    reg cpl_watching = 1'b0;
    reg cpl_ahead;
    reg [2:0] cpl_watched;
    // Counters, and what they will count in the next clock.
    reg [31:0] expected_ours = 32'd0;
    reg [31:0] expected_conflict = 32'd0;
    reg happened_ours = 1'b0;
    reg happened_conflict = 1'b0;
    always @(posedge clk) begin
        cpl_inside <= cpl_inside + cpl_push - cpl_pop;
        if (cpl_watching && cpl_pop) begin
            cpl_ahead <= 1'b0;
            if (!cpl_ahead) cpl_watching <= 1'b0;
        end
        if (!cpl_watching && cpl_push && watch[2]) begin
            cpl_watching <= 1'b1;
            cpl_ahead <= cpl_inside != cpl_pop;
            cpl_watched <= cpl;
        end
        happened_ours <= cpl_ours;
        happened_conflict <= host_push && host_last && !host[13];
        expected_ours <= expected_ours + happened_ours;
        expected_conflict <= expected_conflict + happened_conflict;
        if (rst) begin
            cpl_inside <= 2'd0;
            cpl_watching <= 1'b0;
            happened_ours <= 1'b0;
            happened_conflict <= 1'b0;
            expected_ours <= 32'd0;
            expected_conflict <= 32'd0;
        end
    end

    always @* begin
        holds_two_completions: assert (cpl_inside <= 2);
        takes_completions_unless_full: assert (cpl_ready == (cpl_inside != 2 && !after_reset));
        completion_after_one_cycle: assert (cpl_out_valid == (cpl_inside != 0));
        no_completion_of_ours_leaves: assert (!cpl_out_valid || cpl_out[2]);
        if (cpl_watching) begin
            keeps_the_watched_completion: assert (cpl_ahead < cpl_inside);
            if (!cpl_ahead) gives_the_watched_completion: assert (cpl_out == cpl_watched);
        end
        counts_completions_of_ours: assert (count_ours == expected_ours);
        counts_conflicts: assert (count_conflict == expected_conflict);
        swallows_while_one_waits: cover (cpl_ours && cpl_inside == 1 && expected_ours == 1 && expected_conflict == 1);
    end
`endif

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.u_slices_0.spare" *) wire [14:0] host_spare;
    (* internal = "dut.u_slices_0.spare_used" *) wire host_held;
    (* internal = "dut.u_slices_0.ready" *) wire host_slice_ready;
    (* internal = "dut.u_slices_1.spare" *) wire [14:0] ours_spare;
    (* internal = "dut.u_slices_1.spare_used" *) wire ours_held;
    (* internal = "dut.u_slices_1.ready" *) wire ours_slice_ready;
    (* internal = "dut.u_arbiter.within_frame" *) wire within;

    always @* begin
        host_has_its_place: assert (host_inside == host_held + (m_valid && !source));
        ours_has_its_place: assert (ours_inside == ours_held + (m_valid && source));
        host_slice: assert (host_slice_ready == (!host_held && !after_reset));
        ours_slice: assert (ours_slice_ready == (!ours_held && !after_reset));
        if (host_watching && host_held && host_ahead == (m_valid && !source)) host_spare_is_the_watched:
            assert (host_spare == host_watched);
        if (ours_watching && ours_held && ours_ahead == (m_valid && source)) ours_spare_is_the_watched:
            assert (ours_spare == ours_watched);
        if (m_valid) output_is_of_the_frame: assert (within == !m_last);
        else between_frames: assert (within == out_within);
        if (!m_valid && out_within) owner_keeps_its_frame: assert (source == out_source);
        // Who waited while a frame of the other ended is at the output in the next clock.
        if (host_passed != 0) host_has_the_turn: assert (m_valid && !source && host_passed == 1);
        if (ours_passed != 0) ours_have_the_turn: assert (m_valid && source && ours_passed == 1);
    end
`ifndef HARNESS_PSPIN_TX_INJECT
    (* internal = "dut.u_completions.spare" *) wire [2:0] cpl_spare;
    (* internal = "dut.u_completions.spare_used" *) wire cpl_held;
    (* internal = "dut.u_counters.happened" *) wire [1:0] happened;

    always @* begin
        if (ours_held) spare_is_as_ours: assert (!ours_spare[13] && !ours_spare[11]);
        cpl_spare_is_the_second: assert (cpl_held == (cpl_inside == 2));
        if (cpl_held) spare_is_of_the_host: assert (cpl_spare[2]);
        if (cpl_watching && cpl_ahead) cpl_spare_is_the_watched: assert (cpl_spare == cpl_watched);
        events: assert (happened == {happened_conflict, happened_ours});
    end
`endif
`endif
endmodule

`default_nettype wire
