/* Room for arbitrary instructions, and a handler that shows whether everything else still works. */
#include <handler.h>

/* 1024 bytes, which the fuzz target overwrites. */
__attribute__((naked)) __handler__ void hole_ph(handler_args_t *args __attribute__((unused))) {
    asm volatile(".option push\n"
                 ".option norvc\n"
                 ".rept 255\n"
                 "nop\n"
                 ".endr\n"
                 "ret\n"
                 ".option pop");
}

/* Sends its packet back unchanged. */
__handler__ void witness_ph(handler_args_t *args) {
    spin_cmd_t send;
    spin_send_packet(args->task->pkt_mem, args->task->pkt_mem_size, &send);
    spin_cmd_wait(send);
}
