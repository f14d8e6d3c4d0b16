// One beat of each input side by side, in0 in the low half. Both inputs are taken together.
//
// Timing: beats taken in t are valid at the output from t + 1.
module tw_stream_join #(
    parameter int WIDTH = 8
) (
    input  logic               clk,
    input  logic               rst,
    input  logic               in0_valid,
    output logic               in0_ready,
    input  logic [  WIDTH-1:0] in0_data,
    input  logic               in1_valid,
    output logic               in1_ready,
    input  logic [  WIDTH-1:0] in1_data,
    output logic               out_valid,
    input  logic               out_ready,
    output logic [2*WIDTH-1:0] out_data
);
  logic free, taken;

  assign free = !out_valid || out_ready;
  assign in0_ready = free && in1_valid;
  assign in1_ready = free && in0_valid;
  assign taken = free && in0_valid && in1_valid;

  always_ff @(posedge clk) if (taken) out_data <= {in1_data, in0_data};
  always_ff @(posedge clk) begin
    if (rst) out_valid <= 1'b0;
    else out_valid <= taken || (out_valid && !out_ready);
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(2 * WIDTH)) out_rules (
      .clk, .rst, .valid(out_valid), .ready(out_ready), .data(out_data)
  );
`endif
endmodule
