// The low half of a product, a quarter of the second factor per cycle: the mul of an ALU with one lane and
// nothing else to multiply, which has four cycles for each.
//
// Operands are given with start in cycle 1; `product` is there in cycle 4.
module tw_overlay_serial_multiplier (
    input  logic                                clk,
    input  logic                                start,
    input  logic [overlay_config::ACC_BITS-1:0] a,
    input  logic [overlay_config::ACC_BITS-1:0] b,
    output logic [overlay_config::ACC_BITS-1:0] product
);
  localparam int ACC = overlay_config::ACC_BITS;
  localparam int DIGIT = ACC / 4;

  logic [ACC-1:0] shifted_a, shifted_b, partial, now_a, now_b, so_far;
  assign now_a = start ? a : shifted_a;
  assign now_b = start ? b : shifted_b;
  assign so_far = start ? '0 : partial;
  assign product = so_far + now_a * ACC'(now_b[DIGIT-1:0]);

  always_ff @(posedge clk) begin
    shifted_a <= now_a << DIGIT;
    shifted_b <= now_b >> DIGIT;
    partial <= product;
  end
endmodule
