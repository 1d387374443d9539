// SlotPool: every slot is owned by exactly one, a list or who took it; wrong frees change nothing and are counted.
//
// Nothing is assumed of the environment: it takes slots as it likes, and frees any address at any time. The promises
// hold for every slot at once: `given` has a bit for each.
//
// With tracked=1 `cluster` has one more bit for each, for slots that have been handed on; a free that is not trusted
// counts only for these. What is assumed then: a slot that is handed on is out. Other addresses may be handed on.
`default_nettype none

// What a class promises, from the ports alone. A free counts in the cycle in which it is judged.
module class_contract #(
    parameter COUNT = 1,
    parameter BASE = 0,
    parameter SIZE = 1
) (
    input wire clk,
    input wire rst,
    input wire open,
    input wire valid,
    input wire ready,
    input wire [`ADDRESS_WIDTH-1:0] data,
    input wire [31:0] used,
    input wire [31:0] peak,
    input wire judge,
    input wire [`ADDRESS_WIDTH-1:0] judge_address,
    // Slots that somebody has, those that were given in the last cycle, and those that come back in this one.
    output reg [COUNT-1:0] given,
    output reg [COUNT-1:0] gave,
    output reg [COUNT-1:0] back,
    // The slot that the judged address starts.
    output reg [COUNT-1:0] found,
`ifdef TRACKED_1
    input wire trusted,
    input wire hand_valid,
    input wire [`ADDRESS_WIDTH-1:0] hand_address,
    input wire hand_judge,
    input wire [`ADDRESS_WIDTH-1:0] hand_judge_address,
    // Slots that the cluster has.
    output reg [COUNT-1:0] cluster,
`endif
    // A slot came back one, two, three cycles ago.
    output reg [3:1] came
);
    reg [COUNT-1:0] offered;
    reg [31:0] most = 0;
    reg [7:0] out;
    reg [7:0] has;
    integer i;

    initial {given, gave, came} = 0;

    // A free that is judged in the cycle after the slot was given comes too early to be meant for it.
    always @* begin
        out = 0;
        has = 0;
        for (i = 0; i < COUNT; i = i + 1) begin
            offered[i] = data == BASE + i * SIZE;
            found[i] = judge_address == BASE + i * SIZE;
            out = out + (given[i] && !gave[i]);
            has = has + given[i];
        end
        back = judge ? found & given & ~gave : 0;
`ifdef TRACKED_1
        if (!trusted) back = back & cluster;
`endif
    end

`ifdef TRACKED_1
    reg [COUNT-1:0] handed_on;
    reg [COUNT-1:0] hands;

    initial cluster = 0;

    always @* begin
        for (i = 0; i < COUNT; i = i + 1) begin
            handed_on[i] = hand_valid && hand_address == BASE + i * SIZE;
            hands[i] = hand_judge && hand_judge_address == BASE + i * SIZE;
        end
        hands_on_what_is_out: assume ((handed_on & ~given) == 0);
    end

    always @(posedge clk) begin
        cluster <= (cluster | (hands & given & ~gave)) & ~back;
        if (rst) cluster <= 0;
    end

    always @* begin
        cluster_has_what_is_out: assert ((cluster & ~given) == 0);
        takes_from_the_cluster: cover (!trusted && back != 0);
        takes_before_it_is_handed_on: cover (trusted && (back & ~cluster) != 0);
        refuses_what_is_on_its_way: cover (judge && !trusted && (found & given & ~gave & ~cluster) != 0);
    end
`endif

    always @(posedge clk) begin
        gave <= valid && ready ? offered : 0;
        given <= (valid && ready ? given | offered : given) & ~back;
        came <= {came[2:1], |back};
        if (used > most) most <= used;
        if (rst) {given, gave, came, most} <= 0;
    end

    always @* begin
        gives_nothing_before_open: assert (!valid || open);
        if (valid) gives_a_slot_of_its_class: assert (offered != 0);
        if (valid) gives_no_slot_that_is_out: assert ((offered & given) == 0);
        loses_no_slot: assert (!open || valid || COUNT - has <= came[1] + came[2] + came[3]);
        used_is_exact: assert (used == out + came[1]);
        peak_is_exact: assert (peak == most);
        gives_its_last_slot: cover (has == COUNT);
        takes_a_slot_back: cover (back != 0);
    end
endmodule

module slot_pool_proof (
    input wire clk,
    input wire rst,
    input wire small_ready,
    input wire large_ready,
    input wire free_valid,
    input wire [`ADDRESS_WIDTH-1:0] free_data
