// HpuPort of one of two clusters: each offer goes to the one destination that its address says, and is answered by it; a far access
// is made once, as it was offered, and its outcome goes to no other access; no thread waits for more than three requests of others.
//
// The solver chooses the cluster, the pipeline and one thread; all other threads are free. Assumed: a thread makes offers in its
// own clock of four, an offer that was not answered stays until the thread traps, a trap comes in no clock of an offer of
// its thread, and `far` ends what it has taken, once.
`default_nettype none

module hpu_port_proof (
    input wire clk,
    input wire rst,
    input wire s_valid,
    input wire [31:0] s_address,
    input wire [28:0] next_address,
    input wire s_is_write,
    input wire [5:0] s_atomic,
    input wire [3:0] s_strobe,
    input wire [31:0] s_data,
    input wire s_is_user,
    input wire trap,
    input wire [1:0] trap_thread,
    input wire l1_ready,
    input wire [31:0] l1_read_data,
    input wire registers_ready,
    input wire registers_refused,
    input wire [31:0] registers_read_data,
    input wire far_ready,
    input wire far_done,
    input wire [2:0] far_done_hpu,
    input wire [31:0] far_done_data,
    input wire far_done_failed
);
    (* anyconst *) reg cluster;
    (* anyconst *) reg pipeline;
    (* anyconst *) reg [1:0] thread;
    reg [1:0] phase = 2'd0;
    wire s_ready, s_refused;
    wire [31:0] s_read_data;
    wire l1_valid, l1_is_here, l1_is_write, registers_valid, registers_is_dma, registers_is_write, registers_is_user;
    wire [1:0] l1_thread;
    wire [15:0] l1_word;
    wire [5:0] l1_atomic, far_atomic;
    wire [3:0] l1_strobe, far_strobe;
    wire [31:0] l1_data, registers_data, far_address, far_data;
    wire [2:0] registers_hpu, far_hpu;
    wire [7:0] registers_offset;
    wire far_valid, far_is_write;

    hpu_port dut (
        .clk(clk), .rst(rst), .cluster(cluster), .pipeline(pipeline),
        .s_valid(s_valid), .s_thread(phase), .s_address(s_address), .next_address(next_address), .s_is_write(s_is_write), .s_atomic(s_atomic),
        .s_strobe(s_strobe), .s_data(s_data), .s_is_user(s_is_user),
        .s_ready(s_ready), .s_refused(s_refused), .s_read_data(s_read_data),
        .trap(trap), .trap_thread(trap_thread),
        .l1_valid(l1_valid), .l1_is_here(l1_is_here), .l1_thread(l1_thread), .l1_word(l1_word),
        .l1_is_write(l1_is_write), .l1_atomic(l1_atomic), .l1_strobe(l1_strobe), .l1_data(l1_data),
        .l1_ready(l1_ready), .l1_read_data(l1_read_data),
        .registers_valid(registers_valid), .registers_hpu(registers_hpu), .registers_is_dma(registers_is_dma),
        .registers_offset(registers_offset), .registers_is_write(registers_is_write), .registers_data(registers_data),
        .registers_is_user(registers_is_user), .registers_ready(registers_ready),
        .registers_refused(registers_refused), .registers_read_data(registers_read_data),
        .far_valid(far_valid), .far_ready(far_ready), .far_hpu(far_hpu), .far_address(far_address),
        .far_is_write(far_is_write), .far_atomic(far_atomic), .far_strobe(far_strobe), .far_data(far_data),
        .far_done(far_done), .far_done_hpu(far_done_hpu), .far_done_data(far_done_data),
        .far_done_failed(far_done_failed)
    );

    // The destination of an address.
    function in(input [31:0] base, input [31:0] bytes);
        in = s_address >= base && s_address < base + bytes;
    endfunction
    wire is_l1 = in(32'h1000_0000 + {cluster, 22'd0}, 32'h4_0000) || in(32'h1b00_0000, 32'h4_0000);
    wire is_dma = in(32'h1b20_4400, 32'h40);
    wire is_register = !s_atomic[5] && s_strobe == 4'hf && (in(32'h1b20_5000, 32'h100) || is_dma);
    function far(input [31:0] address, input is_write);
        far = (address >= 32'h1c00_0000 && address < 32'h1c18_0000) ||
            (address >= 32'h1000_0000 + {!cluster, 22'd0} && address < 32'h1004_0000 + {!cluster, 22'd0}) ||
            (is_write && address >= 32'h1a10_4000 && address < 32'h1a10_5000);
    endfunction
    wire is_far = far(s_address, s_is_write);
    wire is_cache = s_is_write && !s_is_user && in(32'h1b20_1400, 32'd8);

    wire own = s_valid && phase == thread;
    wire [75:0] offered = {s_address, s_is_write, s_atomic, s_strobe, s_data, s_is_user};
    wire traps = trap && trap_thread == thread;
    wire comes = far_done && far_done_hpu == {pipeline, thread};

    // An offer that was not answered; the offer of the clock before.
    reg waits = 1'b0;
    reg [75:0] waiting;
    reg [28:0] told;
    reg was_told = 1'b0;
    wire is_far_waiting = far(waiting[75:44], waiting[43]);
    reg was_offer = 1'b0;
    reg [75:0] was;
    // A request of the thread that is not done, also one that is shown first in this clock, and its access has trapped.
    wire shown = far_valid && far_hpu == {pipeline, thread};
    reg was_shown = 1'b0;
    wire starts = shown && !was_shown;
    reg taken = 1'b0;
    reg is_open = 1'b0;
    reg stale = 1'b0;
    // The outcome for the next offer.
    reg has = 1'b0;
    reg has_failed;
    reg [31:0] has_data;
    reg has_word;
    // An answer of the clock before, and the one before that: {is far, is of registers, word}.
    reg [1:0] answers = 2'd0;
    reg [33:0] answer, answer_1;
    // Requests of others while the thread waits for its own one.
    wire other = far_valid && !shown;
    reg was_other = 1'b0;
    reg has_asked = 1'b0;
    wire queues = waits && has_asked && !has && !is_open && !shown;
    reg [1:0] gap = 2'd0;
    reg [2:0] passed = 3'd0;

    always @(posedge clk) begin
        phase <= phase + 2'd1;
        told <= next_address;
        was_told <= 1'b1;
        if (traps) waits <= 1'b0;
        if (own) begin
            waits <= !s_ready && !s_refused;
            waiting <= offered;
        end
        was_offer <= own && is_far && !s_ready && !s_refused;
        was <= offered;
        was_shown <= shown && !far_ready;
        was_other <= other && !far_ready;
        if (starts) is_open <= 1'b1;
        if (shown && far_ready) taken <= 1'b1;
        if (traps && (is_open || starts)) stale <= 1'b1;
        if (own) has <= 1'b0;
        if (comes) begin
            {is_open, taken, stale} <= 3'd0;
            has <= !stale;
            has_failed <= far_done_failed;
            has_data <= far_done_data;
            has_word <= 1'b1;
        end
        if (own && !is_far && !is_l1 && !is_register && !has && !is_open && !starts) begin
            has <= 1'b1;
            has_failed <= !is_cache;
            has_word <= 1'b0;
        end
        if (traps) has <= 1'b0;
        answers <= {answers[0], own && s_ready && !s_refused && (!has || has_word)};
        answer <= {is_far, is_register, has_data};
        answer_1 <= answer;
        if (own) has_asked <= is_far && !has && !is_open && !starts;
        if (own) gap <= 2'd0;
        else if (phase == thread && gap != 2'd3) gap <= gap + 2'd1;
        if (!queues || gap[1]) passed <= 3'd0;
        else if (other && !was_other && passed != 3'd7) passed <= passed + 3'd1;
        if (rst) {waits, was_offer, was_shown, was_other, is_open, taken, stale, has, answers, passed} <= 0;
    end

    always @* begin
        if (s_atomic[5]) no_store_is_atomic: assume (!s_is_write);
        if (s_valid) address_told: assume (was_told && s_address[31:3] == told);
        if (own && waits) stays: assume (offered == waiting);
        if (s_valid) traps_later: assume (!(trap && trap_thread == phase));
        if (comes) ends_what_was_taken: assume (taken);

        if (l1_valid) begin
            to_l1: assert (s_valid && l1_is_here == is_l1);
            to_l1_as_it_is: assert ({l1_thread, l1_word, l1_is_write, l1_atomic, l1_strobe, l1_data} ==
                {phase, s_address[17:2], s_is_write, s_atomic, s_strobe, s_data});
        end
        l1_sees_all: assert (l1_valid == s_valid);
        to_registers: assert (registers_valid == (s_valid && is_register));
        if (registers_valid) to_registers_as_it_is: assert (
            {registers_hpu, registers_is_dma, registers_offset, registers_is_write, registers_data, registers_is_user} ==
            {pipeline, phase, is_dma, s_address[7:0], s_is_write, s_data, s_is_user});
        one_destination: assert (is_l1 + is_register + is_far + is_cache <= 1);

        if (starts) begin
            requests_what_was_offered: assert (was_offer);
            requests_once: assert (!is_open);
        end
        if (shown) requests_as_it_was_offered: assert ({far_address[31:2], far_is_write, far_atomic, far_strobe, far_data} ==
            {was_shown ? asked[75:46] : was[75:46], was_shown ? asked[43:1] : was[43:1]});
        if (shown) whole_words: assert (far_address[1:0] == 2'd0);
        if (far_valid) of_this_pipeline: assert (far_hpu[2] == pipeline);

        if (own && is_l1 && !has) answers_of_l1: assert (s_ready == l1_ready && !s_refused);
        if (own && is_register && !has) answers_of_registers:
            assert (s_refused == registers_refused && (s_refused || s_ready == registers_ready));
        if (own && !is_l1 && !is_register) answers_with_the_outcome:
            assert (s_refused == (has && has_failed) && s_ready == (has && !has_failed));
        if (answers[1]) gives_the_word: assert (s_read_data ==
            (answer_1[33] ? answer_1[31:0] : answer_1[32] ? registers_read_data : l1_read_data));
        waits_for_three: assert (passed <= 3'd3);

        gives_far_words: cover (answers[1] && answer_1[33]);
        refuses_others: cover (own && s_refused && !has_data[0]);
        drops_an_outcome: cover (comes && stale);
        waits_behind_others: cover (passed == 3'd3);
    end

    // The request as it was offered.
    reg [75:0] asked;
    always @(posedge clk) if (starts) asked <= was;

`ifndef CONTRACT_ONLY
    // How the registers go together; induction needs it.
    (* internal = "dut.requested" *) wire requested;
    (* internal = "dut.requester" *) wire [1:0] requester;
    (* internal = "dut.waits_0" *) wire waits_0;
    (* internal = "dut.waits_1" *) wire waits_1;
    (* internal = "dut.waits_2" *) wire waits_2;
    (* internal = "dut.waits_3" *) wire waits_3;
    (* internal = "dut.drops_0" *) wire drops_0;
    (* internal = "dut.drops_1" *) wire drops_1;
    (* internal = "dut.drops_2" *) wire drops_2;
    (* internal = "dut.drops_3" *) wire drops_3;
    (* internal = "dut.done_0" *) wire done_0;
    (* internal = "dut.done_1" *) wire done_1;
    (* internal = "dut.done_2" *) wire done_2;
    (* internal = "dut.done_3" *) wire done_3;
    (* internal = "dut.failed_0" *) wire failed_0;
    (* internal = "dut.failed_1" *) wire failed_1;
    (* internal = "dut.failed_2" *) wire failed_2;
    (* internal = "dut.failed_3" *) wire failed_3;
    (* internal = "dut.u_outcome.memory[0]" *) wire [31:0] outcome_0;
    (* internal = "dut.u_outcome.memory[1]" *) wire [31:0] outcome_1;
    (* internal = "dut.u_outcome.memory[2]" *) wire [31:0] outcome_2;
    (* internal = "dut.u_outcome.memory[3]" *) wire [31:0] outcome_3;
    (* internal = "dut.missed" *) wire [3:0] missed;
    (* internal = "dut.patience" *) wire [1:0] patience;
    (* internal = "dut.held_back" *) wire [1:0] held_back;
    wire [1:0] before = thread - held_back;
    wire [3:0] all_wait = {waits_3, waits_2, waits_1, waits_0};
    wire [3:0] all_drop = {drops_3, drops_2, drops_1, drops_0};
    wire [3:0] all_done = {done_3, done_2, done_1, done_0};
    wire [3:0] all_failed = {failed_3, failed_2, failed_1, failed_0};
    wire [127:0] outcomes = {outcome_3, outcome_2, outcome_1, outcome_0};

    always @* begin
        same_wait: assert (all_wait[thread] == (is_open || starts));
        same_drop: assert (all_drop[thread] == stale);
        same_outcome: assert (all_done[thread] == (has && !has_failed) && all_failed[thread] == (has && has_failed));
        stale_is_open: assert (is_open || (!stale && !taken));
        is_shown_or_taken: assert (is_open == (taken || was_shown));
        if (was_shown) stays_shown: assert (shown && is_open && !taken);
        if (was_other) others_stay: assert (other);
        if (was_shown && !stale) waits_with_its_request: assert (waits && waiting == asked);
        if (has && has_word) word_is_kept: assert (outcomes[32 * thread +: 32] == has_data);
        if (has) far_accesses_have_words: assert (is_far_waiting == has_word && waits);
        one_state: assert (!has || !(is_open || starts));
        if (taken && !stale) waits_for_its_end: assert (waits && is_far_waiting);
        if (starts) waits_as_offered: assert (waits && waiting == was && is_far_waiting);
        if (was_shown && !stale) is_far_access: assert (is_far_waiting);
        one_is_held_back: assert (patience != 2'd3 && (patience != 2'd0) == (missed != 4'd0));
        if (missed != 4'd0) it_has_missed: assert (missed[held_back]);
        if (queues && !gap[1]) begin
            has_missed: assert (missed[thread]);
            if (before == 2'd0) is_patient: assert (patience + gap >= 3'd2);
            turns_pass: assert (passed + (other && !was_other) + before <= 3'd3);
        end
    end
`endif
endmodule

`default_nettype wire
