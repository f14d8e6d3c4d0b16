// First-in first-out queue in a shift register (FIFO1 of docs/design/overlay/overlay_rtl.md): for the few instructions in
// flight.
//
// Timing: an item pushed in cycle t is at the head from max(t + 1, pop of the item before + 1). `full` and
// `empty` follow from registers.
module tw_overlay_register_fifo #(
    parameter int WIDTH = 8,
    parameter int DEPTH = 4
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
  logic [DEPTH-1:0] used, next_used;  // stage k holds an item; stage 0 is the head

  assign empty = !used[0];
  assign full = used[DEPTH-1];

  for (genvar k = 0; k < DEPTH; k++) begin : gen_stage
    logic [WIDTH-1:0] item;
    logic stays;  // used after the pop
    if (k < DEPTH - 1) begin : gen_inner
      logic shifts;
      assign shifts = pop && used[k+1];
      assign stays = pop ? used[k+1] : used[k];
      always_ff @(posedge clk) begin
        if (shifts) item <= gen_stage[k+1].item;
        else if (pop || !used[k]) item <= push_data;
      end
    end else begin : gen_end
      assign stays = used[k] && !pop;
      always_ff @(posedge clk) if (pop || !used[k]) item <= push_data;
    end
    if (k == 0) begin : gen_head
      assign next_used[k] = stays || push;
    end else begin : gen_behind
      assign next_used[k] = stays || (push && gen_stage[k-1].stays);
    end
  end

  assign head = gen_stage[0].item;
  always_ff @(posedge clk) used <= rst ? '0 : next_used;

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(WIDTH)) head_rules (.clk, .rst, .valid(!empty), .ready(pop), .data(head));
`endif
endmodule
