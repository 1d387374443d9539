// The rules of the AXI4 write channels (AMBA IHI 0022, chapters A3 and A4) for a master of one id whose
// addresses and bursts of beats are at most one apart; and what a slave promises.
`default_nettype none

module axi_write_rules #(
    parameter ADDRESS = 16,
    parameter BEAT_BITS = 4, // Bits of an address within a beat.
    parameter BURST_BEATS = 2
) (
    input wire clk,
    input wire rst,
    input wire awvalid,
    input wire awready,
    input wire [ADDRESS-1:0] awaddr,
    input wire [7:0] awlen,
    input wire [12:0] awconstants, // {awsize, awburst, awlock, awcache, awprot}
    input wire wvalid,
    input wire wready,
    input wire wlast,
    input wire [9*(1<<BEAT_BITS)-1:0] wpayload, // {wstrb, wdata}
    input wire bvalid,
    input wire bready,
    output reg aw_open, // The address was taken, not all beats.
    output reg w_open, // All beats were taken, not the address.
    output reg [7:0] beat, // Beats of the burst that were taken.
    output reg [7:0] open_length, // AWLEN of the pair of which one is taken.
    output reg [7:0] owed // Bursts whose beats are taken and that are not answered.
);
    stream_rules #(.WIDTH(ADDRESS + 21)) aw_rules (
        .clk(clk), .rst(rst), .valid(awvalid), .ready(awready), .payload({awaddr, awlen, awconstants})
    );
    stream_rules #(.WIDTH(9 * (1 << BEAT_BITS) + 1)) w_rules (
        .clk(clk), .rst(rst), .valid(wvalid), .ready(wready), .payload({wlast, wpayload})
    );

    wire aw = awvalid && awready;
    wire w = wvalid && wready;

    initial begin
        aw_open = 1'b0;
        w_open = 1'b0;
        beat = 8'd0;
        owed = 8'd0;
    end

    always @(posedge clk) begin
        if (aw && w && wlast) begin
            aw_open <= 1'b0;
            w_open <= 1'b0;
        end else if (aw) begin
            aw_open <= !w_open;
            w_open <= 1'b0;
        end else if (w && wlast) begin
            w_open <= !aw_open;
            aw_open <= 1'b0;
        end
        if (aw && !w_open) open_length <= awlen;
        if (w && wlast && !aw_open) open_length <= beat;
        if (w) beat <= wlast ? 8'd0 : beat + 1'b1;
        owed <= owed + (w && wlast) - (bvalid && bready);
        if (rst) begin
            aw_open <= 1'b0;
            w_open <= 1'b0;
            beat <= 8'd0;
            owed <= 8'd0;
        end
    end

    // The slave answers only bursts whose address and beats it has taken (A3.3.1).
    always @* if (bvalid) assume (owed > w_open);

    wire [7:0] in_block = awaddr[ADDRESS-1:BEAT_BITS] % BURST_BEATS;
    wire [12:0] in_page = awaddr[(ADDRESS < 12 ? ADDRESS : 12)-1:0];
    wire [12:0] bytes = (awlen + 13'd1) << BEAT_BITS;

    always @* begin
        // Whole beats, INCR, not locked, bufferable, unprivileged.
        constants: assert (awconstants[9:0] == {2'd1, 1'b0, 4'd3, 3'd2} && awconstants[12:10] == BEAT_BITS);
        if (awvalid) begin
            starts_at_a_beat: assert (awaddr[BEAT_BITS-1:0] == 0);
            stays_in_its_block: assert (in_block + awlen < BURST_BEATS);
            stays_in_its_page: assert (in_page + bytes <= 4096);
            one_address_ahead: assert (!aw_open);
            if (w_open) as_long_as_its_beats: assert (awlen == open_length);
        end
        if (wvalid) begin
            one_burst_ahead: assert (!w_open && (awvalid || aw_open));
            last_and_only_last: assert (wlast == (beat == (aw_open ? open_length : awlen)));
        end
    end
endmodule

`default_nettype wire
