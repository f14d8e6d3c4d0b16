// The sum of N signed terms, registered after every level of pairs: $clog2(N) steps that move with `enable`.
// With N = 1 it is the term itself. A level's registers stand behind its carry chains, where they are free;
// adders of more than two terms would take compressors out of look-up tables.
module tw_stream_sum_tree #(
    parameter int N = 4,
    parameter int W = 16
) (
    // verilator lint_off UNUSEDSIGNAL
    input  logic                          clk,
    input  logic                          enable,
    // verilator lint_on UNUSEDSIGNAL
    input  logic        [        N*W-1:0] terms,
    output logic signed [W+$clog2(N)-1:0] sum
);
  localparam int LEVELS = $clog2(N);
  // Every sum is a net of its own: simulators are fast on those.
  for (genvar v = 0; v <= LEVELS; v++) begin : gen_levels
    for (genvar i = 0; i < (N + (1 << v) - 1) >> v; i++) begin : gen_nodes
      logic signed [W+v-1:0] s;
      if (v == 0) begin : gen_term
        assign s = terms[i*W+:W];
      end else if (2 * i + 1 < (N + (1 << (v - 1)) - 1) >> (v - 1)) begin : gen_pair
        always_ff @(posedge clk) begin
          if (enable) s <= (W + v)'(gen_levels[v-1].gen_nodes[2*i].s) + (W + v)'(gen_levels[v-1].gen_nodes[2*i+1].s);
        end
      end else begin : gen_rest
        always_ff @(posedge clk) if (enable) s <= (W + v)'(gen_levels[v-1].gen_nodes[2*i].s);
      end
    end
  end
  assign sum = gen_levels[LEVELS].gen_nodes[0].s;
endmodule
