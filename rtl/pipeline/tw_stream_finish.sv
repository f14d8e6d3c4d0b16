// From sums to results (docs/design/pipeline/pipeline.md): PO sums leave as PO / PF beats or the first of them that the task
// asks for (the others are dropped), each finished by PF lanes side by
// side (tw_stream_finish_integer.sv, tw_stream_finish_fixed.sv). What is constant for a layer comes from the table of tasks, each
// field in the step of the pipeline that uses it, so that tasks follow each other without a bubble.
//
// A beat starts when sums, parameters and, if the task adds, a residual are there; all steps move unless the
// result is held. Sums of several beats wait in a register, whose last beat makes room for the next sums.
module tw_stream_finish #(
    parameter NUMBER = "integer",
    parameter int AW = 8,
    parameter int ACC = 32,
    parameter int PO = 8,
    parameter int PF = 2,
    parameter int RESIDUAL = 0,
    parameter int PRODUCTS = 0,
    parameter int TABLES = 0,
    parameter FILE = "",
    parameter int FRACTION = 22,
    parameter MULTIPLY = "dsp",
    parameter int TASKS = 1,
    parameter TABLE = "",
    parameter int MULTIPLIER_BITS = 32,
    parameter int SUM_BITS = 32,
    parameter int TWICE = 0,
    parameter KIND = "lutram",
    parameter int PARAM = 64'(NUMBER) == 64'("fixed") ? component_config::FINISH_FIXED_LANE_BITS
                                                    : component_config::FINISH_INTEGER_LANE_BITS + MULTIPLIER_BITS
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                acc_valid,
    output logic                acc_ready,
    input  logic [  PO*ACC-1:0] acc_data,
    input  logic                param_valid,
    output logic                param_ready,
    input  logic [PF*PARAM-1:0] param_data,
    // verilator lint_off UNUSEDSIGNAL
    input  logic                residual_valid,
    output logic                residual_ready,
    input  logic [   PF*AW-1:0] residual_data,
    // verilator lint_on UNUSEDSIGNAL
    output logic                out_valid,
    input  logic                out_ready,
    output logic [   PF*AW-1:0] out_data
);
  localparam bit FIXED = 64'(NUMBER) == 64'("fixed");
  localparam bit LUT = 64'(MULTIPLY) == 64'("lut");
  // Steps until the first clip, until the residual is added, and until the result.
  localparam int VALUE = FIXED ? 2 : MULTIPLIER_BITS == 0 ? 4 : LUT ? 5 : 6;
  localparam int LATER = PRODUCTS == 0 ? 0 : LUT ? 1 : 2;
  localparam int ADDED = VALUE + (RESIDUAL == 0 ? 0 : FIXED ? 2 : 5 + LATER);
  localparam int STEPS = ADDED + (TABLES == 0 ? 0 : FIXED ? 8 : 1);
  localparam int ROW = FIXED ? component_config::FINISH_FIXED_BITS : component_config::FINISH_INTEGER_BITS;
  localparam int INDEX = TASKS > 1 ? $clog2(TASKS) : 1;

  logic enable, start, adds, sums_valid;
  logic [INDEX-1:0] task_index;
  // verilator lint_off UNUSEDSIGNAL
  logic [15:0] drain;  // beats per sums, where there are several
  logic alone;         // it is 1
  // verilator lint_on UNUSEDSIGNAL
  logic [PF*ACC-1:0] sums;
  logic [STEPS-1:0] valids;
  assign out_valid = valids[STEPS-1];
  assign enable = !out_valid || out_ready;
  assign start = sums_valid && param_valid && (!adds || residual_valid);
  assign param_ready = enable && sums_valid && (!adds || residual_valid);
  assign residual_ready = enable && sums_valid && adds && param_valid;
  always_ff @(posedge clk) begin
    if (rst) valids <= '0;
    else if (enable) valids <= STEPS'({valids, start});
  end

  if (PO == PF) begin : gen_direct
    assign sums_valid = acc_valid;
    assign sums = acc_data;
    assign acc_ready = enable && param_valid && (!adds || residual_valid);
  end else begin : gen_slices
    localparam int COUNT = PO / PF;
    // `first`, `last`: the next beat is that of the sums that wait. What chooses between new sums and the next
    // beat comes from registers alone, so that one gate is in front of each bit.
    logic held, first, last, load, move;
    logic [$clog2(COUNT)-1:0] slice;
    logic [PO*ACC-1:0] waiting;
    assign sums_valid = held;
    assign sums = waiting[PF*ACC-1:0];
    assign load = !held || last || (first && alone);
    assign move = !held || (enable && start);
    assign acc_ready = load && move;
    always_ff @(posedge clk) begin
      if (rst) begin
        held <= 1'b0;
      end else if (move) begin
        held  <= !load || acc_valid;
        first <= load;
        last  <= !load && (16'(slice) + 16'd2 == drain || slice == ($clog2(COUNT))'(COUNT - 2));
        slice <= load ? '0 : slice + 1'b1;
      end
      if (move) begin
        if (load) waiting <= acc_data;
        else waiting <= {{(PF * ACC) {1'b0}}, waiting[PO*ACC-1:PF*ACC]};
      end
    end
  end

  tw_stream_task_walk #(
      .TASKS(TASKS),
      .ROW(ROW),
      .TABLE(TABLE),
      .BEATS(FIXED ? component_config::FINISH_FIXED_BEATS_LSB : component_config::FINISH_INTEGER_BEATS_LSB),
      .FLAG(FIXED ? component_config::FINISH_FIXED_ADD_LSB : component_config::FINISH_INTEGER_ADD_LSB),
      .DRAIN(FIXED ? component_config::FINISH_FIXED_DRAIN_LSB : component_config::FINISH_INTEGER_DRAIN_LSB),
      .RESIDUAL(RESIDUAL),
      .INDEX(INDEX)
  ) walk (
      .clk,
      .rst,
      .step (enable && start),
      .index(task_index),
      .flag (adds),
      .drain,
      .alone
  );

  // Each field in the step (STAGE) that uses it.
  if (FIXED) begin : gen_fixed
    logic signed [31:0] low;
    logic signed [31:0] high;
    logic raw;
    logic add;
    logic signed [31:0] add_low;
    logic signed [31:0] add_high;
    logic lookup;
    logic [7:0] number;
    logic [4:0] split_shift;
    logic [4:0] clamp_shift;
    logic [4:0] scale_shift;
    tw_stream_row_field #(
        .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_FIXED_LOW_LSB),
        .WIDTH(component_config::FINISH_FIXED_LOW_WIDTH), .STAGE(1), .INDEX(INDEX)
    ) low_field (.clk, .enable, .index(task_index), .field(low));
    tw_stream_row_field #(
        .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_FIXED_HIGH_LSB),
        .WIDTH(component_config::FINISH_FIXED_HIGH_WIDTH), .STAGE(1), .INDEX(INDEX)
    ) high_field (.clk, .enable, .index(task_index), .field(high));
    tw_stream_row_field #(
        .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_FIXED_RAW_LSB),
        .WIDTH(component_config::FINISH_FIXED_RAW_WIDTH), .STAGE(1), .INDEX(INDEX)
    ) raw_field (.clk, .enable, .index(task_index), .field(raw));
    if (RESIDUAL != 0) begin : gen_addition
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_FIXED_ADD_LSB),
          .WIDTH(component_config::FINISH_FIXED_ADD_WIDTH), .STAGE(3), .INDEX(INDEX)
      ) add_field (.clk, .enable, .index(task_index), .field(add));
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_FIXED_ADD_LOW_LSB),
          .WIDTH(component_config::FINISH_FIXED_ADD_LOW_WIDTH), .STAGE(3), .INDEX(INDEX)
      ) add_low_field (.clk, .enable, .index(task_index), .field(add_low));
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_FIXED_ADD_HIGH_LSB),
          .WIDTH(component_config::FINISH_FIXED_ADD_HIGH_WIDTH), .STAGE(3), .INDEX(INDEX)
      ) add_high_field (.clk, .enable, .index(task_index), .field(add_high));
    end else begin : gen_no_addition
      assign add = '0;
      assign add_low = '0;
      assign add_high = '0;
    end
    if (TABLES != 0) begin : gen_tables
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_FIXED_LOOKUP_LSB),
          .WIDTH(component_config::FINISH_FIXED_LOOKUP_WIDTH), .STAGE(ADDED + 7), .INDEX(INDEX)
      ) lookup_field (.clk, .enable, .index(task_index), .field(lookup));
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_FIXED_TABLE_LSB),
          .WIDTH(component_config::FINISH_FIXED_TABLE_WIDTH), .STAGE(ADDED + 1), .INDEX(INDEX)
      ) number_field (.clk, .enable, .index(task_index), .field(number));
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_FIXED_INPUT_SHIFT_LSB),
          .WIDTH(component_config::FINISH_FIXED_INPUT_SHIFT_WIDTH), .STAGE(ADDED), .INDEX(INDEX)
      ) split_shift_field (.clk, .enable, .index(task_index), .field(split_shift));
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_FIXED_INPUT_SHIFT_LSB),
          .WIDTH(component_config::FINISH_FIXED_INPUT_SHIFT_WIDTH), .STAGE(ADDED + 1), .INDEX(INDEX)
      ) clamp_shift_field (.clk, .enable, .index(task_index), .field(clamp_shift));
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_FIXED_INPUT_SHIFT_LSB),
          .WIDTH(component_config::FINISH_FIXED_INPUT_SHIFT_WIDTH), .STAGE(ADDED + 6), .INDEX(INDEX)
      ) scale_shift_field (.clk, .enable, .index(task_index), .field(scale_shift));
    end else begin : gen_no_tables
      assign lookup = '0;
      assign number = '0;
      assign split_shift = '0;
      assign clamp_shift = '0;
      assign scale_shift = '0;
    end
    for (genvar l = 0; l < PF; l++) begin : gen_lanes
      tw_stream_finish_fixed #(
          .FRACTION(FRACTION),
          .RESIDUAL(RESIDUAL),
          .TABLES(TABLES),
          .FILE(FILE),
          .KIND(KIND),
          .MULTIPLY(MULTIPLY)
      ) lane (
          .clk,
          .enable,
          .acc(sums[l*ACC+:ACC]),
          .param(param_data[l*PARAM+:PARAM]),
          .residual(residual_data[l*AW+:AW]),
          .low,
          .high,
          .raw,
          .add,
          .add_low,
          .add_high,
          .lookup,
          .number,
          .split_shift,
          .clamp_shift,
          .scale_shift,
          .out(out_data[l*AW+:AW])
      );
    end
  end else begin : gen_integers
    logic signed [7:0] zero;
    logic signed [7:0] low;
    logic signed [7:0] high;
    logic bipolar;
    logic add;
    logic signed [23:0] add_a;
    logic signed [23:0] add_b;
    logic signed [31:0] add_bias;
    logic product;
    logic signed [31:0] product_factor;
    logic [5:0] add_shift;
    logic signed [7:0] add_zero;
    logic signed [7:0] add_low;
    logic signed [7:0] add_high;
    logic lookup;
    logic [7:0] number;
    tw_stream_row_field #(
        .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_ZERO_LSB),
        .WIDTH(component_config::FINISH_INTEGER_ZERO_WIDTH), .STAGE(VALUE - 1), .INDEX(INDEX)
    ) zero_field (.clk, .enable, .index(task_index), .field(zero));
    tw_stream_row_field #(
        .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_LOW_LSB),
        .WIDTH(component_config::FINISH_INTEGER_LOW_WIDTH), .STAGE(VALUE - 1), .INDEX(INDEX)
    ) low_field (.clk, .enable, .index(task_index), .field(low));
    tw_stream_row_field #(
        .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_HIGH_LSB),
        .WIDTH(component_config::FINISH_INTEGER_HIGH_WIDTH), .STAGE(VALUE - 1), .INDEX(INDEX)
    ) high_field (.clk, .enable, .index(task_index), .field(high));
    tw_stream_row_field #(
        .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_BIPOLAR_LSB),
        .WIDTH(component_config::FINISH_INTEGER_BIPOLAR_WIDTH), .STAGE(STEPS), .INDEX(INDEX)
    ) bipolar_field (.clk, .enable, .index(task_index), .field(bipolar));
    if (RESIDUAL != 0) begin : gen_addition
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_ADD_LSB),
          .WIDTH(component_config::FINISH_INTEGER_ADD_WIDTH), .STAGE(ADDED), .INDEX(INDEX)
      ) add_field (.clk, .enable, .index(task_index), .field(add));
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_ADD_A_LSB),
          .WIDTH(component_config::FINISH_INTEGER_ADD_A_WIDTH), .STAGE(VALUE), .INDEX(INDEX)
      ) add_a_field (.clk, .enable, .index(task_index), .field(add_a));
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_ADD_B_LSB),
          .WIDTH(component_config::FINISH_INTEGER_ADD_B_WIDTH), .STAGE(VALUE), .INDEX(INDEX)
      ) add_b_field (.clk, .enable, .index(task_index), .field(add_b));
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_ADD_BIAS_LSB),
          .WIDTH(component_config::FINISH_INTEGER_ADD_BIAS_WIDTH), .STAGE(VALUE + 1), .INDEX(INDEX)
      ) add_bias_field (.clk, .enable, .index(task_index), .field(add_bias));
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_ADD_SHIFT_LSB),
          .WIDTH(component_config::FINISH_INTEGER_ADD_SHIFT_WIDTH), .STAGE(VALUE + 2 + LATER), .INDEX(INDEX)
      ) add_shift_field (.clk, .enable, .index(task_index), .field(add_shift));
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_ADD_ZERO_LSB),
          .WIDTH(component_config::FINISH_INTEGER_ADD_ZERO_WIDTH), .STAGE(VALUE + 4 + LATER), .INDEX(INDEX)
      ) add_zero_field (.clk, .enable, .index(task_index), .field(add_zero));
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_ADD_LOW_LSB),
          .WIDTH(component_config::FINISH_INTEGER_ADD_LOW_WIDTH), .STAGE(VALUE + 4 + LATER), .INDEX(INDEX)
      ) add_low_field (.clk, .enable, .index(task_index), .field(add_low));
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_ADD_HIGH_LSB),
          .WIDTH(component_config::FINISH_INTEGER_ADD_HIGH_WIDTH), .STAGE(VALUE + 4 + LATER), .INDEX(INDEX)
      ) add_high_field (.clk, .enable, .index(task_index), .field(add_high));
      if (PRODUCTS != 0) begin : gen_products
        tw_stream_row_field #(
            .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_PRODUCT_LSB),
            .WIDTH(component_config::FINISH_INTEGER_PRODUCT_WIDTH), .STAGE(VALUE + 2 + LATER), .INDEX(INDEX)
        ) product_field (.clk, .enable, .index(task_index), .field(product));
        tw_stream_row_field #(
            .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_ADD_BIAS_LSB),
            .WIDTH(component_config::FINISH_INTEGER_ADD_BIAS_WIDTH), .STAGE(VALUE + 2), .INDEX(INDEX)
        ) product_factor_field (.clk, .enable, .index(task_index), .field(product_factor));
      end else begin : gen_no_products
        assign product = '0;
        assign product_factor = '0;
      end
    end else begin : gen_no_addition
      assign add = '0;
      assign add_a = '0;
      assign add_b = '0;
      assign add_bias = '0;
      assign product = '0;
      assign product_factor = '0;
      assign add_shift = '0;
      assign add_zero = '0;
      assign add_low = '0;
      assign add_high = '0;
    end
    if (TABLES != 0) begin : gen_tables
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_LOOKUP_LSB),
          .WIDTH(component_config::FINISH_INTEGER_LOOKUP_WIDTH), .STAGE(STEPS), .INDEX(INDEX)
      ) lookup_field (.clk, .enable, .index(task_index), .field(lookup));
      tw_stream_row_field #(
          .TASKS(TASKS), .ROW(ROW), .TABLE(TABLE), .LOW(component_config::FINISH_INTEGER_TABLE_LSB),
          .WIDTH(component_config::FINISH_INTEGER_TABLE_WIDTH), .STAGE(ADDED), .INDEX(INDEX)
      ) number_field (.clk, .enable, .index(task_index), .field(number));
    end else begin : gen_no_tables
      assign lookup = '0;
      assign number = '0;
    end
    for (genvar l = 0; l < PF; l++) begin : gen_lanes
      tw_stream_finish_integer #(
          .AW(AW),
          .ACC(ACC),
          .SUM_BITS(SUM_BITS),
          .MULTIPLIER_BITS(MULTIPLIER_BITS),
          .MULTIPLY(MULTIPLY),
          .TWICE(TWICE),
          .RESIDUAL(RESIDUAL),
          .PRODUCTS(PRODUCTS),
          .TABLES(TABLES),
          .FILE(FILE),
          .KIND(KIND),
          .VALUE(VALUE)
      ) lane (
          .clk,
          .enable,
          .acc(sums[l*ACC+:ACC]),
          .param(param_data[l*PARAM+:PARAM]),
          .residual(residual_data[l*AW+:AW]),
          .zero,
          .low,
          .high,
          .bipolar,
          .add,
          .add_a,
          .add_b,
          .add_bias,
          .product,
          .product_factor,
          .add_shift,
          .add_zero,
          .add_low,
          .add_high,
          .lookup,
          .number,
          .out(out_data[l*AW+:AW])
      );
    end
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(PF * AW)) out_rules (.clk, .rst, .valid(out_valid), .ready(out_ready), .data(out_data));
`endif
endmodule
