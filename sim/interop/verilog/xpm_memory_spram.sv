// What the cluster instantiates of the vendor's parameterised macros, as far as it uses them.
module xpm_memory_spram #(
    parameter ADDR_WIDTH_A = 6,
    parameter AUTO_SLEEP_TIME = 0,
    parameter BYTE_WRITE_WIDTH_A = 32,
    parameter ECC_MODE = "no_ecc",
    parameter MEMORY_INIT_FILE = "none",
    parameter MEMORY_INIT_PARAM = "0",
    parameter MEMORY_OPTIMIZATION = "true",
    parameter MEMORY_PRIMITIVE = "auto",
    parameter MEMORY_SIZE = 2048,
    parameter MESSAGE_CONTROL = 0,
    parameter READ_DATA_WIDTH_A = 32,
    parameter READ_LATENCY_A = 2,
    parameter READ_RESET_VALUE_A = "0",
    parameter USE_MEM_INIT = 1,
    parameter WAKEUP_TIME = "disable_sleep",
    parameter WRITE_DATA_WIDTH_A = 32,
    parameter WRITE_MODE_A = "read_first"
) (
    output logic dbiterra,
    output logic [READ_DATA_WIDTH_A-1:0] douta,
    output logic sbiterra,
    input logic [ADDR_WIDTH_A-1:0] addra,
    input logic clka,
    input logic [WRITE_DATA_WIDTH_A-1:0] dina,
    input logic ena,
    input logic injectdbiterra,
    input logic injectsbiterra,
    input logic regcea,
    input logic rsta,
    input logic sleep,
    input logic [WRITE_DATA_WIDTH_A/BYTE_WRITE_WIDTH_A-1:0] wea
);
    localparam int Words = MEMORY_SIZE / WRITE_DATA_WIDTH_A;
    localparam int Bytes = WRITE_DATA_WIDTH_A / BYTE_WRITE_WIDTH_A;
    if (READ_LATENCY_A != 1) begin : g_latency
        read_latency_has_to_be_1 error ();
    end
    logic [WRITE_DATA_WIDTH_A-1:0] memory [Words];
    initial for (int i = 0; i < Words; i++) memory[i] = '0;
    assign dbiterra = 1'b0;
    assign sbiterra = 1'b0;
    always_ff @(posedge clka) begin
        if (ena) begin
            for (int i = 0; i < Bytes; i++) begin
                if (wea[i]) memory[addra][i*BYTE_WRITE_WIDTH_A +: BYTE_WRITE_WIDTH_A] <= dina[i*BYTE_WRITE_WIDTH_A +: BYTE_WRITE_WIDTH_A];
            end
            // WRITE_MODE_A "no_change": the output keeps its value while something is written.
            if (wea == '0) douta <= memory[addra];
        end
        if (rsta) douta <= '0;
    end
endmodule

