// The single-cycle operations of ALU_LANES lanes, combinational: min, max, add, shr, move, clip, and the last
// step of mul and requantize, whose operands (product, scaled) tw_overlay_requantize.sv has prepared.
//
// min, max, clip and requantize are one datapath: bound from below, then from above, at a width that holds
// accumulators, immediates and scaled sums alike; results wrap to the accumulator's width.
module tw_overlay_vector_alu #(
    parameter int SCALED_BITS = 36
) (
    input  logic [3:0]                                                    op,
    input  logic                                                          use_imm,
    input  logic signed [overlay_config::A_IMM_WIDTH-1:0]                 imm,
    // Only the wide instruction set clips and requantises.
    // verilator lint_off UNUSEDSIGNAL
    input  logic signed [31:0]                                            clip_low,
    input  logic signed [31:0]                                            clip_high,
    input  logic [overlay_config::ALU_LANES*SCALED_BITS-1:0]              scaled,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0] a,
    input  logic [overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0] b,
    input  logic [overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0] product,
    output logic [overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0] result
);
  localparam int ACC = overlay_config::ACC_BITS;
  localparam int IMM = overlay_config::A_IMM_WIDTH;
  localparam int Y = ACC > IMM ? ACC : IMM;
  localparam int LOG = $clog2(ACC);
  localparam logic [3:0] MIN = 4'd0, MAX = 4'd1, ADD = 4'd2, SHR = 4'd3, MUL = 4'd4, MOVE = 4'd6;

  for (genvar l = 0; l < overlay_config::ALU_LANES; l++) begin : gen_lanes
    logic signed [ACC-1:0] x;
    logic signed [Y-1:0] y;
    logic [ACC-1:0] bounded;
    assign x = a[l*ACC+:ACC];
    assign y = use_imm ? Y'(imm) : Y'($signed(b[l*ACC+:ACC]));

    if (overlay_config::WIDE != 0) begin : gen_bounds
      localparam logic [3:0] REQUANTIZE = 4'd7;
      logic signed [SCALED_BITS-1:0] value, low, high, raised;
      // verilator lint_off UNUSEDSIGNAL
      logic signed [SCALED_BITS-1:0] lowered;  // wraps
      // verilator lint_on UNUSEDSIGNAL
      assign value = op == REQUANTIZE ? $signed(scaled[l*SCALED_BITS+:SCALED_BITS]) : SCALED_BITS'(x);
      assign low = op == MAX ? SCALED_BITS'(y) : SCALED_BITS'(clip_low);
      assign high = op == MIN ? SCALED_BITS'(y) : SCALED_BITS'(clip_high);
      assign raised = op != MIN && value < low ? low : value;
      assign lowered = op != MAX && high < raised ? high : raised;
      assign bounded = lowered[ACC-1:0];
    end else begin : gen_extremes
      logic less;
      assign less = Y'(x) < y;
      assign bounded = less == (op == MIN) ? x : y[ACC-1:0];
    end

    // Both directions of shift take ACC bits out of twice as many: to the right the sign stands above the
    // operand, to the left (negative amounts, which are ACC minus the distance modulo ACC) zeros below it.
    logic left, beyond, sign;
    logic [LOG-1:0] amount;
    logic [ACC-1:0] above, below, shifted, sum, chosen;
    assign left = y[Y-1];
    assign beyond = y[Y-1:LOG] != {(Y - LOG){y[Y-1]}};
    assign sign = x[ACC-1];
    assign amount = y[LOG-1:0];
    assign above = left ? (beyond ? '0 : x) : {ACC{sign}};
    assign below = left ? '0 : (beyond ? {ACC{sign}} : x);
    assign shifted = ACC'({above, below} >> amount);
    assign sum = x + y[ACC-1:0];

    logic [ACC-1:0] moved, multiplied;
    assign moved = y[ACC-1:0];
    assign multiplied = product[l*ACC+:ACC];
    always_comb begin
      if (op == MUL) chosen = multiplied;
      else if (op == SHR) chosen = shifted;
      else if (op == ADD) chosen = sum;
      else if (overlay_config::WIDE != 0 && op == MOVE) chosen = moved;
      else chosen = bounded;
    end
    assign result[l*ACC+:ACC] = chosen;
  end
endmodule
