// Both outputs get every beat of the input, and take it when they like. The input is taken when both have taken,
// or take in this cycle, the beat before.
//
// Timing: a beat taken in t is valid at both outputs from t + 1.
module tw_stream_fork #(
    parameter int WIDTH = 8
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             in_valid,
    output logic             in_ready,
    input  logic [WIDTH-1:0] in_data,
    output logic             out0_valid,
    input  logic             out0_ready,
    output logic [WIDTH-1:0] out0_data,
    output logic             out1_valid,
    input  logic             out1_ready,
    output logic [WIDTH-1:0] out1_data
);
  logic [WIDTH-1:0] beat;
  logic taken;

  assign in_ready = (!out0_valid || out0_ready) && (!out1_valid || out1_ready);
  assign taken = in_valid && in_ready;
  assign out0_data = beat;
  assign out1_data = beat;

  always_ff @(posedge clk) if (taken) beat <= in_data;
  always_ff @(posedge clk) begin
    if (rst) begin
      out0_valid <= 1'b0;
      out1_valid <= 1'b0;
    end else begin
      out0_valid <= taken || (out0_valid && !out0_ready);
      out1_valid <= taken || (out1_valid && !out1_ready);
    end
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(WIDTH)) out0_rules (
      .clk, .rst, .valid(out0_valid), .ready(out0_ready), .data(out0_data)
  );
  tw_handshake_checker #(.WIDTH(WIDTH)) out1_rules (
      .clk, .rst, .valid(out1_valid), .ready(out1_ready), .data(out1_data)
  );
`endif
endmodule
