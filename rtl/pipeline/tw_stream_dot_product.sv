// ROWS rows of weights times one row of activations, summed over beats: products, a tree of sums registered
// after every level of pairs, accumulators, all moving with `enable`. The beat that enters the accumulators is
// named by `accumulate`, and starts a new sum with `fresh`.
//
// Operands are two's complement, with A_BIPOLAR or W_BIPOLAR one bit that stands for +1 or -1.
// - Both bipolar: a product is an XNOR; three of them are counted at once (six bits in, a sum of -3 to +3 out).
// - Bipolar weights, MULTIPLY "lut": the sum of +-a is twice the sum of the a with weight +1 less the sum of
//   all, `total`, which all rows share; it is given in the step in which the tree's sum is there.
// - MULTIPLY "pair", two rows: tw_stream_multiply_pair.sv.
// - MULTIPLY "packed2" to "packed4", that many rows, no weight of -2^(WW-1): tw_stream_multiply_packed.sv;
//   `total` is what the activations alone make a sum too large by: of the first row, of those between, of the
//   last.
// - Else tw_stream_multiply.sv; operands are registered first unless MULTIPLY is "lut".
//
// In Verilator the instances of an array are one function: it is not inlined, and `weight` is a variable of
// its own (public), not a slice of the array's that makes every instance's code another one.
module tw_stream_dot_product #(
    parameter int AW = 8,
    parameter int A_BIPOLAR = 0,
    parameter int WW = 8,
    parameter int W_BIPOLAR = 0,
    parameter int PI = 8,
    parameter int ROWS = 1,
    parameter int ACC = 32,
    parameter MULTIPLY = "dsp",
    parameter int TOTALS = 1,
    parameter int TOTAL = 1
) (
    input  logic                             clk,
    input  logic                             enable,
    input  logic                             accumulate,
    input  logic                             fresh,
    input  logic        [         PI*AW-1:0] act,
    input  logic        [    ROWS*PI*WW-1:0] weight /* verilator public_flat_rd */,
    // verilator lint_off UNUSEDSIGNAL
    input  logic        [TOTALS*TOTAL-1:0] total,  // of two forms only
    // verilator lint_on UNUSEDSIGNAL
    output logic        [      ROWS*ACC-1:0] acc
);
  /* verilator no_inline_module */
  localparam bit LUT = 64'(MULTIPLY) == 64'("lut");
  localparam bit COUNTED = A_BIPOLAR != 0 && W_BIPOLAR != 0;
  localparam bit CHOSEN = !COUNTED && W_BIPOLAR != 0 && LUT;
  localparam bit PAIR = 64'(MULTIPLY) == 64'("pair") && !COUNTED;
  localparam bit PACKED = TOTALS == 3;
  localparam int IW = A_BIPOLAR != 0 ? 2 : AW;
  localparam int KW = W_BIPOLAR != 0 ? 2 : WW;
  localparam int TERMS = COUNTED ? (PI + 2) / 3 : PI;
  localparam int TW = COUNTED ? 3 : CHOSEN ? AW : IW + KW;
  localparam int LEVELS = $clog2(TERMS);
  localparam int SW = TW + LEVELS;

  if (PAIR) begin : gen_shared
    for (genvar i = 0; i < PI; i++) begin : gen_lanes
      logic signed [TW-1:0] p0, p1;
      tw_stream_multiply_pair #(
          .A(AW),
          .B(WW)
      ) products (
          .clk,
          .enable,
          .a (act[i*AW+:AW]),
          .b0(weight[i*WW+:WW]),
          .b1(weight[(PI+i)*WW+:WW]),
          .p0,
          .p1
      );
    end
  end

  if (PACKED) begin : gen_packed
    for (genvar i = 0; i < PI; i++) begin : gen_lanes
      logic [ROWS*WW-1:0] weights;
      logic [ROWS*TW-1:0] products;
      for (genvar r = 0; r < ROWS; r++) begin : gen_weights
        assign weights[r*WW+:WW] = weight[(r*PI+i)*WW+:WW];
      end
      tw_stream_multiply_packed #(
          .A(AW),
          .B(WW),
          .ROWS(ROWS)
      ) block (
          .clk,
          .enable,
          .a(act[i*AW+:AW]),
          .b(weights),
          .p(products)
      );
    end
  end

  for (genvar r = 0; r < ROWS; r++) begin : gen_rows
    // Every sum is a net of its own: simulators are fast on those.
    for (genvar v = 0; v <= LEVELS; v++) begin : gen_levels
      for (genvar i = 0; i < (TERMS + (1 << v) - 1) >> v; i++) begin : gen_nodes
        // verilator lint_off UNUSEDSIGNAL
        logic signed [TW+v-1:0] s;  // the last one wraps where ACC has fewer bits
        // verilator lint_on UNUSEDSIGNAL
        if (v == 0 && COUNTED) begin : gen_counted
          localparam int N = 3 * i + 3 <= PI ? 3 : PI - 3 * i;
          logic [N-1:0] same;
          logic signed [2:0] value;
          assign same = ~(act[3*i+:N] ^ weight[r*PI+3*i+:N]);
          always_comb begin
            value = 3'(-N);
            for (int k = 0; k < N; k++) value = value + {1'b0, same[k], 1'b0};
          end
          always_ff @(posedge clk) if (enable) s <= value;
        end else if (v == 0 && CHOSEN) begin : gen_chosen
          assign s = act[i*AW+:AW] & {AW{weight[r*PI+i]}};
        end else if (v == 0 && PAIR) begin : gen_half
          if (r == 0) assign s = gen_shared.gen_lanes[i].p0;
          else assign s = gen_shared.gen_lanes[i].p1;
        end else if (v == 0 && PACKED) begin : gen_part
          assign s = gen_packed.gen_lanes[i].products[r*TW+:TW];
        end else if (v == 0) begin : gen_product
          logic signed [IW-1:0] a, a_operand;
          logic signed [KW-1:0] w, w_operand;
          if (A_BIPOLAR != 0) assign a = {!act[i], 1'b1};
          else assign a = act[i*AW+:AW];
          if (W_BIPOLAR != 0) assign w = {!weight[r*PI+i], 1'b1};
          else assign w = weight[(r*PI+i)*WW+:WW];
          if (LUT) begin : gen_direct
            assign a_operand = a;
            assign w_operand = w;
          end else begin : gen_registered
            always_ff @(posedge clk) begin
              if (enable) begin
                a_operand <= a;
                w_operand <= w;
              end
            end
          end
          tw_stream_multiply #(
              .A(IW),
              .B(KW),
              .MULTIPLY(MULTIPLY)
          ) one (
              .clk,
              .enable,
              .a(a_operand),
              .b(w_operand),
              .p(s)
          );
        end else if (2 * i + 1 < (TERMS + (1 << (v - 1)) - 1) >> (v - 1)) begin : gen_pair
          always_ff @(posedge clk) begin
            if (enable) s <= (TW + v)'(gen_levels[v-1].gen_nodes[2*i].s) + (TW + v)'(gen_levels[v-1].gen_nodes[2*i+1].s);
          end
        end else begin : gen_rest
          always_ff @(posedge clk) if (enable) s <= (TW + v)'(gen_levels[v-1].gen_nodes[2*i].s);
        end
      end
    end

    logic signed [ACC-1:0] addend, sum;
    if (CHOSEN) begin : gen_twice
      // verilator lint_off UNUSEDSIGNAL
      logic signed [SW:0] difference;  // wraps where ACC has fewer bits
      // verilator lint_on UNUSEDSIGNAL
      always_ff @(posedge clk) begin
        if (enable) difference <= $signed({gen_levels[LEVELS].gen_nodes[0].s, 1'b0}) - (SW + 1)'($signed(total));
      end
      assign addend = ACC'(difference);
    end else if (PACKED) begin : gen_corrected
      localparam int PART = r == 0 ? 0 : r == ROWS - 1 ? 2 : 1;
      // verilator lint_off UNUSEDSIGNAL
      logic signed [SW:0] difference;  // wraps where ACC has fewer bits
      // verilator lint_on UNUSEDSIGNAL
      always_ff @(posedge clk) begin
        if (enable) difference <= (SW + 1)'(gen_levels[LEVELS].gen_nodes[0].s) - (SW + 1)'($signed(total[PART*TOTAL+:TOTAL]));
      end
      assign addend = ACC'(difference);
    end else if (SW >= ACC) begin : gen_wraps
      assign addend = gen_levels[LEVELS].gen_nodes[0].s[ACC-1:0];
    end else begin : gen_extended
      assign addend = ACC'(gen_levels[LEVELS].gen_nodes[0].s);
    end
    always_ff @(posedge clk) if (enable && accumulate) sum <= addend + (fresh ? '0 : sum);
    assign acc[r*ACC+:ACC] = sum;
  end
endmodule
