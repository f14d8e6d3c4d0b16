// First-in first-out queue in block RAM (FIFO2 of docs/overlay_rtl.md).
//
// Timing: an item pushed in cycle t is at the head from max(t + 2, pop of the item before + 1). A push needs
// `full` = 0, a pop needs `head_valid` = 1; both may happen in one cycle. `full` and `empty` follow from
// registers: `empty` tells of all items pushed, also of those not yet at the head.
//
// The memory's output register is the head: in every cycle the item after the one being popped is read, and
// it is valid if it had been written before. So no cell is ever read in the cycle in which it is written.
module sync_fifo #(
    parameter int WIDTH = 8,
    parameter int LOG_DEPTH = 4
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             push,
    input  logic [WIDTH-1:0] push_data,
    output logic             full,
    output logic             empty,
    output logic             head_valid,
    output logic [WIDTH-1:0] head,
    input  logic             pop
);
  logic [WIDTH-1:0] memory[0:(1 << LOG_DEPTH)-1];
  logic [LOG_DEPTH:0] write_count, read_count, next_read;

  assign next_read = read_count + (LOG_DEPTH + 1)'(pop);
  assign empty = write_count == read_count;
  assign full = write_count == {~read_count[LOG_DEPTH], read_count[LOG_DEPTH-1:0]};

  always_ff @(posedge clk) begin
    if (push) memory[write_count[LOG_DEPTH-1:0]] <= push_data;
    head <= memory[next_read[LOG_DEPTH-1:0]];
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      write_count <= '0;
      read_count  <= '0;
      head_valid  <= 1'b0;
    end else begin
      write_count <= write_count + (LOG_DEPTH + 1)'(push);
      read_count  <= next_read;
      head_valid  <= write_count != next_read;
    end
  end
endmodule
