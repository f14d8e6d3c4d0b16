// The control of an array: which steps of its pipeline hold a beat, and which of these are the last of their
// sum. A beat enters with `take`, reaches the accumulators in its STEPS-th step, and all steps move at once:
// always, but when the next one would change accumulators that are finished and not taken.
module tw_stream_beat_pipeline #(
    parameter int STEPS = 4
) (
    input  logic clk,
    input  logic rst,
    input  logic take,
    input  logic last,
    output logic enable,
    output logic accumulate,  // a beat is before the accumulators
    output logic fresh,       // and it starts a sum
    output logic acc_valid,
    input  logic acc_ready
);
  // Bit k: k + 1 steps after the beat was taken; the accumulators' own step is acc_valid.
  logic [STEPS-2:0] valids, lasts;
  assign accumulate = valids[STEPS-2];
  assign enable = !acc_valid || acc_ready || !accumulate;

  always_ff @(posedge clk) begin
    if (rst) begin
      valids <= '0;
      lasts <= '0;
      fresh <= 1'b1;
      acc_valid <= 1'b0;
    end else if (enable) begin
      valids <= (STEPS - 1)'({valids, take});
      lasts <= (STEPS - 1)'({lasts, last});
      acc_valid <= accumulate ? lasts[STEPS-2] : acc_valid && !acc_ready;
      if (accumulate) fresh <= lasts[STEPS-2];
    end
  end

`ifndef SYNTHESIS
  tw_handshake_checker acc_rules (.clk, .rst, .valid(acc_valid), .ready(acc_ready), .data(1'b0));
`endif
endmodule
