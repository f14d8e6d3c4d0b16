// PO dot products of PI channels per beat (docs/design/pipeline/pipeline.md). The accumulators are the output registers.
module tw_stream_mac_array #(
    parameter int AW = 8,
    parameter int A_BIPOLAR = 0,
    parameter int WW = 8,
    parameter int W_BIPOLAR = 0,
    parameter int PI = 8,
    parameter int PO = 8,
    parameter int ACC = 32,
    parameter MULTIPLY = "dsp"
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                act_valid,
    output logic                act_ready,
    input  logic [   PI*AW-1:0] act_data,
    input  logic                act_last,
    input  logic                weight_valid,
    output logic                weight_ready,
    input  logic [PO*PI*WW-1:0] weight_data,
    output logic                acc_valid,
    input  logic                acc_ready,
    output logic [  PO*ACC-1:0] acc_data
);
  localparam bit LUT = 64'(MULTIPLY) == 64'("lut");
  localparam bit COUNTED = A_BIPOLAR != 0 && W_BIPOLAR != 0;
  localparam bit CHOSEN = !COUNTED && W_BIPOLAR != 0 && LUT;
  localparam bit PAIR = 64'(MULTIPLY) == 64'("pair") && !COUNTED;
  localparam bit PACKED = 64'(MULTIPLY) >> 8 == 64'("packed") && !COUNTED;
  localparam int IW = A_BIPOLAR != 0 ? 2 : AW;
  localparam int KW = W_BIPOLAR != 0 ? 2 : WW;
  localparam bit WIDE = !((IW <= 25 && KW <= 18) || (IW <= 18 && KW <= 25));
  // Steps before the tree, in the tree, and behind it up to the accumulators.
  localparam int PRODUCT = COUNTED ? 1 : CHOSEN ? 0 : LUT ? 1 : PAIR || (WIDE && !PACKED) ? 3 : 2;
  localparam int TREE = COUNTED ? $clog2((PI + 2) / 3) : $clog2(PI);
  localparam int STEPS = PRODUCT + TREE + (CHOSEN || PACKED ? 2 : 1);
  localparam int ROWS = PAIR ? 2 : PACKED ? 32'(64'(MULTIPLY) & 64'd15) : 1;
  localparam int TOTALS = PACKED ? 3 : 1;
  localparam int TOTAL = $clog2(PI) + (PACKED ? AW + WW : AW);

  logic enable, accumulate, fresh;
  logic [TOTALS*TOTAL-1:0] total;  // of all activations: tw_stream_dot_product.sv
  assign act_ready = enable && weight_valid;
  assign weight_ready = enable && act_valid;

  tw_stream_beat_pipeline #(.STEPS(STEPS)) pipeline (
      .clk, .rst, .take(act_valid && weight_valid), .last(act_last),
      .enable, .accumulate, .fresh, .acc_valid, .acc_ready
  );

  if (CHOSEN) begin : gen_all_activations
    tw_stream_sum_tree #(
        .N(PI),
        .W(AW)
    ) tree (
        .clk,
        .enable,
        .terms(act_data),
        .sum  (total)
    );
  end else if (PACKED) begin : gen_corrections
    logic [PI*AW-1:0] operands;
    logic [PI-1:0] signs;
    logic signed [AW+$clog2(PI)-1:0] sum;
    logic signed [$clog2(PI):0] negative;  // -1 for each
    logic signed [TOTAL-1:0] first, between, last;
    for (genvar i = 0; i < PI; i++) begin : gen_signs
      assign signs[i] = operands[i*AW+AW-1];
    end
    tw_stream_sum_tree #(
        .N(PI),
        .W(AW)
    ) all (
        .clk,
        .enable,
        .terms(operands),
        .sum
    );
    tw_stream_sum_tree #(
        .N(PI),
        .W(1)
    ) counted (
        .clk,
        .enable,
        .terms(signs),
        .sum  (negative)
    );
    always_ff @(posedge clk) begin
      if (enable) begin
        operands <= act_data;
        first <= TOTAL'(sum) <<< (WW - 1);
        between <= (TOTAL'(sum) <<< (WW - 1)) + TOTAL'(negative);
        last <= TOTAL'(negative);
      end
    end
    assign total = {last, between, first};
  end else begin : gen_no_total
    assign total = '0;
  end

  for (genvar o = 0; o < PO / ROWS; o++) begin : gen_outputs
    tw_stream_dot_product #(
        .AW(AW), .A_BIPOLAR(A_BIPOLAR), .WW(WW), .W_BIPOLAR(W_BIPOLAR), .PI(PI), .ROWS(ROWS), .ACC(ACC),
        .MULTIPLY(MULTIPLY), .TOTALS(TOTALS), .TOTAL(TOTAL)
    ) column (
        .clk, .enable, .accumulate, .fresh, .act(act_data), .total,
        .weight(weight_data[ROWS*o*PI*WW+:ROWS*PI*WW]), .acc(acc_data[ROWS*o*ACC+:ROWS*ACC])
    );
  end
  // Rows left over share their blocks with zeros, so that their sums are there in the same step as the others'.
  localparam int REST = PO % ROWS;
  if (REST != 0) begin : gen_rest
    // verilator lint_off UNUSEDSIGNAL
    logic [ROWS*ACC-1:0] acc;
    // verilator lint_on UNUSEDSIGNAL
    tw_stream_dot_product #(
        .AW(AW), .WW(WW), .PI(PI), .ROWS(ROWS), .ACC(ACC), .MULTIPLY(MULTIPLY), .TOTALS(TOTALS),
        .TOTAL(TOTAL)
    ) column (
        .clk, .enable, .accumulate, .fresh, .act(act_data), .total,
        .weight({{((ROWS - REST) * PI * WW) {1'b0}}, weight_data[PO*PI*WW-1-:REST*PI*WW]}), .acc
    );
    assign acc_data[PO*ACC-1-:REST*ACC] = acc[REST*ACC-1:0];
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(PO * ACC)) acc_rules (
      .clk, .rst, .valid(acc_valid), .ready(acc_ready), .data(acc_data)
  );
`endif
endmodule
