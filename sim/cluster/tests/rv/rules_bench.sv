// Compares hpu_rules with lines of inputs and what they should make; after a trap, only its cause.
module bench;
    parameter COUNT = 1;

    reg [423:0] lines [0:COUNT-1];
    reg [31:0] insn, pc, a, b, memory, csr, mepc;
    reg [3:0] mode, mpp, reserved;
    reg [3:0] want_legal, want_mode, want_rmask, want_wmask, want_reserved;
    reg [7:0] want_cause;
    reg [31:0] want_rd, want_pc, want_address, want_wdata, want_csr;

    wire legal, fits, trap, next_reserved, writes_csr;
    wire [31:0] word, rd_value, next_pc, address, wdata, next_csr;
    wire [4:0] rd, rs1, rs2, cause;
    wire [1:0] next_mode;
    wire [3:0] rmask, wmask;
    wire [11:0] csr_number;

    hpu_rules dut (
        .insn(insn), .pc(pc), .mode(mode[1:0]), .rs1_value(a), .rs2_value(b), .memory(memory),
        .csr(csr), .mepc(mepc), .mpp(mpp[1:0]), .reserved(reserved[0]),
        .legal(legal), .fits(fits), .word(word), .rd(rd), .rs1(rs1), .rs2(rs2),
        .rd_value(rd_value), .next_pc(next_pc), .next_mode(next_mode), .trap(trap), .cause(cause),
        .address(address), .rmask(rmask), .wmask(wmask), .wdata(wdata), .next_reserved(next_reserved),
        .csr_number(csr_number), .writes_csr(writes_csr), .next_csr(next_csr)
    );

    wire is_access = rmask != 0 || wmask != 0;
    wire same_registers = rd_value === want_rd && next_pc === want_pc && next_mode === want_mode[1:0];
    wire same_memory = rmask === want_rmask && wmask === want_wmask && wdata === want_wdata
        && (!is_access || address === want_address) && next_reserved === want_reserved[0];
    wire same_csr = (writes_csr ? next_csr : csr) === want_csr;
    wire same_trap = trap === want_cause[5] && cause === want_cause[4:0];
    integer i;
    integer wrong = 0;

    initial begin
        $readmemh("lines.hex", lines);
        for (i = 0; i < COUNT; i = i + 1) begin
            {insn, pc, mode, a, b, memory, csr, mepc, mpp, reserved,
             want_legal, want_cause, want_rd, want_pc, want_mode, want_address, want_rmask, want_wmask,
             want_wdata, want_reserved, want_csr} = lines[i];
            #1;
            if (legal !== want_legal[0] || fits !== legal
                || (legal && !(same_trap && (trap || (same_registers && same_memory && same_csr))))) begin
                wrong = wrong + 1;
                if (wrong < 10) begin
                    $display("%h at %h: legal %b, rd %h, pc %h, trap %b %0d, m[%h] %b %b %h, csr %h",
                        insn, pc, legal, rd_value, next_pc, trap, cause, address, rmask, wmask, wdata, next_csr);
                    $display("  instead of: legal %b, rd %h, pc %h, trap %h, m[%h] %b %b %h, csr %h",
                        want_legal, want_rd, want_pc, want_cause, want_address, want_rmask, want_wmask, want_wdata,
                        want_csr);
                end
            end
        end
        $display("done");
    end
endmodule
