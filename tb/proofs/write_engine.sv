// WriteEngine: the rules of the AXI write channels and of its outputs; its records never overflow; every packet
// leaves once, in order, with its address.
//
// Beats of 2 bytes, bursts of two beats, four records. What is assumed: a beat behind the slot is the last of its
// frame, and the last beat of a frame ends its burst (pspin_ingress_dma.sv and admission_gate.sv prove it of those
// who mark beats); metadata obeys the stream rules; the slave answers only what it has taken. Slots may come and
// change as they like.
`default_nettype none

// One record of several: what it adds to the last ones before it, and whether it is that of the watched packet.
module engine_record_rules (
    input wire there,
    input wire [16:0] record, // {over, bad, no slot, last of its packet, has a response, address}
    input wire watching,
    input wire [7:0] ahead,
    input wire [12:0] watched, // {no slot, address}
    input wire [7:0] before,
    output wire [7:0] next,
    output wire answered
);
    wire last = there && record[13];
    assign next = before + last;
    assign answered = there && record[12];

    always @* begin
        if (watching && last && before == ahead) is_the_watched: assert ({record[14], record[11:0]} == watched);
        if (answered) has_a_slot: assert (!record[14]);
    end
endmodule

module write_engine_proof (
    input wire clk,
    input wire rst,
    input wire [22:0] beat, // {cut, over, bad, beyond, last, keep, data}
    input wire beat_valid,
    input wire [12:0] slot,
    input wire slot_valid,
    input wire [1:0] meta,
    input wire meta_valid,
    input wire awready,
    input wire wready,
    input wire [1:0] bresp,
    input wire bvalid,
    input wire good_ready,
    input wire failed_ready,
    input wire watch,
    input wire [27:0] unused
);
    wire beat_ready, slot_ready, meta_ready;
    wire [1:0] seen, last;
    wire awlock, awvalid, wlast, wvalid, bready, arvalid, rready;
    wire [7:0] awid;
    wire [11:0] awaddr;
    wire [7:0] awlen;
    wire [2:0] awsize, awprot;
    wire [1:0] awburst;
    wire [3:0] awcache;
    wire [15:0] wdata;
    wire [1:0] wstrb;
    wire [13:0] good;
    wire good_valid;
    wire [11:0] failed;
    wire failed_valid;
    wire [3:0] events;

    write_engine dut (
        .clk(clk), .rst(rst),
        .beat_data(beat), .beat_valid(beat_valid), .beat_ready(beat_ready), .seen(seen), .last(last),
        .slot_data(slot), .slot_valid(slot_valid), .slot_ready(slot_ready),
        .meta_data(meta), .meta_valid(meta_valid), .meta_ready(meta_ready),
        .m_axi_awid(awid), .m_axi_awaddr(awaddr), .m_axi_awlen(awlen), .m_axi_awsize(awsize),
        .m_axi_awburst(awburst), .m_axi_awlock(awlock), .m_axi_awcache(awcache), .m_axi_awprot(awprot),
        .m_axi_awvalid(awvalid), .m_axi_awready(awready),
        .m_axi_wdata(wdata), .m_axi_wstrb(wstrb), .m_axi_wlast(wlast), .m_axi_wvalid(wvalid),
        .m_axi_wready(wready),
        .m_axi_bid(unused[7:0]), .m_axi_bresp(bresp), .m_axi_bvalid(bvalid), .m_axi_bready(bready),
        .m_axi_arvalid(arvalid), .m_axi_arready(unused[8]),
        .m_axi_rid(unused[16:9]), .m_axi_rdata({unused[15:0]}), .m_axi_rresp(unused[18:17]),
        .m_axi_rlast(unused[19]), .m_axi_rvalid(unused[20]), .m_axi_rready(rready),
        .good_data(good), .good_valid(good_valid), .good_ready(good_ready),
        .failed_data(failed), .failed_valid(failed_valid), .failed_ready(failed_ready),
        .events(events)
    );

    wire aw_open, w_open;
    wire [7:0] beats, open_length, owed;
    axi_write_rules #(.ADDRESS(12), .BEAT_BITS(1), .BURST_BEATS(2)) axi (
        .clk(clk), .rst(rst), .awvalid(awvalid), .awready(awready), .awaddr(awaddr), .awlen(awlen),
        .awconstants({awsize, awburst, awlock, awcache, awprot}),
        .wvalid(wvalid), .wready(wready), .wlast(wlast), .wpayload({wstrb, wdata}), .bvalid(bvalid), .bready(bready),
        .aw_open(aw_open), .w_open(w_open), .beat(beats), .open_length(open_length), .owed(owed)
    );
    stream_environment #(.WIDTH(2)) meta_rules (
        .clk(clk), .rst(rst), .valid(meta_valid), .ready(meta_ready), .payload(meta)
    );
    stream_rules #(.WIDTH(14)) good_rules (
        .clk(clk), .rst(rst), .valid(good_valid), .ready(good_ready), .payload(good)
    );
    stream_rules #(.WIDTH(12)) failed_rules (
        .clk(clk), .rst(rst), .valid(failed_valid), .ready(failed_ready), .payload(failed)
    );

    always @* if (beat_valid) assume ((!beat[19] || beat[18]) && (!beat[18] || beat[22]));

    wire begins = slot_valid && slot_ready;
    wire ends = meta_valid && meta_ready;

    // The contract, from the ports alone. The solver chooses one packet when it takes its slot.
    reg after_reset = 1'b1;
    reg [7:0] inside = 8'd0; // Packets that have their slot and have not left.
    reg watching = 1'b0;
    reg [7:0] ahead; // Packets that leave before the watched one.
    reg [12:0] watched;

    always @(posedge clk) begin
        after_reset <= rst;
        inside <= inside + begins - ends;
        if (watching && ends) begin
            ahead <= ahead - 1'b1;
            if (ahead == 0) watching <= 1'b0;
        end
        if (!watching && begins && watch) begin
            watching <= 1'b1;
            ahead <= inside - ends;
            watched <= slot;
        end
        if (rst) begin
            inside <= 8'd0;
            watching <= 1'b0;
        end
    end

    wire leaves_good = good_valid && good_ready;
    wire leaves_failed = failed_valid && failed_ready;
    always @* begin
        reads_nothing: assert (!arvalid && !rready && awid == 8'd0);
        leaves_once: assert (leaves_good + leaves_failed + events[0] == ends);
        one_cause: assert (events == 4'd0 || (ends && !leaves_good && (events & (events - 1'b1)) == 4'd0));
        fails_for_a_cause: assert (!leaves_failed || events != 4'd0);
        leaves_what_is_inside: assert (!ends || inside != 0);
        if (good_valid) keeps_its_metadata: assert (good[13:12] == meta);
        if (watching) begin
            keeps_the_watched: assert (ahead < inside);
            if (ahead == 0) begin
                if (good_valid) written_where_it_should: assert ({1'b0, good[11:0]} == watched);
                if (failed_valid) gives_its_slot_back: assert ({1'b0, failed} == watched);
                if (events[0]) has_no_slot: assert (watched[12]);
            end
        end
    end

    // Situations that must be possible.
    reg two_beats = 1'b0;
    reg has_failed = 1'b0;
    always @(posedge clk) begin
        if (wvalid && wready && wlast && beats == 8'd1) two_beats <= 1'b1;
        if (leaves_failed) has_failed <= 1'b1;
    end
    always @* begin
        writes_two_beats_after_a_failed_packet: cover (leaves_good && two_beats && has_failed);
        beats_before_the_address: cover (w_open && awvalid);
        drops_a_packet_without_slot: cover (events[0]);
    end

    // The queue whose producer does not look at ready, and beats that are not looked for.
    (* internal = "dut.writer_record_valid" *) wire record_valid;
    (* internal = "dut.u_records.u_fifo.not_full" *) wire records_not_full;
    (* internal = "dut.u_writer.bursting" *) wire bursting;
    (* internal = "dut.u_writer.go" *) wire takes_a_beat;
    always @* begin
        records_never_overflow: assert (!record_valid || records_not_full);
        takes_only_beats_that_are_there: assert (!takes_a_beat || seen[0]);
        a_burst_has_its_beats: assert (!bursting || seen[0]);
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.u_writer.burst_valid_reg" *) wire burst_valid;
    (* internal = "dut.u_writer.data_valid_reg" *) wire data_valid;
    (* internal = "dut.u_writer.last_reg" *) wire data_last;
    (* internal = "dut.u_writer.length_reg" *) wire length;
    (* internal = "dut.u_writer.address_reg" *) wire [10:0] address;
    (* internal = "dut.u_writer.burst_left" *) wire burst_left;
    (* internal = "dut.u_writer.in_frame" *) wire in_frame;
    (* internal = "dut.u_writer.slotless" *) wire slotless;
    (* internal = "dut.u_writer.base" *) wire [11:0] base;
    (* internal = "dut.u_writer.lane" *) wire lane;
    (* internal = "dut.u_writer.place" *) wire [10:0] place;
    (* internal = "dut.u_writer.record" *) wire [16:0] record;
    (* internal = "dut.u_writer.u_window.used_0" *) wire used;
    (* internal = "dut.u_writer.u_window.entries_0" *) wire [22:0] entry;
    (* internal = "dut.u_responses.spare_used" *) wire response_held;
    (* internal = "dut.u_responses.ready" *) wire response_ready;

    always @* begin
        if (aw_open) beats_of_the_open_address: assert (!burst_valid && data_valid && open_length == length);
        if (w_open) address_of_the_open_beats: assert (burst_valid && !data_valid && open_length == length);
        if (burst_valid) address_waits_for_its_beats: assert (w_open || data_valid);
        if (data_valid) beats_belong_to_an_address: assert (burst_valid || aw_open);
        one_of_both: assert (!aw_open || !w_open);
        if (bursting) second_beat_follows: assert (
            data_valid && !data_last && beats == 0 && length && !burst_left && in_frame && !slotless
        );
        if (data_valid) last_ends_the_burst: assert (data_last ? !bursting && beats == length : bursting);
        else no_burst_is_cut: assert (!bursting && beats == 0);
        if (burst_valid) burst_fits_its_block: assert (!length || !address[0]);
        if (bursting) window_has_the_rest: assert (used);
        if (used) beyond_is_last_and_cuts: assert ((!entry[19] || entry[18]) && (!entry[18] || entry[22]));
        if (in_frame) lane_follows_place: assert (slotless || lane == place[0] + 1'b1);
        response_slice: assert (response_ready == (!response_held && !after_reset));
    end

    (* internal = "dut.u_records.valid" *) wire records_valid;
    (* internal = "dut.u_records.data" *) wire [16:0] records_data;
    (* internal = "dut.u_records.u_fifo.count" *) wire [2:0] records_count;
    (* internal = "dut.u_records.u_fifo.write_ptr" *) wire [1:0] records_write_ptr;
    (* internal = "dut.u_records.u_fifo.read_ptr" *) wire [1:0] records_read_ptr;
    (* internal = "dut.u_records.u_fifo.stored" *) wire records_stored;
    (* internal = "dut.u_records.u_fifo.nearly_full" *) wire records_nearly_full;
    (* internal = "dut.u_records.u_fifo.u_memory.memory[0]" *) wire [16:0] record_0;
    (* internal = "dut.u_records.u_fifo.u_memory.memory[1]" *) wire [16:0] record_1;
    (* internal = "dut.u_records.u_fifo.u_memory.memory[2]" *) wire [16:0] record_2;
    (* internal = "dut.u_records.u_fifo.u_memory.memory[3]" *) wire [16:0] record_3;
    queue_invariant #(.POINTER(2)) records_invariant (
        .after_reset(after_reset), .count(records_count), .write_ptr(records_write_ptr),
        .read_ptr(records_read_ptr), .not_full(records_not_full), .stored(records_stored), .held(1'b0)
    );

    // Records in the order in which they leave: the output register, the memory, the writer's register.
    wire [4*17-1:0] memory = {record_3, record_2, record_1, record_0};
    wire [55:0] lasts;
    wire [5:0] answered;
    assign lasts[7:0] = 8'd0;
    engine_record_rules output_record (
        .there(records_valid), .record(records_data), .watching(watching), .ahead(ahead), .watched(watched),
        .before(lasts[7:0]), .next(lasts[15:8]), .answered(answered[0])
    );
    genvar position;
    generate
        for (position = 0; position < 4; position = position + 1) begin : in_memory
            wire [1:0] its_place = records_read_ptr + position;
            engine_record_rules stored_record (
                .there(records_count > position), .record(memory[its_place*17 +: 17]),
                .watching(watching), .ahead(ahead), .watched(watched), .before(lasts[8*position + 8 +: 8]),
                .next(lasts[8*position + 16 +: 8]), .answered(answered[position + 1])
            );
        end
    endgenerate
    engine_record_rules writer_record (
        .there(record_valid), .record(record), .watching(watching), .ahead(ahead), .watched(watched),
        .before(lasts[47:40]), .next(lasts[55:48]), .answered(answered[5])
    );
    wire [7:0] unanswered = answered[0] + answered[1] + answered[2] + answered[3] + answered[4] + answered[5];

    always @* begin
        register_first: assert (records_count == 0 || records_valid);
        records_flag: assert (records_nearly_full == (records_count >= 3));
        room_for_the_record: assert (records_count + record_valid <= 4);
        if (bursting) room_for_the_record_of_the_burst: assert (records_count <= 3 && !record_valid);
        a_record_for_each_burst: assert (unanswered == owed + (data_valid && data_last) + response_held);
        a_record_for_each_packet: assert (inside == lasts[55:48] + in_frame);
        if (watching && in_frame && ahead == lasts[55:48]) watched_is_begun: assert ({slotless, base} == watched);
    end
`endif
endmodule

`default_nettype wire
