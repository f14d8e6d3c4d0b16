// Two rows of weights times one row of activations, each product of two from one DSP block (multiply_pair.sv),
// summed over beats as in dot_product.sv.
module dot_product_pair #(
    parameter int AW = 8,
    parameter int WW = 8,
    parameter int PI = 8,
    parameter int ACC = 32
) (
    input  logic               clk,
    input  logic               enable,
    input  logic               accumulate,
    input  logic               fresh,
    input  logic [  PI*AW-1:0] act,
    input  logic [2*PI*WW-1:0] weight,
    output logic [  2*ACC-1:0] acc
);
  /* verilator no_inline_module */
  localparam int PW = AW + WW;
  logic [2*PI*PW-1:0] terms;
  for (genvar i = 0; i < PI; i++) begin : lanes
    multiply_pair #(
        .A(AW),
        .B(WW)
    ) lane_products (
        .clk,
        .enable,
        .a (act[i*AW+:AW]),
        .b0(weight[i*WW+:WW]),
        .b1(weight[(PI+i)*WW+:WW]),
        .p0(terms[i*PW+:PW]),
        .p1(terms[(PI+i)*PW+:PW])
    );
  end
  for (genvar o = 0; o < 2; o++) begin : outputs
    // verilator lint_off UNUSEDSIGNAL
    logic signed [PW+$clog2(PI)-1:0] tree_sum;  // wraps where ACC has fewer bits
    // verilator lint_on UNUSEDSIGNAL
    logic signed [ACC-1:0] sum, total;
    sum_tree #(
        .N(PI),
        .W(PW)
    ) tree (
        .clk,
        .enable,
        .terms(terms[o*PI*PW+:PI*PW]),
        .sum  (tree_sum)
    );
    if (PW + $clog2(PI) >= ACC) assign sum = tree_sum[ACC-1:0];
    else assign sum = ACC'(tree_sum);
    always_ff @(posedge clk) begin
      if (enable && accumulate) total <= sum + (fresh ? '0 : total);
    end
    assign acc[o*ACC+:ACC] = total;
  end
endmodule