`ifdef TRACKED_1
    ,
    input wire free_trusted,
    input wire hand_valid,
    input wire [`ADDRESS_WIDTH-1:0] hand_address
`endif
);
    localparam ADDRESS = `ADDRESS_WIDTH;
    localparam LARGE = `LARGE_SLOTS;
    localparam SMALL = `SMALL_SLOTS;
    localparam LARGE_BASE = `BUFFER_BASE;
    localparam SMALL_BASE = `BUFFER_BASE + `LARGE_SLOTS * `LARGE_SLOT_SIZE;
    localparam FILL = LARGE > SMALL ? LARGE : SMALL;

    wire small_valid;
    wire [ADDRESS-1:0] small_data;
    wire large_valid;
    wire [ADDRESS-1:0] large_data;
    wire free_ready;
    wire open;
    wire [31:0] no_start;
    wire [31:0] not_out;
    wire [31:0] too_early;
    wire [31:0] large_used;
    wire [31:0] large_peak;
    wire [31:0] small_used;
    wire [31:0] small_peak;

    slot_pool dut (
        .clk(clk), .rst(rst), .counters_rst(rst),
        .small_data(small_data), .small_valid(small_valid), .small_ready(small_ready),
        .large_data(large_data), .large_valid(large_valid), .large_ready(large_ready),
        .free_data(free_data), .free_valid(free_valid), .free_ready(free_ready), .open(open),
`ifdef TRACKED_1
        .free_trusted(free_trusted), .hand_valid(hand_valid), .hand_address(hand_address),
`endif
        .refused_no_start(no_start), .refused_not_out(not_out), .refused_early(too_early),
        .large_used(large_used), .large_peak(large_peak), .small_used(small_used), .small_peak(small_peak)
    );

    stream_rules #(.WIDTH(ADDRESS)) small_rules (
        .clk(clk), .rst(rst), .valid(small_valid), .ready(small_ready), .payload(small_data)
    );
    stream_rules #(.WIDTH(ADDRESS)) large_rules (
        .clk(clk), .rst(rst), .valid(large_valid), .ready(large_ready), .payload(large_data)
    );

    // A free is judged three cycles after it was taken (one level of adders), and counted two later.
    reg [3:1] returned = 0;
    reg [3:1] early;
    reg [ADDRESS-1:0] address_1;
    reg [ADDRESS-1:0] address_2;
    reg [ADDRESS-1:0] judge_address;
    reg [2:0] events = 0;
    reg [31:0] no_starts = 0;
    reg [31:0] not_outs = 0;
    reg [31:0] too_earlies = 0;
    reg after_reset = 1'b1;
    reg [7:0] age = 0; // Cycles since the reset.
    wire judge = returned[3] && !early[3];
    wire [LARGE-1:0] large_found;
    wire [SMALL-1:0] small_found;
    wire [LARGE-1:0] large_back;
    wire [SMALL-1:0] small_back;
    wire was_start = large_found != 0 || small_found != 0;
    wire was_out = large_back != 0 || small_back != 0;

    always @(posedge clk) begin
        returned <= {returned[2:1], free_valid && free_ready};
        early <= {early[2:1], !open};
        {judge_address, address_2, address_1} <= {address_2, address_1, free_data};
        events <= {returned[3] && early[3], judge && was_start && !was_out, judge && !was_start};
        no_starts <= no_starts + events[0];
        not_outs <= not_outs + events[1];
        too_earlies <= too_earlies + events[2];
        after_reset <= rst;
        if (age != FILL + 3) age <= age + 1;
        if (rst) {returned, events, no_starts, not_outs, too_earlies, age} <= 0;
    end

    always @* begin
        takes_frees_but_after_reset: assert (free_ready == !after_reset);
        opens_when_all_are_filled_in: assert (open == (age == FILL + 3));
        counts_frees_of_no_slot: assert (no_start == no_starts);
        counts_double_frees: assert (not_out == not_outs);
        counts_early_frees: assert (too_early == too_earlies);
        has_refused_a_free_of_no_slot: cover (no_start != 0);
        has_refused_a_double_free: cover (not_out != 0);
        has_refused_an_early_free: cover (too_early != 0);
    end

