// PspinHostmemDmaWr: responses, descriptors and RAM commands are stable while they wait; a tag is not given while it is
// in flight, whatever statuses come; nothing overflows; and each link from address to response: a burst ends with
// the last of its AWLEN + 1 beats and never before, becomes one last item, one last piece and one response, with its
// id. A descriptor is offered only when the RAM has done the writes of the lines up to its position. Order and number are kept by the queues between the links, which output_queue.sv and fifo.sv prove.
//
// Beats of 4 bytes, four descriptors, a ring of 1024 lines in two segments. The solver chooses one transfer when it
// enters the ring of transfers. What is assumed: the RAM says that a write is done only after it was taken, and says
// nothing more of those of before a reset of the RAM when that is over; with `drain` it is `dma_rstn` that resets the
// RAM, without it `rstn`. Nothing is assumed of AXI, of descriptors and of statuses.
`default_nettype none

module pspin_hostmem_dma_wr_proof (
    input wire clk,
    input wire rstn,
`ifdef DRAIN_1
    input wire dma_rstn,
`endif
    input wire desc_ready,
    input wire [2:0] status_tag,
    input wire [3:0] status_error,
    input wire status_valid,
    input wire [1:0] ram_ready,
    input wire [1:0] ram_done,
    input wire [1:0] awid,
    input wire [12:0] awaddr,
    input wire [7:0] awlen,
    input wire [2:0] awsize,
    input wire [1:0] awburst,
    input wire awvalid,
    input wire [31:0] wdata,
    input wire [3:0] wstrb,
    input wire wlast,
    input wire wvalid,
    input wire bready,
    input wire watch,
    input wire [16:0] unused
);
`ifdef DRAIN_1
    wire forget = !dma_rstn;
    wire rst = !rstn || forget;
