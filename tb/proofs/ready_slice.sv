// ReadySlice: order, no loss, no duplication, no latency, and exact ready.
//
// It holds one element at most, so the harness is a model of it: it keeps the element that came in while the output
// was not ready. Nothing is assumed of the environment, not even the stream rules: an element is shown only once it
// is taken.
`default_nettype none

module ready_slice_proof (
    input wire clk,
    input wire rst,
    input wire s_valid,
    input wire [`WIDTH-1:0] s_data,
    input wire m_ready
);
    localparam WIDTH = `WIDTH;

    wire s_ready;
    wire m_valid;
    wire [WIDTH-1:0] m_data;

    ready_slice dut (
        .clk(clk), .rst(rst),
        .s_data(s_data), .s_valid(s_valid), .s_ready(s_ready),
        .m_data(m_data), .m_valid(m_valid), .m_ready(m_ready)
    );

    stream_rules #(.WIDTH(WIDTH)) m_rules (
        .clk(clk), .rst(rst), .valid(m_valid), .ready(m_ready), .payload(m_data)
    );

    wire push = s_valid && s_ready;
    wire pop = m_valid && m_ready;

    // The contract, from the ports alone.
    reg inside = 1'b0; // An element came in and has not left.
    reg [WIDTH-1:0] element;
    reg after_reset = 1'b1;

    always @(posedge clk) begin
        after_reset <= rst;
        inside <= (inside || push) && !pop && !rst;
        if (push) element <= s_data;
    end

    always @* begin
        ready_unless_full_or_reset: assert (s_ready == (!inside && !after_reset));
        if (inside) gives_what_waits: assert (m_valid && m_data == element);
        else passes_at_once: assert (m_valid == push && (!push || m_data == s_data));
        gives_what_waited: cover (inside && pop);
        passes: cover (!inside && pop);
    end

`ifndef CONTRACT_ONLY
    // How the registers inside go together; induction needs it.
    (* internal = "dut.spare" *) wire [WIDTH-1:0] spare;
    (* internal = "dut.spare_used" *) wire spare_used;

    always @* begin
        spare_is_the_one_inside: assert (spare_used == inside);
        if (inside) element_is_in_its_place: assert (spare == element);
    end
`endif
endmodule

`default_nettype wire
