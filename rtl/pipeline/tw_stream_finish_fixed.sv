// One lane of finish with wide fixed point: a sum of 64 bits and a bias become a number of 32 bits, to which a
// residual is added, and to which a table of 513 points is applied (docs/reference/arithmetic.md). Every field of the
// task's row is given in the step that uses it (tw_stream_finish.sv).
module tw_stream_finish_fixed #(
    parameter int FRACTION = 22,
    parameter int RESIDUAL = 0,
    parameter int TABLES = 0,
    parameter FILE = "",
    parameter KIND = "block",
    parameter MULTIPLY = "dsp"
) (
    input  logic               clk,
    input  logic               enable,
    input  logic signed [63:0] acc,
    input  logic        [31:0] param,
    input  logic signed [31:0] low,
    input  logic signed [31:0] high,
    input  logic               raw,  // a maximum: the sum is the value
    // Of additions and tables, where they are built.
    // verilator lint_off UNUSEDSIGNAL
    input  logic signed [31:0] residual,
    input  logic               add,
    input  logic signed [31:0] add_low,
    input  logic signed [31:0] add_high,
    input  logic               lookup,
    input  logic        [ 7:0] number,
    input  logic        [ 4:0] split_shift,   // input_shift, in the three steps that need it
    input  logic        [ 4:0] clamp_shift,
    input  logic        [ 4:0] scale_shift,
    // verilator lint_on UNUSEDSIGNAL
    output logic signed [31:0] out
);
  // The bias, and half a unit of the result below it.
  logic [63:0] offset;
  if (FRACTION == 0) assign offset = 64'($signed(param));
  else assign offset = {{(32 - FRACTION) {param[31]}}, param, 1'b1, {(FRACTION - 1) {1'b0}}};

  localparam int SW = 64 - FRACTION;
  // verilator lint_off UNUSEDSIGNAL
  logic [63:0] sum;
  // verilator lint_on UNUSEDSIGNAL
  logic signed [SW-1:0] scaled;
  logic signed [31:0] value, added, unscaled;
  assign scaled = sum[63:FRACTION];
  // Without the half that rounds.
  assign unscaled = sum[31:0] - (FRACTION == 0 ? 32'd0 : 32'd1 << (FRACTION - 1));
  always_ff @(posedge clk) begin
    if (enable) begin
      sum <= acc + offset;
      if (raw) value <= unscaled;
      else value <= scaled < SW'(low) ? low : scaled > SW'(high) ? high : scaled[31:0];
    end
  end

  if (RESIDUAL != 0) begin : gen_addition
    logic [31:0] other;
    logic signed [31:0] unadded;
    logic signed [32:0] total;
    tw_stream_delay_line #(
        .WIDTH(32),
        .STEPS(2)
    ) residual_line (
        .clk,
        .enable,
        .in (residual),
        .out(other)
    );
    always_ff @(posedge clk) begin
      if (enable) begin
        total <= 33'(value) + 33'($signed(other));
        unadded <= value;
        if (!add) added <= unadded;
        else added <= total < 33'(add_low) ? add_low : total > 33'(add_high) ? add_high : total[31:0];
      end
    end
  end else begin : gen_no_addition
    assign added = value;
  end

  if (TABLES != 0) begin : gen_table_lookup
    localparam int DEPTH = TABLES * 513;
    localparam int INDEX = $clog2(DEPTH);
    logic signed [31:0] whole, unchanged, base;
    logic [22:0] rest, inner_rest, rest_line;
    logic [22:0] mask, clamp_mask;
    logic [INDEX-1:0] address, origin;
    logic signed [31:0] entry, next_entry;
    logic signed [32:0] difference;
    logic signed [56:0] product;
    logic [56:0] early_product;
    // verilator lint_off UNUSEDSIGNAL
    logic signed [33:0] slope;  // the highest bit is not needed: the result lies between two entries
    // verilator lint_on UNUSEDSIGNAL
    assign mask = ~(23'h7fffff << split_shift);
    assign clamp_mask = ~(23'h7fffff << clamp_shift);
    assign origin = INDEX'({number, 9'd0}) + INDEX'(number);
    tw_stream_delay_line #(
        .WIDTH(32),
        .STEPS(7)
    ) unchanged_line (
        .clk,
        .enable,
        .in (added),
        .out(unchanged)
    );
    // 1 position among the points and rest, 2 clamped, 3 the entries, 4 their difference, 6 product, 7 scaled.
    always_ff @(posedge clk) begin
      if (enable) begin
        whole <= added >>> split_shift;
        rest <= added[22:0] & mask;
        if (whole < -256) begin
          address <= origin;
          inner_rest <= '0;
        end else if (whole > 255) begin
          address <= origin + INDEX'(511);
          inner_rest <= clamp_mask;
        end else begin
          address <= origin + INDEX'({!whole[8], whole[7:0]});
          inner_rest <= rest;
        end
        difference <= 33'(next_entry) - 33'(entry);
      end
    end
    if (64'(KIND) == 64'("lutram")) begin : gen_gates
      (* ram_style = "registers" *)
      logic [31:0] entries[0:DEPTH-1];
      initial $readmemh(FILE, entries);
      always_ff @(posedge clk) if (enable) {entry, next_entry} <= {entries[address], entries[address+1'b1]};
    end else begin : gen_block
      (* ram_style = "block" *)
      logic [31:0] entries[0:DEPTH-1];
      initial $readmemh(FILE, entries);
      always_ff @(posedge clk) if (enable) {entry, next_entry} <= {entries[address], entries[address+1'b1]};
    end
    tw_stream_delay_line #(
        .WIDTH(23),
        .STEPS(2)
    ) until_difference (
        .clk,
        .enable,
        .in (inner_rest),
        .out(rest_line)
    );
    tw_stream_multiply #(
        .A(33),
        .B(24),
        .MULTIPLY(MULTIPLY)
    ) interpolation (
        .clk,
        .enable,
        .a(difference),
        .b($signed({1'b0, rest_line})),
        .p(early_product)
    );
    tw_stream_delay_line #(
        .WIDTH(57),
        .STEPS(64'(MULTIPLY) == 64'("lut") ? 1 : 0)
    ) product_line (
        .clk,
        .enable,
        .in (early_product),
        .out(product)
    );
    tw_stream_delay_line #(
        .WIDTH(32),
        .STEPS(4)
    ) base_line (
        .clk,
        .enable,
        .in (entry),
        .out(base)
    );
    always_ff @(posedge clk) begin
      if (enable) begin
        slope <= 34'($signed({product, 1'b0}) >>> scale_shift);
        out <= lookup ? base + slope[32:1] + 32'(slope[0]) : unchanged;
      end
    end
  end else begin : gen_no_table
    assign out = added;
  end
endmodule
