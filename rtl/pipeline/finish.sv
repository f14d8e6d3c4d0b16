// From sums to results (docs/pipeline.md): PO sums leave as PO / PF beats or the first of them that the task
// asks for (the others are dropped), each finished by PF lanes side by
// side (finish_integer.sv, finish_fixed.sv). What is constant for a layer comes from the table of tasks, each
// field in the step of the pipeline that uses it, so that tasks follow each other without a bubble.
//
// A beat starts when sums, parameters and, if the task adds, a residual are there; all steps move unless the
// result is held. Sums of several beats wait in a register, whose last beat makes room for the next sums.
module finish #(
    parameter NUMBER = "integer",
    parameter int AW = 8,
    parameter int ACC = 32,
    parameter int PO = 8,
    parameter int PF = 2,
    parameter int RESIDUAL = 0,
    parameter int TABLES = 0,
    parameter FILE = "",
    parameter int FRACTION = 22,
    parameter MULTIPLY = "dsp",
    parameter int TASKS = 1,
    parameter TABLE = "",
    parameter int MULTIPLIER_BITS = 32,
    parameter int SUM_BITS = 32,
    parameter KIND = "lutram",
    parameter int PARAM = 64'(NUMBER) == 64'("fixed") ? 32 : 32 + MULTIPLIER_BITS + 6
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
  localparam bit ONE_BLOCK =
      (SUM_BITS <= 25 && MULTIPLIER_BITS <= 18) || (SUM_BITS <= 18 && MULTIPLIER_BITS <= 25);
  // Steps until the first clip, until the residual is added, and until the result.
  localparam int VALUE = FIXED ? 2 : MULTIPLIER_BITS == 0 ? 4 : LUT || ONE_BLOCK ? 5 : 6;
  localparam int ADDED = VALUE + (RESIDUAL == 0 ? 0 : FIXED ? 2 : 5);
  localparam int STEPS = ADDED + (TABLES == 0 ? 0 : FIXED ? 8 : 1);
  localparam int DRAIN = FIXED ? 176 : 177;
  localparam int ROW = DRAIN + 16;
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

  if (PO == PF) begin : direct
    assign sums_valid = acc_valid;
    assign sums = acc_data;
    assign acc_ready = enable && param_valid && (!adds || residual_valid);
  end else begin : slices
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

  task_walk #(
      .TASKS(TASKS),
      .ROW(ROW),
      .TABLE(TABLE),
      .FLAG(FIXED ? 96 : 57),
      .DRAIN(DRAIN),
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

  // Fields: lowest bit in the row, bits, the step that uses it.
  if (FIXED) begin : fixed
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
    row_field #(TASKS, ROW, TABLE, 32, 32, 1, INDEX) low_field (clk, enable, task_index, low);
    row_field #(TASKS, ROW, TABLE, 64, 32, 1, INDEX) high_field (clk, enable, task_index, high);
    row_field #(TASKS, ROW, TABLE, 175, 1, 1, INDEX) raw_field (clk, enable, task_index, raw);
    if (RESIDUAL != 0) begin : addition
      row_field #(TASKS, ROW, TABLE, 96, 1, 3, INDEX) add_field (clk, enable, task_index, add);
      row_field #(TASKS, ROW, TABLE, 97, 32, 3, INDEX) add_low_field (clk, enable, task_index, add_low);
      row_field #(TASKS, ROW, TABLE, 129, 32, 3, INDEX) add_high_field (clk, enable, task_index, add_high);
    end else begin : no_addition
      assign add = '0;
      assign add_low = '0;
      assign add_high = '0;
    end
    if (TABLES != 0) begin : tables
      row_field #(TASKS, ROW, TABLE, 161, 1, ADDED + 7, INDEX)
          lookup_field (clk, enable, task_index, lookup);
      row_field #(TASKS, ROW, TABLE, 162, 8, ADDED + 1, INDEX)
          number_field (clk, enable, task_index, number);
      row_field #(TASKS, ROW, TABLE, 170, 5, ADDED, INDEX)
          split_shift_field (clk, enable, task_index, split_shift);
      row_field #(TASKS, ROW, TABLE, 170, 5, ADDED + 1, INDEX)
          clamp_shift_field (clk, enable, task_index, clamp_shift);
      row_field #(TASKS, ROW, TABLE, 170, 5, ADDED + 6, INDEX)
          scale_shift_field (clk, enable, task_index, scale_shift);
    end else begin : no_tables
      assign lookup = '0;
      assign number = '0;
      assign split_shift = '0;
      assign clamp_shift = '0;
      assign scale_shift = '0;
    end
    for (genvar l = 0; l < PF; l++) begin : lanes
      finish_fixed #(
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
  end else begin : integers
    logic signed [7:0] zero;
    logic signed [7:0] low;
    logic signed [7:0] high;
    logic bipolar;
    logic add;
    logic signed [23:0] add_a;
    logic signed [23:0] add_b;
    logic signed [31:0] add_bias;
    logic [5:0] add_shift;
    logic signed [7:0] add_zero;
    logic signed [7:0] add_low;
    logic signed [7:0] add_high;
    logic lookup;
    logic [7:0] number;
    row_field #(TASKS, ROW, TABLE, 32, 8, VALUE - 1, INDEX) zero_field (clk, enable, task_index, zero);
    row_field #(TASKS, ROW, TABLE, 40, 8, VALUE - 1, INDEX) low_field (clk, enable, task_index, low);
    row_field #(TASKS, ROW, TABLE, 48, 8, VALUE - 1, INDEX) high_field (clk, enable, task_index, high);
    row_field #(TASKS, ROW, TABLE, 56, 1, STEPS, INDEX) bipolar_field (clk, enable, task_index, bipolar);
    if (RESIDUAL != 0) begin : addition
      row_field #(TASKS, ROW, TABLE, 57, 1, ADDED, INDEX) add_field (clk, enable, task_index, add);
      row_field #(TASKS, ROW, TABLE, 58, 24, VALUE, INDEX) add_a_field (clk, enable, task_index, add_a);
      row_field #(TASKS, ROW, TABLE, 82, 24, VALUE, INDEX) add_b_field (clk, enable, task_index, add_b);
      row_field #(TASKS, ROW, TABLE, 106, 32, VALUE + 1, INDEX)
          add_bias_field (clk, enable, task_index, add_bias);
      row_field #(TASKS, ROW, TABLE, 138, 6, VALUE + 2, INDEX)
          add_shift_field (clk, enable, task_index, add_shift);
      row_field #(TASKS, ROW, TABLE, 144, 8, VALUE + 4, INDEX)
          add_zero_field (clk, enable, task_index, add_zero);
      row_field #(TASKS, ROW, TABLE, 152, 8, VALUE + 4, INDEX)
          add_low_field (clk, enable, task_index, add_low);
      row_field #(TASKS, ROW, TABLE, 160, 8, VALUE + 4, INDEX)
          add_high_field (clk, enable, task_index, add_high);
    end else begin : no_addition
      assign add = '0;
      assign add_a = '0;
      assign add_b = '0;
      assign add_bias = '0;
      assign add_shift = '0;
      assign add_zero = '0;
      assign add_low = '0;
      assign add_high = '0;
    end
    if (TABLES != 0) begin : tables
      row_field #(TASKS, ROW, TABLE, 168, 1, STEPS, INDEX) lookup_field (clk, enable, task_index, lookup);
      row_field #(TASKS, ROW, TABLE, 169, 8, ADDED, INDEX) number_field (clk, enable, task_index, number);
    end else begin : no_tables
      assign lookup = '0;
      assign number = '0;
    end
    for (genvar l = 0; l < PF; l++) begin : lanes
      finish_integer #(
          .AW(AW),
          .ACC(ACC),
          .SUM_BITS(SUM_BITS),
          .MULTIPLIER_BITS(MULTIPLIER_BITS),
          .MULTIPLY(MULTIPLY),
          .RESIDUAL(RESIDUAL),
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
