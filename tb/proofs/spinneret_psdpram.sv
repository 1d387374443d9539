// SpinneretPsdpram with two segments of two lines of two bytes: the handshakes of every port, when `done` and
// responses come, and that every read gives what was written last.
//
// The solver chooses one byte of the RAM (`line`, `lane`), and one read of its line when it is taken. Nothing is
// assumed of the environment. Addresses have one bit above the size.
`default_nettype none

// The contract of one segment, from the ports alone.
module psdpram_segment_rules (
    input wire clk,
    input wire rst,
    input wire [1:0] write_be,
    input wire [1:0] write_addr,
    input wire [15:0] write_data,
    input wire write_valid,
    input wire write_ready,
    input wire write_done,
    input wire [1:0] read_addr,
    input wire read_valid,
    input wire read_ready,
    input wire [15:0] response_data,
    input wire response_valid,
    input wire response_ready,
    input wire watch,
    input wire line,
    input wire lane,
    output reg after_reset,
    output reg [1:0] inside,
    output reg fresh,
    output reg watching,
    output reg [1:0] ahead,
    output wire read_before, // The watched read is done, before this clock.
    output reg [8:0] seen,
    output reg [8:0] now
);
    stream_rules #(.WIDTH(16)) response_rules (
        .clk(clk), .rst(rst), .valid(response_valid), .ready(response_ready), .payload(response_data)
    );

    wire writes = write_valid && write_ready;
    wire push = read_valid && read_ready;
    wire pop = response_valid && response_ready;
    wire [7:0] response_byte = lane ? response_data[15:8] : response_data[7:0];

    // What was written to the byte last: {known, byte}; and what the watched read saw.
    initial now = 9'd0;
    // A write that is taken while reset begins counts: reset does not stop the memory.
    always @(posedge clk) begin
        if (writes && write_addr[0] == line && write_be[lane]) begin
            now <= {1'b1, lane ? write_data[15:8] : write_data[7:0]};
        end
    end

    // A read sees the RAM when only one is before it that has not left.
    reg done_reading;
    assign read_before = done_reading;
    wire [1:0] ahead_next = watching ? ahead - pop : inside - pop;
    wire begins = !watching && push && watch && read_addr[0] == line;
    reg wrote;
    initial begin
        after_reset = 1'b1;
        inside = 2'd0;
        fresh = 1'b0;
        watching = 1'b0;
        wrote = 1'b0;
    end
    always @(posedge clk) begin
        after_reset <= rst;
        inside <= inside + push - pop;
        fresh <= push;
        wrote <= writes;
        if (begins) begin
            watching <= 1'b1;
            done_reading <= 1'b0;
        end
        if (begins || watching) begin
            ahead <= ahead_next;
            if (ahead_next < 2 && (begins || !done_reading)) begin
                seen <= now;
                done_reading <= 1'b1;
            end
        end
        if (watching && pop && ahead == 0) watching <= 1'b0;
        if (rst) begin
            inside <= 2'd0;
            fresh <= 1'b0;
            watching <= 1'b0;
            wrote <= 1'b0;
        end
    end

    always @* begin
        write_ready_but_for_reset: assert (write_ready == !after_reset);
        done_after_one_cycle: assert (write_done == wrote);
        read_ready_unless_full_or_reset: assert (read_ready == (inside != 3 && !after_reset));
        response_after_two_cycles: assert (response_valid == (inside != fresh));
        if (watching) begin
            keeps_the_watched: assert (ahead < inside);
            if (response_valid && ahead == 0) begin
                is_read: assert (done_reading);
                if (seen[8]) gives_what_was_written: assert (response_byte == seen[7:0]);
            end
        end
        holds_three: cover (inside == 3 && watching && ahead == 2 && now[8]);
        has_waited_for_a_later_write: cover (response_valid && watching && ahead == 0 && seen[8] && seen != now);
    end
endmodule

`ifndef CONTRACT_ONLY
// How the registers of one segment go together; induction needs it.
module psdpram_segment_inside (
    input wire after_reset,
    input wire [1:0] inside,
    input wire fresh,
    input wire watching,
    input wire [1:0] ahead,
    input wire read_before,
    input wire [8:0] seen,
    input wire [8:0] now,
    input wire line,
    input wire lane,
    input wire fetched,
    input wire shown,
    input wire spare_used,
    input wire slice_ready,
    input wire spare,
    input wire [15:0] fetched_data,
    input wire [15:0] shown_data,
    input wire [15:0] cell_0,
    input wire [15:0] cell_1
);
    wire [15:0] its_cell = line ? cell_1 : cell_0;
    wire [7:0] its_byte = lane ? its_cell[15:8] : its_cell[7:0];
    wire [7:0] fetched_byte = lane ? fetched_data[15:8] : fetched_data[7:0];
    wire [7:0] shown_byte = lane ? shown_data[15:8] : shown_data[7:0];
    // The watched read is in the output register, the memory's, or still a command.
    wire is_shown = shown && ahead == 0;
    wire is_fetched = fetched && ahead == (shown ? 2'd1 : 2'd0);

    always @* begin
        no_more_fresh_than_inside: assert (!fresh || inside != 0);
        spare_is_the_third: assert (spare_used == (inside == 3));
        slice_takes: assert (slice_ready == (inside != 3 && !after_reset));
        fetched_is_the_second: assert (fetched == (inside >= 2 || (inside == 1 && fresh)));
        shown_is_the_first: assert (shown == (inside != fresh));
        if (now[8]) memory_has_it: assert (its_byte == now[7:0]);
        if (watching) begin
            read_when_fetched: assert (read_before == (is_shown || is_fetched));
            if (is_shown && seen[8]) shown_is_the_watched: assert (shown_byte == seen[7:0]);
            if (is_fetched && seen[8]) fetched_is_the_watched: assert (fetched_byte == seen[7:0]);
            if (!read_before) spare_is_the_watched: assert (spare == line && ahead == 2);
        end
    end
