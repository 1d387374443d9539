// WordServer of one cluster: each access is made once, as it was offered, and reported once, with the word that its line gave; an
// atomic operation computes with the word that it read while it holds the memory, or that those before left; sc.w stores exactly if the
// HPU has a reservation of its word that no other HPU ended; no port waits for more than 15 accesses of the other one.
//
// The solver chooses an HPU; all others are free. Assumed: addresses are those of words below 0x2000_0000, atomic
// accesses are of whole words, a port is that of one pipeline's HPUs, the chosen HPU has one access under way, and the data of a read that did not fail comes six clocks after its acceptance.
`default_nettype none

module word_server_proof (
    input wire clk,
    input wire rst,
    input wire [1:0] valid,
    input wire [2:0] hpu_0,
    input wire [31:0] address_0,
    input wire is_write_0,
    input wire [5:0] atomic_0,
    input wire [3:0] strobe_0,
    input wire [31:0] data_0,
    input wire [2:0] hpu_1,
    input wire [31:0] address_1,
    input wire is_write_1,
    input wire [5:0] atomic_1,
    input wire [3:0] strobe_1,
    input wire [31:0] data_1,
    input wire read_ready,
    input wire read_failed,
    input wire [511:0] read_data,
    input wire write_ready,
    input wire write_failed,
    input wire stdout_ready
);
    wire [1:0] ready, done, done_failed;
    wire [2:0] done_hpu_0, done_hpu_1;
    wire [31:0] done_data_0, done_data_1, stdout_data;
    wire read_valid, write_valid, hold, stdout_valid;
    wire [25:0] read_line, write_line;
    wire [63:0] write_strobe;
    wire [511:0] write_data;
    reg [5:0] comes = 6'd0;

    word_server dut (
        .clk(clk), .rst(rst),
        .far_0_valid(valid[0]), .far_0_ready(ready[0]), .far_0_hpu(hpu_0), .far_0_address(address_0),
        .far_0_is_write(is_write_0), .far_0_atomic(atomic_0), .far_0_strobe(strobe_0), .far_0_data(data_0),
        .far_0_done(done[0]), .far_0_done_hpu(done_hpu_0), .far_0_done_data(done_data_0),
        .far_0_done_failed(done_failed[0]),
        .far_1_valid(valid[1]), .far_1_ready(ready[1]), .far_1_hpu(hpu_1), .far_1_address(address_1),
        .far_1_is_write(is_write_1), .far_1_atomic(atomic_1), .far_1_strobe(strobe_1), .far_1_data(data_1),
        .far_1_done(done[1]), .far_1_done_hpu(done_hpu_1), .far_1_done_data(done_data_1),
        .far_1_done_failed(done_failed[1]),
        .read_valid(read_valid), .read_line(read_line), .read_ready(read_ready), .read_failed(read_failed),
        .read_data_valid(comes[5]), .read_data(read_data),
        .write_valid(write_valid), .write_line(write_line), .write_strobe(write_strobe), .write_data(write_data),
        .write_ready(write_ready), .write_failed(write_failed),
        .hold(hold), .stdout_data(stdout_data), .stdout_valid(stdout_valid), .stdout_ready(stdout_ready)
    );

    function [31:0] new_word(input [4:0] op, input [31:0] old, input [31:0] operand);
        case (op)
            5'b00000: new_word = old + operand;
            5'b00100: new_word = old ^ operand;
            5'b01100: new_word = old & operand;
            5'b01000: new_word = old | operand;
            5'b10000: new_word = $signed(old) < $signed(operand) ? old : operand;
            5'b10100: new_word = $signed(old) < $signed(operand) ? operand : old;
            5'b11000: new_word = old < operand ? old : operand;
            5'b11100: new_word = old < operand ? operand : old;
            default: new_word = operand;
        endcase
    endfunction

    (* anyconst *) reg [2:0] hpu;
    wire port = hpu[2];

    // The access that is taken, and the one in the server.
    wire [1:0] takes = valid & ready;
    reg busy = 1'b0;
    reg enters = 1'b0;
    reg own;
    reg [31:0] address, data;
    reg is_write;
    reg [5:0] atomic;
    reg [3:0] strobe;
    // Its read was accepted, and the clocks since then.
    reg has_read = 1'b0;
    reg [3:0] since;
    reg [31:0] operand;

    wire [3:0] place = address[5:2];
    wire is_stdout = address[31:12] == 20'h1a104;
    wire is_sc = atomic == 6'h23;
    wire is_amo = atomic[5] && atomic != 6'h22 && !is_sc;
    wire is_load = !is_write && (!atomic[5] || atomic == 6'h22);
    wire prints = is_write && is_stdout && address[10:7] == 4'd0;
    wire is_lost = is_write && is_stdout && !prints;
    wire reads = busy && (is_load || is_amo) && !has_read;
    // Offers of the clock before that were not taken.
    reg [1:0] offered = 2'd0;
    reg [77:0] offer_0, offer_1;
    // An atomic operation that follows the one before has its word as if its read had been accepted six clocks before. The line that those
    // before have left, of which the solver chooses a word; `before` is known of other words if they were read.
    wire [31:0] result = new_word(atomic[4:0], before, data);
    (* anyconst *) reg [3:0] chosen;
    reg [31:0] line;
    reg is_known;
    reg [2:0] followers = 3'd0;
    wire [5:0] next_atomic = takes[1] ? atomic_1 : atomic_0;
    wire is_alike = (takes[1] ? address_1[31:6] : address_0[31:6]) == address[31:6] && next_atomic[5] && next_atomic != 6'h22 &&
        next_atomic != 6'h23 && |(takes & offered);
    wire follows = busy && is_amo && is_written && !write_failed && is_alike && followers != 3'd7;
    // sc.w is decided in its first clock.
    reg held = 1'b0;
    reg [31:0] held_address;
    reg decided = 1'b0;
    wire succeeds = held && held_address == address;
    reg was_held;

    wire is_read = reads && read_ready;
    // The memory was held in the clock before.
    reg had_memory = 1'b0;
    always @(posedge clk) had_memory <= hold && !(is_read && read_failed);
    wire writes = busy && ((is_write && !is_stdout) || (is_amo && has_read && since == 4'd8) || (is_sc && decided));
    wire is_written = write_valid && write_ready;
    wire is_over = is_read && (is_load || read_failed) || is_written && busy || busy && prints && stdout_ready ||
        busy && is_lost || busy && is_sc && decided && !write_valid;

    // What the chosen HPU gets, one to seven clocks before: {missed, failed, has the word of a line}, and its word.
    reg [6:0] due = 7'd0;
    reg [6:0] due_failed, due_reads, due_sc, due_missed;
    reg [31:0] word;
    reg [3:0] own_place;
    reg under_way = 1'b0;
    // An atomic operation of it ends.
    reg is_done = 1'b0;
    reg is_done_failed;
    reg [31:0] before;
    // Accesses of the other port while the chosen one waits.
    reg [4:0] passed = 5'd0;
    wire own_takes = port ? takes[1] && hpu_1 == hpu : takes[0] && hpu_0 == hpu;
    wire own_done = done[port] && (port ? done_hpu_1 : done_hpu_0) == hpu;

    always @(posedge clk) begin
        comes <= {comes[4:0], read_valid && read_ready && !read_failed};
        enters <= |takes;
        offered <= rst ? 2'd0 : valid & ~ready;
        offer_0 <= {hpu_0, address_0, is_write_0, atomic_0, strobe_0, data_0};
        offer_1 <= {hpu_1, address_1, is_write_1, atomic_1, strobe_1, data_1};
        decided <= busy && is_sc && (enters || decided) && !is_over;
        if (enters) was_held <= succeeds;
        if (busy && enters && own && atomic == 6'h22) begin
            held <= 1'b1;
            held_address <= address;
        end else if (busy && enters && own && is_sc) held <= 1'b0;
        else if (busy && !own && held_address[11:2] == address[11:2] &&
            (enters && (is_amo || (is_write && !is_stdout)) || is_sc && decided && write_valid)) held <= 1'b0;
        if (is_read && is_amo) has_read <= 1'b1;
        if (is_over) {busy, has_read} <= 2'd0;
        since <= is_read ? 4'd1 : since == 4'd8 ? 4'd8 : since + 4'd1;
        if (comes[5]) before <= read_data[32 * place +: 32];
        if (comes[5]) line <= read_data[32 * chosen +: 32];
        else if (writes && is_amo && place == chosen) line <= result;
        if (enters && has_read) before <= line;
        if (comes[5]) is_known <= 1'b1;
        else if (enters && has_read) is_known <= place == chosen;
        if (|takes) begin
            busy <= 1'b1;
            has_read <= follows;
            if (follows) since <= 4'd6;
            followers <= busy && is_amo && is_written && is_alike && followers != 3'd7 ? followers + 3'd1 : 3'd0;
            own <= own_takes;
            {address, data, is_write, atomic, strobe} <= takes[1] ?
                {address_1, data_1, is_write_1, atomic_1, strobe_1} : {address_0, data_0, is_write_0, atomic_0, strobe_0};
        end
        due <= {due[5:0], is_over && own && !(is_amo && has_read)};
        due_failed <= {due_failed[5:0], is_read ? read_failed : is_written && write_failed};
        due_reads <= {due_reads[5:0], is_read};
        due_sc <= {due_sc[5:0], is_sc};
        due_missed <= {due_missed[5:0], is_sc && !write_valid};
        if (is_over && own) own_place <= place;
        word <= read_data[32 * own_place +: 32];
        is_done <= is_written && busy && own && is_amo;
        is_done_failed <= write_failed;
        if (own_takes) under_way <= 1'b1;
        else if (own_done) under_way <= 1'b0;
        if (!valid[port] || ready[port]) passed <= 5'd0;
        else if (takes[!port]) passed <= passed + 5'd1;
        if (rst) {comes, busy, enters, held, decided, has_read, due, is_done, under_way, passed} <= 0;
    end

    always @* begin
        if (valid[0]) words_0: assume (address_0[31:29] == 0 && address_0[1:0] == 0 && (!atomic_0[5] || !is_write_0 && &strobe_0));
        if (valid[1]) words_1: assume (address_1[31:29] == 0 && address_1[1:0] == 0 && (!atomic_1[5] || !is_write_1 && &strobe_1));
        offers_stay: assume (!(|(offered & ~valid)) &&
            (!offered[0] || offer_0 == {hpu_0, address_0, is_write_0, atomic_0, strobe_0, data_0}) &&
            (!offered[1] || offer_1 == {hpu_1, address_1, is_write_1, atomic_1, strobe_1, data_1}));
        if (valid[0]) first_pipeline: assume (!hpu_0[2]);
        if (valid[1]) second_pipeline: assume (hpu_1[2]);
        if (under_way && !own_done) one_under_way: assume (!(port ? valid[1] && hpu_1 == hpu : valid[0] && hpu_0 == hpu));

        takes_one: assert (takes != 2'd3);
        takes_when_free: assert (!(|takes) || !busy || is_over);
        reads_what_was_offered: assert (read_valid == reads);
        if (read_valid) reads_its_line: assert (read_line == address[31:6]);
        if (!(busy && is_sc)) writes_what_was_offered: assert (write_valid == writes);
        if (busy && is_sc && !decided) decides_first: assert (!write_valid || !enters);
        if (own && busy && is_sc && decided) stores_with_its_reservation: assert (write_valid == was_held);
        if (write_valid) begin
            writes_its_line: assert (write_line == address[31:6]);
            writes_its_bytes: assert (write_strobe == ({60'd0, strobe} << {place, 2'd0}));
            if (!is_amo || is_known) writes_its_word: assert (write_data[32 * place +: 32] == (is_amo ? new_word(atomic[4:0], before, data) : data));
        end
        holds_from_read_to_write: assert (hold == (busy && is_amo));
        if (hold && had_memory && enters) gives_way: assert (!reads);
        prints_characters: assert (stdout_valid == (busy && prints));
        if (stdout_valid) prints_its_character:
            assert (stdout_data == {8'd0, 4'd0, address[10:7], 4'd0, address[6:3], data[7:0]});
        reports_each_end_once: assert (own_done == (due[6] || is_done));
        if (due[6]) reports_failure: assert (done_failed[port] == due_failed[6]);
        if (is_done) reports_failed_writes: assert (done_failed[port] == is_done_failed);
        if (due[6] && due_reads[6] && !due_failed[6]) gives_the_word:
            assert ((port ? done_data_1 : done_data_0) == word);
        if (due[6] && due_sc[6]) answers: assert ((port ? done_data_1 : done_data_0) == {31'd0, due_missed[6]});
        if (is_done && is_known) gives_the_old_word: assert ((port ? done_data_1 : done_data_0) == before);
        waits_for_turns: assert (passed <= 5'd15);
        adds: cover (is_done && before == 32'd1);
        adds_to_a_result: cover (is_done && enters && has_read && line == 32'd3);
        stores_conditionally: cover (own && busy && is_sc && decided && write_valid);
        fails: cover (due[6] && due_failed[6]);
    end

`ifndef CONTRACT_ONLY
    // How the registers go together; induction needs it.
    (* internal = "dut.busy" *) wire dut_busy;
    (* internal = "dut.enters" *) wire dut_enters;
    (* internal = "dut.port" *) wire dut_port;
    (* internal = "dut.turn" *) wire dut_turn;
    (* internal = "dut.followers" *) wire [2:0] dut_followers;
    (* internal = "dut.follows" *) wire dut_follows;
    (* internal = "dut.kept" *) wire [511:0] dut_kept;
    (* internal = "dut.hpu" *) wire [2:0] dut_hpu;
    (* internal = "dut.number" *) wire [26:0] dut_number;
    (* internal = "dut.atomic" *) wire [5:0] dut_atomic;
    (* internal = "dut.data" *) wire [31:0] dut_data;
    (* internal = "dut.strobe" *) wire [63:0] dut_strobe;
    (* internal = "dut.reads" *) wire dut_reads;
    (* internal = "dut.writes" *) wire dut_writes;
    (* internal = "dut.prints" *) wire dut_prints;
    (* internal = "dut.drops" *) wire dut_drops;
    (* internal = "dut.modifies" *) wire dut_modifies;
    (* internal = "dut.computes" *) wire dut_computes;
    (* internal = "dut.word" *) wire [31:0] dut_word;
    (* internal = "dut.cancels" *) wire dut_cancels;
    (* internal = "dut.reserved_0" *) wire reserved_0;
    (* internal = "dut.reserved_1" *) wire reserved_1;
    (* internal = "dut.reserved_2" *) wire reserved_2;
    (* internal = "dut.reserved_3" *) wire reserved_3;
    (* internal = "dut.reserved_4" *) wire reserved_4;
    (* internal = "dut.reserved_5" *) wire reserved_5;
    (* internal = "dut.reserved_6" *) wire reserved_6;
    (* internal = "dut.reserved_7" *) wire reserved_7;
    (* internal = "dut.reserved_low_0" *) wire [9:0] low_0;
    (* internal = "dut.reserved_low_1" *) wire [9:0] low_1;
    (* internal = "dut.reserved_low_2" *) wire [9:0] low_2;
    (* internal = "dut.reserved_low_3" *) wire [9:0] low_3;
    (* internal = "dut.reserved_low_4" *) wire [9:0] low_4;
    (* internal = "dut.reserved_low_5" *) wire [9:0] low_5;
    (* internal = "dut.reserved_low_6" *) wire [9:0] low_6;
    (* internal = "dut.reserved_low_7" *) wire [9:0] low_7;
    (* internal = "dut.u_reserved_number.memory[0]" *) wire [26:0] number_0;
    (* internal = "dut.u_reserved_number.memory[1]" *) wire [26:0] number_1;
    (* internal = "dut.u_reserved_number.memory[2]" *) wire [26:0] number_2;
    (* internal = "dut.u_reserved_number.memory[3]" *) wire [26:0] number_3;
    (* internal = "dut.u_reserved_number.memory[4]" *) wire [26:0] number_4;
    (* internal = "dut.u_reserved_number.memory[5]" *) wire [26:0] number_5;
    (* internal = "dut.u_reserved_number.memory[6]" *) wire [26:0] number_6;
    (* internal = "dut.u_reserved_number.memory[7]" *) wire [26:0] number_7;
    wire [7:0] reserved = {reserved_7, reserved_6, reserved_5, reserved_4, reserved_3, reserved_2, reserved_1, reserved_0};
    wire [79:0] lows = {low_7, low_6, low_5, low_4, low_3, low_2, low_1, low_0};
    wire [215:0] numbers = {number_7, number_6, number_5, number_4, number_3, number_2, number_1, number_0};
    // The places where the access of the chosen HPU can be.
    wire [8:0] places = {busy && own, due, is_done};
    always @* begin
        same_phase: assert (dut_busy == busy && dut_enters == enters && (busy || !enters));
        if (busy) begin
            same_access: assert ({dut_number, dut_atomic} == {address[28:2], atomic} && address[31:29] == 0 &&
                address[1:0] == 0 && (!atomic[5] || !is_write && &strobe));
            same_bytes: assert (dut_strobe == {60'd0, strobe} << {place, 2'd0});
            same_hpu: assert (dut_hpu[2] == dut_port && own == ({dut_port, dut_hpu[1:0]} == hpu));
            if (!is_amo) same_word: assert (dut_data == data);
            if (is_amo && !(has_read && since == 4'd8)) same_operand: assert (dut_data == data);
        end
        same_reads: assert (dut_reads == reads);
        same_prints: assert (dut_prints == (busy && prints));
        same_modifies: assert (dut_modifies == (busy && is_amo));
        same_drops: assert (dut_drops == (busy && (is_lost || is_sc && decided && !write_valid)));
        same_computes: assert (dut_computes == (busy && is_amo && has_read && since == 4'd7));
        if (busy && has_read && since >= 4'd7 && is_known) same_old_word: assert (dut_word == before);
        if (busy && has_read && since == 4'd8 && is_known) same_result: assert (dut_data == result);
        same_follower: assert (dut_follows == (busy && enters && has_read) && (!busy || dut_followers == followers));
        if (enters && has_read) follows_at_once: assert (since == 4'd6);
        if (busy && has_read && (enters || since >= 4'd7)) same_line: assert (dut_kept[32 * chosen +: 32] == line);
        if (busy && has_read && (enters || since >= 4'd7)) nothing_comes: assert (comes == 6'd0);
        if (busy && has_read && !enters && since <= 4'd6) nothing_newer_comes: assert ((comes & ((6'd1 << (since - 4'd1)) - 6'd1)) == 6'd0);
        only_while_busy: assert (busy || !decided && !has_read);
        first_clock: assert (!(enters && decided) && (!has_read || is_amo) && (!decided || is_sc));
        decides_at_once: assert (!busy || !is_sc || enters || decided);
        counts: assert (!has_read || since >= 4'd1 && since <= 4'd8);
        cancels_its_word: assert (dut_cancels == (busy && (enters && (is_amo || is_write && !is_stdout) ||
            second && is_sc && dut_writes)));
        passes_in_turn: assert (passed <= (dut_turn == port ? 5'd0 : 5'd8) + (busy ? followers : 3'd7));
        same_reservation: assert (reserved[hpu] == held);
        if (held) same_word_reserved: assert ({3'd0, numbers[27 * hpu +: 27], 2'd0} == held_address &&
            lows[10 * hpu +: 10] == held_address[11:2]);
        one_place: assert ((places & (places - 9'd1)) == 9'd0 && under_way == |places);
    end
    // The clock after the first one of an access.
    reg second = 1'b0;
    always @(posedge clk) second <= enters && !rst;
`endif
endmodule

`default_nettype wire
