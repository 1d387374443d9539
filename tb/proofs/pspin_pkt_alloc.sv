// pspin_pkt_alloc: stream rules of its descriptors; every packet gets exactly one, in order, in the next cycle, with its
// length and tag; a dropped packet has address 0, and a packet longer than a large slot is dropped. If packets may wait
// for a slot, the descriptor comes when there is one, and only packets longer than a large slot are dropped, at once.
//
// As in fifo.sv, the solver chooses one packet when it comes in, and the proof follows it. Nothing is assumed of the
// environment. Who owns which slot is proven in slot_pool.sv.
`default_nettype none

module pspin_pkt_alloc_proof (
    input wire clk,
    input wire rst,
    input wire pkt_valid,
    input wire [`TAG_WIDTH-1:0] pkt_tag,
    input wire [`LENGTH_WIDTH-1:0] pkt_len,
    input wire write_ready,
    input wire free_valid,
    input wire [`ADDRESS_WIDTH-1:0] free_address,
    input wire [`LENGTH_WIDTH-1:0] free_size,
    input wire [`MESSAGE_ID_WIDTH-1:0] free_message,
    input wire watch
);
    localparam PACKET = `TAG_WIDTH + `LENGTH_WIDTH;
    localparam ADDRESS = `ADDRESS_WIDTH;

    wire pkt_ready;
    wire free_ready;
    wire write_valid;
    wire write_drop;
    wire [`TAG_WIDTH-1:0] write_tag;
    wire [`LENGTH_WIDTH-1:0] write_len;
    wire [ADDRESS-1:0] write_addr;

    pspin_pkt_alloc dut (
        .clk(clk), .rstn(!rst),
        .pkt_tag_i(pkt_tag), .pkt_len_i(pkt_len), .pkt_valid_i(pkt_valid), .pkt_ready_o(pkt_ready),
        .feedback_ready_o(free_ready), .feedback_valid_i(free_valid), .feedback_her_addr_i(free_address),
        .feedback_her_size_i(free_size), .feedback_msgid_i(free_message),
        .write_addr_o(write_addr), .write_len_o(write_len), .write_tag_o(write_tag), .write_valid_o(write_valid),
        .write_ready_i(write_ready), .write_drop_o(write_drop)
    );

    wire [PACKET-1:0] packet = {pkt_tag, pkt_len};
    wire [PACKET-1:0] described = {write_tag, write_len};
    wire push = pkt_valid && pkt_ready;
    wire pop = write_valid && write_ready;

    stream_rules #(.WIDTH(1 + PACKET + ADDRESS)) write_rules (
        .clk(clk), .rst(rst), .valid(write_valid), .ready(write_ready), .payload({write_drop, described, write_addr})
    );

    reg [2:0] inside = 3'd0;
    reg watching = 1'b0;
    reg [2:0] ahead; // Descriptors that leave before that of the watched packet.
    reg [PACKET-1:0] watched;
    reg was_first = 1'b0; // The watched packet was the first inside in the cycle before.

    always @(posedge clk) begin
        inside <= inside + push - pop;
        was_first <= watching && ahead == 0 && !pop && !rst;
        if (watching && pop) begin
            ahead <= ahead - 1'b1;
            if (ahead == 0) watching <= 1'b0;
        end
        if (!watching && push && watch) begin
            watching <= 1'b1;
            ahead <= inside - pop;
            watched <= packet;
        end
        if (rst) begin
            inside <= 3'd0;
            watching <= 1'b0;
        end
    end

    always @* begin
`ifdef STALL_1
        holds_four: assert (inside <= 4);
        gives_only_what_came: assert (!write_valid || inside != 0);
        if (write_valid) drops_only_oversize: assert (write_drop == (write_len > `LARGE_SLOT_SIZE));
        if (was_first && watched[`LENGTH_WIDTH-1:0] > `LARGE_SLOT_SIZE) oversize_does_not_wait: assert (write_valid);
        waits_for_a_slot: cover (was_first && !write_valid);
`else
        holds_two: assert (inside <= 2);
        comes_after_one_cycle: assert (write_valid == (inside != 0));
        if (write_valid && write_len > `LARGE_SLOT_SIZE) oversize_is_dropped: assert (write_drop);
`endif
        if (watching) keeps_the_watched: assert (inside > ahead);
        if (watching && ahead == 0 && write_valid) gives_the_watched: assert (described == watched);
        if (write_valid && write_drop) dropped_has_no_address: assert (write_addr == 0);
        has_two_with_slots: cover (inside == 2 && write_valid && !write_drop && watching && ahead == 1);
        has_dropped: cover (write_valid && write_drop);
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.u_back.spare" *) wire [PACKET+ADDRESS:0] spare;
    (* internal = "dut.u_back.spare_used" *) wire spare_used;
    (* internal = "dut.u_back.ready" *) wire ready;
    wire [2:0] described_count = write_valid + spare_used;

    always @* begin
        spare_is_behind: assert (!(ready && spare_used) && (write_valid || !spare_used));
        if (watching && spare_used && ahead == 1) watched_is_in_its_place: assert (spare[ADDRESS +: PACKET] == watched);
        if (spare_used && spare[PACKET+ADDRESS]) spare_has_no_address: assert (spare[ADDRESS-1:0] == 0);
        if (spare_used && spare[ADDRESS +: `LENGTH_WIDTH] > `LARGE_SLOT_SIZE) begin
            spare_is_dropped: assert (spare[PACKET+ADDRESS]);
        end
    end

`ifdef STALL_1
    // Packets that have no slot yet.
    (* internal = "dut.u_front.data" *) wire [PACKET-1:0] front;
    (* internal = "dut.u_front.valid" *) wire front_valid;
    (* internal = "dut.u_front.spare" *) wire [PACKET-1:0] front_spare;
    (* internal = "dut.u_front.spare_used" *) wire front_spare_used;
    (* internal = "dut.u_front.ready" *) wire front_ready;
    wire [2:0] waiting_ahead = ahead - described_count;

    always @* begin
        all_are_counted: assert (inside == described_count + front_valid + front_spare_used);
        front_spare_is_behind: assert (!(front_ready && front_spare_used) && (front_valid || !front_spare_used));
        back_is_ready: assert (ready || spare_used || inside == 0);
        if (watching && ahead >= described_count) begin
            watched_waits: assert ((waiting_ahead == 0 ? front : front_spare) == watched);
        end
        if (spare_used && spare[PACKET+ADDRESS]) begin
            spare_is_oversize: assert (spare[ADDRESS +: `LENGTH_WIDTH] > `LARGE_SLOT_SIZE);
        end
    end
`else
    always @* all_are_counted: assert (inside == described_count);
`endif
`endif
endmodule

`default_nettype wire
