// The sum of N signed terms, registered after every level of pairs: $clog2(N) steps that move with `enable`.
// With N = 1 it is the term itself. A level's registers stand behind its carry chains, where they are free;
// adders of more than two terms would take compressors out of look-up tables.
module sum_tree #(
    parameter int N = 4,
    parameter int W = 16
) (
    // verilator lint_off UNUSEDSIGNAL
    input  logic                           clk,
    input  logic                           enable,
    // verilator lint_on UNUSEDSIGNAL
    input  logic        [         N*W-1:0] terms,
    output logic signed [W+$clog2(N)-1:0] sum
);
  // The nodes of all levels, terms first; those of level v have W + v bits.
  function automatic integer nodes(input integer level);
    nodes = (N + (1 << level) - 1) >> level;
  endfunction
  function automatic integer offset(input integer level);
    integer v;
    offset = 0;
    for (v = 0; v < level; v = v + 1) offset = offset + nodes(v) * (W + v);
  endfunction
  localparam int LEVELS = $clog2(N);
  localparam int BITS = offset(LEVELS + 1);

  logic [BITS-1:0] node;
  assign node[N*W-1:0] = terms;
  for (genvar v = 1; v <= LEVELS; v++) begin : levels
    localparam int WV = W + v;
    for (genvar i = 0; i < nodes(v); i++) begin : adders
      localparam int FROM = offset(v - 1) + 2 * i * (WV - 1);
      logic signed [WV-1:0] s;
      if (2 * i + 1 < nodes(v - 1)) begin : pair
        always_ff @(posedge clk) begin
          if (enable) s <= WV'($signed(node[FROM+:WV-1])) + WV'($signed(node[FROM+WV-1+:WV-1]));
        end
      end else begin : rest
        always_ff @(posedge clk) if (enable) s <= WV'($signed(node[FROM+:WV-1]));
      end
      assign node[offset(v)+i*WV+:WV] = s;
    end
  end
  assign sum = node[BITS-1-:W+LEVELS];
endmodule
