// A register whose clock is free.
//
// With this, every step of the solver is an instant, and a clock that is 1 in it rises there. So clocks come in any order,
// at any distance, and also at the same time, in which case no register sees what another one takes.
module \$dff (CLK, D, Q);
    parameter WIDTH = 1;
    parameter CLK_POLARITY = 1'b1;
    input CLK;
    input [WIDTH-1:0] D;
    output [WIDTH-1:0] Q;
    \$ff #(.WIDTH(WIDTH)) register (.D(CLK ? D : Q), .Q(Q));
endmodule