endmodule
`endif

module spinneret_psdpram_proof (
    input wire clk,
    input wire rstn,
    input wire [3:0] be,
    input wire [3:0] write_addr,
    input wire [31:0] write_data,
    input wire [1:0] write_valid,
    input wire [3:0] read_addr,
    input wire [1:0] read_valid,
    input wire [1:0] response_ready,
    input wire [1:0] watch
);
    wire [1:0] write_ready, write_done, read_ready, response_valid;
    wire [31:0] response_data;
    wire rst = !rstn;

    spinneret_psdpram dut (
        .clk(clk), .rstn(rstn),
        .ram_wr_cmd_be(be), .ram_wr_cmd_addr(write_addr), .ram_wr_cmd_data(write_data),
        .ram_wr_cmd_valid(write_valid), .ram_wr_cmd_ready(write_ready), .ram_wr_done(write_done),
        .ram_rd_cmd_addr(read_addr), .ram_rd_cmd_valid(read_valid), .ram_rd_cmd_ready(read_ready),
        .ram_rd_resp_data(response_data), .ram_rd_resp_valid(response_valid), .ram_rd_resp_ready(response_ready)
    );

    (* anyconst *) reg line;
    (* anyconst *) reg lane;
    wire [1:0] after_reset, fresh, watching, read_before;
    wire [1:0] inside [0:1];
    wire [1:0] ahead [0:1];
    wire [8:0] seen [0:1];
    wire [8:0] now [0:1];

    genvar s;
    generate
        for (s = 0; s < 2; s = s + 1) begin : segment
            psdpram_segment_rules rules (
                .clk(clk), .rst(rst),
                .write_be(be[2*s +: 2]), .write_addr(write_addr[2*s +: 2]), .write_data(write_data[16*s +: 16]),
                .write_valid(write_valid[s]), .write_ready(write_ready[s]), .write_done(write_done[s]),
                .read_addr(read_addr[2*s +: 2]), .read_valid(read_valid[s]), .read_ready(read_ready[s]),
                .response_data(response_data[16*s +: 16]), .response_valid(response_valid[s]),
                .response_ready(response_ready[s]), .watch(watch[s]), .line(line), .lane(lane),
                .after_reset(after_reset[s]), .inside(inside[s]), .fresh(fresh[s]), .watching(watching[s]),
                .ahead(ahead[s]), .read_before(read_before[s]), .seen(seen[s]), .now(now[s])
            );
        end
    endgenerate

`ifndef CONTRACT_ONLY
    (* internal = "dut.u_segments_0.fetched" *) wire fetched_0;
    (* internal = "dut.u_segments_0.shown" *) wire shown_0;
    (* internal = "dut.u_segments_0.line" *) wire [15:0] shown_data_0;
    (* internal = "dut.u_segments_0.memory_read_data" *) wire [15:0] fetched_data_0;
    (* internal = "dut.u_segments_0.u_reads.spare_used" *) wire spare_used_0;
    (* internal = "dut.u_segments_0.u_reads.ready" *) wire slice_ready_0;
    (* internal = "dut.u_segments_0.u_reads.spare" *) wire spare_0;
    (* internal = "dut.u_segments_0.u_memory.memory[0]" *) wire [15:0] cell_0_0;
    (* internal = "dut.u_segments_0.u_memory.memory[1]" *) wire [15:0] cell_0_1;
    psdpram_segment_inside inside_0 (
        .after_reset(after_reset[0]), .inside(inside[0]), .fresh(fresh[0]), .watching(watching[0]),
        .ahead(ahead[0]), .read_before(read_before[0]), .seen(seen[0]), .now(now[0]), .line(line), .lane(lane),
        .fetched(fetched_0), .shown(shown_0), .spare_used(spare_used_0), .slice_ready(slice_ready_0),
        .spare(spare_0), .fetched_data(fetched_data_0), .shown_data(shown_data_0),
        .cell_0(cell_0_0), .cell_1(cell_0_1)
    );
    (* internal = "dut.u_segments_1.fetched" *) wire fetched_1;
    (* internal = "dut.u_segments_1.shown" *) wire shown_1;
    (* internal = "dut.u_segments_1.line" *) wire [15:0] shown_data_1;
    (* internal = "dut.u_segments_1.memory_read_data" *) wire [15:0] fetched_data_1;
    (* internal = "dut.u_segments_1.u_reads.spare_used" *) wire spare_used_1;
    (* internal = "dut.u_segments_1.u_reads.ready" *) wire slice_ready_1;
    (* internal = "dut.u_segments_1.u_reads.spare" *) wire spare_1;
    (* internal = "dut.u_segments_1.u_memory.memory[0]" *) wire [15:0] cell_1_0;
    (* internal = "dut.u_segments_1.u_memory.memory[1]" *) wire [15:0] cell_1_1;
    psdpram_segment_inside inside_1 (
        .after_reset(after_reset[1]), .inside(inside[1]), .fresh(fresh[1]), .watching(watching[1]),
        .ahead(ahead[1]), .read_before(read_before[1]), .seen(seen[1]), .now(now[1]), .line(line), .lane(lane),
        .fetched(fetched_1), .shown(shown_1), .spare_used(spare_used_1), .slice_ready(slice_ready_1),
        .spare(spare_1), .fetched_data(fetched_data_1), .shown_data(shown_data_1),
        .cell_0(cell_1_0), .cell_1(cell_1_1)
    );
`endif
endmodule

`default_nettype wire
