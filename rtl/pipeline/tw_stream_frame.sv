// Passes KEEP beats, swallows DROP, adds ADD beats of zero, and begins again: takes the padding of a memory
// port's last beat off an image, or puts it on.
module tw_stream_frame #(
    parameter int WIDTH = 8,
    parameter int KEEP  = 1,
    parameter int DROP  = 0,
    parameter int ADD   = 0
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             in_valid,
    output logic             in_ready,
    input  logic [WIDTH-1:0] in_data,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [WIDTH-1:0] out_data
);
  localparam int TOTAL = KEEP + DROP + ADD;
  localparam int BITS = TOTAL == 1 ? 1 : $clog2(TOTAL);
  localparam logic [BITS-1:0] LAST = BITS'(TOTAL - 1);

  logic [BITS-1:0] position;
  logic [BITS:0] at;  // one bit more, so that sums of the parameters fit
  logic keeping, adding, free, takes, adds;

  assign at = {1'b0, position};
  assign keeping = at < (BITS + 1)'(KEEP);
  assign adding = at >= (BITS + 1)'(KEEP + DROP);
  assign free = !out_valid || out_ready;
  assign in_ready = !adding && (!keeping || free);
  assign takes = in_valid && in_ready;
  assign adds = adding && free;

  always_ff @(posedge clk) begin
    if (rst) begin
      position  <= '0;
      out_valid <= 1'b0;
    end else begin
      if (takes || adds) position <= position == LAST ? '0 : position + 1'b1;
      if ((takes && keeping) || adds) out_valid <= 1'b1;
      else if (out_ready) out_valid <= 1'b0;
    end
    if (takes && keeping) out_data <= in_data;
    else if (adds) out_data <= '0;
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(WIDTH)) out_rules (.clk, .rst, .valid(out_valid), .ready(out_ready), .data(out_data));
`endif
endmodule
