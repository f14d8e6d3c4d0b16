// First-in first-out queue in registers (FIFO1 of docs/overlay_rtl.md): for the few instructions in flight.
//
// Timing: an item pushed in cycle t is at the head from max(t + 1, pop of the item before + 1). `full` and
// `empty` follow from registers. LOG_DEPTH may be 0.
module register_fifo #(
    parameter int WIDTH = 8,
    parameter int LOG_DEPTH = 2
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             push,
    input  logic [WIDTH-1:0] push_data,
    output logic             full,
    output logic             empty,
    output logic [WIDTH-1:0] head,
    input  logic             pop
);
  logic [LOG_DEPTH:0] write_count, read_count;

  assign empty = write_count == read_count;

  generate
    if (LOG_DEPTH == 0) begin : gen_one
      logic [WIDTH-1:0] item;
      assign head = item;
      assign full = !empty;
      always_ff @(posedge clk) if (push) item <= push_data;
    end else begin : gen_many
      logic [WIDTH-1:0] items[0:(1 << LOG_DEPTH)-1];
      assign head = items[read_count[LOG_DEPTH-1:0]];
      assign full = write_count == {~read_count[LOG_DEPTH], read_count[LOG_DEPTH-1:0]};
      always_ff @(posedge clk) if (push) items[write_count[LOG_DEPTH-1:0]] <= push_data;
    end
  endgenerate

  always_ff @(posedge clk) begin
    if (rst) begin
      write_count <= '0;
      read_count  <= '0;
    end else begin
      write_count <= write_count + (LOG_DEPTH + 1)'(push);
      read_count  <= read_count + (LOG_DEPTH + 1)'(pop);
    end
  end
endmodule
