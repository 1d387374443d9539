//! Blocks that are broken on purpose: what is changed in their text, which a proof has to find out.

/// A change of a block's text that breaks a promise.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    /// The proof that finds it out.
    pub proof: &'static str,
    /// What is changed, where it stands first.
    pub from: &'static str,
    /// Into what.
    pub to: &'static str,
}

/// All of them.
pub fn mutations() -> impl Iterator<Item = Mutation> {
    MUTATIONS
        .iter()
        .map(|&(proof, from, to)| Mutation { proof, from, to })
}

/// A proof, what is changed in the block's text, and into what.
type Row = (&'static str, &'static str, &'static str);

const MUTATIONS: &[Row] = &[
    // Forgets to keep the element that comes while the output stalls.
    ("skid_buffer", "spare_used <= 1'b1;", "spare_used <= 1'b0;"),
    // Takes an element while the spare register is used.
    (
        "skid_buffer",
        "ready <= 1'b0;\n        end\n        //",
        "ready <= 1'b1;\n        end\n        //",
    ),
    // Overwrites the spare register.
    ("skid_buffer", "if (ready) begin", "if (s_valid) begin"),
    // Takes the element behind the one that waits.
    ("ready_slice", "ready <= !stays;", "ready <= 1'b1;"),
    // Keeps an element that has passed.
    (
        "ready_slice",
        "assign stays = !m_ready && (spare_used || (s_valid && ready));",
        "assign stays = spare_used ? !m_ready : s_valid && ready;",
    ),
    // Takes one element too many.
    (
        "fifo_fallthrough",
        "if (count == 3'd3) begin\n                not_full",
        "if (count == 3'd4) begin\n                not_full",
    ),
    // Says that it is nearly full one element late.
    (
        "fifo_fallthrough",
        "if (count == 3'd2) begin",
        "if (count == 3'd3) begin",
    ),
    // Forgets the element that comes while another leaves.
    ("fifo_registered", "stored <= 1'b1;", "stored <= stored;"),
    // Gives an element twice.
    (
        "fifo_block",
        "if (fetch) begin\n            read_ptr <= read_ptr + 2'd1;",
        "if (fetch && !push) begin\n            read_ptr <= read_ptr + 2'd1;",
    ),
    // Loads the output register while it waits.
    ("fifo_registered", "(!held_0 || m_ready)", "(!held_0 || s_valid)"),
    // Keeps the beats of a frame that is dropped.
    ("frame_fifo", "write_ptr <= frame_ptr;", "write_ptr <= write_ptr;"),
    // Keeps the rest of a frame that has overflowed.
    (
        "frame_fifo",
        "overflowed <= overflow && !s_last;",
        "overflowed <= 1'b0;",
    ),
    // Gives a frame that is not complete.
    ("frame_fifo", "end else if (s_last) begin", "end else begin"),
    // Changes the input within a frame.
    (
        "frame_arbiter",
        "within_frame <= !offered_last;",
        "within_frame <= 1'b0;",
    ),
    // Asks input 1 only when neither of the others waits.
    (
        "frame_arbiter",
        "if (s_1_valid && owner < 2'd1) begin",
        "if (s_1_valid && owner < 2'd0) begin",
    ),
    // Takes a beat without room.
    (
        "frame_arbiter",
        "assign s_1_ready = free && turn",
        "assign s_1_ready = turn",
    ),
    // Gives every frame to output 0 as well.
    (
        "frame_demux",
        "if (take && select_data == 2'd0) begin",
        "if (take) begin",
    ),
    // Drops the select element with the first beat.
    (
        "frame_demux",
        "assign select_ready = take && s_last;",
        "assign select_ready = take;",
    ),
    // Holds a frame that has begun.
    (
        "spinneret_rate_limiter",
        "assign open = within_frame || !limit_enforce",
        "assign open = !limit_enforce",
    ),
    // Takes a beat while the one before it waits for credit.
    (
        "spinneret_rate_limiter",
        "assign gate_ready = !gate_valid || passes;",
        "assign gate_ready = !gate_valid || free;",
    ),
    // Lets credit come in without an end.
    (
        "spinneret_rate_limiter",
        "limit_rate & {3{!full}}",
        "limit_rate & {3{1'b1}}",
    ),
    // Counts a beat that waits for the output.
    (
        "spinneret_rate_limiter",
        "happened_bytes <= gate_bytes & {2{passes}};",
        "happened_bytes <= gate_bytes & {2{gate_valid && open}};",
    ),
    // Counts the byte of one lane only.
    (
        "spinneret_rate_limiter",
        "group_bytes_0 + {1'b0, slice_m_data[17]};",
        "group_bytes_0;",
    ),
    // Lets a stall of output 1 stop output 2.
    (
        "frame_demux",
        "free = !valid_2 || m_2_ready;",
        "free = (!valid_2 || m_2_ready) && !valid_1;",
    ),
    // Overwrites a HER that the cluster has not taken.
    (
        "pspin_her_gen",
        "her_free = !her_held || her_ready;",
        "her_free = 1'b1;",
    ),
    // Forgets the slot of a packet that is dropped while another slot waits.
    (
        "pspin_her_gen",
        "to_free = front_m_valid && !table_found && free_free;",
        "to_free = front_m_valid && !table_found;",
    ),
    // Drops packets that context 0 has to serve.
    (
        "pspin_her_gen",
        "found = wanted_enabled || enabled[0];",
        "found = wanted_enabled;",
    ),
    // Takes contexts while software still writes them.
    (
        "pspin_her_gen_board",
        "if (load) begin\n            enabled",
        "if (1'b1) begin\n            enabled",
    ),
    // Shows the context that the packet asks for, not the one that is used.
    (
        "pspin_her_gen_board",
        "used = wanted & {2{wanted_enabled}};",
        "used = wanted;",
    ),
    // Puts the context lowest, so that all messages of a context prefer one cluster.
    (
        "pspin_her_gen_board",
        "{message_id[2], table_used, message_id[1:0]}",
        "{message_id, table_used}",
    ),
    // Frees a slot that is free, so that it would be in the list twice.
    ("slot_pool", "free_done = free & out;", "free_done = free;"),
    // Looks only at what is written, so that a slot can be freed twice, one cycle after the other.
    (
        "slot_pool",
        "(taken_read_data != freed_read_data) & !again;",
        "taken_read_data != freed_read_data;",
    ),
    // Forgets who has a slot.
    (
        "slot_pool",
        "taken_write_enable = fill | gave;",
        "taken_write_enable = fill;",
    ),
    // Gives slots out before all are filled in.
    (
        "slot_pool",
        "front_s_valid = list_m_valid & open;",
        "front_s_valid = list_m_valid;",
    ),
    // Takes an address within a slot for its start.
    ("slot_pool", "hit = exact_0 & ", "hit = "),
    // Lets the cluster free a slot that has not been handed on.
    (
        "slot_pool_tracked",
        "(trusted | (handed_read_data",
        "(1'b1 | (handed_read_data",
    ),
    // Gives a dropped packet the address of a slot that it does not have.
    (
        "pspin_pkt_alloc",
        "(slots_small_data & {8{has_small}})",
        "slots_small_data",
    ),
    // Drops a packet for which no slot is there, although it could wait.
    (
        "pspin_pkt_alloc_stall",
        "assign no_slot = fits_large_yes & !has_small & !has_large;",
        "assign no_slot = 1'b0;",
    ),
    // Lets a packet wait for ever that is longer than a large slot.
    (
        "pspin_pkt_alloc_stall",
        "assign no_slot = fits_large_yes & !has_small",
        "assign no_slot = !has_small",
    ),
    // Shows an element that has to wait no longer in the next cycle.
    (
        "pass_fifo_block",
        "first_used_0 <= comes && !blocked && (first_used_0 || !m_ready);",
        "first_used_0 <= 1'b0;",
    ),
    // Lets an element pass those that are in the memory and not at its output yet.
    (
        "pass_fifo_block",
        "assign blocked = waiting_0;",
        "assign blocked = fifo_m_valid;",
    ),
    // Keeps an element that has passed.
    (
        "pass_fifo",
        "assign fifo_s_valid = s_valid && (blocked || !m_ready);",
        "assign fifo_s_valid = s_valid;",
    ),
    // Forgets the last element but one.
    (
        "pass_fifo_block_2",
        "|| fifo_level != 2'd1",
        "|| fifo_level == 2'd0",
    ),
    // Lets an element pass those that wait.
    (
        "output_queue",
        "assign bypass = free && !fifo_m_valid;",
        "assign bypass = free;",
    ),
    // Loads the register while it waits.
    (
        "output_queue",
        "assign free = !valid || m_ready;",
        "assign free = !valid || m_ready || s_valid;",
    ),
    // Gives what was refused.
    (
        "output_queue_2",
        "valid <= s_valid && fifo_s_ready;",
        "valid <= s_valid;",
    ),
    // Says the length of a burst one beat too long.
    (
        "write_engine",
        "length_reg <= length;",
        "length_reg <= length + 1'b1;",
    ),
    // Loses WLAST.
    ("write_engine", "last_reg <= burst_last;", "last_reg <= 1'b0;"),
    // Changes data and strobes while they wait.
    (
        "write_engine",
        "assign can_send = !data_valid_reg || data_ready;",
        "assign can_send = 1'b1;",
    ),
    // Lets a burst leave its block.
    (
        "write_engine",
        "block_end[0] = lane_now == 1'b1;",
        "block_end[0] = 1'b0;",
    ),
    // Changes an address while it waits.
    (
        "write_engine",
        "&& record_room && (!burst_valid_reg || burst_ready)",
        "&& record_room",
    ),
    // Starts a burst whose beats are not there.
    ("write_engine", "| (block_end & window_seen);", "| block_end;"),
    // Writes a record without room.
    (
        "write_engine",
        ".record_room(!records_almost_full)",
        ".record_room(1'b1)",
    ),
    // Gives a slot back that there is not.
    (
        "write_engine",
        "assign failed_valid = ends && fails && !slotless;",
        "assign failed_valid = ends && fails;",
    ),
    // Admits a frame without room in the queue.
    (
        "admission_gate",
        "assign room = !queue_almost_full && places;",
        "assign room = places;",
    ),
    // Admits a frame without a place for its metadata.
    (
        "admission_gate",
        "assign room = !queue_almost_full && places;",
        "assign room = !queue_almost_full;",
    ),
    // Lets all beats of a frame in that is too long.
    (
        "admission_gate",
        "accept && verdict && (!beyond || last);",
        "accept && verdict;",
    ),
    // Decides again with every beat.
    ("admission_gate", "verdict = admitted;", "verdict = room;"),
    // Keeps the metadata of frames that are dropped.
    (
        "admission_gate",
        "meta_s_valid && verdicts_m_valid && verdicts_m_data;",
        "meta_s_valid && verdicts_m_valid;",
    ),
    // Does not end a burst where the slot does.
    ("admission_gate", "{last || number == 2'd1, over,", "{last, over,"),
    // Takes the metadata of a frame that has not begun.
    (
        "frame_valve",
        "assign discard_meta = (!pass && (|owed))",
        "assign discard_meta = !pass",
    ),
    // Lets the metadata of a frame pass that is gone.
    ("frame_valve", "|| (|skip);", "|| 1'b0;"),
    // Opens in the middle of a frame.
    ("frame_valve", "!taken && !in_frame", "!taken"),
    // Does not count a frame that went nowhere.
    ("frame_valve", "taken && last && !pass;", "1'b0;"),
    // Counts packets as lost that have left before.
    ("frame_valve", "flight <= 12'd0;", "flight <= flight_next;"),
    // Changes a response while it waits.
    (
        "spinneret_psdpram",
        "assign free = !shown || response_ready;",
        "assign free = 1'b1;",
    ),
    // Writes bytes that are not enabled.
    (
        "spinneret_psdpram",
        "memory_write_enable = write_be & {2{writes}};",
        "memory_write_enable = {2{writes}};",
    ),
    // Takes a read for which there is no room.
    ("spinneret_psdpram", ".m_ready(fetch)", ".m_ready(1'b1)"),
    // Lets our frames look like those of the host.
    (
        "pspin_tx_inject",
        "slices_1_s_data[13] = 1'b0;",
        "slices_1_s_data[13] = 1'b1;",
    ),
    // Gives the host completions of ours.
    (
        "pspin_tx_inject",
        "completions_s_valid = s_axis_tx_cpl_valid && cpl_host;",
        "completions_s_valid = s_axis_tx_cpl_valid;",
    ),
    // Changes the stream within a frame.
    (
        "pspin_tx_inject",
        "within_frame <= !offered_last;",
        "within_frame <= 1'b0;",
    ),
    // Counts a completion that is not taken yet.
    (
        "pspin_tx_inject",
        "s_axis_tx_cpl_valid && completions_s_ready && !cpl_host",
        "s_axis_tx_cpl_valid && !cpl_host",
    ),
    // Lets every context into the window of context 1.
    (
        "host_guard",
        "counts[1] = enabled[1] && (!by_context || asker == 2'd1);",
        "counts[1] = enabled[1];",
    ),
    // Holds transfers to the window of their context also where any would do.
    ("host_guard", "(!by_context || asker == 2'd2)", "(asker == 2'd2)"),
    // Takes a window without bytes for one of all bytes.
    (
        "host_guard",
        "enabled[2] <= windows_enabled[2] && (|windows_size[95:64]);",
        "enabled[2] <= windows_enabled[2];",
    ),
    // Lets a window go around the end of memory.
    (
        "host_guard",
        "ends_0 <= sums_0[31:0] | {32{sums_0[32]}};",
        "ends_0 <= sums_0[31:0];",
    ),
    // Looks at the first byte only.
    (
        "host_guard",
        "contained[0] = counts[0] && first >= starts_0 && last <= ends_0;",
        "contained[0] = counts[0] && first >= starts_0 && first <= ends_0;",
    ),
    // Believes WLAST where AWLEN counts.
    (
        "pspin_hostmem_dma_wr",
        "assign last = number_now == check_length;",
        "assign last = beat_data_fields.last;",
    ),
    // Offers a descriptor at once, before its data is written.
    (
        "pspin_hostmem_dma_wr",
        "assign transfers_clear = !(1'(((intake_written - pieces_m_data.position) - 11'd1) >> 4'd10));",
        "assign transfers_clear = 1'b1;",
    ),
    // Lets one wait a clock for its data, and no longer.
    (
        "pspin_hostmem_dma_wr",
        "assign transfers_held_clear = !(1'(((intake_written - held_position) - 11'd1) >> 4'd10));",
        "assign transfers_held_clear = 1'b1;",
    ),
    // Goes on while the RAM still has writes of before a reset.
    (
        "pspin_hostmem_dma_wr_drain",
        "!(transfers_idle && account_settled)",
        "!transfers_idle",
    ),
    // Lets a burst leave its block.
    (
        "frame_reader",
        "assign behind = ~line_now[5:0];",
        "assign behind = ~line_now[5:0] + 6'd1;",
    ),
    // Asks for a line twice.
    (
        "frame_reader",
        "line <= {line_now[13:6] + 8'd1, 6'd0};",
        "line <= {line_now[13:6], 6'd0};",
    ),
    // Forgets a line of the rest.
    (
        "frame_reader",
        "left <= (left_now - {2'd0, behind}) - 8'd1;",
        "left <= (left_now - {2'd0, behind}) - 8'd2;",
    ),
    // Reads for a plan that is refused.
    (
        "frame_reader",
        "assign read = (start && !refused) ||",
        "assign read = start ||",
    ),
    // Reads without room.
    ("frame_reader", "(roomy && frame_ready &&", "(frame_ready &&"),
    // Starts a frame within another one.
    (
        "frame_reader",
        "assign start = plan_valid && !bursting &&",
        "assign start = plan_valid &&",
    ),
    // Says that there is room while a frame takes it.
    (
        "frame_room",
        "roomy_reg_d = room >= 4'd6;",
        "roomy_reg_d = room >= 4'd3;",
    ),
    // Claims a place less than a frame needs.
    (
        "frame_room",
        "left = room - {2'd0, need};",
        "left = room - {2'd0, need} + 4'd1;",
    ),
    // Forgets the beat that leaves while a frame is dropped.
    (
        "frame_room",
        "freed <= {1'b0, dropped_beats} + {2'd0, sent};",
        "freed <= {1'b0, dropped_beats};",
    ),
    // Takes one lane too few from the line before.
    (
        "line_aligner",
        "if (flush || offset <= 2'(2 - i)) begin",
        "if (flush || offset < 2'(2 - i)) begin",
    ),
    // Turns by one byte less than asked for.
    ("line_aligner", "line_offset == 2'd2", "line_offset == 2'd3"),
    // Lets the first line of a frame complete the last beat of the one before.
    (
        "line_aligner",
        "assign completes = turned_valid && !first;",
        "assign completes = turned_valid;",
    ),
    // Forgets a beat of its own.
    (
        "line_aligner",
        "flush <= turned_valid && last_line && even;",
        "flush <= 1'b0;",
    ),
    // Takes the length of the next frame for the last beat.
    ("line_aligner", "tail_now = carry_tail;", "tail_now = tail;"),
    // Takes the error of the next frame for that of the last beat.
    ("line_aligner", "bad = carry_error;", "bad = error;"),
    // Goes on counting over the end of a frame.
    ("line_aligner", "beats <= 3'd0;", "beats <= beats;"),
    // Forgets that an answer is outstanding, and takes it for that of the next access.
    (
        "spinneret_bar",
        "end else if (over) begin\n            late <= 1'b1;",
        "end else if (over) begin\n            late <= 1'b0;",
    ),
    // Waits for ever.
    (
        "spinneret_bar",
        "assign over = active && ",
        "assign over = 1'b0 && active && ",
    ),
    // Goes on waiting for a cluster that is held in reset.
    (
        "spinneret_bar",
        "held_event = held && (start || active);",
        "held_event = held && start;",
    ),
    // Takes a write back whose time is over.
    (
        "spinneret_bar",
        "if (c_awready || held) begin",
        "if (c_awready || held || access_timeout_event) begin",
    ),
    // Passes EXOKAY on.
    ("spinneret_bar", "answer_code != 2'd1", "answer_code != 2'd2"),
    // Takes a second address while a write is under way.
    (
        "spinneret_bar",
        "address_ready <= !busy_d && !address_held && !got_address;",
        "address_ready <= !address_held && !got_address;",
    ),
    // Sends the write that is at the registers once more.
    (
        "spinneret_bar",
        "if (r_wready) begin",
        "if (r_wready && r_awready) begin",
    ),
    // Takes the element behind the last place.
    ("async_fifo", "not_full <= next_gray != ", "not_full <= gray != "),
    // Loads the output register while it waits.
    ("async_fifo", "(!held || m_ready)", "1'b1"),
    // Sends a pointer that is not in gray code.
    ("async_fifo", "gray <= next_gray;", "gray <= next;"),
    // Lets the far side leave before the near side has been in reset with it for long enough.
    (
        "link_reset",
        "in_reset = answer_later_1;",
        "in_reset = answer_stage_1;",
    ),
    // Believes at once that the far side is in reset.
    ("link_reset", "in_reset = answer_later_1;", "in_reset = 1'b1;"),
    // Lets the near side leave first.
    ("link_reset", "if (!not_out) begin", "if (1'b1) begin"),
    // Forgets a request that comes while the far side is let out.
    ("link_reset", "again <= 1'b1;", "again <= 1'b0;"),
    // Writes all bytes whatever the strobes say.
    ("pspin_ctrl_regs", "bytes <= wstrb;", "bytes <= 4'd15;"),
    // Does a write while the answer to the one before waits.
    (
        "pspin_ctrl_regs",
        "assign done = address_there && data_there && !answered;",
        "assign done = address_there && data_there;",
    ),
    // Answers OKAY to a read of nothing.
    (
        "pspin_ctrl_regs",
        "unknown <= !decoder_known;",
        "unknown <= 1'b0;",
    ),
    // Does not look at the highest bit of an address.
    (
        "pspin_ctrl_regs",
        "address[15:6] == 10'h102",
        "address[14:6] == 9'h102",
    ),
    // Takes a word that is not there.
    (
        "pspin_ctrl_regs",
        "stdout_taken <= read_pops && stdout_data_valid;",
        "stdout_taken <= read_pops;",
    ),
    // Does a write whose data is not there.
    (
        "pspin_ctrl_regs",
        "assign done = address_there && data_there",
        "assign done = address_there",
    ),
    // Answers OKAY to a write that cannot be done.
    ("pspin_ctrl_regs", "bresp = {refused, 1'b0};", "bresp = 2'd0;"),
];
