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
  // The nodes of all levels, terms first.
  function automatic integer nodes(input integer level);
    nodes = (N + (1 << level) - 1) >> level;
  endfunction
  function automatic integer first(input integer level);
    integer v;
    first = 0;
    for (v = 0; v < level; v = v + 1) first = first + nodes(v);
  endfunction
  localparam int LEVELS = $clog2(N);
  localparam int NODES = first(LEVELS + 1);

  logic [NODES*W-1:0] node;
  assign node[N*W-1:0] = terms;
  for (genvar v = 1; v <= LEVELS; v++) begin : levels
    for (genvar i = 0; i < nodes(v); i++) begin : comparisons
      localparam int FROM = (first(v - 1) + 2 * i) * W;
      logic signed [W-1:0] m;
      if (2 * i + 1 < nodes(v - 1)) begin : pair
        logic signed [W-1:0] left, right;
        assign left = node[FROM+:W];
        assign right = node[FROM+W+:W];
        always_ff @(posedge clk) if (enable) m <= left > right ? left : right;
      end else begin : rest
        always_ff @(posedge clk) if (enable) m <= node[FROM+:W];
      end
      assign node[(first(v)+i)*W+:W] = m;
    end
  end
  assign largest = node[(NODES-1)*W+:W];
endmodule
