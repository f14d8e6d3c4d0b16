// ROWS products with one common factor from one DSP block, in two steps (operands, product) that move with
// `enable`; what is left to correct depends on the factor alone.
//
// The block multiplies `a` by fields of K = A + B bits: b[i] + 2^(B-1), which is positive, and the last b as it
// is. Positive fields all have products of the sign of `a`, so where `a` is negative each borrows one from the
// next, whatever the weights are. Hence p[i] is
//   a * b[i] + a * 2^(B-1)  without the term if i is the last,  - 1 if i > 0 and a < 0.
// No b but the last may be -2^(B-1). The block must have A <= 18 and (ROWS - 1) * K + B <= 25 (27).
module tw_stream_multiply_packed #(
    parameter int A = 4,
    parameter int B = 4,
    parameter int ROWS = 3
) (
    input  logic                        clk,
    input  logic                        enable,
    input  logic signed [        A-1:0] a,
    input  logic        [   ROWS*B-1:0] b,
    output logic        [ROWS*(A+B)-1:0] p
);
  localparam int K = A + B;
  localparam int W = (ROWS - 1) * K + B;
  logic [W-1:0] fields;
  logic signed [W-1:0] packed_factors;
  logic signed [A-1:0] factor;
  logic signed [A+W-1:0] full;
  always_comb begin
    fields = '0;
    for (int i = 0; i < ROWS; i++) begin
      fields[i*K+:B] = b[i*B+:B];
      if (i < ROWS - 1) fields[i*K+B-1] = !b[i*B+B-1];
    end
  end
  always_ff @(posedge clk) begin
    if (enable) begin
      packed_factors <= fields;
      factor <= a;
      full <= factor * packed_factors;
    end
  end
  assign p = full;
endmodule
