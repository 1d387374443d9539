// FrameReader: bursts stay in their block of memory and read exactly the lines of each plan, in order; every
// plan leads to one answer, and to what describes its frame unless it is refused; nothing starts without room.
//
// Assumed of the environment: a plan that is not refused ends at the highest line at the latest, and has no
// more lines than the longest frame can have. Its queues may say at any time that they have no place.
`default_nettype none

module frame_reader_proof #(
    parameter LANES = `DATA_WIDTH / 8,
    parameter OFFSET = $clog2(LANES),
    parameter LINE = `ADDRESS_WIDTH - OFFSET,
    parameter BEATS = (`MAX_FRAME + LANES - 1) / LANES,
    parameter COUNT = $clog2(BEATS + 1),
    parameter BLOCK = 6
) (
    input wire clk,
    input wire rst,
    input wire plan_valid,
    input wire [`ID_WIDTH+1:0] plan_answer,
    input wire [COUNT-1:0] plan_beats,
    input wire [2*OFFSET:0] plan_rest,
    input wire [COUNT-1:0] plan_lines, // Minus 1.
    input wire [LINE-1:0] plan_line,
    input wire roomy,
    input wire answer_ready,
    input wire frame_ready,
    input wire burst_ready
);
    wire plan_ready;
    wire [COUNT-1:0] need;
    wire take;
    wire [`ID_WIDTH+1:0] answer_data;
    wire answer_valid;
    wire [2*OFFSET+COUNT:0] frame_data;
    wire frame_valid;
    wire [7+LINE:0] burst_data;
    wire burst_valid;

    frame_reader dut (
        .clk(clk), .rst(rst),
        .plan_data({plan_answer, plan_beats, plan_rest, plan_lines, plan_line}),
        .plan_valid(plan_valid), .plan_ready(plan_ready),
        .need(need), .roomy(roomy), .take(take),
        .answer_data(answer_data), .answer_valid(answer_valid), .answer_ready(answer_ready),
        .frame_data(frame_data), .frame_valid(frame_valid), .frame_ready(frame_ready),
        .burst_data(burst_data), .burst_valid(burst_valid), .burst_ready(burst_ready)
    );

    wire refused = plan_answer[`ID_WIDTH];
    wire starts = plan_valid && plan_ready;
    wire [LINE-1:0] burst_line = burst_data[LINE-1:0];
    wire [7:0] burst_length = burst_data[LINE +: 8];
    wire burst = burst_valid && burst_ready;

    always @* begin
        if (plan_valid && !refused) begin
            assume (plan_lines <= BEATS);
            assume (plan_line + plan_lines < (1 << LINE));
        end
    end

    // The contract, from the ports alone: lines of the frame that are still to be read, and the next one.
    reg [COUNT:0] owed = 0;
    reg [LINE-1:0] next_line;
    wire [COUNT:0] owed_now = starts && !refused ? plan_lines + 1 : owed;
    wire [LINE-1:0] line_now = starts ? plan_line : next_line;

    always @(posedge clk) begin
        owed <= owed_now - (burst ? burst_length + 1 : 0);
        next_line <= burst ? line_now + burst_length + 1 : line_now;
        if (rst) owed <= 0;
    end

    always @* begin
        one_frame_at_a_time: assert (!(starts && owed != 0));
        answers_every_plan: assert ((answer_valid && answer_ready) == starts);
        describes_what_is_read: assert ((frame_valid && frame_ready) == (starts && !refused));
        claims_what_is_read: assert (take == (starts && !refused));
        if (starts) begin
            says_the_answer: assert (answer_ready && answer_data == plan_answer);
            if (!refused) begin
                only_with_room: assert (roomy && frame_ready && burst);
                says_the_frame: assert (frame_data == {plan_rest, plan_lines} && need == plan_beats);
            end
        end
        if (burst) begin
            reads_what_is_owed: assert (owed_now != 0 && burst_length < owed_now);
            where_it_is_owed: assert (burst_line == line_now);
            stays_in_its_block: assert (burst_line[BLOCK-1:0] + burst_length < (1 << BLOCK));
            no_shorter_than_need_be: assert (burst_length + 1 == owed_now
                || burst_line[BLOCK-1:0] + burst_length + 1 == (1 << BLOCK));
        end
        loses_no_clock: assert (burst == (burst_ready && (owed != 0 || (starts && !refused))));
        starts_when_it_can: assert (starts == (plan_valid && owed == 0 && answer_ready
            && (refused || (roomy && frame_ready && burst_ready))));
    end

    always @* begin
        three_bursts: cover (owed != 0 && owed < 8 && burst_line[BLOCK-1:0] == 0 && burst);
        refuses: cover (starts && refused && owed == 0);
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.bursting" *) wire bursting;
    (* internal = "dut.line" *) wire [LINE-1:0] line;
    (* internal = "dut.left" *) wire [7:0] left;

    always @* begin
        owes: assert (bursting == (owed != 0));
        if (bursting) begin
            same_line: assert (line == next_line && line[BLOCK-1:0] == 0);
            same_count: assert (left + 1 == owed && owed <= BEATS + 1);
            ends_in_memory: assert (line + left < (1 << LINE));
        end
    end
`endif
endmodule

`default_nettype wire
