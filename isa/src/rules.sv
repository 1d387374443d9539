// The effect of one instruction, from the table of instructions. Combinational; everything is read before it.
module hpu_rules (
    // The instruction: of one of 16 bits, bits 31:16 do not matter.
    input wire [31:0] insn,
    input wire [31:0] pc,
    // 0 user, 3 machine.
    input wire [1:0] mode,
    // Words of the registers `rs1` and `rs2`.
    input wire [31:0] rs1_value,
    input wire [31:0] rs2_value,
    // The bytes from `address` on, first in bits 7:0.
    input wire [31:0] memory,
    // The CSR of number `csr_number`, mepc and mstatus.MPP.
    input wire [31:0] csr,
    input wire [31:0] mepc,
    input wire [1:0] mpp,
    // The thread has reserved the word at `address`.
    input wire reserved,
    // It is an instruction; one of those whose effects are here, else the rest means nothing.
    output reg legal,
    output reg fits,
    // The instruction in its form of 32 bits.
    output reg [31:0] word,
    // Registers, or 0.
    output reg [4:0] rd,
    output reg [4:0] rs1,
    output reg [4:0] rs2,
    output reg [31:0] rd_value,
    output reg [31:0] next_pc,
    output reg [1:0] next_mode,
    // It traps, if the processor has not a reason to trap before.
    output reg trap,
    output reg [4:0] cause,
    // Bytes that are read and written, relative to `address`; bytes that are not written are 0 in `wdata`.
    output reg [31:0] address,
    output reg [3:0] rmask,
    output reg [3:0] wmask,
    output reg [31:0] wdata,
    output reg next_reserved,
    output wire [11:0] csr_number,
    output reg writes_csr,
    output reg [31:0] next_csr
);
    assign csr_number = word[31:20];
    wire [31:0] following = pc + (&insn[1:0] ? 32'd4 : 32'd2);
    reg [31:0] imm;

    function [63:0] extended(input [31:0] number);
        extended = {{32{number[31]}}, number};
    endfunction

    function [31:0] high_word(input [63:0] a, input [63:0] b);
        reg [63:0] product;
        begin
            product = a * b;
            high_word = product[63:32];
        end
    endfunction

    function [31:0] with_carry(input [31:0] a, input [31:0] b);
        reg [32:0] sum;
        begin
            sum = {1'b0, a} + {1'b0, b};
            with_carry = sum[31:0] + {31'd0, sum[32]};
        end
    endfunction

    always @* begin
        casez (insn[15:0])
            16'b????_????_????_??11: word = insn;
            // expansions
            default: word = 32'd0;
        endcase
    end

    always @* begin
        casez (word)
            /* patterns */: legal = 1'b1;
            default: legal = 1'b0;
        endcase
    end

    always @* begin
        fits = 1'b0;
        {rd, rs1, rs2} = 15'd0;
        {imm, rd_value, address, wdata, next_csr} = 160'd0;
        {trap, cause, rmask, wmask, writes_csr} = 15'd0;
        next_pc = following;
        next_mode = mode;
        next_reserved = reserved;
        casez (word)
            // effects
            default: ;
        endcase
        if (rd == 5'd0) rd_value = 32'd0;
        wdata = wdata & {{8{wmask[3]}}, {8{wmask[2]}}, {8{wmask[1]}}, {8{wmask[0]}}};
    end
endmodule
