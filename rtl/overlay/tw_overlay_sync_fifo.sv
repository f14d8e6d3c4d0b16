// First-in first-out queue (FIFO2 of docs/design/overlay/overlay_rtl.md): block RAM, or a shift register up to four items.
//
// Timing: an item pushed in cycle t is at the head from max(t + 2, pop of the item before + 1). A push needs
// `full` = 0, a pop needs `head_valid` = 1; both may happen in one cycle. `full` and `empty` follow from
// registers: `empty` tells of all items pushed, also of those not yet at the head.
//
// The memory's output register is the head: in every cycle the item after the one being popped is read, and
// it is valid if it had been written before. So no cell is ever read in the cycle in which it is written.
module tw_overlay_sync_fifo #(
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
  logic [LOG_DEPTH:0] write_count, read_count, next_read;

  assign next_read = read_count + (LOG_DEPTH + 1)'(pop);
  assign empty = write_count == read_count;
  assign full = (write_count ^ read_count) == (LOG_DEPTH + 1)'(1 << LOG_DEPTH);

  if (LOG_DEPTH <= 2) begin : gen_shifted
    localparam int DEPTH = 1 << LOG_DEPTH;
    logic [LOG_DEPTH:0] after_pop;  // items left, where a pushed one goes
    assign after_pop = write_count - next_read;
    for (genvar k = 0; k < DEPTH; k++) begin : gen_stage
      logic [WIDTH-1:0] item;
      if (k < DEPTH - 1) begin : gen_inner
        always_ff @(posedge clk) begin
          if (push && after_pop == (LOG_DEPTH + 1)'(k)) item <= push_data;
          else if (pop) item <= gen_stage[k+1].item;
        end
      end else begin : gen_end
        always_ff @(posedge clk) if (push && after_pop == (LOG_DEPTH + 1)'(k)) item <= push_data;
      end
    end
    assign head = gen_stage[0].item;
  end else begin : gen_memory
    (* no_rw_check *) logic [WIDTH-1:0] memory[0:(1 << LOG_DEPTH)-1];
    always_ff @(posedge clk) begin
      if (push) memory[write_count[LOG_DEPTH-1:0]] <= push_data;
      head <= memory[next_read[LOG_DEPTH-1:0]];
    end
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

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(WIDTH)) head_rules (.clk, .rst, .valid(head_valid), .ready(pop), .data(head));
`endif
endmodule
