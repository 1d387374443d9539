// The multiplier of HpuPipeline, from the operands of stage 5 to its word in stage 8; everything else of the pipeline is free.
//
// The product is that of the manual: both operands signed (mul, mulh), the first one (mulhsu), or none (mulhu); its lower or its
// upper word. The solver cannot multiply words of 32 bits, but halves of them: operands are sums of their halves, the product is
// the sum of four products of halves, which is true of all words (`distributes`), and that sum is what the block gives.
`default_nettype none

module hpu_product_proof (
    input wire clk,
    input wire [31:0] x,
    input wire [31:0] y,
    input wire [2:0] funct3,
    input wire multiplies,
    // Any words.
    input wire [63:0] p,
    input wire [63:0] q,
    input wire [63:0] r,
    input wire [63:0] s
);
    hpu_pipeline dut (.clk(clk), .rst(1'b0));
    // Operands in stage 5, whether it is a multiplication in stage 6.
    (* drives = "dut.signal" *) wire [31:0] x_5 = x;
    (* drives = "dut.signal_1" *) wire [31:0] y_5 = y;
    (* drives = "dut.function_5" *) wire [2:0] function_5 = funct3;
    (* drives = "dut.is_multiply_6" *) wire multiply_6 = multiplies;
    (* internal = "dut.product" *) wire [31:0] product;

    wire x_sign = !(&funct3[1:0]) && x[31], y_sign = !funct3[1] && y[31];
    wire [63:0] x_low = x[15:0], x_high = {{48{x_sign}}, x[31:16]};
    wire [63:0] y_low = y[15:0], y_high = {{48{y_sign}}, y[31:16]};
    wire [63:0] hh = x_high * y_high, hl = x_high * y_low, lh = x_low * y_high, ll = x_low * y_low;
    // Solvers expand products of sums, but not those of shifted words: 65537 p - p is 65536 p.
    wire [63:0] product_of_sums = (65537 * p + q - p) * (65537 * r + s - r);
    wire [63:0] sum_of_products = (p * r << 32) + (p * s + q * r << 16) + q * s;

    // Stages 6 to 8.
    reg [63:0] hh_6, hl_6, lh_6, ll_6, whole_7, whole_8;
    reg [1:0] kind_6, kind_7, kind_8;
    reg is_7, is_8;
    reg [1:0] age = 2'd0;

    always @(posedge clk) begin
        {hh_6, hl_6, lh_6, ll_6} <= {hh, hl, lh, ll};
        {whole_7, whole_8} <= {(hh_6 << 32) + (hl_6 + lh_6 << 16) + ll_6, whole_7};
        {kind_6, kind_7, kind_8} <= {funct3[1:0], kind_6, kind_7};
        {is_7, is_8} <= {multiplies, is_7};
        if (age != 2'd3) age <= age + 2'd1;
    end
    always @* begin
        x_is_sum: assert ((x_high << 16) + x_low == {{32{funct3[1:0] != 2'd3 && x[31]}}, x});
        y_is_sum: assert ((y_high << 16) + y_low == {{32{funct3[1:0] < 2'd2 && y[31]}}, y});
        distributes: assert (product_of_sums == sum_of_products);
        if (age == 2'd3) multiplies_it: assert (product == (!is_8 ? 32'd0 : kind_8 == 2'd0 ? whole_8[31:0] : whole_8[63:32]));
        is_large: cover (age == 2'd3 && is_8 && kind_8 == 2'd1 && product == 32'hffffffff);
    end

`ifndef CONTRACT_ONLY
    // Products as wide as those of the block.
    wire [31:0] narrow_hh = $signed(x_high[31:0]) * $signed(y_high[31:0]), narrow_ll = $signed(x_low[31:0]) * $signed(y_low[31:0]);
    wire [33:0] narrow_hl = $signed(x_high[33:0]) * $signed(y_low[33:0]), narrow_lh = $signed(x_low[33:0]) * $signed(y_high[33:0]);
    (* internal = "dut.signal_24" *) wire [31:0] block_hh;
    (* internal = "dut.signal_25" *) wire [31:0] block_ll;
    (* internal = "dut.signal_26" *) wire [33:0] block_lh;
    (* internal = "dut.signal_27" *) wire [33:0] block_hl;
    (* internal = "dut.outer" *) wire [63:0] outer;
    (* internal = "dut.cross_1" *) wire [33:0] cross;
    reg [31:0] narrow_hh_6, narrow_ll_6;
    reg [33:0] narrow_hl_6, narrow_lh_6;

    always @(posedge clk) begin
        {narrow_hh_6, narrow_hl_6, narrow_lh_6, narrow_ll_6} <= {narrow_hh, narrow_hl, narrow_lh, narrow_ll};
    end
    always @* begin
        high_part: assert (hh[31:0] == narrow_hh);
        low_part: assert (ll == {32'd0, narrow_ll});
        cross_part_1: assert (lh == {{30{narrow_lh[33]}}, narrow_lh});
        cross_part_2: assert (hl == {{30{narrow_hl[33]}}, narrow_hl});
        if (age >= 2'd1) begin
            same_parts: assert ({block_hh, block_hl, block_lh, block_ll} == {narrow_hh_6, narrow_hl_6, narrow_lh_6, narrow_ll_6});
            same_high: assert (hh_6[31:0] == block_hh);
            same_low: assert (ll_6 == {32'd0, block_ll});
            same_cross_1: assert (lh_6 == {{30{block_lh[33]}}, block_lh});
            same_cross_2: assert (hl_6 == {{30{block_hl[33]}}, block_hl});
        end
        if (age >= 2'd2) has_parts: assert (whole_7 == outer + ({{30{cross[33]}}, cross} << 16));
    end
`endif
endmodule

`default_nettype wire