`else
    wire rst = !rstn;
    wire forget = rst;
`endif
    wire [12:0] desc_dma_addr, desc_len;
    wire desc_ram_sel, desc_imm, desc_imm_en, desc_valid;
    wire [11:0] desc_ram_addr;
    wire [2:0] desc_tag;
    wire [3:0] ram_be;
    wire [19:0] ram_addr;
    wire [31:0] ram_data;
    wire [1:0] ram_valid;
    wire awready, wready, buser, bvalid;
    wire [1:0] bid, bresp;
    wire [31:0] count_bursts, count_stray;

    pspin_hostmem_dma_wr dut (
        .clk(clk), .rstn(rstn),
`ifdef DRAIN_1
        .dma_rstn(dma_rstn),
`endif
        .m_axis_write_desc_dma_addr(desc_dma_addr), .m_axis_write_desc_ram_sel(desc_ram_sel),
        .m_axis_write_desc_ram_addr(desc_ram_addr), .m_axis_write_desc_imm(desc_imm),
        .m_axis_write_desc_imm_en(desc_imm_en), .m_axis_write_desc_len(desc_len),
        .m_axis_write_desc_tag(desc_tag), .m_axis_write_desc_valid(desc_valid),
        .m_axis_write_desc_ready(desc_ready),
        .s_axis_write_desc_status_tag(status_tag), .s_axis_write_desc_status_error(status_error),
        .s_axis_write_desc_status_valid(status_valid),
        .ram_wr_cmd_be(ram_be), .ram_wr_cmd_addr(ram_addr), .ram_wr_cmd_data(ram_data),
        .ram_wr_cmd_valid(ram_valid), .ram_wr_cmd_ready(ram_ready), .ram_wr_done(ram_done),
        .s_axi_awid(awid), .s_axi_awaddr(awaddr), .s_axi_awlen(awlen), .s_axi_awsize(awsize),
        .s_axi_awburst(awburst), .s_axi_awlock(unused[0]), .s_axi_awcache(unused[4:1]),
        .s_axi_awprot(unused[7:5]), .s_axi_awqos(unused[11:8]), .s_axi_awregion(unused[15:12]),
        .s_axi_awuser(unused[16]), .s_axi_awvalid(awvalid), .s_axi_awready(awready),
        .s_axi_wdata(wdata), .s_axi_wstrb(wstrb), .s_axi_wlast(wlast), .s_axi_wuser(unused[0]),
        .s_axi_wvalid(wvalid), .s_axi_wready(wready),
        .s_axi_bid(bid), .s_axi_bresp(bresp), .s_axi_buser(buser), .s_axi_bvalid(bvalid), .s_axi_bready(bready),
        .wr_bursts_o(count_bursts), .wr_stray_status_o(count_stray)
    );

    stream_rules #(.WIDTH(4)) b_rules (
        .clk(clk), .rst(rst), .valid(bvalid), .ready(bready), .payload({bid, bresp})
    );
    stream_rules #(.WIDTH(44)) desc_rules (
        .clk(clk), .rst(forget), .valid(desc_valid), .ready(desc_ready),
        .payload({desc_tag, desc_len, desc_imm_en, desc_imm, desc_ram_addr, desc_ram_sel, desc_dma_addr})
    );
    genvar s;
    generate
        for (s = 0; s < 2; s = s + 1) begin : segment
            stream_rules #(.WIDTH(28)) ram_rules (
                .clk(clk), .rst(rst), .valid(ram_valid[s]), .ready(ram_ready[s]),
                .payload({ram_be[2*s +: 2], ram_addr[10*s +: 10], ram_data[16*s +: 16]})
            );
        end
    endgenerate

    // The RAM: writes that are taken and not done.
    reg [10:0] unwritten_0 = 11'd0;
    reg [10:0] unwritten_1 = 11'd0;
    always @(posedge clk) begin
        unwritten_0 <= unwritten_0 + (ram_valid[0] && ram_ready[0]) - ram_done[0];
        unwritten_1 <= unwritten_1 + (ram_valid[1] && ram_ready[1]) - ram_done[1];
        if (forget) begin
            unwritten_0 <= 11'd0;
            unwritten_1 <= 11'd0;
        end
    end
    always @* begin
        assume (!ram_done[0] || unwritten_0 != 0);
        assume (!ram_done[1] || unwritten_1 != 0);
    end

    always @* begin
        constants: assert (!buser && !desc_imm_en && !desc_imm && !desc_ram_sel);
        if (bvalid) response_exists: assert (bresp != 2'd1);
    end

    // The links, at the ports of the parts. A burst is {id, kind, size, length, address}; what is done is {error,
    // payload}, of which bit 14 says that it is the last piece of its burst, and the lowest bits are its id.
    (* internal = "dut.bursts_m_valid" *) wire burst_valid;
    (* internal = "dut.bursts_m_data" *) wire [27:0] burst;
    (* internal = "dut.splitter_burst_ready" *) wire burst_ready;
    (* internal = "dut.intake_beat_valid" *) wire beat_valid;
    (* internal = "dut.splitter_beat_ready" *) wire beat_ready;
    (* internal = "dut.splitter_run_valid" *) wire run_valid;
    (* internal = "dut.splitter_run_data" *) wire [37:0] run;
    (* internal = "dut.assembler_run_ready" *) wire run_ready;
    (* internal = "dut.assembler_piece_valid" *) wire piece_comes;
    (* internal = "dut.assembler_piece" *) wire [51:0] piece;
    (* internal = "dut.u_pieces.u_fifo.not_full" *) wire pieces_not_full;
    (* internal = "dut.pieces_m_valid" *) wire transfer_valid;
    (* internal = "dut.transfers_s_ready" *) wire transfer_ready;
    (* internal = "dut.transfers_s_data" *) wire [55:0] transfer;
    (* internal = "dut.transfers_m_valid" *) wire done_valid;
    (* internal = "dut.transfers_m_ready" *) wire done_ready;
    (* internal = "dut.transfers_m_data" *) wire [20:0] done;
    (* internal = "dut.transfers_stray" *) wire transfers_stray;

    wire w = wvalid && wready;
    wire b = bvalid && bready;
    wire burst_ends = burst_valid && burst_ready;
    wire beat_goes = beat_valid && beat_ready;
    wire run_ends = run_valid && run_ready && run[21];
    wire piece_ends = piece_comes && piece[36];
    wire transfer_enters = transfer_valid && transfer_ready;
    wire transfer_leaves = done_valid && done_ready;
    reg [8:0] beats = 9'd0; // Of the burst, that are behind the splitter.
    reg [2:0] buffered = 3'd0; // Beats that are taken and not behind the splitter.
    reg ended = 1'b0; // The last burst's last item is at the output of the splitter.
    reg [1:0] ended_id;
    reg [1:0] inside = 2'd0; // Responses that are due.
    reg [1:0] due_id;
    always @(posedge clk) begin
        if (beat_goes) beats <= burst_ends ? 9'd0 : beats + 9'd1;
        buffered <= buffered + w - beat_goes;
        if (run_ends) ended <= 1'b0;
        if (burst_ends) begin
            ended <= 1'b1;
            ended_id <= burst[27:26];
        end
        inside <= inside + (transfer_leaves && done[14]) - b;
        if (transfer_leaves && done[14]) due_id <= done[1:0];
        if (rst) begin
            beats <= 9'd0;
            buffered <= 3'd0;
            ended <= 1'b0;
            inside <= 2'd0;
        end
    end

    // The ring of transfers.
    wire [3:0] in_flight, its_error;
    wire [2:0] in_ring;
    wire [1:0] next_tag, ahead, its_tag;
    wire watching, moves, given, answered;
    wire [16:0] watched;
    transfer_ring_rules #(.PAYLOAD(17)) ring (
        .clk(clk), .rst(rst), .forget(forget), .enters(transfer_enters), .enters_moving(transfer[38]),
        .payload(transfer[55:39]), .desc_valid(desc_valid), .desc_ready(desc_ready), .desc_tag(desc_tag),
        .status_valid(status_valid), .status_tag(status_tag), .status_error(status_error),
        .transfers_stray(transfers_stray), .done_valid(done_valid), .leaves(transfer_leaves), .done(done),
        .watch(watch), .in_flight(in_flight), .inside(in_ring), .next_tag(next_tag), .watching(watching),
        .ahead(ahead), .watched(watched), .moves(moves), .its_tag(its_tag), .given(given), .answered(answered),
        .its_error(its_error)
    );

    always @* begin
        pieces_never_overflow: assert (!piece_comes || pieces_not_full);
        beats_come_from_outside: assert (buffered <= 3 && (!beat_goes || buffered != 0));
        a_burst_has_its_beats: assert (!burst_ends || (beat_goes && beats == burst[20:13]));
        no_beat_is_too_many: assert (!beat_goes || (burst_valid && beats <= burst[20:13]));
        one_last_item: assert ((run_valid && run[21]) == ended);
        if (ended) last_item_has_its_id: assert (run[37:36] == ended_id);
        one_last_piece: assert (piece_ends == run_ends);
        if (piece_ends) last_piece_has_its_id: assert (piece[51:50] == run[37:36]);
        if (transfer_enters) piece_keeps_its_id: assert (transfer[40:39] == piece_id && transfer[53] == piece_last);
        one_response: assert (bvalid == (inside != 0) && inside <= 1);
        if (bvalid) response_has_its_id: assert (bid == due_id);
        a_burst_of_two_is_answered: cover (b && bresp == 2'd0 && two_beats);
    end
    (* internal = "dut.pieces_m_data" *) wire [51:0] piece_out;
    wire [1:0] piece_id = piece_out[51:50];
    wire piece_last = piece_out[36];
    reg two_beats = 1'b0;
    always @(posedge clk) if (burst_ends && beats == 9'd1) two_beats <= 1'b1;

    // With `drain`, descriptors and writes of before a reset are waited for: until then nothing comes in.
`ifdef DRAIN_1
    reg drains = 1'b0;
    wire under_way = desc_valid || in_flight != 4'd0 || unwritten_0 != 0 || unwritten_1 != 0 || |(ram_valid & ram_ready);
    always @(posedge clk) drains <= (rst || drains) && !forget && under_way;
    always @* begin
        waits_for_what_is_in_flight: assert (!drains || rst || (!awready && !wready && !ram_valid));
        takes_again: cover (was_draining && !drains && awready);
    end
    reg was_draining = 1'b0;
    always @(posedge clk) was_draining <= was_draining || (drains && in_flight != 4'd0 && !rst);
`else
    wire drains = 1'b0;
`endif

    // The writes that each segment has done since the reset; the lines that all have done, in the clock before; and
    // up to which line the data of the descriptor has to be there.
    reg [11:0] done_0 = 12'd0;
    reg [11:0] done_1 = 12'd0;
    wire [11:0] lead = done_0 - done_1;
    wire [10:0] lines_done = lead[11] ? done_0[10:0] : done_1[10:0];
    reg [10:0] lines_before;
    reg [10:0] position;
    reg stays_offered = 1'b0;
    wire [10:0] behind = lines_before - position;
    always @(posedge clk) begin
        done_0 <= done_0 + ram_done[0];
        done_1 <= done_1 + ram_done[1];
        lines_before <= lines_done;
        if (transfer_enters && !rst) position <= transfer[51:41];
        stays_offered <= desc_valid && !desc_ready && !forget;
        if (rst || drains) begin
            done_0 <= 12'd0;
            done_1 <= 12'd0;
        end
    end
    always @* begin
        if (desc_valid && !stays_offered) data_is_written: assert (behind != 0 && behind <= 1024);
        waits_for_its_data: cover (data_was_late && desc_valid);
    end
    reg data_was_late = 1'b0;
    wire data_is_late = transfer_enters && transfer[38] && lines_done == transfer[51:41];
    always @(posedge clk) data_was_late <= !rst && (data_is_late || (data_was_late && !desc_valid));

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
`ifdef DRAIN_1
    (* internal = "dut.draining" *) wire draining;
    (* internal = "dut.u_bursts.u_fifo.count" *) wire [4:0] bursts_count;
    (* internal = "dut.u_bursts.u_fifo.stored" *) wire bursts_stored;
    (* internal = "dut.u_account.counts_0" *) wire [10:0] open_0;
    (* internal = "dut.u_account.counts_1" *) wire [10:0] open_1;
`else
    wire draining = 1'b0;
`endif
    (* internal = "dut.u_intake.fill" *) wire [10:0] fill;
    (* internal = "dut.u_intake.written_reg" *) wire [10:0] written;
    (* internal = "dut.u_intake.command_valid" *) wire [1:0] command_valid;
    (* internal = "dut.u_intake.ahead_0" *) wire [10:0] ahead_0;
    (* internal = "dut.u_intake.ahead_1" *) wire [10:0] ahead_1;
    (* internal = "dut.u_intake.u_slice.spare_used" *) wire slice_used;
    (* internal = "dut.u_intake.u_slice.ready" *) wire slice_ready;
    (* internal = "dut.u_intake.u_beats.spare_used" *) wire spare_used;
    (* internal = "dut.u_intake.u_beats.ready" *) wire beats_ready;
    (* internal = "dut.u_splitter.in_burst" *) wire in_burst;
    (* internal = "dut.u_splitter.number" *) wire [7:0] number;
    (* internal = "dut.u_splitter.again" *) wire again;
    // The front stays in reset while descriptors of before a reset are waited for.
    reg after_hold = 1'b1;
    always @(posedge clk) after_hold <= rst || draining;
    (* internal = "dut.u_transfers.head" *) wire [2:0] head;
    (* internal = "dut.u_transfers.tail" *) wire [2:0] tail;
    (* internal = "dut.u_transfers.pending" *) wire [3:0] pending;
    (* internal = "dut.u_transfers.full" *) wire full;
    (* internal = "dut.u_transfers.held" *) wire held;
    (* internal = "dut.held_position" *) wire [10:0] held_position;
    (* internal = "dut.u_transfers.tag" *) wire [1:0] held_tag;
    (* internal = "dut.u_transfers.u_payloads.memory[0]" *) wire [17:0] payload_0;
    (* internal = "dut.u_transfers.u_payloads.memory[1]" *) wire [17:0] payload_1;
    (* internal = "dut.u_transfers.u_payloads.memory[2]" *) wire [17:0] payload_2;
    (* internal = "dut.u_transfers.u_payloads.memory[3]" *) wire [17:0] payload_3;
    (* internal = "dut.u_transfers.u_errors.memory[0]" *) wire [3:0] error_0;
    (* internal = "dut.u_transfers.u_errors.memory[1]" *) wire [3:0] error_1;
    (* internal = "dut.u_transfers.u_errors.memory[2]" *) wire [3:0] error_2;
    (* internal = "dut.u_transfers.u_errors.memory[3]" *) wire [3:0] error_3;
    (* internal = "dut.u_pieces.u_fifo.count" *) wire [4:0] pieces_count;
    (* internal = "dut.u_pieces.u_fifo.write_ptr" *) wire [3:0] pieces_write_ptr;
    (* internal = "dut.u_pieces.u_fifo.read_ptr" *) wire [3:0] pieces_read_ptr;
    (* internal = "dut.u_pieces.u_fifo.nearly_full" *) wire pieces_nearly_full;
    (* internal = "dut.u_pieces.u_fifo.stored" *) wire pieces_stored;
    transfer_ring_inside #(.PAYLOAD(17)) ring_inside (
        .draining(draining), .in_flight(in_flight), .inside(in_ring), .next_tag(next_tag), .watching(watching),
        .ahead(ahead), .watched(watched), .moves(moves), .its_tag(its_tag), .given(given), .answered(answered),
        .its_error(its_error), .head(head), .tail(tail), .pending(pending), .full(full), .held(held), .held_tag(held_tag),
        .desc_valid(desc_valid),
        .payloads({payload_3, payload_2, payload_1, payload_0}), .errors({error_3, error_2, error_1, error_0})
    );
    queue_invariant #(.POINTER(4)) pieces_invariant (
        .after_reset(after_hold), .count(pieces_count), .write_ptr(pieces_write_ptr),
        .read_ptr(pieces_read_ptr), .not_full(pieces_not_full), .stored(pieces_stored), .held(1'b0)
    );

    always @* begin
        pieces_flag: assert (pieces_nearly_full == (pieces_count >= 15));
        slice_takes: assert (slice_ready == (!slice_used && !after_hold));
        beats_take: assert (beats_ready == (!spare_used && !after_hold));
        if (spare_used) one_is_before_the_spare: assert (beat_valid);
        buffered_is_counted: assert (buffered == beat_valid + spare_used + slice_used);
        beats_are_numbered: assert (beats == (in_burst ? {1'b0, number} : 9'd0));
        if (in_burst) is_within_its_burst: assert (burst_valid && number != 0 && number <= burst[20:13]);
        if (again) is_within_its_beat: assert (burst_valid && beat_valid && run_valid && !run[21]);
        if (run_valid && run[21]) last_is_whole: assert (run[20]);
        // Data: taken, at the RAM, done.
        ring_has_room: assert (in_lines <= 1024);
        if (!draining) begin
            segment_0_is_counted: assert (in_lines == command_valid[0] + unwritten_0 + ahead_0);
            segment_1_is_counted: assert (in_lines == command_valid[1] + unwritten_1 + ahead_1);
            segment_0_has_done: assert (done_0[10:0] == written + ahead_0);
            segment_1_has_done: assert (done_1[10:0] == written + ahead_1);
            segments_are_apart: assert (lead == {1'b0, ahead_0} - {1'b0, ahead_1});
            one_is_ahead: assert (ahead_0 == 0 || ahead_1 == 0);
        end
        if (held && !desc_valid) position_is_held: assert (held_position == position);
`ifdef DRAIN_1
        draining_until_idle: assert (!drains || draining);
        account_is_exact: assert (open_0 == unwritten_0 && open_1 == unwritten_1);
        if (draining && !drains) ram_is_idle: assert (unwritten_0 == 0 && unwritten_1 == 0);
        empty_while_draining: assert (!draining || (after_hold && buffered == 0 && head == tail && fill == 0 && command_valid == 0
            && !burst_valid && bursts_count == 0 && !bursts_stored && !beat_valid && !run_valid && !transfer_valid
            && pieces_count == 0 && ahead_0 == 0 && ahead_1 == 0 && written == 0 && done_0 == 0 && done_1 == 0));
        offers_at_once_or_never: assert (!draining || held == desc_valid);
`endif
    end
    wire [12:0] in_lines = {2'd0, lines_in_use};
    wire [10:0] lines_in_use = fill - written;
`endif
endmodule

`default_nettype wire
