// clip(round_shift(value, shift) + zero, low, high) to 8 bits, in three steps that move with `enable`. `shift`
// belongs to the step of `value`; `zero`, `low` and `high` are given two steps later.
//
// One bit below the unit is kept and added at the end: that rounds half up. What lies beyond the bits that
// `zero` and the clip can tell apart is cut off, in the second step already, before the fine shift.
module tw_stream_scale_round #(
    parameter int W = 64
) (
    input  logic                clk,
    input  logic                enable,
    input  logic signed [W-1:0] value,
    input  logic        [  5:0] shift,
    input  logic signed [  7:0] zero,
    input  logic signed [  7:0] low,
    input  logic signed [  7:0] high,
    output logic signed [  7:0] result
);
  localparam int KEPT = 18;  // ten bits behind the fine shift, seven of it, one below the unit
  localparam int WX = W < KEPT ? KEPT : W + 1;
  logic [2:0] fine;
  logic signed [WX-1:0] extended;
  assign extended = WX'($signed({value, 1'b0}));
  logic signed [WX-1:0] coarse;
  logic signed [KEPT-1:0] near;
  logic signed [10:0] scaled;
  logic signed [11:0] rounded;

  if (WX > KEPT) begin : gen_saturation
    logic fits;
    assign fits = coarse[WX-1:KEPT-1] == {(WX - KEPT + 1) {coarse[WX-1]}};
    assign near = fits ? coarse[KEPT-1:0] : {coarse[WX-1], {(KEPT - 1) {!coarse[WX-1]}}};
  end else begin : gen_whole
    assign near = coarse;
  end
  logic signed [KEPT-1:0] shifted;
  assign shifted = near >>> fine;
  // What still does not fit into ten bits and the one below is beyond every clip.
  logic fits_result;
  assign fits_result = shifted[KEPT-1:10] == {(KEPT - 10) {shifted[KEPT-1]}};
  assign rounded = 12'($signed(scaled[10:1])) + 12'(zero) + 12'($signed({1'b0, scaled[0]}));

  always_ff @(posedge clk) begin
    if (enable) begin
      fine <= shift[2:0];
      coarse <= extended >>> {shift[5:3], 3'b000};
      scaled <= fits_result ? shifted[10:0] : {shifted[KEPT-1], {10{!shifted[KEPT-1]}}};
      result <= rounded < 12'(low) ? low : rounded > 12'(high) ? high : rounded[7:0];
    end
  end
endmodule
