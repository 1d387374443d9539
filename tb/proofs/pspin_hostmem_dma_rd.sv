// PspinHostmemDmaRd: data, descriptors and RAM commands are stable while they wait; a tag is not given while it is in
// flight, whatever statuses come; no word from the RAM is lost; and each link from address to data: a burst becomes
// one plan, one last transfer, one job and ARLEN + 1 beats, of which only the last has RLAST, all with its id; a beat
// that failed has data 0. Order and number are kept by the queues between the links, which output_queue.sv and
// fifo.sv prove.
//
// Beats of 4 bytes, four descriptors, a ring of 1024 lines in two segments. The solver chooses one transfer when it
// enters the ring of transfers. What is assumed: the RAM gives one word for each command, and none of before a reset
// of the RAM when that is over; with `drain` it is `dma_rstn` that resets the RAM, without it `rstn`. Nothing is
// assumed of AXI, of descriptors and of statuses.
`default_nettype none

module pspin_hostmem_dma_rd_proof (
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
    input wire [31:0] ram_data,
    input wire [1:0] ram_data_valid,
    input wire [1:0] arid,
    input wire [12:0] araddr,
    input wire [7:0] arlen,
    input wire [2:0] arsize,
    input wire [1:0] arburst,
    input wire arvalid,
    input wire rready,
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
    wire desc_ram_sel, desc_valid;
    wire [11:0] desc_ram_addr;
    wire [2:0] desc_tag;
    wire [19:0] ram_addr;
    wire [1:0] ram_valid, ram_data_ready;
    wire arready, ruser, rvalid, rlast;
    wire [1:0] rid, rresp;
    wire [31:0] rdata;

    pspin_hostmem_dma_rd dut (
        .clk(clk), .rstn(rstn),
`ifdef DRAIN_1
        .dma_rstn(dma_rstn),