`ifdef TRACKED_1
    // What is handed on takes as long as a free.
    reg [3:1] handed = 0;
    reg [3:1] trusted;
    reg [ADDRESS-1:0] hand_1;
    reg [ADDRESS-1:0] hand_2;
    reg [ADDRESS-1:0] hand_3;

    always @(posedge clk) begin
        handed <= {handed[2:1], hand_valid};
        trusted <= {trusted[2:1], free_trusted};
        {hand_3, hand_2, hand_1} <= {hand_2, hand_1, hand_address};
        if (rst) handed <= 0;
    end
`endif

    wire [LARGE-1:0] large_given;
    wire [LARGE-1:0] large_gave;
    wire [3:1] large_came;
`ifdef TRACKED_1
    wire [LARGE-1:0] large_cluster;
`endif
    class_contract #(.COUNT(LARGE), .BASE(LARGE_BASE), .SIZE(`LARGE_SLOT_SIZE)) large (
        .clk(clk), .rst(rst), .open(open), .valid(large_valid), .ready(large_ready), .data(large_data),
        .used(large_used), .peak(large_peak), .judge(judge), .judge_address(judge_address),
`ifdef TRACKED_1
        .trusted(trusted[3]), .hand_valid(hand_valid), .hand_address(hand_address), .hand_judge(handed[3]),
        .hand_judge_address(hand_3), .cluster(large_cluster),
`endif
        .given(large_given), .gave(large_gave), .back(large_back), .found(large_found), .came(large_came)
    );
    wire [SMALL-1:0] small_given;
    wire [SMALL-1:0] small_gave;
    wire [3:1] small_came;
`ifdef TRACKED_1
    wire [SMALL-1:0] small_cluster;
`endif
    class_contract #(.COUNT(SMALL), .BASE(SMALL_BASE), .SIZE(`SMALL_SLOT_SIZE)) small (
        .clk(clk), .rst(rst), .open(open), .valid(small_valid), .ready(small_ready), .data(small_data),
        .used(small_used), .peak(small_peak), .judge(judge), .judge_address(judge_address),
`ifdef TRACKED_1
        .trusted(trusted[3]), .hand_valid(hand_valid), .hand_address(hand_address), .hand_judge(handed[3]),
        .hand_judge_address(hand_3), .cluster(small_cluster),
`endif
        .given(small_given), .gave(small_gave), .back(small_back), .found(small_found), .came(small_came)
    );

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.filling" *) wire filling;
    (* internal = "dut.fill_index" *) wire [1:0] fill_index;
    (* internal = "dut.settle_0" *) wire settle_0;
    (* internal = "dut.settle_1" *) wire settle_1;
    (* internal = "dut.returned_0" *) wire returned_0;
    (* internal = "dut.returned_1" *) wire returned_1;
    (* internal = "dut.returned_2" *) wire returned_2;
    (* internal = "dut.early_0" *) wire early_0;
    (* internal = "dut.early_1" *) wire early_1;
    (* internal = "dut.early_2" *) wire early_2;
    (* internal = "dut.returned_address" *) wire [ADDRESS-1:0] returned_address;
    (* internal = "dut.u_counters.happened" *) wire [2:0] happened;

    always @* begin
        fills_one_slot_a_cycle: assert (age == (filling ? fill_index : FILL + settle_0 + settle_1 + open));
        settles: assert (filling + settle_0 <= 1 && settle_0 >= settle_1 && settle_1 >= open);
        frees_are_on_their_way: assert (returned == {returned_2, returned_1, returned_0});
        early_ones_are_known: assert ((returned & (early ^ {early_2, early_1, early_0})) == 0);
        others_come_while_open: assert (open || (returned & ~early) == 0);
        if (returned[1]) first_address: assert (returned_address == address_1);
        events_are_counted: assert (happened == events);
    end

