//! The way of packets: matching, slots, packet buffer, HERs, and back to the wire.

use super::Row;

pub(super) const MUTATIONS: &[Row] = &[
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
];