`endif
        .m_axis_read_desc_dma_addr(desc_dma_addr), .m_axis_read_desc_ram_sel(desc_ram_sel),
        .m_axis_read_desc_ram_addr(desc_ram_addr), .m_axis_read_desc_len(desc_len),
        .m_axis_read_desc_tag(desc_tag), .m_axis_read_desc_valid(desc_valid),
        .m_axis_read_desc_ready(desc_ready),
        .s_axis_read_desc_status_tag(status_tag), .s_axis_read_desc_status_error(status_error),
        .s_axis_read_desc_status_valid(status_valid),
        .ram_rd_cmd_addr(ram_addr), .ram_rd_cmd_valid(ram_valid), .ram_rd_cmd_ready(ram_ready),
        .ram_rd_resp_data(ram_data), .ram_rd_resp_valid(ram_data_valid), .ram_rd_resp_ready(ram_data_ready),
        .s_axi_arid(arid), .s_axi_araddr(araddr), .s_axi_arlen(arlen), .s_axi_arsize(arsize),
        .s_axi_arburst(arburst), .s_axi_arlock(unused[0]), .s_axi_arcache(unused[4:1]),
        .s_axi_arprot(unused[7:5]), .s_axi_arqos(unused[11:8]), .s_axi_arregion(unused[15:12]),
        .s_axi_aruser(unused[16]), .s_axi_arvalid(arvalid), .s_axi_arready(arready),
        .s_axi_rid(rid), .s_axi_rdata(rdata), .s_axi_rresp(rresp), .s_axi_rlast(rlast), .s_axi_ruser(ruser),
        .s_axi_rvalid(rvalid), .s_axi_rready(rready)
    );

    stream_rules #(.WIDTH(37)) r_rules (
        .clk(clk), .rst(rst), .valid(rvalid), .ready(rready), .payload({rid, rresp, rlast, rdata})
    );
    stream_rules #(.WIDTH(42)) desc_rules (
        .clk(clk), .rst(forget), .valid(desc_valid), .ready(desc_ready),
        .payload({desc_tag, desc_len, desc_ram_addr, desc_ram_sel, desc_dma_addr})
    );
    genvar s;
    generate
        for (s = 0; s < 2; s = s + 1) begin : segment
            stream_rules #(.WIDTH(10)) ram_rules (
                .clk(clk), .rst(rst), .valid(ram_valid[s]), .ready(ram_ready[s]), .payload(ram_addr[10*s +: 10])
            );
        end
    endgenerate

    // The RAM: commands that are taken and have not given their word.
    reg [10:0] asked_0 = 11'd0;
    reg [10:0] asked_1 = 11'd0;
    always @(posedge clk) begin
        asked_0 <= asked_0 + (ram_valid[0] && ram_ready[0]) - ram_data_valid[0];
        asked_1 <= asked_1 + (ram_valid[1] && ram_ready[1]) - ram_data_valid[1];
        if (forget) begin
            asked_0 <= 11'd0;
            asked_1 <= 11'd0;
        end
    end
    always @* begin
        assume (!ram_data_valid[0] || asked_0 != 0);
        assume (!ram_data_valid[1] || asked_1 != 0);
    end

    // The links, at the ports of the parts. A burst is {id, kind, size, length, address}; a plan has its id in bits
    // 26:25 and its length in 21:14; a transfer in 73:72 and 68:61, and bit 77 says that it is the last of its
    // burst; what is done has these 39 lower, and its error on top; a job has them in 34:33 and 29:22.
    (* internal = "dut.bursts_m_valid" *) wire burst_valid;
    (* internal = "dut.bursts_m_data" *) wire [27:0] burst;
    (* internal = "dut.planner_burst_ready" *) wire burst_ready;
    (* internal = "dut.planner_plan_valid" *) wire plan_valid;
    (* internal = "dut.planner_plan_data" *) wire [51:0] plan;
    (* internal = "dut.reserve_plan_ready" *) wire plan_ready;
    (* internal = "dut.reserve_transfer_valid" *) wire transfer_valid;
    (* internal = "dut.transfers_s_ready" *) wire transfer_ready;
    (* internal = "dut.reserve_transfer_data" *) wire [77:0] transfer;
    (* internal = "dut.transfers_m_valid" *) wire done_valid;
    (* internal = "dut.jobs_s_ready" *) wire done_ready;
    (* internal = "dut.transfers_m_data" *) wire [42:0] done;
    (* internal = "dut.transfers_stray" *) wire transfers_stray;
    (* internal = "dut.jobs_s_valid" *) wire job_comes;
    (* internal = "dut.jobs_s_data" *) wire [37:0] job_in;
    (* internal = "dut.jobs_m_valid" *) wire job_valid;
    (* internal = "dut.jobs_m_data" *) wire [37:0] job;
    (* internal = "dut.sequencer_job_ready" *) wire job_ready;
    (* internal = "dut.u_sequencer.go" *) wire beat_goes;
    (* internal = "dut.u_sequencer.beats_s_ready" *) wire beat_ready;
    (* internal = "dut.u_sequencer.beats_s_data" *) wire [6:0] beat;
    (* internal = "dut.u_sequencer.pop" *) wire beat_leaves;
    (* internal = "dut.u_sequencer.beats_m_valid" *) wire beat_out_valid;
    (* internal = "dut.u_sequencer.beats_m_data" *) wire [6:0] beat_out;
    (* internal = "dut.u_sequencer.u_words_0.count" *) wire [4:0] words_0_count;
    (* internal = "dut.u_sequencer.u_words_0.write_ptr" *) wire [3:0] words_0_write_ptr;
    (* internal = "dut.u_sequencer.u_words_0.read_ptr" *) wire [3:0] words_0_read_ptr;
    (* internal = "dut.u_sequencer.u_words_0.not_full" *) wire words_0_not_full;
    (* internal = "dut.u_sequencer.u_words_0.stored" *) wire words_0_stored;
    (* internal = "dut.u_sequencer.u_words_1.count" *) wire [4:0] words_1_count;
    (* internal = "dut.u_sequencer.u_words_1.write_ptr" *) wire [3:0] words_1_write_ptr;
    (* internal = "dut.u_sequencer.u_words_1.read_ptr" *) wire [3:0] words_1_read_ptr;
    (* internal = "dut.u_sequencer.u_words_1.not_full" *) wire words_1_not_full;
    (* internal = "dut.u_sequencer.u_words_1.stored" *) wire words_1_stored;

    wire burst_leaves = burst_valid && burst_ready;
    wire plan_leaves = plan_valid && plan_ready;
    wire transfer_enters = transfer_valid && transfer_ready;
    wire transfer_leaves = done_valid && done_ready;
    wire job_leaves = job_valid && job_ready;
    reg [1:0] planning = 2'd0; // Bursts in the planner, the oldest in the lowest bits: {id, length}.
    reg [29:0] planned;
    reg reserving = 1'b0; // A burst that has its lines: {id, length}.
    reg [9:0] reserved;
    reg [8:0] beats = 9'd0; // Of the job, that are behind the counter.
    reg due = 1'b0; // A beat is at the port: {has data, id, response, last}.
    reg [5:0] due_beat;
    always @(posedge clk) begin
        planning <= planning + burst_leaves - plan_leaves;
        if (plan_leaves) planned <= planned >> 10;
        if (burst_leaves) planned[10*(planning - plan_leaves) +: 10] <= {burst[27:26], burst[20:13]};
        if (transfer_enters && transfer[77]) reserving <= 1'b0;
        if (plan_leaves) begin
            reserving <= 1'b1;
            reserved <= {plan[26:25], plan[21:14]};
        end
        if (beat_goes) beats <= job_leaves ? 9'd0 : beats + 9'd1;
        if (rready) due <= 1'b0;
        if (beat_leaves) begin
            due <= 1'b1;
            due_beat <= {beat_out[5], beat_out[1:0], beat_out[3:2], beat_out[4]};
        end
        if (rst) begin
            planning <= 2'd0;
            reserving <= 1'b0;
            beats <= 9'd0;
            due <= 1'b0;
        end
    end

    // The ring of transfers.
    wire [3:0] in_flight, its_error;
    wire [2:0] in_ring;
    wire [1:0] next_tag, ahead, its_tag;
    wire watching, moves, given, answered;
    wire [38:0] watched;
    transfer_ring_rules #(.PAYLOAD(39)) ring (
        .clk(clk), .rst(rst), .forget(forget), .enters(transfer_enters), .enters_moving(transfer[38]),
        .payload(transfer[77:39]), .desc_valid(desc_valid), .desc_ready(desc_ready), .desc_tag(desc_tag),
        .status_valid(status_valid), .status_tag(status_tag), .status_error(status_error),
        .transfers_stray(transfers_stray), .done_valid(done_valid), .leaves(transfer_leaves), .done(done),
        .watch(watch), .in_flight(in_flight), .inside(in_ring), .next_tag(next_tag), .watching(watching),
        .ahead(ahead), .watched(watched), .moves(moves), .its_tag(its_tag), .given(given), .answered(answered),
        .its_error(its_error)
    );

    always @* begin
        constants: assert (!ruser && !desc_ram_sel && ram_data_ready == 2'b11);
        planner_holds_three: assert (planning <= 3 && (!plan_valid || planning != 0));
        if (plan_valid) plan_is_of_its_burst: assert ({plan[26:25], plan[21:14]} == planned[9:0]);
        one_last_transfer: assert (transfer_valid == reserving
            && (!plan_leaves || !reserving || (transfer_enters && transfer[77])));
        if (transfer_valid) transfer_is_of_its_plan: assert ({transfer[73:72], transfer[68:61]} == reserved);
        if (transfer_enters) response_exists: assert (transfer[75:74] != 2'd1);
        if (transfer_enters) only_okay_moves_bytes: assert (transfer[38] == (transfer[75:74] == 2'd0));
        one_job: assert ((job_comes && done_ready) == (transfer_leaves && done[38]));
        if (job_comes) job_is_of_its_transfer: assert ({job_in[34:33], job_in[29:22]} == {done[34:33], done[29:22]});
        if (job_comes) response_is_kept_or_fails:
            assert (job_in[36:35] == done[36:35] || job_in[36:35] == (done[36:35] | 2'd2));
        job_has_its_beats: assert (job_leaves == (beat_goes && beats == job[29:22]));
        no_beat_is_too_many: assert (!beat_goes || (job_valid && beat_ready && beats <= job[29:22]));
        if (beat_goes) only_the_last_is_last: assert (beat[4] == (beats == job[29:22]) && beat[1:0] == job[34:33]);
        if (beat_goes) data_if_okay: assert (beat[3:2] == job[36:35] && beat[5] == (job[36:35] == 2'd0));
        if (beat_leaves) beat_was_there: assert (beat_out_valid && (!due || rready));
        gives_what_is_due: assert (rvalid == due);
        if (rvalid) beat_is_as_it_was_queued: assert ({rid, rresp, rlast} == due_beat[4:0]);
        if (rvalid && !due_beat[5]) no_data_is_zero: assert (rdata == 0);
        counts_the_second_of_two: cover (job_leaves && beats == 9'd1);
    end

`ifdef DRAIN_1
    // Descriptors and commands of before a reset are waited for: until then nothing comes in.
    reg drains = 1'b0;
    reg was_draining = 1'b0;
    wire under_way = desc_valid || in_flight != 4'd0 || asked_0 != 0 || asked_1 != 0 || |(ram_valid & ram_ready);
    always @(posedge clk) begin
        drains <= (rst || drains) && !forget && under_way;
        was_draining <= was_draining || (drains && in_flight != 4'd0 && !rst);
    end
    always @* begin
        waits_for_what_is_in_flight: assert (!drains || rst || (!arready && !ram_valid && !rvalid));
        takes_again: cover (was_draining && !drains && arready);
    end
`endif

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
`ifdef DRAIN_1
    (* internal = "dut.draining" *) wire draining;
    (* internal = "dut.u_bursts.u_fifo.count" *) wire [4:0] bursts_count;
    (* internal = "dut.u_bursts.u_fifo.stored" *) wire bursts_stored;
    (* internal = "dut.u_jobs.u_fifo.stored" *) wire jobs_stored;
    (* internal = "dut.u_account.counts_0" *) wire [10:0] open_0;
    (* internal = "dut.u_account.counts_1" *) wire [10:0] open_1;
`else
    wire draining = 1'b0;
`endif
    (* internal = "dut.u_planner.found_valid" *) wire found_valid;
    (* internal = "dut.u_planner.found" *) wire [38:0] found;
    (* internal = "dut.u_planner.u_planned.spare" *) wire [51:0] spare;
    (* internal = "dut.u_planner.u_planned.spare_used" *) wire spare_used;
    (* internal = "dut.u_planner.u_planned.ready" *) wire slice_ready;
    // The front stays in reset while descriptors of before a reset are waited for.
    reg after_hold = 1'b1;
    always @(posedge clk) after_hold <= rst || draining;
    (* internal = "dut.u_transfers.head" *) wire [2:0] head;
    (* internal = "dut.u_transfers.tail" *) wire [2:0] tail;
    (* internal = "dut.u_transfers.pending" *) wire [3:0] pending;
    (* internal = "dut.u_transfers.full" *) wire full;
    (* internal = "dut.u_transfers.held" *) wire held;
    (* internal = "dut.u_transfers.tag" *) wire [1:0] held_tag;
    (* internal = "dut.u_transfers.u_payloads.memory[0]" *) wire [39:0] payload_0;
    (* internal = "dut.u_transfers.u_payloads.memory[1]" *) wire [39:0] payload_1;
    (* internal = "dut.u_transfers.u_payloads.memory[2]" *) wire [39:0] payload_2;
    (* internal = "dut.u_transfers.u_payloads.memory[3]" *) wire [39:0] payload_3;
    (* internal = "dut.u_transfers.u_errors.memory[0]" *) wire [3:0] error_0;
    (* internal = "dut.u_transfers.u_errors.memory[1]" *) wire [3:0] error_1;
    (* internal = "dut.u_transfers.u_errors.memory[2]" *) wire [3:0] error_2;
    (* internal = "dut.u_transfers.u_errors.memory[3]" *) wire [3:0] error_3;
    (* internal = "dut.u_sequencer.in_burst" *) wire in_burst;
    (* internal = "dut.u_sequencer.number" *) wire [7:0] number;
    (* internal = "dut.u_sequencer.command_valid" *) wire [1:0] command_valid;
    (* internal = "dut.u_sequencer.u_beats.count" *) wire [4:0] beats_count;
    (* internal = "dut.u_sequencer.u_beats.write_ptr" *) wire [3:0] beats_write_ptr;
    (* internal = "dut.u_sequencer.u_beats.read_ptr" *) wire [3:0] beats_read_ptr;
    (* internal = "dut.u_sequencer.u_beats.not_full" *) wire beats_not_full;
    (* internal = "dut.u_sequencer.u_beats.stored" *) wire beats_stored;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[0]" *) wire [6:0] queued_0;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[1]" *) wire [6:0] queued_1;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[2]" *) wire [6:0] queued_2;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[3]" *) wire [6:0] queued_3;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[4]" *) wire [6:0] queued_4;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[5]" *) wire [6:0] queued_5;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[6]" *) wire [6:0] queued_6;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[7]" *) wire [6:0] queued_7;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[8]" *) wire [6:0] queued_8;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[9]" *) wire [6:0] queued_9;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[10]" *) wire [6:0] queued_10;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[11]" *) wire [6:0] queued_11;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[12]" *) wire [6:0] queued_12;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[13]" *) wire [6:0] queued_13;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[14]" *) wire [6:0] queued_14;
    (* internal = "dut.u_sequencer.u_beats.u_memory.memory[15]" *) wire [6:0] queued_15;
    wire [16*7-1:0] queued = {
        queued_15, queued_14, queued_13, queued_12, queued_11, queued_10, queued_9, queued_8, queued_7, queued_6, queued_5, queued_4, queued_3, queued_2, queued_1, queued_0
    };
    transfer_ring_inside #(.PAYLOAD(39)) ring_inside (
        .draining(draining), .in_flight(in_flight), .inside(in_ring), .next_tag(next_tag), .watching(watching),
        .ahead(ahead), .watched(watched), .moves(moves), .its_tag(its_tag), .given(given), .answered(answered),
        .its_error(its_error), .head(head), .tail(tail), .pending(pending), .full(full), .held(held), .held_tag(held_tag),
        .desc_valid(desc_valid),
        .payloads({payload_3, payload_2, payload_1, payload_0}), .errors({error_3, error_2, error_1, error_0})
    );
    queue_invariant #(.POINTER(4)) beats_invariant (
        .after_reset(after_hold), .count(beats_count), .write_ptr(beats_write_ptr),
        .read_ptr(beats_read_ptr), .not_full(beats_not_full), .stored(beats_stored), .held(1'b0)
    );
    queue_invariant #(.POINTER(4)) words_0_invariant (
        .after_reset(after_hold), .count(words_0_count), .write_ptr(words_0_write_ptr),
        .read_ptr(words_0_read_ptr), .not_full(words_0_not_full), .stored(words_0_stored), .held(1'b0)
    );
    queue_invariant #(.POINTER(4)) words_1_invariant (
        .after_reset(after_hold), .count(words_1_count), .write_ptr(words_1_write_ptr),
        .read_ptr(words_1_read_ptr), .not_full(words_1_not_full), .stored(words_1_stored), .held(1'b0)
    );

    always @* begin
        beats_are_numbered: assert (beats == (in_burst ? {1'b0, number} : 9'd0));
        if (in_burst) is_within_its_job: assert (job_valid && number != 0 && number <= job[29:22]);
        planner_is_counted: assert (planning == found_valid + plan_valid + spare_used);
        slice_takes: assert (slice_ready == (!spare_used && !after_hold) && (!spare_used || plan_valid));
        if (spare_used) spare_is_the_second: assert ({spare[26:25], spare[21:14]} == planned[19:10]);
        if (found_valid) found_is_the_newest:
            assert ({found[26:25], found[21:14]} == planned[10*(plan_valid + spare_used) +: 10]);
`ifdef DRAIN_1
        draining_until_idle: assert (!drains || draining);
        account_is_exact: assert (open_0 == asked_0 && open_1 == asked_1);
        empty_while_draining: assert (!draining || (head == tail && !burst_valid && bursts_count == 0 && !bursts_stored
            && !found_valid && !plan_valid && !transfer_valid && !job_valid && !jobs_stored && beats_count == 0 && !rvalid
            && command_valid == 0 && words_0_count == 0 && words_1_count == 0));
        offers_at_once_or_never: assert (!draining || held == desc_valid);
`endif
    end
`endif
endmodule

`default_nettype wire
