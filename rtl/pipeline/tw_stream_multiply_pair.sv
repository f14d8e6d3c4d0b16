// Two products with one common factor from one DSP block: (b1 * 2^K + b0) * a, K = A + B, in three steps
// (operands, product, sum) that move with `enable`.
//
// The lower product is signed and borrows from the upper one. Adding 2^(K-1), a constant that the block's own
// adder takes, makes it not negative: the upper field is then b1 * a as it stands, and the lower one has its
// highest bit inverted. The block must have A <= 18 and A + 2 * B + 1 <= 25.
module tw_stream_multiply_pair #(
    parameter int A = 8,
    parameter int B = 8
) (
    input  logic                  clk,
    input  logic                  enable,
    input  logic signed [  A-1:0] a,
    input  logic signed [  B-1:0] b0,
    input  logic signed [  B-1:0] b1,
    output logic signed [A+B-1:0] p0,
    output logic signed [A+B-1:0] p1
);
  localparam int K = A + B;
  localparam int W = K + B + 1;
  logic signed [W-1:0] packed_factors;
  logic signed [A-1:0] factor;
  logic signed [A+W-1:0] full;
  // verilator lint_off UNUSEDSIGNAL
  logic signed [A+W-1:0] shifted;  // the highest bits repeat the sign
  // verilator lint_on UNUSEDSIGNAL
  always_ff @(posedge clk) begin
    if (enable) begin
      packed_factors <= $signed({b1[B-1], b1, {K{1'b0}}}) + W'(b0);
      factor <= a;
      full <= factor * packed_factors;
      shifted <= full + $signed({{(A + W - K) {1'b0}}, 1'b1, {(K - 1) {1'b0}}});
    end
  end
  assign p0 = {!shifted[K-1], shifted[K-2:0]};
  assign p1 = shifted[2*K-1:K];
endmodule
