// FrameFifo: whole frames or nothing, in order, unchanged, without a pause inside a frame; drops exactly when
// a frame is to be dropped or does not fit, and says so.
//
// The solver chooses one beat when it goes in (`watch`), and the proof follows it: `ahead` counts the beats
// that have to leave before it. If its frame is dropped, so is the beat; as all beats that may come out are
// counted, nothing of a dropped frame does. Nothing is assumed of the environment.
`default_nettype none

module frame_fifo_proof (
    input wire clk,
    input wire rst,
    input wire s_valid,
    input wire s_last,
    input wire [`WIDTH-1:0] s_data,
    input wire drop_frame,
    input wire m_ready,
    input wire watch
);
    localparam WIDTH = `WIDTH;
    localparam DEPTH = 4;

    wire s_ready;
    wire m_valid;
    wire m_last;
    wire [WIDTH-1:0] m_data;
    wire dropped;
    wire dropped_overflow;

    frame_fifo dut (
        .clk(clk), .rst(rst),
        .s_data(s_data), .s_last(s_last), .s_valid(s_valid), .s_ready(s_ready), .drop_frame(drop_frame),
        .m_data(m_data), .m_last(m_last), .m_valid(m_valid), .m_ready(m_ready),
        .dropped(dropped), .dropped_overflow(dropped_overflow)
    );

    stream_rules #(.WIDTH(WIDTH + 1)) m_rules (
        .clk(clk), .rst(rst), .valid(m_valid), .ready(m_ready), .payload({m_last, m_data})
    );

    wire push = s_valid && s_ready;
    wire pop = m_valid && m_ready;

    // The contract, from the ports alone: beats of whole frames in the memory, beats of the frame that is
    // coming in, and whether that one is lost already. A beat moves to the output when that is free.
    reg [2:0] whole = 3'd0;
    reg [2:0] part = 3'd0;
    reg overflowed = 1'b0;
    reg after_reset = 1'b1;
    reg was_dropped = 1'b0;
    reg was_overflow = 1'b0;
    reg given_within = 1'b0;

    wire move = whole != 0 && (!m_valid || m_ready);
    wire full = whole + part == DEPTH;
    wire overflow = overflowed || full;
    wire drop = push && s_last && (overflow || drop_frame);
    wire commit = push && s_last && !drop;

    reg watching = 1'b0;
    reg committed;
    reg [2:0] ahead;
    reg [WIDTH:0] watched;
    reg was_watched = 1'b0;

    always @(posedge clk) begin
        after_reset <= rst;
        whole <= whole - move + (commit ? part + 3'd1 : 3'd0);
        was_dropped <= drop;
        was_overflow <= drop && overflow;
        if (push) begin
            part <= s_last || overflow ? 3'd0 : part + 3'd1;
            overflowed <= !s_last && overflow;
        end
        if (pop) given_within <= !m_last;
        if (watching && pop) begin
            ahead <= ahead - 3'd1;
            if (ahead == 0) begin
                watching <= 1'b0;
                was_watched <= 1'b1;
            end
        end
        if (watching && commit) committed <= 1'b1;
        if (watching && !committed && push && (overflow || drop)) watching <= 1'b0;
        if (!watching && push && watch && !overflow && !drop) begin
            watching <= 1'b1;
            committed <= s_last;
            ahead <= m_valid + whole + part - pop;
            watched <= {s_last, s_data};
        end
        if (rst) begin
            whole <= 3'd0;
            part <= 3'd0;
            overflowed <= 1'b0;
            was_dropped <= 1'b0;
            was_overflow <= 1'b0;
            watching <= 1'b0;
            given_within <= 1'b0;
        end
    end

    always @* begin
        never_stalls: assert (s_ready == !after_reset);
        holds_its_depth: assert (whole + part <= DEPTH);
        reports_drops: assert (dropped == was_dropped);
        reports_their_cause: assert (dropped_overflow == was_overflow);
        gives_frames_without_a_pause: assert (!given_within || m_valid);
        if (watching) begin
            keeps_the_watched: assert (ahead < m_valid + whole + part);
            if (m_valid && ahead == 0) gives_the_watched: assert ({m_last, m_data} == watched);
            if (m_valid && ahead == 0) gives_whole_frames_only: assert (committed);
        end
        has_given_the_watched: cover (was_watched);
        has_overflowed: cover (dropped_overflow && m_valid);
        is_full_of_a_frame: cover (whole == DEPTH);
    end

    reg moved = 1'b0;
    always @(posedge clk) moved <= !rst && (move || (m_valid && !m_ready));
    always @* comes_as_soon_as_it_can: assert (m_valid == moved);

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.write_ptr" *) wire [2:0] write_ptr;
    (* internal = "dut.frame_ptr" *) wire [2:0] frame_ptr;
    (* internal = "dut.read_ptr" *) wire [2:0] read_ptr;
    (* internal = "dut.overflowed" *) wire dut_overflowed;
    (* internal = "dut.u_memory.memory[0]" *) wire [WIDTH:0] cell_0;
    (* internal = "dut.u_memory.memory[1]" *) wire [WIDTH:0] cell_1;
    (* internal = "dut.u_memory.memory[2]" *) wire [WIDTH:0] cell_2;
    (* internal = "dut.u_memory.memory[3]" *) wire [WIDTH:0] cell_3;
    wire [4*(WIDTH+1)-1:0] memory = {cell_3, cell_2, cell_1, cell_0};
    wire [1:0] place = read_ptr + ahead - m_valid;
    wire [1:0] end_place = frame_ptr - 3'd1;
    wire [2:0] whole_apart = frame_ptr - read_ptr;
    wire [2:0] part_apart = write_ptr - frame_ptr;

    always @* begin
        pointers_are_apart: assert (whole_apart == whole && part_apart == part);
        block_knows_the_overflow: assert (dut_overflowed == overflowed);
        nothing_is_kept_of_what_overflowed: assert (!overflowed || part == 0);
        if (whole != 0) memory_ends_with_a_frame: assert (memory[end_place*(WIDTH+1)+WIDTH]);
        else if (m_valid) output_ends_a_frame: assert (m_last);
        if (watching && ahead >= m_valid) begin
            watched_is_in_its_place: assert (memory[place*(WIDTH+1) +: WIDTH+1] == watched);
            watched_is_of_its_frame: assert (committed == (ahead < m_valid + whole));
        end
    end
`endif
endmodule

`default_nettype wire
