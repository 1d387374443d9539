module xpm_fifo_sync #(
    parameter DOUT_RESET_VALUE = "0",
    parameter ECC_MODE = "no_ecc",
    parameter FIFO_MEMORY_TYPE = "auto",
    parameter FIFO_READ_LATENCY = 1,
    parameter FIFO_WRITE_DEPTH = 2048,
    parameter FULL_RESET_VALUE = 0,
    parameter PROG_EMPTY_THRESH = 10,
    parameter PROG_FULL_THRESH = 10,
    parameter RD_DATA_COUNT_WIDTH = 1,
    parameter READ_DATA_WIDTH = 32,
    parameter READ_MODE = "std",
    parameter SIM_ASSERT_CHK = 0,
    parameter USE_ADV_FEATURES = "0707",
    parameter WAKEUP_TIME = 0,
    parameter WRITE_DATA_WIDTH = 32,
    parameter WR_DATA_COUNT_WIDTH = 1
) (
    output logic almost_empty,
    output logic almost_full,
    output logic data_valid,
    output logic dbiterr,
    output logic [READ_DATA_WIDTH-1:0] dout,
    output logic empty,
    output logic full,
    output logic overflow,
    output logic prog_empty,
    output logic prog_full,
    output logic [RD_DATA_COUNT_WIDTH-1:0] rd_data_count,
    output logic rd_rst_busy,
    output logic sbiterr,
    output logic underflow,
    output logic wr_ack,
    output logic [WR_DATA_COUNT_WIDTH-1:0] wr_data_count,
    output logic wr_rst_busy,
    input logic [WRITE_DATA_WIDTH-1:0] din,
    input logic injectdbiterr,
    input logic injectsbiterr,
    input logic rd_en,
    input logic rst,
    input logic sleep,
    input logic wr_clk,
    input logic wr_en
);
    localparam int Bits = $clog2(FIFO_WRITE_DEPTH);
    logic [WRITE_DATA_WIDTH-1:0] memory [FIFO_WRITE_DEPTH];
    logic [Bits:0] head, tail;
    assign empty = head == tail;
    assign full = head - tail == (Bits+1)'(FIFO_WRITE_DEPTH);
    assign dout = memory[tail[Bits-1:0]];
    assign data_valid = !empty;
    assign {almost_empty, almost_full, dbiterr, sbiterr, prog_empty, prog_full} = '0;
    assign {rd_data_count, wr_data_count} = '0;
    assign {rd_rst_busy, wr_rst_busy} = {2{rst}};
    always_ff @(posedge wr_clk) begin
        wr_ack <= wr_en && !full;
        overflow <= wr_en && full;
        underflow <= rd_en && empty;
        if (wr_en && !full) begin
            memory[head[Bits-1:0]] <= din;
            head <= head + 1'b1;
        end
        if (rd_en && !empty) tail <= tail + 1'b1;
        if (rst) begin
            head <= '0;
            tail <= '0;
            wr_ack <= 1'b0;
        end
    end
endmodule
