// pspin_pkt_match: stream rules of its three outputs; the queues of beats, of decisions and of metadata never
// overflow, although none can stop what comes in; the marks of last beats stay with their beats.
//
// Beats of 64 bits, one ruleset of two rules, one inspected beat, with and without rules relative to the IP payload.
// Nothing is assumed of the environment: it
// may even break the stream rules and change the rules at any time.
`default_nettype none

module pspin_pkt_match_proof (
    input wire clk,
    input wire rst,
    input wire s_valid,
    input wire s_last,
    input wire [74:0] s_beat,
    input wire nic_ready,
    input wire pspin_ready,
    input wire meta_ready,
    input wire match_valid,
    input wire match_mode,
    input wire [63:0] match_idx,
    input wire [63:0] match_mask,
    input wire [63:0] match_start,
`ifdef IP_RELATIVE_1
    input wire [1:0] match_relative,
`endif
    input wire [63:0] match_end
);
    localparam BEAT = 75; // {tuser, tdest, tid, tkeep, tdata}

    wire s_ready;
    wire nic_valid;
    wire [BEAT:0] nic;
    wire pspin_valid;
    wire [BEAT:0] pspin;
    wire meta_valid;
    wire [95:0] meta;

    pspin_pkt_match dut (
        .clk(clk), .rstn(!rst),
        .s_axis_nic_rx_tdata(s_beat[63:0]), .s_axis_nic_rx_tkeep(s_beat[71:64]), .s_axis_nic_rx_tid(s_beat[72]),
        .s_axis_nic_rx_tdest(s_beat[73]), .s_axis_nic_rx_tuser(s_beat[74]), .s_axis_nic_rx_tlast(s_last),
        .s_axis_nic_rx_tvalid(s_valid), .s_axis_nic_rx_tready(s_ready),
        .m_axis_nic_rx_tdata(nic[63:0]), .m_axis_nic_rx_tkeep(nic[71:64]), .m_axis_nic_rx_tid(nic[72]),
        .m_axis_nic_rx_tdest(nic[73]), .m_axis_nic_rx_tuser(nic[74]), .m_axis_nic_rx_tlast(nic[75]),
        .m_axis_nic_rx_tvalid(nic_valid), .m_axis_nic_rx_tready(nic_ready),
        .m_axis_pspin_rx_tdata(pspin[63:0]), .m_axis_pspin_rx_tkeep(pspin[71:64]), .m_axis_pspin_rx_tid(pspin[72]),
        .m_axis_pspin_rx_tdest(pspin[73]), .m_axis_pspin_rx_tuser(pspin[74]), .m_axis_pspin_rx_tlast(pspin[75]),
        .m_axis_pspin_rx_tvalid(pspin_valid), .m_axis_pspin_rx_tready(pspin_ready),
        .match_valid(match_valid), .match_mode(match_mode), .match_idx(match_idx), .match_mask(match_mask),
        .match_start(match_start), .match_end(match_end),
`ifdef IP_RELATIVE_1
        .match_relative(match_relative),
