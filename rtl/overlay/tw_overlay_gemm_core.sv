// The matrix core: one micro-op per cycle, BATCH x BLOCK_OUT dot products of BLOCK_IN lanes added to ACC.
//
// An iteration whose indices are valid in cycle 3 (counted from its instruction's start; INP and WGT are
// addressed then): operands are on inp and wgt in 4 and registered, products are formed in 5, summed in 6 and
// 7, ACC is addressed in 7 (acc_index), and written in 8 (wr_valid) with what was read plus the sum. wr_data is
// zero without wr_valid.
//
// Without operand registers INP and WGT are addressed a cycle later, and operands are on inp and wgt in 5.
module tw_overlay_gemm_core #(
    parameter bit OPERAND_REGISTERS = 1'b1
) (
    input  logic                                     clk,
    input  logic                                     rst,
    // of the instruction
    input  logic                                     reset,
    input  logic                                     bipolar,
    // cycle 3
    input  logic                                     valid,
    input  logic                                     last,
    input  logic                                     overwrite,
    input  logic [overlay_config::LOG_ACC-1:0]       dst,
    // cycle 4, or 5
    input  logic [overlay_config::BATCH*overlay_config::BLOCK_IN*overlay_config::INP_BITS-1:0] inp,
    input  logic [overlay_config::BLOCK_OUT*overlay_config::BLOCK_IN*overlay_config::WGT_BITS-1:0] wgt,
    // cycle 7, 8
    output logic                                     acc_valid,
    output logic [overlay_config::LOG_ACC-1:0]       acc_index,
    input  logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::ACC_BITS-1:0] acc,
    output logic                                     wr_valid,
    output logic                                     wr_last,
    output logic [overlay_config::LOG_ACC-1:0]       wr_index,
    output logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::ACC_BITS-1:0] wr_data
);
  localparam int B = overlay_config::BATCH;
  localparam int K = overlay_config::BLOCK_IN;
  localparam int O = overlay_config::BLOCK_OUT;
  localparam int I = overlay_config::INP_BITS;
  localparam int W = overlay_config::WGT_BITS;
  localparam int ACC = overlay_config::ACC_BITS;
  localparam int A = overlay_config::LOG_ACC;
  localparam int GROUP = 1 << ($clog2(K) / 2);
  localparam int SUM = (I == 1 ? 2 : I) + (W == 1 ? 2 : W) + $clog2(K);
  localparam int TERM = $clog2(K) + 1;

  // Control beside the data: one bit or index per stage 4 .. 8.
  logic [4:0] valids, lasts, overwrites;
  logic [5*A-1:0] dsts;
  logic keep;  // the old accumulators count
  always_ff @(posedge clk) begin
    valids <= {valids[3:0], valid};
    lasts <= {lasts[3:0], last};
    overwrites <= {overwrites[3:0], overwrite};
    dsts <= {dsts[4*A-1:0], dst};
    if (rst) valids <= '0;
  end
  assign acc_valid = valids[3];
  assign acc_index = dsts[3*A+:A];
  assign wr_valid = valids[4];
  assign wr_last = lasts[4];
  assign keep = valids[4] && !reset && !overwrites[4];
  assign wr_index = dsts[4*A+:A];

  logic [B*K*I-1:0] inp_operand;
  logic [O*K*W-1:0] wgt_operand;
  if (OPERAND_REGISTERS) begin : gen_registered
    always_ff @(posedge clk) begin
      inp_operand <= inp;
      wgt_operand <= wgt;
    end
  end else begin : gen_straight
    assign inp_operand = inp;
    assign wgt_operand = wgt;
  end

  for (genvar b = 0; b < B; b++) begin : gen_rows
    // Products that are not zero, for 1-bit operands: counted once for all outputs.
    logic [TERM-1:0] terms;
    if (I == 1 && W == 1) begin : gen_counting
      logic [TERM-1:0] count, counted;
      always_comb begin
        count = '0;
        for (int k = 0; k < K; k++) count = count + TERM'(bipolar || inp_operand[b*K+k]);
      end
      always_ff @(posedge clk) begin
        counted <= count;
        terms <= counted;
      end
    end else begin : gen_no_count
      assign terms = '0;
    end

    for (genvar o = 0; o < O; o++) begin : gen_outputs
      // verilator lint_off UNUSEDSIGNAL
      logic signed [SUM-1:0] sum;  // wraps in narrow accumulators
      // verilator lint_on UNUSEDSIGNAL
      logic [ACC-1:0] old;
      tw_overlay_dot_product #(
          .INPUTS(K),
          .GROUP(GROUP),
          .SUM_BITS(SUM),
          .TERM_BITS(TERM)
      ) dot (
          .clk(clk),
          .inp(inp_operand[b*K*I+:K*I]),
          .wgt(wgt_operand[o*K*W+:K*W]),
          .bipolar(bipolar),
          .terms(terms),
          .clear(reset || !valids[3]),
          .sum(sum)
      );
      assign old = acc[(b*O+o)*ACC+:ACC] & {ACC{keep}};
      assign wr_data[(b*O+o)*ACC+:ACC] = old + ACC'(sum);
    end
  end
endmodule
