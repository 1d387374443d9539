// The ring of transfers of the host DMA, from the ports of TransferQueue: transfers leave in the order in which they
// came, each once, with what they brought and the error of their own status, and not before that; a tag is not
// given while it is in flight; a status for any other tag changes nothing. The solver chooses one transfer.
`default_nettype none

// A tag that is not answered belongs to a transfer of the ring.
module hostmem_tag_rules (
    input wire pending,
    input wire [1:0] offset, // Of its place from the head.
    input wire [2:0] transfers
);
    always @* if (pending) pending_is_in_the_ring: assert (offset < transfers);
endmodule

module transfer_ring_rules #(
    parameter PAYLOAD = 17
) (
    input wire clk,
    input wire rst,
    input wire forget,
    input wire enters,
    input wire enters_moving, // It has a descriptor.
    input wire [PAYLOAD-1:0] payload,
    input wire desc_valid,
    input wire desc_ready,
    input wire [2:0] desc_tag,
    input wire status_valid,
    input wire [2:0] status_tag,
    input wire [3:0] status_error,
    input wire transfers_stray, // What the block says of the status.
    input wire done_valid,
    input wire leaves,
    input wire [PAYLOAD+3:0] done, // {error, payload}
    input wire watch,
    output reg [3:0] in_flight, // Tags that are given and not answered.
    output reg [2:0] inside,
    output reg [1:0] next_tag,
    output reg watching,
    output reg [1:0] ahead, // Transfers that leave before the watched one.
    output reg [PAYLOAD-1:0] watched,
    output reg moves,
    output reg [1:0] its_tag,
    output reg given,
    output reg answered,
    output reg [3:0] its_error
);
    wire stray = status_valid && (status_tag[2] || !in_flight[status_tag[1:0]]);
    initial begin
        in_flight = 4'd0;
        inside = 3'd0;
        next_tag = 2'd0;
        watching = 1'b0;
    end
    always @(posedge clk) begin
        if (status_valid && !status_tag[2]) in_flight[status_tag[1:0]] <= 1'b0;
        if (desc_valid && desc_ready) in_flight[desc_tag[1:0]] <= 1'b1;
        inside <= inside + enters - leaves;
        if (enters) next_tag <= next_tag + 2'd1;
        if (watching && moves && desc_valid && desc_ready && desc_tag == its_tag) given <= 1'b1;
        if (watching && given && !answered && status_valid && status_tag == {1'b0, its_tag}) begin
            answered <= 1'b1;
            its_error <= status_error;
        end
        if (watching && leaves) begin
            ahead <= ahead - 2'd1;
            if (ahead == 0) watching <= 1'b0;
        end
        if (!watching && enters && watch) begin
            watching <= 1'b1;
            ahead <= inside - leaves;
            watched <= payload;
            moves <= enters_moving;
            its_tag <= next_tag;
            given <= 1'b0;
            answered <= 1'b0;
            its_error <= 4'd0;
        end
        if (rst) begin
            inside <= 3'd0;
            next_tag <= 2'd0;
            watching <= 1'b0;
        end
        if (forget) in_flight <= 4'd0;
    end

    always @* begin
        tag_exists: assert (!desc_valid || desc_tag < 4);
        tag_is_not_in_flight: assert (!desc_valid || !in_flight[desc_tag[1:0]]);
        stray_is_exact: assert (transfers_stray == stray);
        holds_four_transfers: assert (inside <= 4 && (!done_valid || inside != 0));
        if (watching) begin
            keeps_the_watched: assert (ahead < inside);
            if (done_valid && ahead == 0) begin
                gives_the_watched: assert (done[PAYLOAD-1:0] == watched);
                leaves_when_answered: assert (moves ? answered : !given);
                has_its_error: assert (done[PAYLOAD+3:PAYLOAD] == its_error);
            end
        end
        all_tags_in_flight: cover (in_flight == 4'hf);
        fails_and_leaves: cover (leaves && watching && ahead == 0 && its_error == 4'd5);
    end
endmodule

// How the registers of TransferQueue go together with that; induction needs it.
module transfer_ring_inside #(
    parameter PAYLOAD = 17
) (
    input wire draining,
    input wire [3:0] in_flight,
    input wire [2:0] inside,
    input wire [1:0] next_tag,
    input wire watching,
    input wire [1:0] ahead,
    input wire [PAYLOAD-1:0] watched,
    input wire moves,
    input wire [1:0] its_tag,
    input wire given,
    input wire answered,
    input wire [3:0] its_error,
    input wire [2:0] head,
    input wire [2:0] tail,
    input wire [3:0] pending,
    input wire full,
    input wire held, // A descriptor waits, for its data or at its port.
    input wire [1:0] held_tag,
    input wire desc_valid,
    input wire [4*PAYLOAD+3:0] payloads, // {payload, moves} of each
    input wire [15:0] errors
);
    wire [2:0] transfers = tail - head;

    always @* begin
        ring_is_counted: assert (transfers == inside);
        full_with_four: assert (full == (transfers == 4));
        tags_go_around: assert (next_tag == tail[1:0]);
        pending_is_in_flight: assert (pending == (in_flight | (held ? 4'd1 << held_tag : 4'd0)));
        offers_what_is_held: assert (!desc_valid || held);
        at_desc_is_not_in_flight: assert (!held || !in_flight[held_tag]);
        if (watching) begin
            tag_is_its_place: assert (its_tag == head[1:0] + ahead);
            payload_is_stored: assert (payloads[(PAYLOAD+1)*its_tag +: PAYLOAD+1] == {watched, moves});
            pending_until_answered: assert (pending[its_tag] == (moves && !answered));
            given_or_at_desc: assert (!given || moves);
            answered_was_given: assert (!answered || given);
            at_desc_until_given: assert ((held && held_tag == its_tag) == (moves && !given));
            error_is_stored: assert (answered ? errors[4*its_tag +: 4] == its_error : its_error == 4'd0);
        end
    end

    genvar s;
    generate
        for (s = 0; s < 4; s = s + 1) begin : place
            wire [1:0] offset = s - head[1:0];
            hostmem_tag_rules its_tag (.pending(pending[s] && !draining), .offset(offset), .transfers(transfers));
        end
    endgenerate
endmodule

`default_nettype wire
