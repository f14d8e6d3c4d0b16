// Adds OFFSET to every beat, modulo 2^BITS: the template of a component (docs/guides/components.md).
//
// Timing: a beat taken in t is at the output in t + 1; one beat per cycle.
module tw_stream_offset #(
    parameter int BITS   = 8,
    parameter int OFFSET = 1
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            in_valid,
    output logic            in_ready,
    input  logic [BITS-1:0] in_data,
    output logic            out_valid,
    input  logic            out_ready,
    output logic [BITS-1:0] out_data
);
  assign in_ready = !out_valid || out_ready;

  always_ff @(posedge clk) begin
    if (rst) out_valid <= 1'b0;
    else if (in_ready) out_valid <= in_valid;
    if (in_ready) out_data <= in_data + BITS'(OFFSET);
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(BITS)) out_rules (.clk, .rst, .valid(out_valid), .ready(out_ready), .data(out_data));
`endif
endmodule
