// P lanes of TAPS elements per beat (docs/design/pipeline/pipeline.md): sums of products, or, where the highest bit of the
// weight beat says so, the largest. SUM or MAXIMUM 0: that is never asked for and not built. The accumulators
// are the output registers.
module tw_stream_lane_array #(
    parameter int AW = 8,
    parameter int A_BIPOLAR = 0,
    parameter int WW = 8,
    parameter int P = 8,
    parameter int TAPS = 9,
    parameter int ACC = 32,
    parameter MULTIPLY = "dsp",
    parameter int SUM = 1,
    parameter int MAXIMUM = 1
) (
    input  logic                 clk,
    input  logic                 rst,
    input  logic                 act_valid,
    output logic                 act_ready,
    input  logic [TAPS*P*AW-1:0] act_data,
    input  logic                 act_last,
    input  logic                 weight_valid,
    output logic                 weight_ready,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [  TAPS*P*WW:0] weight_data,
    // verilator lint_on UNUSEDSIGNAL
    output logic                 acc_valid,
    input  logic                 acc_ready,
    output logic [    P*ACC-1:0] acc_data
);
  localparam bit LUT = 64'(MULTIPLY) == 64'("lut");
  localparam int IW = A_BIPOLAR != 0 ? 2 : AW;
  localparam bit WIDE = !((IW <= 25 && WW <= 18) || (IW <= 18 && WW <= 25));
  // Steps of the products; then those of the trees and of the accumulators. At least one is before them.
  localparam int PRODUCT = SUM == 0 ? (TAPS == 1 ? 1 : 0) : LUT ? 1 : WIDE ? 3 : 2;
  localparam int BEFORE = PRODUCT + $clog2(TAPS);

  logic enable, accumulate, fresh, maximum;
  assign act_ready = enable && weight_valid;
  assign weight_ready = enable && act_valid;

  tw_stream_beat_pipeline #(.STEPS(BEFORE + 1)) pipeline (
      .clk, .rst, .take(act_valid && weight_valid), .last(act_last),
      .enable, .accumulate, .fresh, .acc_valid, .acc_ready
  );
  tw_stream_delay_line #(
      .WIDTH(1),
      .STEPS(BEFORE)
  ) mode (
      .clk,
      .enable,
      .in (weight_data[TAPS*P*WW]),
      .out(maximum)
  );

  for (genvar l = 0; l < P; l++) begin : gen_lanes
    logic [TAPS*AW-1:0] act;
    logic [TAPS*WW-1:0] weight;
    for (genvar t = 0; t < TAPS; t++) begin : gen_taps
      assign act[t*AW+:AW] = act_data[(t*P+l)*AW+:AW];
      assign weight[t*WW+:WW] = weight_data[(t*P+l)*WW+:WW];
    end
    tw_stream_lane_sum #(
        .AW(AW),
        .A_BIPOLAR(A_BIPOLAR),
        .WW(WW),
        .TAPS(TAPS),
        .ACC(ACC),
        .MULTIPLY(MULTIPLY),
        .SUM(SUM),
        .MAXIMUM(MAXIMUM),
        .WAIT(PRODUCT)
    ) lane (
        .clk,
        .enable,
        .accumulate,
        .fresh,
        .maximum,
        .weight,
        .act,
        .acc(acc_data[l*ACC+:ACC])
    );
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(P * ACC)) acc_rules (.clk, .rst, .valid(acc_valid), .ready(acc_ready), .data(acc_data));
`endif
endmodule
