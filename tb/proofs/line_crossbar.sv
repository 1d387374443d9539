// LineCrossbar with three readers, three writers and one cluster: an accepted access is at the port of its memory two clocks later
// and at no other, a reader gets the line that its memory gave, six clocks after the acceptance, and nothing else, and a block
// waits for one turn of each of the others at most.
//
// The solver chooses a reader, a writer, a memory and a byte of lines; all others are free. Nothing is assumed.
`default_nettype none

module line_crossbar_proof (
    input wire clk,
    input wire rst,
    input wire [2:0] read_valid,
    input wire [25:0] read_0_line,
    input wire [25:0] read_1_line,
    input wire [25:0] read_2_line,
    input wire [2:0] write_valid,
    input wire [25:0] write_0_line,
    input wire [25:0] write_1_line,
    input wire [25:0] write_2_line,
    input wire [63:0] write_0_strobe,
    input wire [63:0] write_1_strobe,
    input wire [63:0] write_2_strobe,
    input wire [511:0] write_0_data,
    input wire [511:0] write_1_data,
    input wire [511:0] write_2_data,
    input wire hold,
    input wire [511:0] handler_read_data,
    input wire [511:0] packet_read_data,
    input wire [511:0] l1_read_data
);
    wire [2:0] read_ready, read_failed, data_valid, write_ready, write_failed;
    wire [511:0] data_0, data_1, data_2;
    wire handler_read, packet_read, l1_read;
    wire [13:0] handler_read_line, handler_write_line;
    wire [12:0] packet_read_line, packet_write_line;
    wire [11:0] l1_read_line, l1_write_line;
    wire [63:0] handler_strobe, packet_strobe, l1_strobe;
    wire [511:0] handler_data, packet_data, l1_data;

    line_crossbar dut (
        .clk(clk), .rst(rst), .hold(hold),
        .read_0_valid(read_valid[0]), .read_0_line(read_0_line), .read_0_ready(read_ready[0]),
        .read_0_failed(read_failed[0]), .read_0_data_valid(data_valid[0]), .read_0_data(data_0),
        .read_1_valid(read_valid[1]), .read_1_line(read_1_line), .read_1_ready(read_ready[1]),
        .read_1_failed(read_failed[1]), .read_1_data_valid(data_valid[1]), .read_1_data(data_1),
        .read_2_valid(read_valid[2]), .read_2_line(read_2_line), .read_2_ready(read_ready[2]),
        .read_2_failed(read_failed[2]), .read_2_data_valid(data_valid[2]), .read_2_data(data_2),
        .write_0_valid(write_valid[0]), .write_0_line(write_0_line), .write_0_strobe(write_0_strobe),
        .write_0_data(write_0_data), .write_0_ready(write_ready[0]), .write_0_failed(write_failed[0]),
        .write_1_valid(write_valid[1]), .write_1_line(write_1_line), .write_1_strobe(write_1_strobe),
        .write_1_data(write_1_data), .write_1_ready(write_ready[1]), .write_1_failed(write_failed[1]),
        .write_2_valid(write_valid[2]), .write_2_line(write_2_line), .write_2_strobe(write_2_strobe),
        .write_2_data(write_2_data), .write_2_ready(write_ready[2]), .write_2_failed(write_failed[2]),
        .handler_read(handler_read), .handler_read_line(handler_read_line), .handler_read_data(handler_read_data),
        .handler_write_strobe(handler_strobe), .handler_write_line(handler_write_line),
        .handler_write_data(handler_data),
        .packet_read(packet_read), .packet_read_line(packet_read_line), .packet_read_data(packet_read_data),
        .packet_write_strobe(packet_strobe), .packet_write_line(packet_write_line), .packet_write_data(packet_data),
        .l1_0_read(l1_read), .l1_0_read_line(l1_read_line), .l1_0_read_data(l1_read_data),
        .l1_0_write_strobe(l1_strobe), .l1_0_write_line(l1_write_line), .l1_0_write_data(l1_data)
    );

    // The memory of a line: 0 handler memory, 1 packet buffer, 2 L1, 3 none; and the one whose turn it takes.
    function [1:0] memory_of(input [25:0] line);
        memory_of = line[25:14] == 12'h1c0 ? 2'd0 : line[25:13] == 13'h382 ? 2'd1 : line[25:12] == 14'h400 ? 2'd2 : 2'd3;
    endfunction
    function [1:0] turn_of(input [25:0] line);
        turn_of = !line[20] ? 2'd2 : {1'b0, line[14]};
    endfunction

    (* anyconst *) reg [1:0] memory;
    (* anyconst *) reg [1:0] reader;
    (* anyconst *) reg [1:0] writer;
    (* anyconst *) reg [5:0] lane;
    function [7:0] byte_of(input [511:0] data);
        byte_of = data[8 * lane +: 8];
    endfunction

    // The port of the chosen memory.
    wire reads = memory == 0 ? handler_read : memory == 1 ? packet_read : l1_read;
    wire [13:0] read_line = memory == 0 ? handler_read_line : memory == 1 ? packet_read_line : l1_read_line;
    wire [7:0] given = byte_of(memory == 0 ? handler_read_data : memory == 1 ? packet_read_data : l1_read_data);
    wire [63:0] strobes = memory == 0 ? handler_strobe : memory == 1 ? packet_strobe : l1_strobe;
    wire strobe = strobes[lane];
    wire [13:0] write_line = memory == 0 ? handler_write_line : memory == 1 ? packet_write_line : l1_write_line;
    wire [7:0] written = byte_of(memory == 0 ? handler_data : memory == 1 ? packet_data : l1_data);
    wire [13:0] mask = memory == 0 ? 14'h3fff : memory == 1 ? 14'h1fff : 14'hfff;

    // Accesses to it that are accepted.
    wire [2:0] accepts = read_valid & read_ready & {memory_of(read_2_line) == memory, memory_of(read_1_line) == memory,
        memory_of(read_0_line) == memory};
    wire [13:0] line = mask & (accepts[0] ? read_0_line : accepts[1] ? read_1_line : read_2_line);
    wire [2:0] stores = write_valid & write_ready & {memory_of(write_2_line) == memory,
        memory_of(write_1_line) == memory, memory_of(write_0_line) == memory};
    wire [22:0] store = stores[0] ? {mask & write_0_line[13:0], write_0_strobe[lane], byte_of(write_0_data)} :
        stores[1] ? {mask & write_1_line[13:0], write_1_strobe[lane], byte_of(write_1_data)} :
        {mask & write_2_line[13:0], write_2_strobe[lane], byte_of(write_2_data)};

    // The chosen blocks.
    wire [25:0] own_line = reader == 0 ? read_0_line : reader == 1 ? read_1_line : read_2_line;
    wire [25:0] own_store = writer == 0 ? write_0_line : writer == 1 ? write_1_line : write_2_line;
    wire own_ready = read_valid[reader] && read_ready[reader];
    wire [7:0] own_data = byte_of(reader == 0 ? data_0 : reader == 1 ? data_1 : data_2);
    wire [1:0] own_turn = turn_of(own_store);
    wire is_held = hold && writer != 0 && !own_turn[1] && own_turn == turn_of(write_0_line);

    reg [1:0] came = 2'd0;
    reg [13:0] line_1, line_2;
    reg [1:0] stored = 2'd0;
    reg [22:0] store_1, store_2;
    // Reads of the chosen reader, of any memory, and of the chosen one.
    reg [5:0] own = 6'd0;
    reg [5:0] own_here = 6'd0;
    reg [7:0] given_1, given_2;
    // L1 rests.
    (* internal = "dut.u_read_rests_0.run" *) wire [6:0] read_run;
    (* internal = "dut.u_write_rests_0.run" *) wire [6:0] write_run;
    wire read_rests = turn_of(own_line) == 2'd2 && read_run >= 7'd64;
    wire write_rests = turn_of(own_store) == 2'd2 && write_run >= 7'd64;
    // Clocks since the start.
    reg [2:0] age = 3'd0;
    // Clocks that the chosen blocks have waited for the same memory.
    reg [1:0] waited = 2'd0;
    reg [1:0] turn;
    reg [1:0] store_waited = 2'd0;
    reg [1:0] store_turn;

    always @(posedge clk) begin
        came <= {came[0], |accepts};
        {line_2, line_1} <= {line_1, line};
        stored <= {stored[0], |stores};
        {store_2, store_1} <= {store_1, store};
        own <= {own[4:0], own_ready && !read_failed[reader]};
        own_here <= {own_here[4:0], own_ready && memory_of(own_line) == memory};
        {given_2, given_1} <= {given_1, given};
        if (age != 3'd7) age <= age + 3'd1;
        waited <= !read_valid[reader] || own_ready || read_rests ? 2'd0 : waited != 0 && turn != turn_of(own_line) ? 2'd1 :
            waited + 2'd1;
        turn <= turn_of(own_line);
        store_waited <= !write_valid[writer] || is_held || write_ready[writer] || write_rests ? 2'd0 :
            store_waited != 0 && store_turn != turn_of(own_store) ? 2'd1 : store_waited + 2'd1;
        store_turn <= turn_of(own_store);
        if (rst) {came, stored, own, own_here, waited, store_waited, age} <= 0;
    end

    always @* begin
        assume (memory < 3 && reader < 3 && writer < 3);
        accepts_one_read: assert ((accepts & (accepts - 3'd1)) == 0);
        accepts_one_write: assert ((stores & (stores - 3'd1)) == 0);
        fails_without_memory: assert (read_failed[reader] == (memory_of(own_line) == 3) &&
            write_failed[writer] == (memory_of(own_store) == 3));
        reads_what_was_accepted: assert (reads == came[1]);
        if (reads) reads_the_line: assert ((read_line & mask) == line_2);
        // Strobes are no control: they are known two clocks after the start.
        if (age >= 2 || stored[1]) writes_what_was_accepted: assert (strobe == (stored[1] && store_2[8]));
        if (strobe && stored[1]) writes_the_line:
            assert ({write_line & mask, written} == {store_2[22:9], store_2[7:0]});
        data_in_its_clock: assert (data_valid[reader] == own[5]);
        if (own_here[5]) data_of_its_memory: assert (own_data == given_2);
        if (!own[5] && age >= 2) else_zero: assert (own_data == 0);
        if (is_held) waits_while_held: assert (!(write_valid[writer] && write_ready[writer]));
        rests_for_eight: assert (read_run < 72 && write_run < 72);
        reader_waits_for_two: assert (waited <= 2);
        writer_waits_for_two: assert (store_waited <= 2);
        has_waited: cover (waited == 2 && store_waited == 2);
        has_read: cover (own_here[5] && own_data == 1);
    end

`ifndef CONTRACT_ONLY
    // The order in which blocks go is none in a circle: of each pair, whether the second one goes first.
    function is_order(input [2:0] pairs);
        is_order = pairs != 3'b010 && pairs != 3'b101;
    endfunction
    (* internal = "dut.u_read_turns_0.order" *) wire [2:0] order_0;
    (* internal = "dut.u_read_turns_1.order" *) wire [2:0] order_1;
    (* internal = "dut.u_read_turns_2.order" *) wire [2:0] order_2;
    (* internal = "dut.u_write_turns_0.order" *) wire [2:0] store_order_0;
    (* internal = "dut.u_write_turns_1.order" *) wire [2:0] store_order_1;
    (* internal = "dut.u_write_turns_2.order" *) wire [2:0] store_order_2;
    always @* begin
        readers_are_in_order: assert (is_order(order_0) && is_order(order_1) && is_order(order_2));
        writers_are_in_order: assert (is_order(store_order_0) && is_order(store_order_1) && is_order(store_order_2));
    end
`endif
endmodule

`default_nettype wire
