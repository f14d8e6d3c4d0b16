// The data side of the vector ALU: selects the slice of ACC that ALU_LANES lanes work on, keeps the parameter
// vectors of requantisation, and joins the multiplier pipeline with the single-cycle operations.
//
// Slice and ACC words belong to the cycle after an issue (or after a param_read). `result` is what alu_issue
// then has written: single-cycle operations in the same cycle, mul 3, requantize 5 and, through the table, 6
// cycles later.
module tw_overlay_alu_lanes #(
    parameter int SLICES = 1,
    parameter int SLICE_BITS = 1,
    parameter int SCALED_BITS = 36
) (
    input  logic                                                       clk,
    input  logic [3:0]                                                 op,
    // verilator lint_off UNUSEDSIGNAL
    input  logic                                                       is_requantize,  // the plain set has none
    // verilator lint_on UNUSEDSIGNAL
    // Only some wide hardware has a table. It is written by LOADs, while no ALU instruction runs.
    // verilator lint_off UNUSEDSIGNAL
    input  logic                                                       is_lookup,
    input  logic                                                       table_wr_valid,
    input  logic [7:0]                                                 table_wr_index,
    input  logic [7:0]                                                 table_wr_data,
    // The table of words and operations on rows.
    input  logic                                                       is_wide,         // lookup_wide
    input  logic                                                       wide_wr_valid,
    input  logic [31:0]                                                wide_wr_data,
    input  logic                                                       rst,
    input  logic                                                       is_row,
    input  logic [3:0]                                                 row_op,
    input  logic                                                       row_first,
    input  logic                                                       row_in_last,
    input  logic                                                       row_take,
    input  logic [1:0]                                                 row_param,
    // verilator lint_on UNUSEDSIGNAL
    input  logic                                                       use_imm,
    input  logic signed [overlay_config::A_IMM_WIDTH-1:0]              imm,
    input  logic signed [31:0]                                         clip_low,
    input  logic signed [31:0]                                         clip_high,
    // Accumulators that are one slice need no selection, multipliers that are pipelined no start.
    // verilator lint_off UNUSEDSIGNAL
    input  logic [SLICE_BITS-1:0]                                      slice,
    input  logic                                                       entered,     // the cycle after an issue
    // verilator lint_on UNUSEDSIGNAL
    input  logic [SLICES*overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0] acc_a,
    input  logic [SLICES*overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0] acc_b,
    // Only the wide instruction set has parameters. The cycle of the read: data follow in the next.
    // verilator lint_off UNUSEDSIGNAL
    input  logic                                                       param_read,
    input  logic [1:0]                                                 param,
    // verilator lint_on UNUSEDSIGNAL
    output logic [overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0] result
);
  localparam int ACC = overlay_config::ACC_BITS;
  localparam int ALU = overlay_config::ALU_LANES;
  localparam int LANES = SLICES * ALU;

  logic [ALU*ACC-1:0] a, b, y, factor, product, computed;
  // verilator lint_off UNUSEDSIGNAL
  logic [ALU*ACC-1:0] bias;  // of requantize only
  logic [ALU*7-1:0] shift;
  // verilator lint_on UNUSEDSIGNAL
  logic [ALU*SCALED_BITS-1:0] scaled;
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0] row_value;  // of hardware with row_functions
  // verilator lint_on UNUSEDSIGNAL

  if (SLICES == 1) begin : gen_one_slice
    assign a = acc_a;
    assign b = acc_b;
  end else begin : gen_selection
    assign a = acc_a[slice*(ALU*ACC)+:ALU*ACC];
    assign b = acc_b[slice*(ALU*ACC)+:ALU*ACC];
  end
  for (genvar l = 0; l < ALU; l++) begin : gen_lanes
    assign y[l*ACC+:ACC] = use_imm ? ACC'(imm) : b[l*ACC+:ACC];
  end

  if (overlay_config::WIDE != 0) begin : gen_parameters
    logic [LANES*ACC-1:0] kept_bias, kept_factor;
    logic [LANES*7-1:0] kept_shift;
    logic [2:0] arriving;
    always_ff @(posedge clk) begin
      arriving <= {param_read && param == 2'd2, param_read && param == 2'd1, param_read && param == 2'd0};
      if (arriving[0]) kept_bias <= acc_b;
      if (arriving[1]) kept_factor <= acc_b;
    end
    for (genvar l = 0; l < LANES; l++) begin : gen_shifts
      always_ff @(posedge clk) if (arriving[2]) kept_shift[l*7+:7] <= acc_b[l*ACC+:7];
    end
    if (SLICES == 1) begin : gen_one_slice
      assign bias = is_requantize ? kept_bias : '0;
      assign factor = is_requantize ? kept_factor : y;
      assign shift = kept_shift;
    end else begin : gen_selection
      assign bias = is_requantize ? kept_bias[slice*(ALU*ACC)+:ALU*ACC] : '0;
      assign factor = is_requantize ? kept_factor[slice*(ALU*ACC)+:ALU*ACC] : y;
      assign shift = kept_shift[slice*(ALU*7)+:ALU*7];
    end
  end else begin : gen_no_parameters
    assign bias = '0;
    assign factor = y;
    assign shift = '0;
  end

  if (overlay_config::WIDE == 0 && ALU == 1) begin : gen_small_multiplier
    tw_overlay_serial_multiplier multiply (
        .clk(clk),
        .start(entered),
        .a(a),
        .b(factor),
        .product(product)
    );
    assign scaled = '0;
  end else begin : gen_multiplier
    tw_overlay_requantize #(
        .SCALED_BITS(SCALED_BITS)
    ) multiply (
        .clk(clk),
        .acc(a),
        .bias(bias),
        .multiplier(factor),
        .shift(shift),
        .zero(imm),
        .product(product),
        .scaled(scaled)
    );
  end
  tw_overlay_vector_alu #(
      .SCALED_BITS(SCALED_BITS)
  ) operations (
      .op(op),
      .use_imm(use_imm),
      .imm(imm),
      .clip_low(clip_low),
      .clip_high(clip_high),
      .scaled(scaled),
      .a(a),
      .b(b),
      .product(product),
      .result(computed)
  );

  if (overlay_config::ROW_FUNCTIONS != 0) begin : gen_rows
    tw_overlay_row_unit #(
        .SLICE_BITS(SLICE_BITS)
    ) rows (
        .clk(clk),
        .rst(rst),
        .op(row_op),
        .imm(imm[21:0]),
        .number({clip_high, clip_low}),
        .entered(entered && is_row),
        .first(row_first),
        .in_last(row_in_last),
        .take(row_take),
        .slice(slice),
        .lanes(b),
        .param(row_param),
        .value(row_value)
    );
  end else begin : gen_no_rows
    assign row_value = '0;
  end

  if (overlay_config::LOOKUP_TABLE != 0) begin : gen_table
    for (genvar l = 0; l < ALU; l++) begin : gen_lanes
      logic [7:0] entry;
      tw_overlay_lookup_table lookup (
          .clk(clk),
          .wr_valid(table_wr_valid),
          .wr_index(table_wr_index),
          .wr_data(table_wr_data),
          .value(computed[l*ACC+:8]),
          .entry(entry)
      );
      if (overlay_config::ROW_FUNCTIONS != 0) begin : gen_words
        logic [31:0] word;
        tw_overlay_lookup_table #(
            .WIDTH(32)
        ) lookup_wide (
            .clk(clk),
            .wr_valid(wide_wr_valid),
            .wr_index(table_wr_index),
            .wr_data(wide_wr_data),
            .value(computed[l*ACC+:8]),
            .entry(word)
        );
        assign result[l*ACC+:ACC] = is_row ? row_value : is_wide ? word
                                  : is_lookup ? ACC'($signed(entry)) : computed[l*ACC+:ACC];
      end else begin : gen_bytes
        assign result[l*ACC+:ACC] = is_lookup ? ACC'($signed(entry)) : computed[l*ACC+:ACC];
      end
    end
  end else begin : gen_no_table
    assign result = computed;
  end
endmodule
