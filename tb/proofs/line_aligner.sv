// LineAligner: every byte of a frame leaves once, in its beat and its lane, and in the promised clock.
//
// Assumed of the environment: frames begin with a first line and end with a last one, what is said of a frame
// is the same for all its lines, a frame that lies in one line has its beat there, and it has no more beats
// than can be counted.
//
// The solver chooses one byte of one line at the time it comes in (`watch`, `lane`), with any content. It
// belongs to the beat that this line completes, or to the next beat that comes behind that.
`default_nettype none

module line_aligner_proof (
    input wire clk,
    input wire rst,
    input wire [`DATA_WIDTH-1:0] line_data,
    input wire [$clog2(`DATA_WIDTH/8)-1:0] line_offset,
    input wire [$clog2(`DATA_WIDTH/8)-1:0] line_tail,
    input wire line_first,
    input wire line_last,
    input wire line_even,
    input wire line_error,
    input wire line_valid,
    input wire watch,
    input wire [$clog2(`DATA_WIDTH/8)-1:0] lane
);
    localparam LANES = `DATA_WIDTH / 8;
    localparam BITS = $clog2(LANES);
    localparam BEATS = `BEATS_WIDTH;

    wire [`DATA_WIDTH-1:0] data;
    wire [LANES-1:0] keep;
    wire last;
    wire bad;
    wire [BEATS-1:0] count;
    wire valid;

    line_aligner dut (
        .clk(clk), .rst(rst),
        .line_data(line_data), .line_offset(line_offset), .line_tail(line_tail), .line_first(line_first),
        .line_last(line_last), .line_even(line_even), .line_error(line_error), .line_valid(line_valid),
        .data(data), .keep(keep), .last(last), .bad(bad), .count(count), .valid(valid)
    );

    // The frame that comes in, as far as it has come.
    reg in_frame = 1'b0;
    reg [BITS-1:0] offset;
    reg [BITS-1:0] tail;
    reg even;
    reg error;
    reg [BEATS-1:0] lines = 0;

    always @* begin
        if (line_valid) begin
            assume (line_first == !in_frame);
            if (in_frame) assume (line_offset == offset && line_tail == tail && line_even == even);
            if (in_frame && error) assume (line_error);
            if (line_first && line_last) assume (line_even);
            // `lines` are behind this one, and so are the beats that have left or are to leave.
            if (lines == (1 << BEATS) - 2) assume (line_last);
        end
    end

    always @(posedge clk) begin
        if (line_valid) begin
            in_frame <= !line_last;
            offset <= line_offset;
            tail <= line_tail;
            even <= line_even;
            error <= line_error;
            lines <= line_last ? 0 : lines + 1'b1;
        end
        if (rst) begin
            in_frame <= 1'b0;
            lines <= 0;
        end
    end

    // What a line makes leave one clock and two clocks later.
    reg completes = 1'b0;
    reg ends = 1'b0;
    reg own_beat = 1'b0;
    reg own_beat_now = 1'b0;
    reg [BITS-1:0] ends_tail;
    reg [BITS-1:0] own_tail;
    reg ends_error;
    reg own_error;
    reg [BEATS-1:0] ends_count;
    reg [BEATS-1:0] own_count;
    // The byte that is watched: in this clock's beat, or in the next one.
    reg now = 1'b0;
    reg fresh = 1'b0;
    reg later = 1'b0;
    reg [7:0] watched;
    reg [BITS-1:0] place;
    wire [7:0] byte_of_line = line_data >> (8 * lane);

    always @(posedge clk) begin
        completes <= line_valid && !line_first;
        ends <= line_valid && line_last && !line_even;
        own_beat <= line_valid && line_last && line_even;
        own_beat_now <= own_beat;
        ends_tail <= line_tail;
        own_tail <= ends_tail;
        ends_error <= line_error;
        own_error <= ends_error;
        ends_count <= lines;
        own_count <= ends_count + 1'b1;
        now <= 1'b0;
        fresh <= 1'b0;
        if (fresh) later <= 1'b1;
        if (later && valid) later <= 1'b0;
        if (line_valid && watch && !fresh && !later) begin
            watched <= byte_of_line;
            place <= lane - line_offset;
            if (lane < line_offset) now <= !line_first;
            else fresh <= !(line_last && !line_even);
        end
        if (rst) begin
            completes <= 1'b0;
            ends <= 1'b0;
            own_beat <= 1'b0;
            own_beat_now <= 1'b0;
            now <= 1'b0;
            fresh <= 1'b0;
            later <= 1'b0;
        end
    end

    // The contract, from the ports alone.
    wire [7:0] byte_of_beat = data >> (8 * place);
    wire [BITS-1:0] tail_now = own_beat_now ? own_tail : ends_tail;
    wire [LANES:0] exact = (2 << tail_now) - 1;

    always @* begin
        one_beat_a_clock: assert (!(completes && own_beat_now));
        beats_in_their_slots: assert (valid == (completes || own_beat_now));
        if (valid) begin
            last_with_the_frame: assert (last == (ends || own_beat_now));
            full_but_for_the_last: assert (keep == (last ? exact[LANES-1:0] : {LANES{1'b1}}));
        end
        if (valid && last) begin
            bad_if_a_line_was: assert (bad == (own_beat_now ? own_error : ends_error));
            counts_its_beats: assert (count == (own_beat_now ? own_count : ends_count));
        end
        if (now) byte_of_the_beat_before: assert (valid && byte_of_beat == watched);
        if (later && valid) byte_of_its_own_beat: assert (byte_of_beat == watched);
    end

    always @* begin
        frames_meet: cover (own_beat_now && line_valid && in_frame && !own_beat);
        turned_frame_of_three: cover (valid && last && !own_beat_now && count == 3 && ends_tail == 1);
        watched_leaves: cover (later && valid && last && own_beat_now);
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.turned_valid" *) wire turned_valid;
    (* internal = "dut.first" *) wire first_inside;
    (* internal = "dut.last_line" *) wire last_inside;
    (* internal = "dut.even" *) wire even_inside;
    (* internal = "dut.error" *) wire error_inside;
    (* internal = "dut.flush" *) wire flush;
    (* internal = "dut.turned" *) wire [`DATA_WIDTH-1:0] turned;
    (* internal = "dut.carry" *) wire [`DATA_WIDTH-1:0] carry;
    (* internal = "dut.offset" *) wire [BITS-1:0] offset_inside;
    (* internal = "dut.tail" *) wire [BITS-1:0] tail_inside;
    (* internal = "dut.carry_tail" *) wire [BITS-1:0] carry_tail;
    (* internal = "dut.carry_error" *) wire carry_error;
    (* internal = "dut.beats" *) wire [BEATS-1:0] beats;
    wire [7:0] byte_of_turned = turned >> (8 * place);
    wire [7:0] byte_of_carry = carry >> (8 * place);

    always @* begin
        slots: assert (completes == (turned_valid && !first_inside) && flush == own_beat_now);
        if (turned_valid) begin
            ends_inside: assert (ends == (last_inside && !even_inside) && own_beat == (last_inside && even_inside));
            known_inside: assert (tail_inside == ends_tail && error_inside == ends_error);
            in_frame_inside: assert (in_frame == !last_inside);
            if (in_frame) same_frame: assert (offset == offset_inside && tail == tail_inside
                && even == even_inside && error == error_inside && lines == ends_count + 1'b1);
            first_counts: assert (first_inside == (ends_count == 0));
            if (first_inside && last_inside) alone_is_even: assert (even_inside);
            frame_fits: assert (ends_count <= (1 << BEATS) - 2);
        end else begin
            nothing_new: assert (!ends && !own_beat);
        end
        if (flush) begin
            carried: assert (carry_tail == own_tail && carry_error == own_error);
            own_fits: assert (own_count == beats + 1'b1);
        end
        // Beats that have left: one less than lines.
        if (turned_valid && !first_inside) counted: assert (beats + 1'b1 == ends_count);
        if (turned_valid && first_inside && !flush) begins: assert (beats == 0);
        if (!turned_valid && in_frame) waits: assert (beats + 1'b1 == lines && !flush && lines != 0);
        if (!turned_valid && !in_frame && !flush) rests: assert (beats == 0);
        if (!in_frame) no_lines: assert (lines == 0);
        lines_fit: assert (lines <= (1 << BEATS) - 2);
        if (now) watched_now: assert (turned_valid && !first_inside && place > ~offset_inside
            && byte_of_turned == watched);
        if (fresh) watched_fresh: assert (turned_valid && place <= ~offset_inside && byte_of_turned == watched
            && (own_beat || in_frame));
        if (later) watched_later: assert (byte_of_carry == watched && (flush || in_frame || ends || own_beat));
        if (later && !flush && turned_valid) in_its_lane: assert (!first_inside && place <= ~offset_inside);
        if (later && !flush && !turned_valid) waits_in_its_lane: assert (in_frame && place <= ~offset);
        one_at_a_time: assert (!(fresh && later && !valid));
    end
`endif
endmodule

`default_nettype wire
