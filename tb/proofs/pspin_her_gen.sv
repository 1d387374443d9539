// pspin_her_gen: every packet that is taken leaves exactly once, at her with what belongs to it or at m_free with
// its address, in order; contexts are taken all together.
//
// The solver chooses one packet at the time it goes in (`watch`), and the proof follows it: it waits while the
// output that it belongs to is occupied, then it is there until it leaves. Nothing else comes in while it
// waits, so nothing overtakes it; that no packet is lost or doubled follows from the count of those inside.
// Which output it belongs to, and with which context, is said by a copy of the configuration that the harness
// takes from the ports. Of each field of 32 bits it looks at one bit, another one in each, to keep the problem
// small. Nothing is assumed of the environment.
`default_nettype none

module pspin_her_gen_proof (
    input wire clk,
    input wire rst,
    input wire gen_valid,
    input wire [`ADDRESS_WIDTH-1:0] gen_addr,
    input wire [`LENGTH_WIDTH-1:0] gen_len,
    input wire [`TAG_WIDTH-1:0] gen_tag,
    input wire conf_valid,
    input wire [1:0] conf_ctx_enabled,
    input wire [17*64-1:0] conf_words, // Two contexts of each field but host_mem_addr, in the order of the ports.
    input wire [2*`HOST_ADDRESS_WIDTH-1:0] conf_host,
    input wire her_ready,
    input wire free_ready,
    input wire watch
);
    localparam ADDRESS = `ADDRESS_WIDTH;
    localparam LENGTH = `LENGTH_WIDTH;
    localparam TAG = `TAG_WIDTH;
    localparam HOST = `HOST_ADDRESS_WIDTH;
    localparam ID = `MESSAGE_ID_WIDTH;
    localparam TAG_ID = `TAG_MESSAGE_ID_WIDTH;
    localparam CONTEXT = 17 + HOST; // What is looked at of a context.
    localparam LIMIT = `TRANSFER_LIMIT;
`ifdef CONTEXT_IN_MESSAGE_ID_1
    localparam ID_BITS = ID - 2;
`else
    localparam ID_BITS = ID;
`endif

    wire gen_ready;
    wire her_valid;
    wire [ID-1:0] her_msgid;
    wire her_is_eom;
    wire [ADDRESS-1:0] her_addr;
    wire [ADDRESS-1:0] her_size;
    wire [ADDRESS-1:0] her_xfer_size;
    wire [17*32-1:0] her_words;
    wire [HOST-1:0] her_host;
    wire free_valid;
    wire [ADDRESS-1:0] free_addr;
    wire [31:0] her_pkts;
    wire [31:0] dropped;

    pspin_her_gen dut (
        .clk(clk), .rstn(!rst),
        .her_ready(her_ready), .her_valid(her_valid), .her_msgid(her_msgid), .her_is_eom(her_is_eom),
        .her_addr(her_addr), .her_size(her_size), .her_xfer_size(her_xfer_size),
        .her_meta_handler_mem_addr(her_words[0 +: 32]), .conf_handler_mem_addr(conf_words[0 +: 64]),
        .her_meta_handler_mem_size(her_words[32 +: 32]), .conf_handler_mem_size(conf_words[64 +: 64]),
        .her_meta_host_mem_addr(her_host), .conf_host_mem_addr(conf_host),
        .her_meta_host_mem_size(her_words[64 +: 32]), .conf_host_mem_size(conf_words[128 +: 64]),
        .her_meta_hh_addr(her_words[96 +: 32]), .conf_hh_addr(conf_words[192 +: 64]),
        .her_meta_hh_size(her_words[128 +: 32]), .conf_hh_size(conf_words[256 +: 64]),
        .her_meta_ph_addr(her_words[160 +: 32]), .conf_ph_addr(conf_words[320 +: 64]),
        .her_meta_ph_size(her_words[192 +: 32]), .conf_ph_size(conf_words[384 +: 64]),
        .her_meta_th_addr(her_words[224 +: 32]), .conf_th_addr(conf_words[448 +: 64]),
        .her_meta_th_size(her_words[256 +: 32]), .conf_th_size(conf_words[512 +: 64]),
        .her_meta_scratchpad_0_addr(her_words[288 +: 32]), .conf_scratchpad_0_addr(conf_words[576 +: 64]),
        .her_meta_scratchpad_0_size(her_words[320 +: 32]), .conf_scratchpad_0_size(conf_words[640 +: 64]),
        .her_meta_scratchpad_1_addr(her_words[352 +: 32]), .conf_scratchpad_1_addr(conf_words[704 +: 64]),
        .her_meta_scratchpad_1_size(her_words[384 +: 32]), .conf_scratchpad_1_size(conf_words[768 +: 64]),
        .her_meta_scratchpad_2_addr(her_words[416 +: 32]), .conf_scratchpad_2_addr(conf_words[832 +: 64]),
        .her_meta_scratchpad_2_size(her_words[448 +: 32]), .conf_scratchpad_2_size(conf_words[896 +: 64]),
        .her_meta_scratchpad_3_addr(her_words[480 +: 32]), .conf_scratchpad_3_addr(conf_words[960 +: 64]),
        .her_meta_scratchpad_3_size(her_words[512 +: 32]), .conf_scratchpad_3_size(conf_words[1024 +: 64]),
        .conf_valid(conf_valid), .conf_ctx_enabled(conf_ctx_enabled),
        .gen_addr(gen_addr), .gen_len(gen_len), .gen_tag(gen_tag), .gen_valid(gen_valid), .gen_ready(gen_ready),
        .m_free_addr(free_addr), .m_free_valid(free_valid), .m_free_ready(free_ready),
        .her_pkts_o(her_pkts), .dropped_no_context_o(dropped)
    );

    // One bit of each field: bit n of field n.
    reg [CONTEXT-1:0] her_meta;
    reg [CONTEXT-1:0] offered_0;
    reg [CONTEXT-1:0] offered_1;
    integer field;

    always @* begin
        her_meta[17 +: HOST] = her_host;
        offered_0[17 +: HOST] = conf_host[0 +: HOST];
        offered_1[17 +: HOST] = conf_host[HOST +: HOST];
        for (field = 0; field < 17; field = field + 1) begin
            her_meta[field] = her_words[33*field];
            offered_0[field] = conf_words[65*field];
            offered_1[field] = conf_words[65*field + 32];
        end
    end

    stream_rules #(.WIDTH(ID + 1 + 3*ADDRESS + CONTEXT)) her_rules (
        .clk(clk), .rst(rst), .valid(her_valid), .ready(her_ready),
        .payload({her_meta, her_xfer_size, her_size, her_addr, her_is_eom, her_msgid})
    );
    stream_rules #(.WIDTH(ADDRESS)) free_rules (
        .clk(clk), .rst(rst), .valid(free_valid), .ready(free_ready), .payload(free_addr)
    );

    wire push = gen_valid && gen_ready;
    wire her_pop = her_valid && her_ready;
    wire free_pop = free_valid && free_ready;
    wire her_free = !her_valid || her_ready;
    wire free_free = !free_valid || free_ready;

    // The configuration in force, from the ports alone.
    reg [1:0] enabled = 2'd0;
    reg [CONTEXT-1:0] context_0;
    reg [CONTEXT-1:0] context_1;

    always @(posedge clk) begin
        if (conf_valid) begin
            enabled <= conf_ctx_enabled;
            context_0 <= offered_0;
            context_1 <= offered_1;
        end
        if (rst) enabled <= 2'd0;
    end

    // The watched packet: waiting inside, or at one of the outputs.
    reg waits = 1'b0;
    reg at_her = 1'b0;
    reg at_free = 1'b0;
    reg [ADDRESS-1:0] address;
    reg [LENGTH-1:0] length;
    reg [TAG_ID+2:0] tag;
    reg [CONTEXT-1:0] expected;
    reg expected_1; // The context that was used is context 1.

    wire comes = push && watch && !waits && !at_her && !at_free;
    wire [TAG_ID+2:0] looked_at = waits ? tag : gen_tag[TAG_ID+2:0];
    wire uses_1 = looked_at[1:0] == 2'd1 && enabled[1];
    wire served = uses_1 || enabled[0];

    // What is inside, and what has left.
    reg [1:0] inside = 2'd0;
    reg [31:0] hers_taken = 32'd0;
    reg [31:0] frees_taken = 32'd0;
    reg after_reset = 1'b1;

    always @(posedge clk) begin
        after_reset <= rst;
        inside <= inside + push - her_pop - free_pop;
        hers_taken <= hers_taken + her_pop;
        frees_taken <= frees_taken + free_pop;
        if (her_pop) at_her <= 1'b0;
        if (free_pop) at_free <= 1'b0;
        if (comes) begin
            address <= gen_addr;
            length <= gen_len;
            tag <= gen_tag[TAG_ID+2:0];
        end
        if (comes || waits) begin
            waits <= served ? !her_free : !free_free;
            at_her <= served && her_free;
            at_free <= !served && free_free;
            expected <= uses_1 ? context_1 : context_0;
            expected_1 <= uses_1;
        end
        if (rst) begin
            waits <= 1'b0;
            at_her <= 1'b0;
            at_free <= 1'b0;
            inside <= 2'd0;
            hers_taken <= 32'd0;
            frees_taken <= 32'd0;
        end
    end

    wire [1:0] at_outputs = her_valid + free_valid;
    wire [TAG_ID+1:0] id = {tag[TAG_ID+2:5], 1'b0, expected_1, tag[4:3]};

    always @* begin
        gives_only_what_it_has: assert (at_outputs <= inside);
        holds_one_more_at_most: assert (inside <= at_outputs + 2'd1);
        ready_unless_one_waits_or_reset: assert (gen_ready == (inside == at_outputs && !after_reset));
        counts_hers: assert (her_pkts == hers_taken);
        counts_drops: assert (dropped == frees_taken + free_valid);
        if (waits) nothing_overtakes_the_watched: assert (!gen_ready);
        if (at_her) begin
            gives_the_watched: assert (her_valid && her_addr == address && her_size == length && her_is_eom == tag[2]);
            limits_its_transfer: assert (her_xfer_size == (LIMIT != 0 && length > LIMIT ? LIMIT : length));
            gives_its_context: assert (her_meta == expected);
`ifdef CONTEXT_IN_MESSAGE_ID_1
            gives_its_message_and_context: assert (her_msgid == id[ID-1:0]);
`else
            gives_its_message: assert (her_msgid == tag[3 +: ID]);
`endif
        end
        if (at_free) frees_the_watched: assert (free_valid && free_addr == address);
        is_full: cover (inside == 3 && waits);
        waits_with_another_context: cover (at_her && enabled == 2'd2 && !expected_1);
        is_dropped: cover (at_free && her_valid);
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.u_front.spare" *) wire [ID_BITS+2+LENGTH+ADDRESS:0] spare;
    (* internal = "dut.u_front.spare_used" *) wire spare_used;
    (* internal = "dut.u_table.enabled" *) wire [1:0] table_enabled;
    (* internal = "dut.u_table.contexts_0" *) wire [17*32+HOST-1:0] table_0;
    (* internal = "dut.u_table.contexts_1" *) wire [17*32+HOST-1:0] table_1;

    reg [CONTEXT-1:0] held_0;
    reg [CONTEXT-1:0] held_1;
    integer place;

    always @* begin
        held_0[17 +: HOST] = table_0[2*32 +: HOST];
        held_1[17 +: HOST] = table_1[2*32 +: HOST];
        for (place = 0; place < 17; place = place + 1) begin
            held_0[place] = table_0[33*place + (place < 2 ? 0 : HOST)];
            held_1[place] = table_1[33*place + (place < 2 ? 0 : HOST)];
        end
    end

    always @* begin
        spare_is_the_one_that_waits: assert (spare_used == (inside != at_outputs));
        contexts_are_those_in_force: assert (table_enabled == enabled);
        // Before the first configuration both hold anything, and nothing is enabled.
        if (enabled[0]) context_0_is_the_one_in_force: assert (held_0 == context_0);
        if (enabled[1]) context_1_is_the_one_in_force: assert (held_1 == context_1);
        if (waits) watched_is_in_its_place: assert (spare_used && spare == {tag[ID_BITS+2:0], length, address});
    end
`endif
endmodule

`default_nettype wire
