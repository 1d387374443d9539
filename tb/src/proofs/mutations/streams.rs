//! Streams and crossings of clocks.

use super::Row;

pub(super) const MUTATIONS: &[Row] = &[
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
    // Takes what comes in before what is in the memory.
    ("pass_fifo_register", "if (blocked) begin", "if (!s_valid) begin"),
    // Empties the register while something is in the memory.
    (
        "pass_fifo_register",
        "first_used_0 <= blocked || (comes && (first_used_0 || !m_ready));",
        "first_used_0 <= comes && (first_used_0 || !m_ready);",
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
];