`ifdef TRACKED_1
    (* internal = "dut.trusted_0" *) wire trusted_0;
    (* internal = "dut.trusted_1" *) wire trusted_1;
    (* internal = "dut.trusted_2" *) wire trusted_2;
    (* internal = "dut.handed_0" *) wire handed_0;
    (* internal = "dut.handed_1" *) wire handed_1;
    (* internal = "dut.handed_2" *) wire handed_2;
    (* internal = "dut.handed_address" *) wire [ADDRESS-1:0] handed_address;

    always @* begin
        trusted_ones_are_known: assert ((returned & (trusted ^ {trusted_2, trusted_1, trusted_0})) == 0);
        hands_are_on_their_way: assert (handed == {handed_2, handed_1, handed_0});
        if (handed[1]) first_hand: assert (handed_address == hand_1);
    end
`endif

    (* internal = "dut.u_large_list.u_taken.memory[0]" *) wire large_taken_0;
    (* internal = "dut.u_large_list.u_taken.memory[1]" *) wire large_taken_1;
    (* internal = "dut.u_large_list.u_freed.memory[0]" *) wire large_freed_0;
    (* internal = "dut.u_large_list.u_freed.memory[1]" *) wire large_freed_1;
`ifdef TRACKED_1
    (* internal = "dut.u_large_list.u_handed.memory[0]" *) wire large_handed_0;
    (* internal = "dut.u_large_list.u_handed.memory[1]" *) wire large_handed_1;
    (* internal = "dut.u_large_list.u_handed_again.memory[0]" *) wire large_handed_again_0;
    (* internal = "dut.u_large_list.u_handed_again.memory[1]" *) wire large_handed_again_1;
    (* internal = "dut.u_large_list.u_cleared.memory[0]" *) wire large_cleared_0;
    (* internal = "dut.u_large_list.u_cleared.memory[1]" *) wire large_cleared_1;
    (* internal = "dut.u_large_list.u_cleared_again.memory[0]" *) wire large_cleared_again_0;
    (* internal = "dut.u_large_list.u_cleared_again.memory[1]" *) wire large_cleared_again_1;
`endif
    (* internal = "dut.u_large_list.back" *) wire large_back_valid;
    (* internal = "dut.u_large_list.back_entry" *) wire [1:0] large_back_entry;
    (* internal = "dut.u_large_list.u_list.count" *) wire [2:0] large_queue_count;
    (* internal = "dut.u_large_list.u_list.write_ptr" *) wire [1:0] large_write_ptr;
    (* internal = "dut.u_large_list.u_list.read_ptr" *) wire [1:0] large_read_ptr;
    (* internal = "dut.u_large_list.u_list.not_full" *) wire large_not_full;
    (* internal = "dut.u_large_list.u_list.stored" *) wire large_stored;
    (* internal = "dut.u_large_list.u_list.u_memory.memory[0]" *) wire [3:0] large_queue_0;
    (* internal = "dut.u_large_list.u_list.u_memory.memory[1]" *) wire [3:0] large_queue_1;
    (* internal = "dut.u_large_list.u_list.u_memory.memory[2]" *) wire [3:0] large_queue_2;
    (* internal = "dut.u_large_list.u_list.u_memory.memory[3]" *) wire [3:0] large_queue_3;
    (* internal = "dut.u_large_list.u_list.held" *) wire large_held_valid;
    (* internal = "dut.u_large_list.u_list.held_data" *) wire [3:0] large_held;
    (* internal = "dut.u_large_list.u_front.spare_used" *) wire large_spare_valid;
    (* internal = "dut.u_large_list.u_front.spare" *) wire [1+ADDRESS:0] large_spare;
    (* internal = "dut.u_large_list.u_front.ready" *) wire large_front_ready;
    (* internal = "dut.u_large_list.u_front.data" *) wire [1+ADDRESS:0] large_front;
    (* internal = "dut.u_large_list.gave" *) wire large_gave_valid;
    (* internal = "dut.u_large_list.gave_entry" *) wire [1:0] large_gave_entry;
    (* internal = "dut.u_large_list.came" *) wire large_dut_came;
    list_invariant #(
        .COUNT(LARGE), .INDEX(1), .ADDRESS(ADDRESS), .BASE(LARGE_BASE), .SIZE(`LARGE_SLOT_SIZE), .UNIT(4), .PRODUCT(2)
    ) large_invariant (
        .after_reset(after_reset), .filling(filling), .fill_index(fill_index), .settle_0(settle_0),
        .settle_1(settle_1), .open(open), .given(large_given), .gave(large_gave), .came(large_came),
        .taken({large_taken_1, large_taken_0}),
        .freed({large_freed_1, large_freed_0}),
`ifdef TRACKED_1
        .cluster(large_cluster),
        .handed({large_handed_1, large_handed_0}),
        .handed_again({large_handed_again_1, large_handed_again_0}),
        .cleared({large_cleared_1, large_cleared_0}),
        .cleared_again({large_cleared_again_1, large_cleared_again_0}),
`endif
        .back_valid(large_back_valid), .back(large_back_entry), .queue_count(large_queue_count),
        .queue_write_ptr(large_write_ptr), .queue_read_ptr(large_read_ptr), .queue_not_full(large_not_full),
        .queue_stored(large_stored), .queue({large_queue_3, large_queue_2, large_queue_1, large_queue_0}),
        .held_valid(large_held_valid), .held(large_held), .spare_valid(large_spare_valid), .spare(large_spare),
        .front_ready(large_front_ready), .front_valid(large_valid), .front(large_front),
        .gave_valid(large_gave_valid), .gave_entry(large_gave_entry), .dut_came(large_dut_came)
    );

    (* internal = "dut.u_small_list.u_taken.memory[0]" *) wire small_taken_0;
    (* internal = "dut.u_small_list.u_taken.memory[1]" *) wire small_taken_1;
    (* internal = "dut.u_small_list.u_taken.memory[2]" *) wire small_taken_2;
    (* internal = "dut.u_small_list.u_taken.memory[3]" *) wire small_taken_3;
    (* internal = "dut.u_small_list.u_freed.memory[0]" *) wire small_freed_0;
    (* internal = "dut.u_small_list.u_freed.memory[1]" *) wire small_freed_1;
    (* internal = "dut.u_small_list.u_freed.memory[2]" *) wire small_freed_2;
    (* internal = "dut.u_small_list.u_freed.memory[3]" *) wire small_freed_3;
`ifdef TRACKED_1
    (* internal = "dut.u_small_list.u_handed.memory[0]" *) wire small_handed_0;
    (* internal = "dut.u_small_list.u_handed.memory[1]" *) wire small_handed_1;
    (* internal = "dut.u_small_list.u_handed.memory[2]" *) wire small_handed_2;
    (* internal = "dut.u_small_list.u_handed.memory[3]" *) wire small_handed_3;
    (* internal = "dut.u_small_list.u_handed_again.memory[0]" *) wire small_handed_again_0;
    (* internal = "dut.u_small_list.u_handed_again.memory[1]" *) wire small_handed_again_1;
    (* internal = "dut.u_small_list.u_handed_again.memory[2]" *) wire small_handed_again_2;
    (* internal = "dut.u_small_list.u_handed_again.memory[3]" *) wire small_handed_again_3;
    (* internal = "dut.u_small_list.u_cleared.memory[0]" *) wire small_cleared_0;
    (* internal = "dut.u_small_list.u_cleared.memory[1]" *) wire small_cleared_1;
    (* internal = "dut.u_small_list.u_cleared.memory[2]" *) wire small_cleared_2;
    (* internal = "dut.u_small_list.u_cleared.memory[3]" *) wire small_cleared_3;
    (* internal = "dut.u_small_list.u_cleared_again.memory[0]" *) wire small_cleared_again_0;
    (* internal = "dut.u_small_list.u_cleared_again.memory[1]" *) wire small_cleared_again_1;
    (* internal = "dut.u_small_list.u_cleared_again.memory[2]" *) wire small_cleared_again_2;
    (* internal = "dut.u_small_list.u_cleared_again.memory[3]" *) wire small_cleared_again_3;
`endif
    (* internal = "dut.u_small_list.back" *) wire small_back_valid;
    (* internal = "dut.u_small_list.back_entry" *) wire [2:0] small_back_entry;
    (* internal = "dut.u_small_list.u_list.count" *) wire [2:0] small_queue_count;
    (* internal = "dut.u_small_list.u_list.write_ptr" *) wire [1:0] small_write_ptr;
    (* internal = "dut.u_small_list.u_list.read_ptr" *) wire [1:0] small_read_ptr;
    (* internal = "dut.u_small_list.u_list.not_full" *) wire small_not_full;
    (* internal = "dut.u_small_list.u_list.stored" *) wire small_stored;
    (* internal = "dut.u_small_list.u_list.u_memory.memory[0]" *) wire [5:0] small_queue_0;
    (* internal = "dut.u_small_list.u_list.u_memory.memory[1]" *) wire [5:0] small_queue_1;
    (* internal = "dut.u_small_list.u_list.u_memory.memory[2]" *) wire [5:0] small_queue_2;
    (* internal = "dut.u_small_list.u_list.u_memory.memory[3]" *) wire [5:0] small_queue_3;
    (* internal = "dut.u_small_list.u_list.held" *) wire small_held_valid;
    (* internal = "dut.u_small_list.u_list.held_data" *) wire [5:0] small_held;
    (* internal = "dut.u_small_list.u_front.spare_used" *) wire small_spare_valid;
    (* internal = "dut.u_small_list.u_front.spare" *) wire [2+ADDRESS:0] small_spare;
    (* internal = "dut.u_small_list.u_front.ready" *) wire small_front_ready;
    (* internal = "dut.u_small_list.u_front.data" *) wire [2+ADDRESS:0] small_front;
    (* internal = "dut.u_small_list.gave" *) wire small_gave_valid;
    (* internal = "dut.u_small_list.gave_entry" *) wire [2:0] small_gave_entry;
    (* internal = "dut.u_small_list.came" *) wire small_dut_came;
    list_invariant #(
        .COUNT(SMALL), .INDEX(2), .ADDRESS(ADDRESS), .BASE(SMALL_BASE), .SIZE(`SMALL_SLOT_SIZE), .UNIT(4), .PRODUCT(3)
    ) small_invariant (
        .after_reset(after_reset), .filling(filling), .fill_index(fill_index), .settle_0(settle_0),
        .settle_1(settle_1), .open(open), .given(small_given), .gave(small_gave), .came(small_came),
        .taken({small_taken_3, small_taken_2, small_taken_1, small_taken_0}),
        .freed({small_freed_3, small_freed_2, small_freed_1, small_freed_0}),
`ifdef TRACKED_1
        .cluster(small_cluster),
        .handed({small_handed_3, small_handed_2, small_handed_1, small_handed_0}),
        .handed_again({small_handed_again_3, small_handed_again_2, small_handed_again_1, small_handed_again_0}),
        .cleared({small_cleared_3, small_cleared_2, small_cleared_1, small_cleared_0}),
        .cleared_again({small_cleared_again_3, small_cleared_again_2, small_cleared_again_1, small_cleared_again_0}),
`endif
        .back_valid(small_back_valid), .back(small_back_entry), .queue_count(small_queue_count),
        .queue_write_ptr(small_write_ptr), .queue_read_ptr(small_read_ptr), .queue_not_full(small_not_full),
        .queue_stored(small_stored), .queue({small_queue_3, small_queue_2, small_queue_1, small_queue_0}),
        .held_valid(small_held_valid), .held(small_held), .spare_valid(small_spare_valid), .spare(small_spare),
        .front_ready(small_front_ready), .front_valid(small_valid), .front(small_front),
        .gave_valid(small_gave_valid), .gave_entry(small_gave_entry), .dut_came(small_dut_came)
    );
`endif
endmodule

`default_nettype wire
