// AdmissionGate: its queues never overflow, although no producer looks at their ready; frames enter whole or
// not at all, with their verdict; an input frame is never stopped.
//
// Beats of 16 bits, slots of two beats, a queue of four, places for two packets. What is assumed: metadata
// comes at most two clocks behind the last beat of its frame, as the matching engine gives it. It is needed
// for one promise alone, that no frame is stopped.
`default_nettype none

// A beat that waits, with its number in its frame.
module gate_beat_rules #(
    parameter LARGE = 2
) (
    input wire there,
    input wire [7:0] number,
    input wire [22:0] marks, // {cut, over, bad, beyond, last, keep, data}
    output wire [7:0] next
);
    wire last = marks[18];
    assign next = !there ? number : last ? 8'd0 : number + 1'b1;

    always @* if (there) begin
        beyond_is_behind_the_slot: assert (marks[19] == (number == LARGE));
        cuts_where_it_has_to: assert (marks[22] == (last || number == LARGE - 1));
        one_behind_the_slot_at_most: assert (last || number < LARGE);
    end
endmodule

module admission_gate_proof (
    input wire clk,
    input wire rst,
    input wire [15:0] data,
    input wire [1:0] keep,
    input wire last,
    input wire frame_is_bad,
    input wire s_valid,
    input wire [1:0] meta_s,
    input wire meta_s_valid,
    input wire m_ready,
    input wire meta_m_ready,
    input wire watch,
    input wire watch_frame
);
    localparam LARGE = `LARGE_BEATS;
    localparam QUEUE = `QUEUE_BEATS;
    localparam PACKETS = `PACKETS;

    wire s_ready;
    wire meta_s_ready;
    wire [22:0] m; // {cut, over, bad, beyond, last, keep, data}
    wire m_valid;
    wire [1:0] meta_m;
    wire meta_m_valid;
    wire dropped;

    admission_gate dut (
        .clk(clk), .rst(rst),
        .s_data({frame_is_bad, last, keep, data}), .s_valid(s_valid), .s_ready(s_ready),
        .meta_s_data(meta_s), .meta_s_valid(meta_s_valid), .meta_s_ready(meta_s_ready),
        .m_data(m), .m_valid(m_valid), .m_ready(m_ready),
        .meta_m_data(meta_m), .meta_m_valid(meta_m_valid), .meta_m_ready(meta_m_ready),
        .dropped(dropped)
    );

    stream_rules #(.WIDTH(2)) meta_rules (
        .clk(clk), .rst(rst), .valid(meta_m_valid), .ready(meta_m_ready), .payload(meta_m)
    );
    stream_rules #(.WIDTH(23)) m_rules (
        .clk(clk), .rst(rst), .valid(m_valid), .ready(m_ready), .payload(m)
    );

    wire beat = s_valid && s_ready;
    wire meta = meta_s_valid && meta_s_ready;
    wire out = m_valid && m_ready;
    wire meta_out = meta_m_valid && meta_m_ready;

    // The contract, from the ports alone. A beat is at the output one clock after it came, if nothing is ahead of it.
    reg after_reset = 1'b1;
    reg in_frame = 1'b0;
    reg admitted;
    reg [7:0] number = 8'd0; // Beats of the frame so far, LARGE at most.
    reg [7:0] queued = 8'd0; // Beats inside.
    reg [7:0] places = 8'd0; // Frames between their first beat and the metadata that leaves.
    reg [7:0] unanswered = 8'd0; // Frames between their first beat and their metadata that comes.
    reg [7:0] late = 8'd0; // Those whose last beat came two clocks ago or earlier, less the metadata that came.
    reg ended_1 = 1'b0; // A frame ended one clock ago.
    reg [7:0] m_number = 8'd0; // Number of the next beat at the output within its frame.
    // Of what the frame has had so far: a beat with a free lane; of the beats behind the slot, bytes and errors.
    reg partial;
    reg spilled;
    reg spoiled;

    wire [7:0] behind = queued == 8'd0 ? 8'd0 : queued - 1'b1; // Beats behind the first, which is in the register after the queue.
    wire first = !in_frame;
    wire admits = first ? !dropped : admitted;
    wire beyond = number == LARGE;
    wire enters = beat && admits && (!beyond || last);
    wire gap = keep == 2'b10 || (!first && partial && keep != 2'b00);
    wire bad = gap || (last && frame_is_bad);
    wire over = beyond && (keep != 2'b00 || spilled);
    wire [22:0] marked = {
        last || number == LARGE - 1, over, bad || (beyond && spoiled), beyond, last, keep, data
    };

    always @(posedge clk) begin
        after_reset <= rst;
        if (beat) begin
            in_frame <= !last;
            admitted <= admits;
            number <= last ? 8'd0 : beyond ? number : number + 1'b1;
            partial <= keep != 2'b11 || (!first && partial);
            spilled <= over;
            spoiled <= beyond && (bad || spoiled);
        end
        queued <= queued + enters - out;
        places <= places + (beat && first && admits) - meta_out;
        unanswered <= unanswered + (beat && first) - meta;
        ended_1 <= beat && last;
        // Metadata that comes before it is late counts ahead.
        late <= late + ended_1 - meta;
        if (out) m_number <= m[18] ? 8'd0 : m_number + 1'b1;
        if (rst) begin
            in_frame <= 1'b0;
            number <= 8'd0;
            queued <= 8'd0;
            places <= 8'd0;
            unanswered <= 8'd0;
            late <= 8'd0;
            ended_1 <= 1'b0;
            m_number <= 8'd0;
        end
    end

    // Two clocks behind its frame, metadata is there until it is taken.
    wire is_late = late != 8'd0 && !late[7];
    always @* if (is_late) assume (meta_s_valid);

    always @* begin
`ifdef STALL_0
        never_stops_a_frame: assert (s_ready || after_reset);
`else
        never_stops_within_a_frame: assert (s_ready || after_reset || !in_frame);
        never_drops: assert (!dropped);
`endif
        drops_with_the_first_beat: assert (!dropped || (beat && first));
        if (beat && first) drops_only_without_room: assert (
            dropped == (behind + LARGE + 1 > QUEUE || places == PACKETS)
        );
        holds: assert (behind <= QUEUE && places <= PACKETS);
        gives_what_it_has: assert (m_valid == (queued != 0));
        if (m_valid) begin
            no_more_than_the_slot_and_one: assert (m_number < LARGE || (m_number == LARGE && m[18]));
            beyond_is_behind_the_slot: assert (m[19] == (m_number == LARGE));
            cuts_where_it_has_to: assert (m[22] == (m[18] || m_number == LARGE - 1));
        end
    end

    // The solver chooses one beat, and one metadata; they leave as they came, in order.
    reg watching = 1'b0;
    reg [7:0] ahead;
    reg [22:0] watched;
    always @(posedge clk) begin
        if (watching && out) begin
            ahead <= ahead - 1'b1;
            if (ahead == 0) watching <= 1'b0;
        end
        if (!watching && enters && watch) begin
            watching <= 1'b1;
            ahead <= queued - out;
            watched <= marked;
        end
        if (rst) watching <= 1'b0;
    end
    always @* if (watching) begin
        keeps_the_watched: assert (ahead < queued);
        if (m_valid && ahead == 0) gives_the_watched: assert (m == watched);
    end

    always @* begin
`ifdef STALL_0
        drops_one: cover (dropped && queued == QUEUE);
        drops_for_want_of_a_place: cover (dropped && queued == 0);
`endif
        admits_one_that_is_too_long: cover (m_valid && m[19] && m[21]);
    end

    // Queues whose producers do not look at ready.
    (* internal = "dut.queue_s_valid" *) wire queue_push;
    (* internal = "dut.metas_s_valid" *) wire metas_push;
    (* internal = "dut.u_queue.u_fifo.not_full" *) wire queue_not_full;
    (* internal = "dut.u_metas.u_fifo.not_full" *) wire metas_not_full;
    always @* begin
        queue_never_overflows: assert (!queue_push || queue_not_full);
        metas_never_overflow: assert (!metas_push || metas_not_full);
        metas_never_stop: assert (metas_not_full || after_reset);
    end

    // The solver chooses one frame; its metadata enters if the frame was admitted, and ends at the gate if not.
    reg watching_frame = 1'b0;
    reg [7:0] frames_ahead;
    reg watched_verdict;
    always @(posedge clk) begin
        if (watching_frame && meta) begin
            frames_ahead <= frames_ahead - 1'b1;
            if (frames_ahead == 0) watching_frame <= 1'b0;
        end
        if (!watching_frame && beat && first && watch_frame) begin
            watching_frame <= 1'b1;
            frames_ahead <= unanswered - meta;
            watched_verdict <= admits;
        end
        if (rst) watching_frame <= 1'b0;
    end
    always @* begin
        meta_comes_behind_its_frame: assert (!meta || unanswered != 0);
        if (watching_frame && frames_ahead == 0)
            meta_goes_the_way_of_its_frame: assert (metas_push == (meta_s_valid && meta_s_ready && watched_verdict));
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.in_frame" *) wire dut_in_frame;
    (* internal = "dut.admitted" *) wire dut_admitted;
    (* internal = "dut.number" *) wire [1:0] dut_number;
    (* internal = "dut.partial" *) wire dut_partial;
    (* internal = "dut.spoiled" *) wire dut_spoiled;
    (* internal = "dut.spilled" *) wire dut_spilled;
    (* internal = "dut.under_way" *) wire [1:0] dut_under_way;
    (* internal = "dut.places" *) wire dut_places;
    always @* begin
        same_frame: assert (dut_in_frame == in_frame && dut_number == number);
        if (in_frame) same_marks: assert (
            dut_admitted == admitted && dut_partial == partial && dut_spoiled == spoiled && dut_spilled == spilled
        );
        numbers: assert (in_frame ? number != 0 && number <= LARGE : number == 0);
        same_places: assert (dut_under_way == places && dut_places == (places != PACKETS && !after_reset));
        if (in_frame && admitted) room_for_the_rest: assert (behind + LARGE + 1 - number <= QUEUE);
    end

    // The queue of beats. Position 0 is at the output; each beat has the number that it has in its frame.
    (* internal = "dut.out_data" *) wire [22:0] dut_first;
    (* internal = "dut.out_valid" *) wire dut_first_used;
    (* internal = "dut.u_queue.u_fifo.count" *) wire [2:0] queue_count;
    (* internal = "dut.u_queue.u_fifo.write_ptr" *) wire [1:0] queue_write_ptr;
    (* internal = "dut.u_queue.u_fifo.read_ptr" *) wire [1:0] queue_read_ptr;
    (* internal = "dut.u_queue.u_fifo.stored" *) wire queue_stored;
    (* internal = "dut.u_queue.u_fifo.nearly_full" *) wire queue_nearly_full;
    (* internal = "dut.u_queue.u_fifo.u_memory.memory[0]" *) wire [22:0] beat_0;
    (* internal = "dut.u_queue.u_fifo.u_memory.memory[1]" *) wire [22:0] beat_1;
    (* internal = "dut.u_queue.u_fifo.u_memory.memory[2]" *) wire [22:0] beat_2;
    (* internal = "dut.u_queue.u_fifo.u_memory.memory[3]" *) wire [22:0] beat_3;
    queue_invariant #(.POINTER(2)) beats_invariant (
        .after_reset(after_reset), .count(queue_count), .write_ptr(queue_write_ptr), .read_ptr(queue_read_ptr),
        .not_full(queue_not_full), .stored(queue_stored), .held(1'b0)
    );
    wire [4*23-1:0] beats = {beat_3, beat_2, beat_1, beat_0};
    wire [1:0] watched_place = queue_read_ptr + ahead - 1'b1;
    wire [47:0] numbers_in_queue;
    assign numbers_in_queue[7:0] = m_number;
    genvar position;
    generate
        for (position = 0; position < 5; position = position + 1) begin : in_queue
            wire [1:0] place = queue_read_ptr + position - 1;
            gate_beat_rules #(.LARGE(LARGE)) rules (
                .there(queued > position), .number(numbers_in_queue[8*position +: 8]),
                .marks(position == 0 ? dut_first : beats[place*23 +: 23]), .next(numbers_in_queue[8*position + 8 +: 8])
            );
        end
    endgenerate
    always @* begin
        beats_are_counted: assert (queue_count == behind && dut_first_used == (queued != 0));
        queue_flag: assert (queue_nearly_full == (behind + LARGE >= QUEUE));
        frames_are_whole: assert (numbers_in_queue[47:40] == (in_frame && admitted ? number : 8'd0));
        if (watching) watched_is_in_its_place: assert ((ahead == 0 ? dut_first : beats[watched_place*23 +: 23]) == watched);
    end

    // The queue of verdicts.
    (* internal = "dut.u_verdicts.valid" *) wire verdicts_valid;
    (* internal = "dut.u_verdicts.data" *) wire verdicts_data;
    (* internal = "dut.u_verdicts.u_fifo.count" *) wire [3:0] verdicts_count;
    (* internal = "dut.u_verdicts.u_fifo.write_ptr" *) wire [2:0] verdicts_write_ptr;
    (* internal = "dut.u_verdicts.u_fifo.read_ptr" *) wire [2:0] verdicts_read_ptr;
    (* internal = "dut.u_verdicts.u_fifo.not_full" *) wire verdicts_not_full;
    (* internal = "dut.u_verdicts.u_fifo.stored" *) wire verdicts_stored;
    (* internal = "dut.u_verdicts.u_fifo.u_memory.memory[0]" *) wire verdict_0;
    (* internal = "dut.u_verdicts.u_fifo.u_memory.memory[1]" *) wire verdict_1;
    (* internal = "dut.u_verdicts.u_fifo.u_memory.memory[2]" *) wire verdict_2;
    (* internal = "dut.u_verdicts.u_fifo.u_memory.memory[3]" *) wire verdict_3;
    (* internal = "dut.u_verdicts.u_fifo.u_memory.memory[4]" *) wire verdict_4;
    (* internal = "dut.u_verdicts.u_fifo.u_memory.memory[5]" *) wire verdict_5;
    (* internal = "dut.u_verdicts.u_fifo.u_memory.memory[6]" *) wire verdict_6;
    (* internal = "dut.u_verdicts.u_fifo.u_memory.memory[7]" *) wire verdict_7;
    queue_invariant #(.POINTER(3)) verdicts_invariant (
        .after_reset(after_reset), .count(verdicts_count), .write_ptr(verdicts_write_ptr),
        .read_ptr(verdicts_read_ptr), .not_full(verdicts_not_full), .stored(verdicts_stored), .held(1'b0)
    );
    wire [7:0] verdicts_memory = {
        verdict_7, verdict_6, verdict_5, verdict_4, verdict_3, verdict_2, verdict_1, verdict_0
    };
    wire [15:0] verdicts_rolled = {verdicts_memory, verdicts_memory} >> verdicts_read_ptr;
    // Verdicts in the order in which they leave.
    wire [8:0] verdicts = {verdicts_rolled[7:0] & ~(8'hff << verdicts_count), verdicts_valid && verdicts_data};
    wire [7:0] admitted_frames = verdicts[0] + verdicts[1] + verdicts[2] + verdicts[3] + verdicts[4] + verdicts[5]
        + verdicts[6] + verdicts[7] + verdicts[8];

    // The queue of metadata.
    (* internal = "dut.u_metas.valid" *) wire metas_valid;
    (* internal = "dut.u_metas.u_fifo.count" *) wire [1:0] metas_count;
    (* internal = "dut.u_metas.u_fifo.write_ptr" *) wire metas_write_ptr;
    (* internal = "dut.u_metas.u_fifo.read_ptr" *) wire metas_read_ptr;
    (* internal = "dut.u_metas.u_fifo.stored" *) wire metas_stored;
    queue_invariant #(.POINTER(1)) metas_invariant (
        .after_reset(after_reset), .count(metas_count), .write_ptr(metas_write_ptr), .read_ptr(metas_read_ptr),
        .not_full(metas_not_full), .stored(metas_stored), .held(1'b0)
    );

    always @* begin
        register_first: assert ((verdicts_count == 0 || verdicts_valid) && (metas_count == 0 || metas_valid));
        a_verdict_for_each: assert (verdicts_count + verdicts_valid == unanswered);
        places_are_counted: assert (places == metas_count + metas_valid + admitted_frames);
        if (watching_frame) watched_verdict_is_in_its_place: assert (
            frames_ahead < unanswered && frames_ahead < 9 && verdicts[frames_ahead[3:0]] == watched_verdict
        );
        frames_are_counted: assert (unanswered == late + ended_1 + in_frame);
        nothing_is_late_for_long: assert (late == 8'd0 || late == 8'd1 || late == 8'hff || late == 8'hfe);
    end
`endif
endmodule

`default_nettype wire
