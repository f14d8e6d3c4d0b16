// The rules of a handshake, as immediate assertions: `valid` is known after reset, and what is offered and not
// accepted stays, unchanged, until it is. Whoever drives `valid` has one of these, unless SYNTHESIS is defined
// (as Yosys and Vivado do); simulators that do not check assertions drop it.
//
// A queue's head is such an offer too: `ready` is then the pop. A stream without payload has `data` tied to 0.
module tw_handshake_checker #(
    parameter int WIDTH = 1
) (
    input logic             clk,
    input logic             rst,
    input logic             valid,
    input logic             ready,
    input logic [WIDTH-1:0] data
);
  logic held;  // offered and not accepted in the cycle before
  logic [WIDTH-1:0] offered;

  // Copied once per wait: the data are wide, and most offers are accepted at once.
  always_ff @(posedge clk) begin
    held <= !rst && valid && !ready;
    if (valid && !ready && !held) offered <= data;
  end

  always @(posedge clk) begin
    if (!rst) begin
      assert (valid === 1'b0 || valid === 1'b1);
      assert (!held || (valid && data === offered));
    end
  end
endmodule
