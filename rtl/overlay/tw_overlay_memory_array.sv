// Words of one write and one read port, inferred as block RAM: the whole of a memory_bank, or a partition of it. The word
// at rd_index in a cycle with rd_enable is on rd_data from the next cycle, and stays there. Reading a word in the cycle
// in which it is written gives anything.
//
// Simulations start with zeros, as FPGA block RAM does after configuration.
module tw_overlay_memory_array #(
    parameter int LOG_DEPTH = 4,
    parameter int WIDTH = 8
) (
    input  logic                 clk,
    input  logic                 wr_enable,
    input  logic [LOG_DEPTH-1:0] wr_index,
    input  logic [WIDTH-1:0]     wr_data,
    input  logic                 rd_enable,
    input  logic [LOG_DEPTH-1:0] rd_index,
    output logic [WIDTH-1:0]     rd_data
);
  (* no_rw_check *)
  logic [WIDTH-1:0] words [0:(1 << LOG_DEPTH) - 1];

`ifndef SYNTHESIS
  initial begin
    for (int i = 0; i < (1 << LOG_DEPTH); i++) words[i] = '0;
    rd_data = '0;
  end
`endif

  always_ff @(posedge clk) if (wr_enable) words[wr_index] <= wr_data;
  always_ff @(posedge clk) if (rd_enable) rd_data <= words[rd_index];
endmodule
