// HostGuard: what is allowed lies in a window that counts, and whatever does is allowed. Nothing is assumed.
`default_nettype none

module host_guard_proof (
    input wire clk,
    input wire windows_open,
    input wire windows_by_context,
    input wire [`CONTEXTS-1:0] windows_enabled,
    input wire [`CONTEXTS*`ADDRESS_WIDTH-1:0] windows_base,
    input wire [`CONTEXTS*32-1:0] windows_size,
    input wire [$clog2(`CONTEXTS)-1:0] asker,
    input wire [`ADDRESS_WIDTH-1:0] first,
    input wire [`ADDRESS_WIDTH-1:0] last
);
    localparam CONTEXTS = `CONTEXTS;
    localparam ADDRESS = `ADDRESS_WIDTH;

    wire allowed;

    host_guard dut (
        .clk(clk),
        .windows_open(windows_open), .windows_by_context(windows_by_context), .windows_enabled(windows_enabled),
        .windows_base(windows_base), .windows_size(windows_size),
        .asker(asker), .first(first), .last(last), .allowed(allowed)
    );

    // The contract, from the ports alone: the windows are those of the clock before.
    reg started = 1'b0;
    reg open;
    reg by_context;
    reg [CONTEXTS-1:0] enabled;
    reg [CONTEXTS*ADDRESS-1:0] base;
    reg [CONTEXTS*32-1:0] size;

    always @(posedge clk) begin
        started <= 1'b1;
        open <= windows_open;
        by_context <= windows_by_context;
        enabled <= windows_enabled;
        base <= windows_base;
        size <= windows_size;
    end

    wire [CONTEXTS-1:0] holds;
    wire [CONTEXTS-1:0] own;
    genvar n;
    generate
        for (n = 0; n < CONTEXTS; n = n + 1) begin : windows
            // The first byte behind the window, which may be behind the last address that there is.
            wire [ADDRESS:0] start = {1'b0, base[n*ADDRESS +: ADDRESS]};
            wire [ADDRESS:0] behind = start + size[n*32 +: 32];
            assign holds[n] = enabled[n] && size[n*32 +: 32] != 0 && {1'b0, first} >= start && {1'b0, last} < behind;
            assign own[n] = asker == n;
        end
    endgenerate

    always @* begin
        if (started && !open && allowed) lies_in_a_window: assert (|holds);
        if (started && !open && allowed && by_context) lies_in_the_window_of_its_context: assert (|(holds & own));
        if (started && open) open_allows_everything: assert (allowed);
        if (started && |(holds & own)) allows_what_its_window_holds: assert (allowed);
        if (started && !by_context && |holds) allows_what_any_window_holds: assert (allowed);
    end

    always @* begin
        in_its_own: cover (started && !open && by_context && allowed && |last);
        in_the_window_of_another: cover (started && !open && by_context && !allowed && |holds);
        in_any: cover (started && !open && !by_context && allowed && !(|(holds & own)));
        without_a_window: cover (started && !open && by_context && !(|(enabled & own)) && !allowed);
        at_the_end_of_memory: cover (started && !open && allowed && &last);
    end
endmodule

`default_nettype wire
