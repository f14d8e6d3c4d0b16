// The largest of N signed terms, registered after every level of pairs: $clog2(N) steps that move with
// `enable`. With N = 1 it is the term itself.
module tw_stream_max_tree #(
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
  for (genvar v = 0; v <= LEVELS; v++) begin : gen_levels
    for (genvar i = 0; i < (N + (1 << v) - 1) >> v; i++) begin : gen_nodes
      logic signed [W-1:0] m;
      if (v == 0) begin : gen_term
        assign m = terms[i*W+:W];
      end else if (2 * i + 1 < (N + (1 << (v - 1)) - 1) >> (v - 1)) begin : gen_pair
        logic signed [W-1:0] left, right;
        assign left = gen_levels[v-1].gen_nodes[2*i].m;
        assign right = gen_levels[v-1].gen_nodes[2*i+1].m;
        always_ff @(posedge clk) if (enable) m <= left > right ? left : right;
      end else begin : gen_rest
        always_ff @(posedge clk) if (enable) m <= gen_levels[v-1].gen_nodes[2*i].m;
      end
    end
  end
  assign largest = gen_levels[LEVELS].gen_nodes[0].m;
endmodule
