// SpinneretEvents with three lines: no event is lost, pending stays until it is cleared, no message without a line that was
// pending and enabled, messages of a line keep their distance, and the next due line in turn is told at once.
//
// Nothing is assumed of the environment.
`default_nettype none

module spinneret_events_proof (
    input wire clk,
    input wire rst,
    input wire [2:0] happened,
    input wire [2:0] clear,
    input wire [2:0] enable,
    input wire [1:0] moderation,
    input wire m_ready
);
    wire [2:0] pending;
    wire [31:0] sent;
    wire [1:0] line;
    wire m_valid;

    spinneret_events dut (
        .clk(clk), .rst(rst),
        .happened(happened), .clear(clear), .enable(enable), .moderation(moderation),
        .pending(pending), .sent(sent),
        .m_axis_irq_tdata(line), .m_axis_irq_tvalid(m_valid), .m_axis_irq_tready(m_ready)
    );

    stream_rules #(.WIDTH(2)) m_rules (
        .clk(clk), .rst(rst), .valid(m_valid), .ready(m_ready), .payload(line)
    );

    // The clock before, as far as the ports show it.
    reg after_reset = 1'b1;
    reg [2:0] was_pending, had_happened, was_cleared, was_enabled;
    reg could_change;
    // Clocks that have to pass until a message of the line is at the output again, two bits each.
    reg [5:0] rest = 6'd0;
    // Lines that were chosen since their last clear, and the last clock in which they were not enabled.
    reg [2:0] told = 3'd0;
    // The line that was chosen last.
    reg [1:0] last = 2'd2;
    reg [31:0] taken = 32'd0;

    function [1:0] behind(input [1:0] number);
        behind = number == 2'd2 ? 2'd0 : number + 2'd1;
    endfunction

    wire free = !m_valid || m_ready;
    wire [2:0] at_output = m_valid ? 3'd1 << line : 3'd0;
    wire [2:0] resting = {|rest[5:4], |rest[3:2], |rest[1:0]};
    wire [2:0] due = pending & enable & ~told & ~resting & ~at_output;
    wire [1:0] first = behind(last);
    wire [1:0] second = behind(first);
    wire [1:0] chosen = due[first] ? first : due[second] ? second : last;
    reg expected_valid = 1'b0;
    reg [1:0] expected_line;

    integer n;
    always @(posedge clk) begin
        after_reset <= rst;
        was_pending <= pending;
        had_happened <= happened;
        was_cleared <= clear;
        was_enabled <= enable;
        could_change <= free;
        for (n = 0; n < 3; n = n + 1) begin
            if (at_output[n] && m_ready) rest[2*n +: 2] <= moderation;
            else if (rest[2*n +: 2] != 0) rest[2*n +: 2] <= rest[2*n +: 2] - 2'd1;
            told[n] <= (told[n] || (free && |due && chosen == n)) && !clear[n] && enable[n];
        end
        if (free) begin
            expected_valid <= |due;
            expected_line <= chosen;
            if (|due) last <= chosen;
        end
        if (m_valid && m_ready) taken <= taken + 32'd1;
        if (rst) begin
            rest <= 6'd0;
            told <= 3'd0;
            last <= 2'd2;
            taken <= 32'd0;
            expected_valid <= 1'b0;
        end
    end

    always @* begin
        if (after_reset) begin
            forgets: assert (pending == 0 && !m_valid && sent == 0);
        end else begin
            no_event_is_lost: assert ((had_happened & ~pending) == 0);
            stays_until_cleared: assert ((was_pending & ~was_cleared & ~pending) == 0);
            is_cleared: assert ((pending & was_cleared & ~had_happened) == 0);
            nothing_from_nothing: assert ((pending & ~was_pending & ~had_happened) == 0);
            if (m_valid && could_change) tells_what_is_so: assert (was_pending[line] && was_enabled[line]);
            counts: assert (sent == taken);
        end
        if (m_valid) keeps_its_distance: assert (!resting[line]);
        tells_at_once: assert (m_valid == expected_valid);
        if (m_valid) tells_in_turn: assert (line == expected_line);
        all_told: cover (sent == 4 && m_valid);
        told_again: cover (sent == 2 && m_valid && line == 2 && moderation == 3);
        waits_for_rest: cover (pending[1] && enable[1] && !told[1] && rest[3:2] == 2);
    end

`ifndef CONTRACT_ONLY
    // The registers inside are those of the contract; induction needs it.
    (* internal = "dut.waiting" *) wire [2:0] dut_waiting;
    (* internal = "dut.told" *) wire [2:0] dut_told;
    (* internal = "dut.offered" *) wire [2:0] dut_offered;
    (* internal = "dut.behind" *) wire [2:0] dut_behind;
    (* internal = "dut.resting" *) wire [2:0] dut_resting;
    (* internal = "dut.timers_0" *) wire [1:0] dut_timer_0;
    (* internal = "dut.timers_1" *) wire [1:0] dut_timer_1;
    (* internal = "dut.timers_2" *) wire [1:0] dut_timer_2;

    always @* begin
        told_is: assert (dut_told == told);
        offered_is: assert (dut_offered == at_output);
        turn_is: assert (last != 3 && dut_behind == (3'b110 << last));
        resting_is: assert (dut_resting == resting);
        if (resting[0]) timer_0: assert (dut_timer_0 == rest[1:0]);
        if (resting[1]) timer_1: assert (dut_timer_1 == rest[3:2]);
        if (resting[2]) timer_2: assert (dut_timer_2 == rest[5:4]);
        line_is: assert (!m_valid || line != 3);
        count_is: assert (sent == taken);
    end
`endif
endmodule

`default_nettype wire
