`default_nettype none

// How the registers of a FreeList in a SlotPool go together: every slot is in exactly one place. Its FIFO has four
// places.
module list_invariant #(
    parameter COUNT = 1,
    parameter INDEX = 1, // Width of a slot's number; an entry is {what `taken` becomes, number}.
    parameter ADDRESS = 8,
    parameter BASE = 0,
    parameter SIZE = 1,
    parameter UNIT = 1, // Largest power of two that divides the size.
    parameter PRODUCT = 1 // Width of an address in these units, as far as slots differ in it.
) (
    input wire after_reset,
    // The pool.
    input wire filling,
    input wire [1:0] fill_index,
    input wire settle_0,
    input wire settle_1,
    input wire open,
    // What the contract says.
    input wire [COUNT-1:0] given,
    input wire [COUNT-1:0] gave,
    input wire [3:1] came,
    // The owner bits, and the entries from the end of the list to its head.
    input wire [COUNT-1:0] taken,
    input wire [COUNT-1:0] freed,
`ifdef TRACKED_1
    // What the cluster has, the bits that say so, and their copies.
    input wire [COUNT-1:0] cluster,
    input wire [COUNT-1:0] handed,
    input wire [COUNT-1:0] handed_again,
    input wire [COUNT-1:0] cleared,
    input wire [COUNT-1:0] cleared_again,
`endif
    input wire back_valid,
    input wire [INDEX:0] back,
    input wire [2:0] queue_count,
    input wire [1:0] queue_write_ptr,
    input wire [1:0] queue_read_ptr,
    input wire queue_not_full,
    input wire queue_stored,
    input wire [4*(PRODUCT+INDEX+1)-1:0] queue, // Entries of the FIFO begin with the address in units.
    input wire held_valid,
    input wire [PRODUCT+INDEX:0] held,
    input wire spare_valid,
    input wire [INDEX+ADDRESS:0] spare,
    input wire front_ready,
    input wire front_valid,
    input wire [INDEX+ADDRESS:0] front,
    input wire gave_valid,
    input wire [INDEX:0] gave_entry,
    input wire dut_came
);
    queue_invariant #(.POINTER(2)) queue_rules (
        .after_reset(after_reset), .count(queue_count), .write_ptr(queue_write_ptr), .read_ptr(queue_read_ptr),
        .not_full(queue_not_full), .stored(queue_stored), .held(held_valid)
    );

    wire [2:0] in_queue = queue_count - held_valid;

    // All places for entries: four of the FIFO's memory, then the registers.
    localparam PLACES = 9;
    localparam QUEUED = PRODUCT + INDEX + 1;
    wire [PLACES*(INDEX+1)-1:0] entry = {
        gave_entry, front[INDEX+ADDRESS:ADDRESS], spare[INDEX+ADDRESS:ADDRESS], held[INDEX:0], back,
        queue[3*QUEUED +: INDEX+1], queue[2*QUEUED +: INDEX+1], queue[QUEUED +: INDEX+1], queue[INDEX:0]
    };
    reg [PLACES-1:0] used;
    reg [PLACES-1:0] right;
    reg [COUNT-1:0] once;
    reg [COUNT-1:0] waits; // Is to be filled in.
    reg [COUNT-1:0] came_back; // What `freed` is once the last free is written.
    reg [3:0] times;
    reg [INDEX-1:0] number;
    // The places in the FIFO: four of its memory, then its register.
    wire [5*QUEUED-1:0] queued = {held, queue};
    wire [4:0] is_queued = {held_valid, used[3:0]};
    reg [4:0] has_product;
    reg [PRODUCT-1:0] product;
    integer place;
    integer slot;

    always @* begin
        used = {gave_valid, front_valid, spare_valid, held_valid, back_valid, 4'd0};
        for (place = 0; place < 4; place = place + 1) begin
            used[place] = ((place - queue_read_ptr) & 3) < in_queue;
        end
        for (place = 0; place < PLACES; place = place + 1) begin
            number = entry[place*(INDEX+1) +: INDEX];
            right[place] = !used[place] || (number < COUNT && entry[place*(INDEX+1)+INDEX] != taken[number]);
        end
        for (place = 0; place < 5; place = place + 1) begin
            product = (BASE + queued[place*QUEUED +: INDEX] * SIZE) / UNIT;
            has_product[place] = !is_queued[place] || queued[place*QUEUED+INDEX+1 +: PRODUCT] == product;
        end
        came_back = freed;
        if (back_valid) came_back[back[INDEX-1:0]] = !back[INDEX];
        for (slot = 0; slot < COUNT; slot = slot + 1) begin
            waits[slot] = filling && slot >= fill_index;
            times = waits[slot] || taken[slot] != came_back[slot];
            for (place = 0; place < PLACES; place = place + 1) begin
                times = times + (used[place] && entry[place*(INDEX+1) +: INDEX] == slot);
            end
            once[slot] = times == 1;
        end
    end

    always @* begin
        every_slot_is_in_one_place: assert (&once);
        entries_say_what_comes_next: assert (&right);
        queued_have_their_address: assert (&has_product);
        if (spare_valid) spare_has_its_address: assert (spare[ADDRESS-1:0] == BASE + spare[ADDRESS +: INDEX] * SIZE);
        if (front_valid) front_has_its_address: assert (front[ADDRESS-1:0] == BASE + front[ADDRESS +: INDEX] * SIZE);
        out_is_what_was_given: assert (given == (gave | (~waits & (taken ^ came_back))));
        gives_are_on_their_way: assert (gave == (gave_valid ? 1 << gave_entry[INDEX-1:0] : 0));
        nothing_is_out_before_open: assert (open || !(front_valid || spare_valid || gave_valid || given != 0));
        spare_is_second: assert (!spare_valid || front_valid);
        front_is_ready: assert (front_ready == !(spare_valid || after_reset));
        returns_are_on_their_way: assert (dut_came == came[1]);
`ifdef TRACKED_1
        copies_agree: assert ((((handed ^ handed_again) | (cleared ^ cleared_again)) & ~waits) == 0);
        cluster_has_what_was_handed_on: assert (cluster == (~waits & (taken ^ came_back) & (handed ^ cleared)));
`endif
        // No place is empty for longer than it takes to fill it.
        if (open) back_has_what_came: assert (back_valid == came[1]);
        if (settle_0 && !settle_1) list_is_filled: assert (queue_stored || held_valid);
        if (settle_1 && !open) head_is_filled: assert (held_valid);
        if (open && !held_valid) head_follows: assert (in_queue == came[2]);
        if (open && !front_valid) front_follows: assert (held_valid <= came[3] && in_queue == came[2]);
    end
endmodule

`default_nettype wire
