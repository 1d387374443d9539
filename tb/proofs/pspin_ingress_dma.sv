// pspin_ingress_dma: the rules of the AXI write channels and of both output streams; queues that cannot stop
// what comes in never overflow; no packet is lost or doubled.
//
// Beats of 16 bytes, bursts of two beats, four records. What is assumed: the slave answers only bursts whose
// address and beats it has taken (AMBA IHI 0022, A3.3.1). Streams and descriptors may break every rule.
`default_nettype none

module pspin_ingress_dma_proof (
    input wire clk,
    input wire rst,
    input wire [15:0] desc_addr,
    input wire [12:0] desc_len,
    input wire desc_tag,
    input wire desc_valid,
    input wire [127:0] tdata,
    input wire [15:0] tkeep,
    input wire tlast,
    input wire tvalid,
    input wire awready,
    input wire wready,
    input wire [1:0] bresp,
    input wire bvalid,
    input wire her_ready,
    input wire free_ready,
    input wire [136:0] unused
);
    wire desc_ready, tready;
    wire awid, awlock, awvalid, wlast, wvalid, bready;
    wire [15:0] awaddr;
    wire [7:0] awlen;
    wire [2:0] awsize, awprot;
    wire [1:0] awburst;
    wire [3:0] awcache;
    wire [127:0] wdata;
    wire [15:0] wstrb;
    wire arvalid, rready;
    wire [29:0] her;
    wire her_valid;
    wire [15:0] free;
    wire free_valid;

    pspin_ingress_dma dut (
        .clk(clk), .rstn(!rst),
        .write_desc_addr(desc_addr), .write_desc_len(desc_len), .write_desc_tag(desc_tag),
        .write_desc_valid(desc_valid), .write_desc_ready(desc_ready),
        .s_axis_pspin_rx_tdata(tdata), .s_axis_pspin_rx_tkeep(tkeep), .s_axis_pspin_rx_tvalid(tvalid),
        .s_axis_pspin_rx_tready(tready), .s_axis_pspin_rx_tlast(tlast), .s_axis_pspin_rx_tid(unused[0]),
        .s_axis_pspin_rx_tdest(unused[1]), .s_axis_pspin_rx_tuser(unused[2]),
        .m_axi_pspin_awid(awid), .m_axi_pspin_awaddr(awaddr), .m_axi_pspin_awlen(awlen),
        .m_axi_pspin_awsize(awsize), .m_axi_pspin_awburst(awburst), .m_axi_pspin_awlock(awlock),
        .m_axi_pspin_awcache(awcache), .m_axi_pspin_awprot(awprot), .m_axi_pspin_awvalid(awvalid),
        .m_axi_pspin_awready(awready),
        .m_axi_pspin_wdata(wdata), .m_axi_pspin_wstrb(wstrb), .m_axi_pspin_wlast(wlast),
        .m_axi_pspin_wvalid(wvalid), .m_axi_pspin_wready(wready),
        .m_axi_pspin_bid(unused[3]), .m_axi_pspin_bresp(bresp), .m_axi_pspin_bvalid(bvalid),
        .m_axi_pspin_bready(bready),
        .m_axi_pspin_arvalid(arvalid), .m_axi_pspin_arready(unused[4]),
        .m_axi_pspin_rid(unused[5]), .m_axi_pspin_rdata(unused[136:9]), .m_axi_pspin_rresp(unused[7:6]),
        .m_axi_pspin_rlast(unused[8]), .m_axi_pspin_rvalid(unused[4]), .m_axi_pspin_rready(rready),
        .her_gen_addr(her[15:0]), .her_gen_len(her[28:16]), .her_gen_tag(her[29]),
        .her_gen_valid(her_valid), .her_gen_ready(her_ready),
        .m_free_addr(free), .m_free_valid(free_valid), .m_free_ready(free_ready)
    );

    wire aw_open, w_open;
    wire [7:0] beats, open_length, owed;
    axi_write_rules #(.ADDRESS(16), .BEAT_BITS(4), .BURST_BEATS(2)) axi (
        .clk(clk), .rst(rst), .awvalid(awvalid), .awready(awready), .awaddr(awaddr), .awlen(awlen),
        .awconstants({awsize, awburst, awlock, awcache, awprot}),
        .wvalid(wvalid), .wready(wready), .wlast(wlast), .wpayload({wstrb, wdata}), .bvalid(bvalid), .bready(bready),
        .aw_open(aw_open), .w_open(w_open), .beat(beats), .open_length(open_length), .owed(owed)
    );
    stream_rules #(.WIDTH(30)) her_rules (
        .clk(clk), .rst(rst), .valid(her_valid), .ready(her_ready), .payload(her)
    );
    stream_rules #(.WIDTH(16)) free_rules (
        .clk(clk), .rst(rst), .valid(free_valid), .ready(free_ready), .payload(free)
    );

    // The contract, from the ports alone.
    reg after_reset = 1'b1;
    reg [5:0] inside = 6'd0; // Packets from their descriptor on until they leave.

    always @(posedge clk) begin
        after_reset <= rst;
        inside <= inside + (desc_valid && desc_ready) - (her_valid && her_ready) - (free_valid && free_ready);
        if (rst) inside <= 6'd0;
    end

    always @* begin
        reads_nothing: assert (!arvalid && !rready && !awid);
        gives_what_it_has: assert (her_valid + free_valid <= inside);
        holds: assert (inside <= 1 + 16 + 3 + 3);
        owes: assert (owed <= 6);
    end

    // Situations that must be possible.
    reg two_beats = 1'b0;
    reg failed = 1'b0;
    always @(posedge clk) begin
        if (wvalid && wready && wlast && beats == 8'd1) two_beats <= 1'b1;
        if (free_valid && free_ready) failed <= 1'b1;
    end
    always @* begin
        writes_a_burst_of_two_beats: cover (her_valid && two_beats);
        writes_one_after_a_failed_one: cover (her_valid && failed);
        beats_before_the_address: cover (w_open && awvalid);
    end

    // Queues whose producers do not look at ready.
    (* internal = "dut.u_engine.writer_record_valid" *) wire record_valid;
    (* internal = "dut.u_engine.u_records.u_fifo.not_full" *) wire records_not_full;
    (* internal = "dut.u_engine.u_writer.bursting" *) wire bursting;
    (* internal = "dut.u_engine.u_writer.window_seen" *) wire [1:0] seen;
    always @* begin
        records_never_overflow: assert (!record_valid || records_not_full);
        a_burst_has_its_beats: assert (!bursting || seen[0]);
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.u_engine.u_writer.burst_valid_reg" *) wire burst_valid;
    (* internal = "dut.u_engine.u_writer.data_valid_reg" *) wire data_valid;
    (* internal = "dut.u_engine.u_writer.last_reg" *) wire data_last;
    (* internal = "dut.u_engine.u_writer.length_reg" *) wire length;
    (* internal = "dut.u_engine.u_writer.address_reg" *) wire [11:0] address;
    (* internal = "dut.u_engine.u_writer.burst_left" *) wire burst_left;
    (* internal = "dut.u_engine.u_writer.in_frame" *) wire in_frame;
    (* internal = "dut.u_engine.u_writer.slotless" *) wire slotless;
    (* internal = "dut.u_engine.u_writer.lane" *) wire lane;
    (* internal = "dut.u_engine.u_writer.place" *) wire [11:0] place;
    (* internal = "dut.u_engine.u_writer.record" *) wire [20:0] record;
    (* internal = "dut.u_engine.u_writer.u_window.used_0" *) wire used;
    (* internal = "dut.u_engine.u_writer.u_window.entries_0" *) wire [148:0] entry;
    (* internal = "dut.u_engine.u_responses.spare_used" *) wire response_held;
    (* internal = "dut.u_engine.u_responses.ready" *) wire response_ready;
    (* internal = "dut.u_descriptors.spare_used" *) wire descriptor_held;
    (* internal = "dut.u_descriptors.ready" *) wire descriptor_ready;

    always @* begin
        if (aw_open) beats_of_the_open_address: assert (!burst_valid && data_valid && open_length == length);
        if (w_open) address_of_the_open_beats: assert (burst_valid && !data_valid && open_length == length);
        if (burst_valid) address_waits_for_its_beats: assert (w_open || data_valid);
        if (data_valid) beats_belong_to_an_address: assert (burst_valid || aw_open);
        one_of_both: assert (!aw_open || !w_open);
        if (bursting) second_beat_follows: assert (
            data_valid && !data_last && beats == 0 && length && !burst_left && in_frame
        );
        if (data_valid) last_ends_the_burst: assert (data_last ? !bursting && beats == length : bursting);
        else no_burst_is_cut: assert (!bursting && beats == 0);
        if (burst_valid) burst_fits_its_block: assert (!length || !address[0]);
        if (bursting) window_has_the_rest: assert (used);
        if (used) beyond_is_last_and_cuts: assert ((!entry[145] || entry[144]) && (!entry[144] || entry[148]));
        if (in_frame) lane_follows_place: assert (slotless || lane == place[0] + 1'b1);
        ready_slices: assert (response_ready == (!response_held && !after_reset));
        descriptor_slice: assert (descriptor_ready == (!descriptor_held && !after_reset));
    end

    // Records: {over, bad, no slot, last of its packet, has a response, address}.
    (* internal = "dut.u_engine.u_records.valid" *) wire records_valid;
    (* internal = "dut.u_engine.u_records.data" *) wire [20:0] records_data;
    (* internal = "dut.u_engine.u_records.u_fifo.count" *) wire [2:0] records_count;
    (* internal = "dut.u_engine.u_records.u_fifo.write_ptr" *) wire [1:0] records_write_ptr;
    (* internal = "dut.u_engine.u_records.u_fifo.read_ptr" *) wire [1:0] records_read_ptr;
    (* internal = "dut.u_engine.u_records.u_fifo.stored" *) wire records_stored;
    (* internal = "dut.u_engine.u_records.u_fifo.nearly_full" *) wire records_nearly_full;
    (* internal = "dut.u_engine.u_records.u_fifo.u_memory.memory[0]" *) wire [20:0] record_0;
    (* internal = "dut.u_engine.u_records.u_fifo.u_memory.memory[1]" *) wire [20:0] record_1;
    (* internal = "dut.u_engine.u_records.u_fifo.u_memory.memory[2]" *) wire [20:0] record_2;
    (* internal = "dut.u_engine.u_records.u_fifo.u_memory.memory[3]" *) wire [20:0] record_3;
    queue_invariant #(.POINTER(2)) records_invariant (
        .after_reset(after_reset), .count(records_count), .write_ptr(records_write_ptr),
        .read_ptr(records_read_ptr), .not_full(records_not_full), .stored(records_stored), .held(1'b0)
    );
    // Places of the memory that are used.
    wire [1:0] place_0 = 2'd0 - records_read_ptr;
    wire [1:0] place_1 = 2'd1 - records_read_ptr;
    wire [1:0] place_2 = 2'd2 - records_read_ptr;
    wire [1:0] place_3 = 2'd3 - records_read_ptr;
    wire [5:0] there = {
        record_valid, records_valid, place_3 < records_count, place_2 < records_count, place_1 < records_count,
        place_0 < records_count
    };
    wire [5:0] answered = there & {
        record[16], records_data[16], record_3[16], record_2[16], record_1[16], record_0[16]
    };
    wire [5:0] ends = there & {
        record[17], records_data[17], record_3[17], record_2[17], record_1[17], record_0[17]
    };
    wire [5:0] no_slot = there & {
        record[18], records_data[18], record_3[18], record_2[18], record_1[18], record_0[18]
    };
    wire [2:0] unanswered = answered[0] + answered[1] + answered[2] + answered[3] + answered[4] + answered[5];
    wire [2:0] last_records = ends[0] + ends[1] + ends[2] + ends[3] + ends[4] + ends[5];

    always @* begin
        registers_first: assert (
            (records_count == 0 || records_valid) && (slots_count == 0 || slots_valid)
            && (hers_count == 0 || hers_valid) && (frees_count == 0 || frees_valid)
        );
        records_flag: assert (records_nearly_full == (records_count >= 3));
        room_for_the_record: assert (records_count + record_valid <= 4);
        if (bursting) room_for_the_record_of_the_burst: assert (records_count <= 3 && !record_valid);
        a_record_for_each_burst: assert (unanswered == owed + (data_valid && data_last) + response_held);
        every_packet_has_a_slot: assert (no_slot == 6'd0 && (!in_frame || !slotless));
    end

    // Slots that wait; each has a place.
    (* internal = "dut.u_slots.valid" *) wire slots_valid;
    (* internal = "dut.u_slots.data" *) wire [16:0] slots_data;
    (* internal = "dut.u_slots.u_fifo.count" *) wire [3:0] slots_count;
    (* internal = "dut.u_slots.u_fifo.write_ptr" *) wire [2:0] slots_write_ptr;
    (* internal = "dut.u_slots.u_fifo.read_ptr" *) wire [2:0] slots_read_ptr;
    (* internal = "dut.u_slots.u_fifo.not_full" *) wire slots_not_full;
    (* internal = "dut.u_slots.u_fifo.stored" *) wire slots_stored;
    (* internal = "dut.u_slots.u_fifo.u_memory.memory[0]" *) wire [16:0] slot_0;
    (* internal = "dut.u_slots.u_fifo.u_memory.memory[1]" *) wire [16:0] slot_1;
    (* internal = "dut.u_slots.u_fifo.u_memory.memory[2]" *) wire [16:0] slot_2;
    (* internal = "dut.u_slots.u_fifo.u_memory.memory[3]" *) wire [16:0] slot_3;
    (* internal = "dut.u_slots.u_fifo.u_memory.memory[4]" *) wire [16:0] slot_4;
    (* internal = "dut.u_slots.u_fifo.u_memory.memory[5]" *) wire [16:0] slot_5;
    (* internal = "dut.u_slots.u_fifo.u_memory.memory[6]" *) wire [16:0] slot_6;
    (* internal = "dut.u_slots.u_fifo.u_memory.memory[7]" *) wire [16:0] slot_7;
    queue_invariant #(.POINTER(3)) slots_invariant (
        .after_reset(after_reset), .count(slots_count), .write_ptr(slots_write_ptr),
        .read_ptr(slots_read_ptr), .not_full(slots_not_full), .stored(slots_stored), .held(1'b0)
    );
    wire [7:0] slotless_bits = {
        slot_7[16], slot_6[16], slot_5[16], slot_4[16], slot_3[16], slot_2[16], slot_1[16], slot_0[16]
    };
    wire [15:0] slots_from_the_first = {slotless_bits, slotless_bits} >> slots_read_ptr;
    wire [7:0] slots_used = ~(8'hff << slots_count);
    always @* begin
        slots_are_places: assert ((slots_from_the_first[7:0] & slots_used) == 8'd0 && (!slots_valid || !slots_data[16]));
    end

    // Packets: what waits for its last response is in the queue of metadata.
    (* internal = "dut.u_metas.count" *) wire [4:0] metas_count;
    (* internal = "dut.u_metas.write_ptr" *) wire [3:0] metas_write_ptr;
    (* internal = "dut.u_metas.read_ptr" *) wire [3:0] metas_read_ptr;
    (* internal = "dut.u_metas.not_full" *) wire metas_not_full;
    (* internal = "dut.u_metas.stored" *) wire metas_stored;
    wire [3:0] metas_apart = metas_write_ptr - metas_read_ptr;
    (* internal = "dut.u_hers.valid" *) wire hers_valid;
    (* internal = "dut.u_hers.u_fifo.count" *) wire [1:0] hers_count;
    (* internal = "dut.u_hers.u_fifo.write_ptr" *) wire hers_write_ptr;
    (* internal = "dut.u_hers.u_fifo.read_ptr" *) wire hers_read_ptr;
    (* internal = "dut.u_hers.u_fifo.not_full" *) wire hers_not_full;
    (* internal = "dut.u_hers.u_fifo.stored" *) wire hers_stored;
    queue_invariant #(.POINTER(1)) hers_invariant (
        .after_reset(after_reset), .count(hers_count), .write_ptr(hers_write_ptr),
        .read_ptr(hers_read_ptr), .not_full(hers_not_full), .stored(hers_stored), .held(1'b0)
    );
    (* internal = "dut.u_frees.valid" *) wire frees_valid;
    (* internal = "dut.u_frees.u_fifo.count" *) wire [1:0] frees_count;
    (* internal = "dut.u_frees.u_fifo.write_ptr" *) wire frees_write_ptr;
    (* internal = "dut.u_frees.u_fifo.read_ptr" *) wire frees_read_ptr;
    (* internal = "dut.u_frees.u_fifo.not_full" *) wire frees_not_full;
    (* internal = "dut.u_frees.u_fifo.stored" *) wire frees_stored;
    queue_invariant #(.POINTER(1)) frees_invariant (
        .after_reset(after_reset), .count(frees_count), .write_ptr(frees_write_ptr),
        .read_ptr(frees_read_ptr), .not_full(frees_not_full), .stored(frees_stored), .held(1'b0)
    );

    always @* begin
        metas_hold_their_depth: assert (metas_count <= 16 && metas_apart == metas_count[3:0]);
        metas_ready: assert (metas_not_full == (metas_count != 16 && !after_reset));
        metas_are_counted: assert (metas_stored == (metas_count != 0));
        a_slot_or_a_record_for_each: assert (metas_count == slots_count + slots_valid + in_frame + last_records);
        every_packet_is_somewhere: assert (
            inside == descriptor_held + metas_count + hers_count + hers_valid + frees_count + frees_valid
        );
    end
`endif
endmodule

`default_nettype wire
