// One lane's copy of a table: entry (value + 128) mod 256 of 256, one cycle after `value`.
module tw_overlay_lookup_table #(
    parameter int WIDTH = 8
) (
    input  logic       clk,
    input  logic       wr_valid,
    input  logic [7:0] wr_index,
    input  logic [WIDTH-1:0] wr_data,
    input  logic [7:0] value,
    output logic [WIDTH-1:0] entry
);
  logic [WIDTH-1:0] entries[256];
  always_ff @(posedge clk) begin
    if (wr_valid) entries[wr_index] <= wr_data;
    entry <= entries[{!value[7], value[6:0]}];
  end
endmodule
