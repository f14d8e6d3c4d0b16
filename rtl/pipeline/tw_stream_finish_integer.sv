// One lane of finish with integers: bias, multiplier, shift and clip of a sum, the addition of a residual or
// (PRODUCTS) the product with it, and a table (docs/reference/arithmetic.md). TWICE: shifts from 32 on round twice. Every field of the task's row is given in the step that uses it (tw_stream_finish.sv).
module tw_stream_finish_integer #(
    parameter int AW = 8,
    parameter int ACC = 32,
    parameter int SUM_BITS = 32,
    parameter int MULTIPLIER_BITS = 32,
    parameter MULTIPLY = "dsp",
    parameter int TWICE = 0,
    parameter int RESIDUAL = 0,
    parameter int PRODUCTS = 0,
    parameter int TABLES = 0,
    parameter FILE = "",
    parameter KIND = "lutram",
    parameter int VALUE = 6,  // steps until the first clip
    parameter int PARAM = component_config::FINISH_INTEGER_LANE_BITS + MULTIPLIER_BITS
) (
    input  logic                    clk,
    input  logic                    enable,
    // Sums and biases that need fewer bits than they come with.
    // verilator lint_off UNUSEDSIGNAL
    input  logic signed [  ACC-1:0] acc,
    input  logic        [PARAM-1:0] param,
    // verilator lint_on UNUSEDSIGNAL
    input  logic signed [      7:0] zero,
    input  logic signed [      7:0] low,
    input  logic signed [      7:0] high,
    // Of additions and tables, where they are built.
    // verilator lint_off UNUSEDSIGNAL
    input  logic signed [   AW-1:0] residual,
    input  logic                    add,
    input  logic signed [     23:0] add_a,
    input  logic signed [     23:0] add_b,
    input  logic signed [     31:0] add_bias,
    input  logic                    product,  // of the task
    input  logic signed [     31:0] product_factor,
    input  logic        [      5:0] add_shift,
    input  logic signed [      7:0] add_zero,
    input  logic signed [      7:0] add_low,
    input  logic signed [      7:0] add_high,
    input  logic                    lookup,
    input  logic        [      7:0] number,
    input  logic                    bipolar,
    // verilator lint_on UNUSEDSIGNAL
    output logic        [   AW-1:0] out
);
  localparam int MW = MULTIPLIER_BITS == 0 ? 1 : MULTIPLIER_BITS;
  localparam int PW = MULTIPLIER_BITS == 0 ? SUM_BITS : SUM_BITS + MW;
  localparam int BIAS_AT = component_config::FINISH_INTEGER_LANE_BIAS_LSB;
  localparam int SHIFT_AT = component_config::FINISH_INTEGER_LANE_SHIFT_LSB + MULTIPLIER_BITS;
  localparam int SHIFT_BITS = component_config::FINISH_INTEGER_LANE_SHIFT_WIDTH;
  logic signed [SUM_BITS-1:0] sum;
  logic signed [PW-1:0] scaled_sum;
  logic [5:0] shift;
  logic signed [7:0] value, added;
  // verilator lint_off UNUSEDSIGNAL
  logic signed [7:0] looked_up;  // narrow elements are clipped to their bits
  // verilator lint_on UNUSEDSIGNAL

  if (ACC >= SUM_BITS) begin : gen_narrowed
    always_ff @(posedge clk) if (enable) sum <= acc[SUM_BITS-1:0] + param[BIAS_AT+:SUM_BITS];
  end else begin : gen_widened
    always_ff @(posedge clk) if (enable) sum <= SUM_BITS'(acc) + param[BIAS_AT+:SUM_BITS];
  end
  if (MULTIPLIER_BITS > 0) begin : gen_multiplied
    localparam bit ONE_BLOCK = (SUM_BITS <= 25 && MW <= 18) || (SUM_BITS <= 18 && MW <= 25);
    logic signed [MW-1:0] multiplier;
    logic signed [PW-1:0] product_of_sum;
    always_ff @(posedge clk) if (enable) multiplier <= param[component_config::FINISH_INTEGER_LANE_MULTIPLIER_LSB+:MW];
    tw_stream_multiply #(
        .A(SUM_BITS),
        .B(MW),
        .MULTIPLY(MULTIPLY)
    ) scaling (
        .clk,
        .enable,
        .a(sum),
        .b(multiplier),
        .p(product_of_sum)
    );
    // As late as from several blocks.
    tw_stream_delay_line #(
        .WIDTH(PW),
        .STEPS(64'(MULTIPLY) != 64'("lut") && ONE_BLOCK ? 1 : 0)
    ) product_line (
        .clk,
        .enable,
        .in (product_of_sum),
        .out(scaled_sum)
    );
  end else begin : gen_shifted_only
    assign scaled_sum = sum;
  end
  tw_stream_delay_line #(
      .WIDTH(SHIFT_BITS),
      .STEPS(VALUE - 3)
  ) shift_line (
      .clk,
      .enable,
      .in (param[SHIFT_AT+:SHIFT_BITS]),
      .out(shift)
  );
  // The first of two roundings, to a multiple of 2^31: up by bit 30. It lowers what is negative by one, which makes
  // the halves of the second one go away from zero.
  localparam int WHOLE = TWICE != 0 && PW < 33 ? 33 : PW;
  logic signed [WHOLE-1:0] whole, scaled;
  assign whole = WHOLE'(scaled_sum);
  if (TWICE != 0) begin : gen_twice
    logic signed [WHOLE-32:0] high_part;
    assign high_part = $signed(whole[WHOLE-1:31]) +
        $signed({{(WHOLE - 32){whole[WHOLE-1] && !whole[30]}}, whole[WHOLE-1] ^ whole[30]});
    assign scaled = shift[5] ? {high_part, 31'd0} : whole;
  end else begin : gen_once
    assign scaled = whole;
  end
  tw_stream_scale_round #(
      .W(WHOLE)
  ) first_clip (
      .clk,
      .enable,
      .value(scaled),
      .shift,
      .zero,
      .low,
      .high,
      .result(value)
  );

  if (RESIDUAL != 0) begin : gen_addition
    logic [AW-1:0] other;
    logic signed [31:0] product_a;
    logic signed [AW+23:0] product_b;
    // Steps that a product takes longer than an addition: both become due together.
    localparam int LATER = PRODUCTS == 0 ? 0 : 64'(MULTIPLY) == 64'("lut") ? 1 : 2;
    localparam int SUM = PRODUCTS == 0 ? 34 : 50;
    logic signed [33:0] total;
    logic signed [SUM-1:0] due;
    logic [7:0] unadded;
    logic signed [7:0] clipped;
    tw_stream_delay_line #(
        .WIDTH(AW),
        .STEPS(VALUE)
    ) residual_line (
        .clk,
        .enable,
        .in (residual),
        .out(other)
    );
    tw_stream_multiply #(
        .A(24),
        .B(8),
        .MULTIPLY(MULTIPLY)
    ) scaled_value (
        .clk,
        .enable,
        .a(add_a),
        .b(value),
        .p(product_a)
    );
    tw_stream_multiply #(
        .A(24),
        .B(AW),
        .MULTIPLY(MULTIPLY)
    ) scaled_residual (
        .clk,
        .enable,
        .a(add_b),
        .b(other),
        .p(product_b)
    );
    always_ff @(posedge clk) begin
      if (enable) total <= 34'(product_a) + 34'(product_b) + 34'(add_bias);
    end
    if (PRODUCTS != 0) begin : gen_product
      logic signed [8:0] difference_a, difference_b;
      logic signed [17:0] both;
      logic signed [49:0] scaled_both;
      logic [33:0] sum_line;
      always_ff @(posedge clk) begin
        if (enable) begin
          difference_a <= 9'(value) - 9'($signed(add_a[7:0]));
          difference_b <= 9'($signed(other)) - 9'($signed(add_b[7:0]));
        end
      end
      tw_stream_multiply #(
          .A(9),
          .B(9),
          .MULTIPLY(MULTIPLY)
      ) of_differences (
          .clk,
          .enable,
          .a(difference_a),
          .b(difference_b),
          .p(both)
      );
      tw_stream_multiply #(
          .A(18),
          .B(32),
          .MULTIPLY(MULTIPLY)
      ) scaled_product (
          .clk,
          .enable,
          .a(both),
          .b(product_factor),
          .p(scaled_both)
      );
      tw_stream_delay_line #(
          .WIDTH(34),
          .STEPS(LATER)
      ) total_line (
          .clk,
          .enable,
          .in (total),
          .out(sum_line)
      );
      assign due = product ? scaled_both : SUM'($signed(sum_line));
    end else begin : gen_no_product
      assign due = total;
    end
    tw_stream_scale_round #(
        .W(SUM)
    ) second_clip (
        .clk,
        .enable,
        .value (due),
        .shift (add_shift),
        .zero  (add_zero),
        .low   (add_low),
        .high  (add_high),
        .result(clipped)
    );
    tw_stream_delay_line #(
        .WIDTH(8),
        .STEPS(5 + LATER)
    ) value_line (
        .clk,
        .enable,
        .in (value),
        .out(unadded)
    );
    assign added = add ? clipped : unadded;
  end else begin : gen_no_addition
    assign added = value;
  end

  if (TABLES != 0) begin : gen_table_lookup
    localparam int DEPTH = TABLES * 256;
    localparam int INDEX = $clog2(DEPTH);
    logic [INDEX-1:0] address;
    logic [7:0] found, unchanged;
    assign address = INDEX'({number, !added[7], added[6:0]});
    if (64'(KIND) == 64'("lutram")) begin : gen_gates
      (* ram_style = "registers" *)
      logic [7:0] entries[0:DEPTH-1];
      initial $readmemh(FILE, entries);
      always_ff @(posedge clk) if (enable) found <= entries[address];
    end else begin : gen_block
      (* ram_style = "block" *)
      logic [7:0] entries[0:DEPTH-1];
      initial $readmemh(FILE, entries);
      always_ff @(posedge clk) if (enable) found <= entries[address];
    end
    always_ff @(posedge clk) if (enable) unchanged <= added;
    assign looked_up = lookup ? found : unchanged;
  end else begin : gen_no_table
    assign looked_up = added;
  end

  // A bipolar result is 0 or 1 so far: with one bit it stays so, with more it becomes -1 or +1.
  if (AW == 1) begin : gen_one_bit
    assign out = looked_up[0];
  end else begin : gen_several_bits
    assign out = bipolar ? {{(AW - 1) {!looked_up[0]}}, 1'b1} : looked_up[AW-1:0];
  end
endmodule
