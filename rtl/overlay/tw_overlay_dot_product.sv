// One row of inputs times one row of weights: BLOCK_IN products and their sum, in three registered stages
// (products, sums of groups, sum of the groups). Operands in cycle t, `sum` from t + 3, zero where `clear` was
// set in t + 2.
//
// Lanes are two's complement; a 1-bit weight is +1 or -1, a 1-bit input 0 or 1, with `bipolar` -1 or +1. When
// both have one bit, products are not formed: the sum is twice the number of products that are +1 minus the
// number that are not zero (`terms`, common to all outputs, given in t + 2 beside the group sums).
module tw_overlay_dot_product #(
    parameter int INPUTS = 16,
    parameter int GROUP = 4,
    parameter int SUM_BITS = 20,
    parameter int TERM_BITS = 5
) (
    input  logic                                       clk,
    input  logic [INPUTS*overlay_config::INP_BITS-1:0] inp,
    input  logic [INPUTS*overlay_config::WGT_BITS-1:0] wgt,
    // Only 1-bit operands have modes.
    // verilator lint_off UNUSEDSIGNAL
    input  logic                                       bipolar,
    input  logic [TERM_BITS-1:0]                       terms,
    // verilator lint_on UNUSEDSIGNAL
    input  logic                                       clear,
    output logic signed [SUM_BITS-1:0]                 sum
);
  localparam int I = overlay_config::INP_BITS;
  localparam int W = overlay_config::WGT_BITS;
  localparam int GROUPS = INPUTS / GROUP;
  localparam bit BINARY = I == 1 && W == 1;

  if (BINARY) begin : gen_binary
    logic [INPUTS-1:0] positive;
    logic [GROUPS*TERM_BITS-1:0] counts;
    logic [TERM_BITS-1:0] total;

    for (genvar g = 0; g < GROUPS; g++) begin : gen_groups
      logic [TERM_BITS-1:0] count;
      always_comb begin
        count = '0;
        for (int k = 0; k < GROUP; k++) count = count + TERM_BITS'(positive[g*GROUP+k]);
      end
      always_ff @(posedge clk) counts[g*TERM_BITS+:TERM_BITS] <= count;
    end
    always_comb begin
      total = '0;
      for (int g = 0; g < GROUPS; g++) total = total + counts[g*TERM_BITS+:TERM_BITS];
    end
    always_ff @(posedge clk) begin
      positive <= bipolar ? ~(inp ^ wgt) : (inp & wgt);
      sum <= clear ? '0 : SUM_BITS'({1'b0, total, 1'b0}) - SUM_BITS'(terms);
    end
  end else begin : gen_products
    localparam int IW = I == 1 ? 2 : I;
    localparam int WW = W == 1 ? 2 : W;
    localparam int PW = IW + WW;
    localparam int GW = PW + $clog2(GROUP);
    logic [INPUTS*PW-1:0] product;
    logic [GROUPS*GW-1:0] group_sums;
    logic signed [SUM_BITS-1:0] total;

    for (genvar k = 0; k < INPUTS; k++) begin : gen_lanes
      logic signed [IW-1:0] a;
      logic signed [WW-1:0] b;
      logic signed [PW-1:0] p;
      if (I == 1) assign a = {bipolar && !inp[k], bipolar || inp[k]};
      else assign a = inp[k*I+:I];
      if (W == 1) assign b = {!wgt[k], 1'b1};
      else assign b = wgt[k*W+:W];
      always_ff @(posedge clk) p <= a * b;
      assign product[k*PW+:PW] = p;
    end
    for (genvar g = 0; g < GROUPS; g++) begin : gen_groups
      logic signed [GW-1:0] group_sum;
      always_comb begin
        group_sum = '0;
        for (int k = 0; k < GROUP; k++) group_sum = group_sum + GW'($signed(product[(g*GROUP+k)*PW+:PW]));
      end
      always_ff @(posedge clk) group_sums[g*GW+:GW] <= group_sum;
    end
    always_comb begin
      total = '0;
      for (int g = 0; g < GROUPS; g++) total = total + SUM_BITS'($signed(group_sums[g*GW+:GW]));
    end
    always_ff @(posedge clk) sum <= clear ? '0 : total;
  end
endmodule
