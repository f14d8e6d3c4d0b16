// One lane of lane_array: TAPS products and their sum, or the largest of TAPS elements, over beats. The beat
// before the accumulator is described by `accumulate`, `fresh` and `maximum` (as in tw_stream_dot_product.sv). The way
// of the largest is shorter and waits at its end.
module tw_stream_lane_sum #(
    parameter int AW = 8,
    parameter int A_BIPOLAR = 0,
    parameter int WW = 8,
    parameter int TAPS = 9,
    parameter int ACC = 32,
    parameter MULTIPLY = "dsp",
    parameter int SUM = 1,
    parameter int MAXIMUM = 1,
    parameter int WAIT = 2
) (
    input  logic                      clk,
    input  logic                      enable,
    input  logic                      accumulate,
    input  logic                      fresh,
    // verilator lint_off UNUSEDSIGNAL
    input  logic                      maximum,
    input  logic        [TAPS*WW-1:0] weight /* verilator public_flat_rd */,
    // verilator lint_on UNUSEDSIGNAL
    input  logic        [TAPS*AW-1:0] act /* verilator public_flat_rd */,
    output logic signed [    ACC-1:0] acc
);
  /* verilator no_inline_module */
  localparam bit LUT = 64'(MULTIPLY) == 64'("lut");
  localparam int IW = A_BIPOLAR != 0 ? 2 : AW;
  localparam int PW = IW + WW;
  logic [TAPS*IW-1:0] elements;
  // verilator lint_off UNUSEDSIGNAL
  logic signed [ACC-1:0] sum;  // where one of them is not built
  logic signed [IW-1:0] largest;
  // verilator lint_on UNUSEDSIGNAL

  for (genvar t = 0; t < TAPS; t++) begin : gen_operands
    if (A_BIPOLAR != 0) assign elements[t*IW+:IW] = {!act[t], 1'b1};
    else assign elements[t*IW+:IW] = act[t*AW+:AW];
  end

  if (SUM != 0) begin : gen_sums
    logic [TAPS*PW-1:0] terms;
    // verilator lint_off UNUSEDSIGNAL
    logic signed [PW+$clog2(TAPS)-1:0] tree_sum;  // wraps where ACC has fewer bits
    // verilator lint_on UNUSEDSIGNAL
    for (genvar t = 0; t < TAPS; t++) begin : gen_products
      logic signed [IW-1:0] a;
      logic signed [WW-1:0] w;
      if (LUT) begin : gen_direct
        assign a = elements[t*IW+:IW];
        assign w = weight[t*WW+:WW];
      end else begin : gen_registered
        always_ff @(posedge clk) begin
          if (enable) begin
            a <= elements[t*IW+:IW];
            w <= weight[t*WW+:WW];
          end
        end
      end
      tw_stream_multiply #(
          .A(IW),
          .B(WW),
          .MULTIPLY(MULTIPLY)
      ) tap_product (
          .clk,
          .enable,
          .a,
          .b(w),
          .p(terms[t*PW+:PW])
      );
    end
    tw_stream_sum_tree #(
        .N(TAPS),
        .W(PW)
    ) tree (
        .clk,
        .enable,
        .terms,
        .sum(tree_sum)
    );
    if (PW + $clog2(TAPS) >= ACC) assign sum = tree_sum[ACC-1:0];
    else assign sum = ACC'(tree_sum);
  end else begin : gen_no_sum
    assign sum = '0;
  end

  if (MAXIMUM != 0) begin : gen_largest_of_taps
    logic signed [IW-1:0] early;
    tw_stream_max_tree #(
        .N(TAPS),
        .W(IW)
    ) tree (
        .clk,
        .enable,
        .terms(elements),
        .largest(early)
    );
    tw_stream_delay_line #(
        .WIDTH(IW),
        .STEPS(WAIT)
    ) wait_for_sum (
        .clk,
        .enable,
        .in (early),
        .out(largest)
    );
  end else begin : gen_no_largest
    assign largest = '0;
  end

  if (MAXIMUM == 0) begin : gen_adding
    always_ff @(posedge clk) if (enable && accumulate) acc <= sum + (fresh ? '0 : acc);
  end else if (SUM == 0) begin : gen_comparing
    logic signed [IW-1:0] best;
    always_ff @(posedge clk) begin
      if (enable && accumulate && (fresh || largest > best)) best <= largest;
    end
    assign acc = ACC'(best);
  end else begin : gen_both
    always_ff @(posedge clk) begin
      if (enable && accumulate) begin
        if (!maximum) acc <= sum + (fresh ? '0 : acc);
        else if (fresh || ACC'(largest) > acc) acc <= ACC'(largest);
      end
    end
  end
endmodule
