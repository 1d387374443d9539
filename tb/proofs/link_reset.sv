// LinkReset: the order of both resets, that each side is in reset while the other one is for as long as the crossings
// need, and that no request is lost, with clocks that come as they like.
//
// The solver chooses one request (`watch`), and the far side has to be in reset after it before the near side
// leaves. Nothing is assumed of the environment.
`default_nettype none

(* clocks = "free" *)
module link_reset_proof (
    input wire near_clk,
    input wire near_rst,
    input wire request,
    input wire watch,
    input wire far_clk
);
    wire near_link_rst;
    wire held;
    wire far_rst;

    link_reset dut (
        .near_clk(near_clk), .near_rst(near_rst), .request(request), .near_link_rst(near_link_rst), .held(held),
        .far_clk(far_clk), .far_rst(far_rst)
    );

    // How long both sides have been in reset: two clocks of the far side, then four of the near one, then four of
    // the far one again. That is what an AsyncFifo needs to see both resets and to clear its pointers.
    reg [1:0] far_first = 2'd2;
    reg [2:0] near_then = 3'd4;
    reg [2:0] far_again = 3'd4;
    // How long the far side has been out of reset: two clocks of its own, then four of the near side.
    reg [1:0] far_out = 2'd0;
    reg [2:0] near_knows = 3'd0;
    reg far_before = 1'b1;
    reg near_before = 1'b1;
    // The request that is followed.
    reg watching = 1'b0;
    reg served = 1'b0;
    reg wanted = 1'b0;

    always @(posedge near_clk) begin
        near_before <= near_link_rst;
        if (far_first != 2'd2) near_then <= 3'd0;
        else if (near_then != 3'd4) near_then <= near_then + 1'b1;
        if (far_out != 2'd2) near_knows <= 3'd0;
        else if (near_knows != 3'd4) near_knows <= near_knows + 1'b1;
        wanted <= near_rst || request;
        if (watch && (near_rst || request)) watching <= 1'b1;
    end

    always @(posedge far_clk) begin
        far_before <= far_rst;
        if (!far_rst) far_first <= 2'd0;
        else if (far_first != 2'd2) far_first <= far_first + 1'b1;
        if (!far_rst || near_then != 3'd4) far_again <= 3'd0;
        else if (far_again != 3'd4) far_again <= far_again + 1'b1;
        if (far_rst) far_out <= 2'd0;
        else if (far_out != 2'd2) far_out <= far_out + 1'b1;
        if (watching && far_rst) served <= 1'b1;
    end

    always @* begin
        far_side_is_never_alone_in_reset: assert (!far_rst || near_link_rst);
        starts_in_the_next_clock: assert (!wanted || near_link_rst);
        held_is_the_reset: assert (held == near_link_rst);
        if (far_before && !far_rst) overlap_is_long_enough: assert (far_again == 3'd4);
        if (near_before && !near_link_rst) far_side_leaves_first: assert (near_knows == 3'd4);
        if (watching && !served) no_request_is_lost: assert (near_link_rst);
    end

    always @* begin
        comes_up: cover (!near_link_rst);
    end

`ifndef CONTRACT_ONLY
    // A question and its answer run through all registers, one behind the other; induction needs it.
    (* internal = "dut.phase" *) wire [1:0] phase;
    (* internal = "dut.ask" *) wire ask;
    (* internal = "dut.ask_stage_0" *) wire ask_0;
    (* internal = "dut.ask_stage_1" *) wire ask_1;
    (* internal = "dut.ask_later_0" *) wire ask_2;
    (* internal = "dut.ask_later_1" *) wire ask_3;
    (* internal = "dut.answer_0" *) wire answer_0;
    (* internal = "dut.answer_1" *) wire answer_1;
    (* internal = "dut.answer_stage_0" *) wire answer_2;
    (* internal = "dut.answer_stage_1" *) wire answer_3;
    (* internal = "dut.answer_later_0" *) wire answer_4;
    (* internal = "dut.answer_later_1" *) wire answer_5;
    (* internal = "dut.again" *) wire again;

    wire [11:0] way = {ask, ask_0, ask_1, ask_2, ask_3, far_rst,
                       answer_0, answer_1, answer_2, answer_3, answer_4, answer_5};
    // Each register against the one behind it; far_rst rises with the second stage and falls with the last.
    wire rises = (!ask_0 || ask) && (!ask_1 || ask_0) && (!ask_2 || ask_1) && (!ask_3 || ask_2) && far_rst == ask_2
        && answer_0 == ask_3 && (!answer_1 || answer_0) && (!answer_2 || answer_1) && (!answer_3 || answer_2)
        && (!answer_4 || answer_3) && (!answer_5 || answer_4);
    wire falls = (!ask_0 || ask_1) && (!ask_1 || ask_2) && (!ask_2 || ask_3) && (!ask_3 || far_rst)
        && (!far_rst || answer_0) && (!answer_0 || answer_1) && (!answer_1 || answer_2) && (!answer_2 || answer_3)
        && (!answer_3 || answer_4) && (!answer_4 || answer_5);

    always @* begin
        asks_in_its_phase: assert (ask == (phase == 2'd0) && near_link_rst == (phase != 2'd2) && phase != 2'd3);
        if (phase == 2'd0) question_runs: assert (rises);
        if (phase == 2'd1) end_runs: assert (falls);
        if (phase == 2'd2) all_is_over: assert (way == 12'd0 && !wanted);
        counts_no_further: assert (far_first <= 2'd2 && near_then <= 3'd4 && far_again <= 3'd4 && far_out <= 2'd2
            && near_knows <= 3'd4);
        if (far_rst) begin
            counts_far_first: assert ((!answer_0 || far_first != 0) && (!answer_1 || far_first == 2'd2));
            counts_near_then: assert ((!answer_2 || near_then >= 3'd1)
                && (!answer_3 || near_then >= 3'd2) && (!answer_4 || near_then >= 3'd3)
                && (!answer_5 || near_then == 3'd4));
            if (phase == 2'd1) counts_far_again: assert ((ask_0 || far_again >= 3'd1)
                && (ask_1 || far_again >= 3'd2) && (ask_2 || far_again >= 3'd3) && (ask_3 || far_again == 3'd4));
            if (phase == 2'd1) answered: assert (answer_5 && near_then == 3'd4 && far_first == 2'd2);
        end else begin
            counts_far_out: assert ((answer_0 || far_out != 0) && (answer_1 || far_out == 2'd2));
            counts_near_knows: assert ((answer_2 || near_knows >= 3'd1)
                && (answer_3 || near_knows >= 3'd2) && (answer_4 || near_knows >= 3'd3)
                && (answer_5 || near_knows == 3'd4));
        end
        if (watching && !served) request_is_remembered: assert (phase == 2'd0 || (phase == 2'd1 && (again || far_rst)));
        if (watching && !served && phase == 2'd1 && !again) request_was_heard: assert (far_rst && answer_5);
    end
`endif
endmodule

`default_nettype wire