`endif
        .packet_meta_tag(meta[63:0]), .packet_meta_size(meta[95:64]),
        .packet_meta_valid(meta_valid), .packet_meta_ready(meta_ready)
    );

    stream_rules #(.WIDTH(BEAT + 1)) nic_rules (
        .clk(clk), .rst(rst), .valid(nic_valid), .ready(nic_ready), .payload(nic)
    );
    stream_rules #(.WIDTH(BEAT + 1)) pspin_rules (
        .clk(clk), .rst(rst), .valid(pspin_valid), .ready(pspin_ready), .payload(pspin)
    );
    stream_rules #(.WIDTH(96)) meta_rules (
        .clk(clk), .rst(rst), .valid(meta_valid), .ready(meta_ready), .payload(meta)
    );

    (* internal = "dut.beat_valid" *) wire beat_valid;
    (* internal = "dut.beat_last" *) wire beat_last;
    (* internal = "dut.metas_s_valid" *) wire metas_push;
    (* internal = "dut.u_buffer.count" *) wire [4:0] buffer_count;
    (* internal = "dut.u_buffer.write_ptr" *) wire [3:0] buffer_write_ptr;
    (* internal = "dut.u_buffer.read_ptr" *) wire [3:0] buffer_read_ptr;
    (* internal = "dut.u_buffer.not_full" *) wire buffer_not_full;
    (* internal = "dut.u_buffer.stored" *) wire buffer_stored;
    (* internal = "dut.u_buffer.held" *) wire buffer_held;
    (* internal = "dut.u_buffer.nearly_full" *) wire buffer_nearly_full;
    (* internal = "dut.u_lasts.count" *) wire [4:0] lasts_count;
    (* internal = "dut.u_lasts.write_ptr" *) wire [3:0] lasts_write_ptr;
    (* internal = "dut.u_lasts.read_ptr" *) wire [3:0] lasts_read_ptr;
    (* internal = "dut.u_lasts.not_full" *) wire lasts_not_full;
    (* internal = "dut.u_lasts.stored" *) wire lasts_stored;
    (* internal = "dut.u_lasts.held" *) wire lasts_held;
    (* internal = "dut.engine_decide" *) wire decisions_push;
    (* internal = "dut.u_decisions.u_fifo.count" *) wire [4:0] decisions_count;
    (* internal = "dut.u_decisions.u_fifo.write_ptr" *) wire [3:0] decisions_write_ptr;
    (* internal = "dut.u_decisions.u_fifo.read_ptr" *) wire [3:0] decisions_read_ptr;
    (* internal = "dut.u_decisions.u_fifo.not_full" *) wire decisions_not_full;
    (* internal = "dut.u_decisions.u_fifo.stored" *) wire decisions_stored;
    (* internal = "dut.u_decisions.u_fifo.nearly_full" *) wire decisions_nearly_full;
    (* internal = "dut.u_metas.count" *) wire [5:0] metas_count;
    (* internal = "dut.u_metas.write_ptr" *) wire [4:0] metas_write_ptr;
    (* internal = "dut.u_metas.read_ptr" *) wire [4:0] metas_read_ptr;
    (* internal = "dut.u_metas.not_full" *) wire metas_not_full;
    (* internal = "dut.u_metas.stored" *) wire metas_stored;
    (* internal = "dut.u_metas.held" *) wire metas_held;
    (* internal = "dut.u_metas.nearly_full" *) wire metas_nearly_full;

    always @* begin
        buffer_never_overflows: assert (!beat_valid || buffer_not_full);
        decisions_never_overflow: assert (!decisions_push || decisions_not_full);
        metas_never_overflow: assert (!metas_push || metas_not_full);
    end

    reg after_reset = 1'b1;
    always @(posedge clk) after_reset <= rst;

    // How the registers inside go together; induction needs it.
    queue_invariant #(.POINTER(4)) buffer_invariant (
        .after_reset(after_reset), .count(buffer_count), .write_ptr(buffer_write_ptr), .read_ptr(buffer_read_ptr),
        .not_full(buffer_not_full), .stored(buffer_stored), .held(buffer_held)
    );
    queue_invariant #(.POINTER(4)) decisions_invariant (
        .after_reset(after_reset), .count(decisions_count), .write_ptr(decisions_write_ptr),
        .read_ptr(decisions_read_ptr), .not_full(decisions_not_full), .stored(decisions_stored), .held(1'b0)
    );
    queue_invariant #(.POINTER(5)) metas_invariant (
        .after_reset(after_reset), .count(metas_count), .write_ptr(metas_write_ptr), .read_ptr(metas_read_ptr),
        .not_full(metas_not_full), .stored(metas_stored), .held(metas_held)
    );

    (* internal = "dut.u_engine.looking" *) wire valid_1;
    (* internal = "dut.u_engine.decided" *) wire valid_2;
    (* internal = "dut.u_meter.counted" *) wire meter_valid_1;
    (* internal = "dut.u_meter.summed" *) wire meter_valid_2;
    (* internal = "dut.u_meter.counted_last" *) wire last_1;
    (* internal = "dut.u_meter.summed_last" *) wire last_2;
    (* internal = "dut.u_meter.done" *) wire done;

    // Frames that will need a place for their metadata.
    wire [6:0] frames = metas_count + done + (meter_valid_2 && last_2) + (meter_valid_1 && last_1)
        + (beat_valid && beat_last);

    // Frames that will need a place for their decision, at most.
    wire [5:0] undecided = decisions_count + valid_2 + valid_1 + beat_valid;

    always @* begin
        lasts_go_with_their_beats: assert ({lasts_count, lasts_write_ptr, lasts_read_ptr, lasts_not_full, lasts_stored,
            lasts_held} == {buffer_count, buffer_write_ptr, buffer_read_ptr, buffer_not_full, buffer_stored,
            buffer_held});
        buffer_flag: assert (buffer_nearly_full == (buffer_count >= 14));
        decisions_flag: assert (decisions_nearly_full == (decisions_count >= 12));
        if (s_ready) decisions_have_room_for_what_comes: assert (undecided <= 15);
        decisions_have_room_for_what_came: assert (undecided <= 16);
        metas_flag: assert (metas_nearly_full == (metas_count >= 27));
        if (s_ready) buffer_has_room_for_what_comes: assert (buffer_count + beat_valid <= 15);
        buffer_has_room_for_what_came: assert (buffer_count + beat_valid <= 16);
        if (s_ready) metas_have_room_for_what_comes: assert (frames <= 31);
        metas_have_room_for_what_came: assert (frames <= 32);
        meter_and_engine_agree: assert (meter_valid_1 == valid_1 && meter_valid_2 == valid_2);
    end
endmodule

`default_nettype wire
