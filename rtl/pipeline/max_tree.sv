// The largest of N signed terms, registered after every level of pairs: $clog2(N) steps that move with
// `enable`. With N = 1 it is the term itself.
module max_tree #(
    parameter int N = 4,
    parameter int W = 8
) (
    // verilator lint_off UNUSEDSIGNAL
    input  logic                clk,
    input  logic                enable,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [     N*W-1:0] terms,
    output logic signed [W-1:0] largest
);
  localparam int LEVELS = $clog2(N);
  // Every node is a net of its own: simulators are fast on those.
  for (genvar v = 0; v <= LEVELS; v++) begin : levels
    for (genvar i = 0; i < (N + (1 << v) - 1) >> v; i++) begin : nodes
      logic signed [W-1:0] m;
      if (v == 0) begin : term
        assign m = terms[i*W+:W];
      end else if (2 * i + 1 < (N + (1 << (v - 1)) - 1) >> (v - 1)) begin : pair
        logic signed [W-1:0] left, right;
        assign left = levels[v-1].nodes[2*i].m;
        assign right = levels[v-1].nodes[2*i+1].m;
        always_ff @(posedge clk) if (enable) m <= left > right ? left : right;
      end else begin : rest
        always_ff @(posedge clk) if (enable) m <= levels[v-1].nodes[2*i].m;
      end
    end
  end
  assign largest = levels[LEVELS].nodes[0].m;
endmodule
