// FrameRoom: no place is claimed twice, none is lost, and there is room when it says so.
//
// Assumed of the environment: it claims only while there is room, not more than the longest frame has, and
// gives back only what is claimed.
`default_nettype none

module frame_room_proof (
    input wire clk,
    input wire rst,
    input wire take,
    input wire [$clog2(`MOST+1)-1:0] need,
    input wire sent,
    input wire dropped,
    input wire [$clog2(`MOST+1)-1:0] dropped_beats
);
    localparam PLACES = `PLACES;
    localparam MOST = `MOST;
    localparam WIDTH = $clog2(PLACES + 1) + 1;

    wire roomy;

    frame_room dut (
        .clk(clk), .rst(rst),
        .roomy(roomy), .take(take), .need(need),
        .sent(sent), .dropped(dropped), .dropped_beats(dropped_beats)
    );

    // The contract, from the ports alone.
    reg [WIDTH-1:0] claimed = 0;
    reg [WIDTH-1:0] claimed_before = 0;
    reg [WIDTH-1:0] returned_before = 0;
    reg [WIDTH-1:0] returned_long_before = 0;
    reg took = 1'b0;
    reg after_reset = 1'b1;
    wire [WIDTH-1:0] returned = sent + (dropped ? dropped_beats : 0);

    always @* begin
        assume (need <= MOST && dropped_beats <= MOST);
        if (take) assume (roomy);
        assume (returned <= claimed);
    end

    always @(posedge clk) begin
        after_reset <= rst;
        claimed <= claimed + (take ? need : 0) - returned;
        claimed_before <= claimed;
        returned_before <= returned;
        returned_long_before <= returned_before;
        took <= take;
        if (rst) begin
            claimed <= 0;
            claimed_before <= 0;
            returned_before <= 0;
            returned_long_before <= 0;
            took <= 1'b0;
        end
    end

    wire [WIDTH-1:0] known = PLACES - claimed_before - returned_long_before;

    always @* begin
        no_place_twice: assert (claimed <= PLACES);
        if (roomy) room_for_any_frame: assert (PLACES - claimed >= MOST);
        if (!after_reset) says_so_as_soon_as_promised: assert (roomy == (known >= (took ? 2 * MOST : MOST)));
    end

    always @* begin
        fills: cover (claimed > PLACES - MOST && !roomy && !after_reset);
        empties: cover (claimed == 0 && returned_before == MOST + 1 && roomy);
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.room" *) wire [$clog2(`PLACES+1)-1:0] room;
    (* internal = "dut.freed" *) wire [$clog2(`MOST+2)-1:0] freed;

    always @* begin
        nothing_is_lost: assert (room + freed + claimed == PLACES);
        comes_back_later: assert (freed == returned_before);
        history_fits: assert (claimed_before <= PLACES && returned_long_before <= PLACES - claimed_before);
        if (!took) claims_fit: assert (claimed + returned_before == claimed_before);
        if (took) claims_are_frames: assert (claimed + returned_before >= claimed_before
            && claimed + returned_before <= claimed_before + MOST);
    end
`endif
endmodule

`default_nettype wire
