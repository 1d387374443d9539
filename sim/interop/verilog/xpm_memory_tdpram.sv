module xpm_memory_tdpram #(
    parameter ADDR_WIDTH_A = 6, parameter ADDR_WIDTH_B = 6,
    parameter AUTO_SLEEP_TIME = 0,
    parameter BYTE_WRITE_WIDTH_A = 32, parameter BYTE_WRITE_WIDTH_B = 32,
    parameter CLOCKING_MODE = "common_clock",
    parameter ECC_MODE = "no_ecc",
    parameter MEMORY_INIT_FILE = "none",
    parameter MEMORY_INIT_PARAM = "0",
    parameter MEMORY_OPTIMIZATION = "true",
    parameter MEMORY_PRIMITIVE = "auto",
    parameter MEMORY_SIZE = 2048,
    parameter MESSAGE_CONTROL = 0,
    parameter READ_DATA_WIDTH_A = 32, parameter READ_DATA_WIDTH_B = 32,
    parameter READ_LATENCY_A = 2, parameter READ_LATENCY_B = 2,
    parameter READ_RESET_VALUE_A = "0", parameter READ_RESET_VALUE_B = "0",
    parameter USE_EMBEDDED_CONSTRAINT = 0,
    parameter USE_MEM_INIT = 1,
    parameter WAKEUP_TIME = "disable_sleep",
    parameter WRITE_DATA_WIDTH_A = 32, parameter WRITE_DATA_WIDTH_B = 32,
    parameter WRITE_MODE_A = "no_change", parameter WRITE_MODE_B = "no_change"
) (
    output logic dbiterra, dbiterrb, sbiterra, sbiterrb,
    input logic [ADDR_WIDTH_A-1:0] addra, 
    input logic [ADDR_WIDTH_B-1:0] addrb,
    input logic clka, clkb,
    input logic [WRITE_DATA_WIDTH_A-1:0] dina, 
    input logic [WRITE_DATA_WIDTH_B-1:0] dinb,
    output logic [READ_DATA_WIDTH_A-1:0] douta, 
    output logic [READ_DATA_WIDTH_B-1:0] doutb,
    input logic ena, enb, injectdbiterra, injectdbiterrb, injectsbiterra, injectsbiterrb, regcea, regceb, rsta, rstb, sleep,
    input logic [WRITE_DATA_WIDTH_A/BYTE_WRITE_WIDTH_A-1:0] wea, 
    input logic [WRITE_DATA_WIDTH_B/BYTE_WRITE_WIDTH_B-1:0] web
);
    localparam int Words = MEMORY_SIZE / WRITE_DATA_WIDTH_A;
    localparam int Bytes = WRITE_DATA_WIDTH_A / BYTE_WRITE_WIDTH_A;
    logic [WRITE_DATA_WIDTH_A-1:0] memory [Words];
    initial for (int i = 0; i < Words; i++) memory[i] = '0;
    assign {dbiterra, sbiterra, dbiterrb, sbiterrb} = '0;
    always_ff @(posedge clka) begin
        if (ena) begin
            for (int i = 0; i < Bytes; i++)
                if (wea[i]) memory[addra][i*BYTE_WRITE_WIDTH_A +: BYTE_WRITE_WIDTH_A] <= dina[i*BYTE_WRITE_WIDTH_A +: BYTE_WRITE_WIDTH_A];
            if (wea == '0) douta <= memory[addra];
        end
        if (rsta) douta <= '0;
        if (enb) begin
            for (int i = 0; i < Bytes; i++)
                if (web[i]) memory[addrb][i*BYTE_WRITE_WIDTH_A +: BYTE_WRITE_WIDTH_A] <= dinb[i*BYTE_WRITE_WIDTH_A +: BYTE_WRITE_WIDTH_A];
            if (web == '0) doutb <= memory[addrb];
        end
        if (rstb) doutb <= '0;
    end
endmodule
