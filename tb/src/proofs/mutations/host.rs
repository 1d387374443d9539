//! What the host has to do with: its memory, the BAR, control registers.

use super::Row;

pub(super) const MUTATIONS: &[Row] = &[
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
    // Loses an event that comes while its line is cleared.
    (
        "spinneret_events",
        "waiting <= (waiting & ~clear) | happened;",
        "waiting <= (waiting | happened) & ~clear;",
    ),
    // Tells of lines that are not enabled.
    (
        "spinneret_events",
        "due = waiting & enable & ~told",
        "due = waiting & ~told",
    ),
    // Tells again and again.
    (
        "spinneret_events",
        "told <= (told | chosen) & ~clear & enable;",
        "told <= chosen & ~clear & enable;",
    ),
    // Tells of a line that waits at the output once more.
    ("spinneret_events", "& ~offered & ~resting;", "& ~resting;"),
    // Rests a clock less than it should.
    (
        "spinneret_events",
        "resting[1] <= timers_1 != 2'd1;",
        "resting[1] <= timers_1 > 2'd2;",
    ),
    // Changes a message that waits.
    (
        "spinneret_events",
        "assign free = !valid || m_axis_irq_tready;",
        "assign free = 1'b1;",
    ),
];
