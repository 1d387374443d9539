// ClusterDriver, from the start: a command leaves only if its HPU has issued it, and not after a trap; user mode ends no task; a task is
// given to an HPU that has none, seen while it is held, and done after its doorbell or a reset; the ranges of an HPU stay while it has a task.
//
// The solver chooses an HPU and one of its commands; all others are free. Cut off, so that they may be anything: the queue of ready
// tasks, words of tasks and of registers, origins, copies of packets, and the answers of the check of ranges. Assumed: HPUs of a
// pipeline make offers in turn, none traps in a clock of its offer, the chosen one
// repeats an offer that was not answered until it traps, and only copies and commands that were taken are done.
`default_nettype none

module cluster_driver_proof (
    input wire clk,
    input wire rst,
    input wire ready_valid,
    input wire [4:0] ready_slot,
    input wire [31:0] word,
    input wire [63:0] pair,
    input wire [31:0] gathered_0,
    input wire [31:0] gathered_1,
    input wire [19:0] origin_0,
    input wire [19:0] origin_1,
    input wire packet_valid,
    input wire allowed,
    input wire finished_ready,
    input wire [1:0] valid,
    input wire [1:0] is_dma,
    input wire [7:0] offset_0,
    input wire [7:0] offset_1,
    input wire [1:0] is_write,
    input wire [31:0] data_0,
    input wire [31:0] data_1,
    input wire [1:0] is_user,
    input wire [1:0] trap,
    input wire [1:0] trap_thread_0,
    input wire [1:0] trap_thread_1,
    input wire [4:0] cause_0,
    input wire [4:0] cause_1,
    input wire copy_ready,
    input wire copy_done,
    input wire [5:0] copy_done_tag,
    input wire packet_there,
    input wire command_ready,
    input wire command_done,
    input wire [4:0] command_done_id
);
    (* drives = "dut.slots_m_valid" *) wire cut_ready_valid;
    (* drives = "dut.slots_m_data" *) wire [4:0] cut_ready_slot;
    (* drives = "dut.slots_is_there" *) wire cut_is_there;
    (* drives = "dut.slots_word" *) wire [31:0] cut_word;
    (* drives = "dut.slots_pair" *) wire [63:0] cut_pair;
    (* drives = "dut.slots_origin_0" *) wire [19:0] cut_origin_0;
    (* drives = "dut.slots_origin_1" *) wire [19:0] cut_origin_1;
    (* drives = "dut.slots_copy_valid" *) wire cut_packet_valid;
    (* drives = "dut.slots_copy_data" *) wire [101:0] cut_packet;
    (* drives = "dut.registers_gathered_0" *) wire [31:0] cut_gathered_0;
    (* drives = "dut.registers_gathered_1" *) wire [31:0] cut_gathered_1;
    (* drives = "dut.registers_word" *) wire [31:0] cut_registers_word;
    (* drives = "dut.u_starts.check_allowed" *) wire cut_allowed;
    assign cut_ready_valid = ready_valid;
    assign cut_ready_slot = ready_slot;
    assign cut_is_there = packet_there;
    assign cut_word = word;
    assign cut_pair = pair;
    assign cut_origin_0 = origin_0;
    assign cut_origin_1 = origin_1;
    assign cut_packet_valid = packet_valid;
    assign cut_packet = 102'd0;
    assign cut_gathered_0 = gathered_0;
    assign cut_gathered_1 = gathered_1;
    assign cut_registers_word = 32'd0;
    assign cut_allowed = allowed;

    (* anyconst *) reg [2:0] hpu;
    (* anyconst *) reg [1:0] number;
    (* anyconst *) reg [1:0] shift;
    reg [1:0] phase = 2'd0;
    wire [2:0] hpu_0 = {1'b0, phase};
    wire [2:0] hpu_1 = {1'b1, phase + shift};
    wire [1:0] ready, refused;
    wire [7:0] stop;
    wire [41:0] finished_data;
    wire finished_valid, range_write, copy_valid, command_valid;
    wire [2:0] range_hpu;
    wire [5:0] copy_tag;
    wire [4:0] command_id;

    cluster_driver dut (
        .clk(clk), .rst(rst), .cluster(4'd0), .budget_write(1'b0), .budget_context(2'd0), .budget_value(32'd0),
        .task_data(64'd0), .task_last(1'b0), .task_valid(1'b0),
        .finished_data(finished_data), .finished_valid(finished_valid), .finished_ready(finished_ready),
        .s_0_valid(valid[0]), .s_0_hpu(hpu_0), .s_0_is_dma(is_dma[0]), .s_0_offset(offset_0),
        .s_0_is_write(is_write[0]), .s_0_data(data_0), .s_0_is_user(is_user[0]), .s_0_ready(ready[0]),
        .s_0_refused(refused[0]),
        .s_1_valid(valid[1]), .s_1_hpu(hpu_1), .s_1_is_dma(is_dma[1]), .s_1_offset(offset_1),
        .s_1_is_write(is_write[1]), .s_1_data(data_1), .s_1_is_user(is_user[1]), .s_1_ready(ready[1]),
        .s_1_refused(refused[1]),
        .trap_0_valid(trap[0]), .trap_0_thread(trap_thread_0), .trap_0_cause(cause_0),
        .trap_1_valid(trap[1]), .trap_1_thread(trap_thread_1), .trap_1_cause(cause_1),
        .stop(stop), .range_write(range_write), .range_hpu(range_hpu),
        .copy_valid(copy_valid), .copy_ready(copy_ready), .copy_tag(copy_tag), .copy_done(copy_done),
        .copy_done_tag(copy_done_tag),
        .command_valid(command_valid), .command_ready(command_ready), .command_id(command_id),
        .command_done(command_done), .command_done_id(command_done_id)
    );
    // A task is given, and one is done.
    (* internal = "dut.giver_given_valid" *) wire given;
    (* internal = "dut.giver_given_hpu" *) wire [2:0] given_hpu;
    (* internal = "dut.tasks_frees" *) wire frees;
    (* internal = "dut.u_tasks.turn" *) wire [2:0] turn;
    wire is_given = given && given_hpu == hpu;
    wire is_done = frees && turn == hpu;
    // A reset ends the task of an HPU.
    (* internal = "dut.u_tasks.dropped" *) wire [7:0] dropped;
    wire is_dropped = dropped[hpu];

    // Accesses of the HPU.
    wire port = hpu[2];
    wire own = valid[port] && (port ? hpu_1 : hpu_0) == hpu;
    wire [7:0] offset = port ? offset_1 : offset_0;
    wire takes = own && ready[port] && !refused[port];
    wire reads_task = takes && !is_dma[port] && offset < 8'h50;
    wire rings = takes && !is_dma[port] && offset == 8'h50;
    wire issues = takes && !is_dma[port] && !is_write[port] && offset == 8'h80;
    wire ends_rights = own && !is_dma[port] && (offset == 8'h50 || offset == 8'h54);

    // An offer that was not answered.
    wire [10:0] offered = {is_dma[port], is_write[port], is_user[port], offset};
    reg waits = 1'b0;
    reg [10:0] waiting;
    wire traps = trap[port] && (port ? trap_thread_1 : trap_thread_0) == hpu[1:0];
    wire [4:0] cause = port ? cause_1 : cause_0;
    // 0 no task, 1 given, 2 ended.
    reg [1:0] state = 2'd0;
    // It has seen its task.
    reg runs = 1'b0;
    // A command was issued and has not left, and the chosen one is under way.
    reg leaves = 1'b0;
    reg in_use = 1'b0;
    wire own_command = command_valid && command_id[4:2] == hpu;
    // Copies that were taken.
    reg [4:0] taken = 5'd0;
    wire copied = copy_done && copy_done_tag[5] && copy_done_tag[2:0] == hpu;
    wire copy_taken = copy_valid && copy_ready && copy_tag[5] && copy_tag[2:0] == hpu;

    always @(posedge clk) begin
        phase <= phase + 2'd1;
        if (traps) waits <= 1'b0;
        else if (own) {waits, waiting} <= {!ready[port] && !refused[port], offered};
        if (is_given) state <= 2'd1;
        else if (rings || is_dropped) state <= 2'd2;
        else if (is_done) state <= 2'd0;
        if (rings || is_dropped) runs <= 1'b0;
        else if (reads_task) runs <= 1'b1;
        if (issues) leaves <= 1'b1;
        else if (own_command && command_ready || leaves && is_idle) leaves <= 1'b0;
        if (command_valid && command_ready && command_id == {hpu, number}) in_use <= 1'b1;
        else if (command_done && command_done_id == {hpu, number}) in_use <= 1'b0;
        taken <= taken + copy_taken - copied;
        if (rst) {waits, state, runs, leaves, in_use, taken} <= 0;
    end
    // No start is under way.
    (* internal = "dut.u_starts.step" *) wire [2:0] step;
    wire is_idle = step == 3'd0;

    always @* begin
        if (valid[0]) copies_are_aligned: assume (!is_dma[0] || offset_0[7:6] == 2'd0);
        if (valid[1]) copies_are_aligned_too: assume (!is_dma[1] || offset_1[7:6] == 2'd0);
        if (valid[0]) traps_later: assume (!(trap[0] && trap_thread_0 == hpu_0[1:0]));
        if (valid[1]) traps_later_too: assume (!(trap[1] && trap_thread_1 == hpu_1[1:0]));
        if (own && waits) stays: assume (offered == waiting);
        if (command_done && command_done_id == {hpu, number}) ends_a_command: assume (in_use);
        if (copied) ends_a_copy: assume (taken != 5'd0);

        if (is_given) gives_when_free: assert (state == 2'd0);
        if (range_write && range_hpu == hpu) ranges_stay_while_it_runs: assert (!runs && state == 2'd0);
        if (is_done) done_after_the_doorbell: assert (state == 2'd2);
        if (is_dropped) drops_at_a_reset: assert (traps && cause == 5'd0);
        if (reads_task) sees_its_task: assert (state == 2'd1);
        has_its_task_and_a_command: cover (in_use && state == 2'd1);
        if (own_command) was_issued: assert (leaves);
        if (ends_rights && is_user[port]) ends_in_machine_mode: assert (refused[port]);
    end
endmodule

`default_nettype wire
