// One row of activations times one row of weights, summed over beats: the products, a tree of sums and the
// accumulator, all moving with `enable`. The beat of the row that enters the accumulator is named by
// `accumulate`, and starts a new sum with `fresh`; both belong to the beat taken STEPS - 1 steps before.
//
// Operands are two's complement, with A_BIPOLAR or W_BIPOLAR one bit that stands for +1 or -1.
// - Both bipolar: a product is an XNOR; three of them are counted at once (six bits in, a sum of -3 to +3 out).
// - Bipolar weights, MULTIPLY "lut": the sum of +-a is twice the sum of the a with weight +1 less the sum of
//   all, `total`, which all outputs share; it is given in the step in which the tree's sum is there.
// - Else: multipliers (multiply.sv); for blocks, operands are registered first.
module dot_product #(
    parameter int AW = 8,
    parameter int A_BIPOLAR = 0,
    parameter int WW = 8,
    parameter int W_BIPOLAR = 0,
    parameter int PI = 8,
    parameter int ACC = 32,
    parameter MULTIPLY = "dsp"
) (
    input  logic                              clk,
    input  logic                              enable,
    input  logic                              accumulate,
    input  logic                              fresh,
    input  logic        [          PI*AW-1:0] act,
    input  logic        [          PI*WW-1:0] weight,
    // verilator lint_off UNUSEDSIGNAL
    input  logic signed [AW+$clog2(PI)-1:0] total,  // of one form only
    // verilator lint_on UNUSEDSIGNAL
    output logic signed [            ACC-1:0] acc
);
  /* verilator no_inline_module */
  localparam bit LUT = 64'(MULTIPLY) == 64'("lut");
  logic signed [ACC-1:0] sum;

  if (A_BIPOLAR != 0 && W_BIPOLAR != 0) begin : counted
    localparam int GROUPS = (PI + 2) / 3;
    logic [GROUPS*3-1:0] counts;
    logic signed [3+$clog2(GROUPS)-1:0] group_sum;
    for (genvar g = 0; g < GROUPS; g++) begin : groups
      localparam int N = 3 * g + 3 <= PI ? 3 : PI - 3 * g;
      logic [N-1:0] same;
      logic signed [2:0] value, count;
      assign same = ~(act[3*g+:N] ^ weight[3*g+:N]);
      always_comb begin
        value = 3'(-N);
        for (int k = 0; k < N; k++) value = value + {1'b0, same[k], 1'b0};
      end
      always_ff @(posedge clk) if (enable) count <= value;
      assign counts[3*g+:3] = count;
    end
    sum_tree #(
        .N(GROUPS),
        .W(3)
    ) tree (
        .clk,
        .enable,
        .terms(counts),
        .sum  (group_sum)
    );
    assign sum = ACC'(group_sum);
  end else if (W_BIPOLAR != 0 && LUT) begin : chosen
    localparam int SW = AW + $clog2(PI);
    logic [PI*AW-1:0] terms;
    logic signed [SW-1:0] positive;
    logic signed [SW:0] difference;
    for (genvar i = 0; i < PI; i++) begin : gates
      assign terms[i*AW+:AW] = act[i*AW+:AW] & {AW{weight[i]}};
    end
    sum_tree #(
        .N(PI),
        .W(AW)
    ) tree (
        .clk,
        .enable,
        .terms,
        .sum(positive)
    );
    always_ff @(posedge clk) if (enable) difference <= $signed({positive, 1'b0}) - (SW + 1)'(total);
    assign sum = ACC'(difference);
  end else begin : products
    localparam int IW = A_BIPOLAR != 0 ? 2 : AW;
    localparam int KW = W_BIPOLAR != 0 ? 2 : WW;
    localparam int PW = IW + KW;
    logic [PI*PW-1:0] terms;
    // verilator lint_off UNUSEDSIGNAL
    logic signed [PW+$clog2(PI)-1:0] tree_sum;  // wraps where ACC has fewer bits
    // verilator lint_on UNUSEDSIGNAL
    for (genvar i = 0; i < PI; i++) begin : lanes
      logic signed [IW-1:0] a;
      logic signed [KW-1:0] w;
      logic signed [IW-1:0] a_operand;
      logic signed [KW-1:0] w_operand;
      if (A_BIPOLAR != 0) assign a = {!act[i], 1'b1};
      else assign a = act[i*AW+:AW];
      if (W_BIPOLAR != 0) assign w = {!weight[i], 1'b1};
      else assign w = weight[i*WW+:WW];
      if (LUT) begin : direct
        assign a_operand = a;
        assign w_operand = w;
      end else begin : registered
        always_ff @(posedge clk) begin
          if (enable) begin
            a_operand <= a;
            w_operand <= w;
          end
        end
      end
      multiply #(
          .A(IW),
          .B(KW),
          .MULTIPLY(MULTIPLY)
      ) lane_product (
          .clk,
          .enable,
          .a(a_operand),
          .b(w_operand),
          .p(terms[i*PW+:PW])
      );
    end
    sum_tree #(
        .N(PI),
        .W(PW)
    ) tree (
        .clk,
        .enable,
        .terms,
        .sum(tree_sum)
    );
    if (PW + $clog2(PI) >= ACC) assign sum = tree_sum[ACC-1:0];
    else assign sum = ACC'(tree_sum);
  end

  always_ff @(posedge clk) begin
    if (enable && accumulate) acc <= sum + (fresh ? '0 : acc);
  end
endmodule
