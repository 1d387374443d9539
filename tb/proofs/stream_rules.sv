// The ready/valid rules, as AMBA IHI 0051 states them in section 2.2: valid stays until ready, and the
// payload is stable meanwhile. A reset ends what was waiting.
`default_nettype none

// A block's output obeys the rules.
module stream_rules #(
    parameter WIDTH = 1
) (
    input wire clk,
    input wire rst,
    input wire valid,
    input wire ready,
    input wire [WIDTH-1:0] payload
);
    reg waiting = 1'b0;
    reg [WIDTH-1:0] waiting_payload;

    always @(posedge clk) begin
        waiting <= valid && !ready && !rst;
        waiting_payload <= payload;
    end

    always @* begin
        if (waiting) begin
            valid_stays: assert (valid);
            payload_is_stable: assert (payload == waiting_payload);
        end
    end
endmodule

// The environment obeys the rules at a block's input.
module stream_environment #(
    parameter WIDTH = 1
) (
    input wire clk,
    input wire rst,
    input wire valid,
    input wire ready,
    input wire [WIDTH-1:0] payload
);
    reg waiting = 1'b0;
    reg [WIDTH-1:0] waiting_payload;

    always @(posedge clk) begin
        waiting <= valid && !ready && !rst;
        waiting_payload <= payload;
    end

    always @* begin
        if (waiting) begin
            assume (valid);
            assume (payload == waiting_payload);
        end
    end
endmodule

`default_nettype wire
