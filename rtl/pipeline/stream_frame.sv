// Passes KEEP beats, swallows DROP, adds ADD beats of zero, and begins again: takes the padding of a memory
// port's last beat off an image, or puts it on.
`default_nettype none
module stream_frame #(
    parameter int WIDTH = 8,
    parameter int KEEP  = 1,
    parameter int DROP  = 0,
    parameter int ADD   = 0
) (
    input  wire              clk,
    input  wire              rst,
    input  wire              in_valid,
    output wire              in_ready,
    input  wire  [WIDTH-1:0] in_data,
    output logic             out_valid,
    input  wire              out_ready,
    output logic [WIDTH-1:0] out_data
);
  localparam int TOTAL = KEEP + DROP + ADD;
  localparam int BITS = TOTAL == 1 ? 1 : $clog2(TOTAL);
  localparam logic [BITS-1:0] LAST = BITS'(TOTAL - 1);

  logic [BITS-1:0] position;
  // One bit more than the position has, so that sums of the parameters fit.
  wire [BITS:0] at = {1'b0, position};
  wire keeping = at < (BITS + 1)'(KEEP);
  wire adding = at >= (BITS + 1)'(KEEP + DROP);
  wire free = !out_valid || out_ready;

  assign in_ready = !adding && (!keeping || free);
  wire takes = in_valid && in_ready;
  wire adds = adding && free;

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
endmodule
`default_nettype wire
