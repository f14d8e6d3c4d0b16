// Multiplication of ACC lanes, alone (mul) and as requantisation:
//   clip(round_shift((acc + bias) * multiplier, shift) + zero), the clip left to vector_alu.
//
// Lanes enter in cycle 1 (counted from the issue of their slice). Stages: 1 sum, 2 two partial products, 3 the
// product (`product` from cycle 4), 4 shift, 5 rounding and zero (`scaled` from cycle 6). One slice per cycle.
//
// Rounding half up adds the highest bit that the shift drops. The definition adds half of 2^shift modulo 2^64
// instead, which differs in one case only: shift 63, and a product of 2^62 gives -1.
//
// Bits 5 and 6 of the shift set round twice: the product is first rounded to a multiple of 2^31, and lowered by one
// if it is negative, which makes the halves of the second rounding go away from zero.
module tw_overlay_requantize #(
    parameter int SCALED_BITS = 36
) (
    input  logic                                                             clk,
    input  logic [overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0]    acc,
    input  logic [overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0]    bias,
    input  logic [overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0]    multiplier,
    // The plain instruction set multiplies only.
    // verilator lint_off UNUSEDSIGNAL
    input  logic [overlay_config::ALU_LANES*7-1:0]                           shift,
    input  logic signed [overlay_config::A_IMM_WIDTH-1:0]                    zero,
    // verilator lint_on UNUSEDSIGNAL
    output logic [overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0]    product,
    output logic [overlay_config::ALU_LANES*SCALED_BITS-1:0]                 scaled
);
  localparam int ACC = overlay_config::ACC_BITS;
  localparam int HALF = ACC / 2;
  localparam int P = 2 * ACC;
  // What is kept of a shifted product: beyond 35 bits, adding `zero` and clipping cannot tell.
  localparam int KEPT = P < 35 ? P : 35;
  localparam int WHOLE = P < 33 ? 33 : P;  // bits of the product that the first rounding sees

  for (genvar l = 0; l < overlay_config::ALU_LANES; l++) begin : gen_lanes
    logic signed [ACC-1:0] sum, factor;
    logic signed [ACC+HALF:0] low;
    logic signed [ACC+HALF-1:0] high;
    // verilator lint_off UNUSEDSIGNAL
    logic signed [P-1:0] full;  // mul takes the low half
    // verilator lint_on UNUSEDSIGNAL
    always_ff @(posedge clk) begin
      sum <= acc[l*ACC+:ACC] + bias[l*ACC+:ACC];
      factor <= multiplier[l*ACC+:ACC];
      low <= sum * $signed({1'b0, factor[HALF-1:0]});
      high <= sum * $signed(factor[ACC-1:HALF]);
      full <= P'(low) + {high, {HALF{1'b0}}};
    end
    assign product[l*ACC+:ACC] = full[ACC-1:0];

    if (overlay_config::WIDE != 0) begin : gen_scaling
      logic [6:0] shift_2, shift_3, shift_4;
      logic twice, corner;
      logic signed [WHOLE-1:0] whole, first;
      logic signed [WHOLE-32:0] high_part;
      // Narrow accumulators have no use for the highest bits.
      // verilator lint_off UNUSEDSIGNAL
      logic signed [WHOLE:0] shifted;
      // verilator lint_on UNUSEDSIGNAL
      logic signed [KEPT-1:0] kept;
      logic signed [SCALED_BITS-1:0] rounded;
      assign corner = ACC == 32 && shift_4 == 7'd63 && !full[P-1] && full[P-2];
      assign twice = shift_4[6] && shift_4[5];
      assign whole = WHOLE'(full);
      // Up by bit 30, down by the sign.
      assign high_part = $signed(whole[WHOLE-1:31]) +
          $signed({{(WHOLE - 32){whole[WHOLE-1] && !whole[30]}}, whole[WHOLE-1] ^ whole[30]});
      assign first = twice ? {high_part, 31'd0} : whole;
      always_ff @(posedge clk) begin
        shift_2 <= shift[l*7+:7];
        shift_3 <= shift_2;
        shift_4 <= shift_3;
        shifted <= corner ? $signed({{WHOLE{1'b1}}, 1'b0}) : $signed({first, 1'b0}) >>> shift_4[5:0];
        rounded <= SCALED_BITS'(kept) + SCALED_BITS'(zero) + SCALED_BITS'($signed({1'b0, shifted[0]}));
      end
      if (P > KEPT) begin : gen_saturation
        logic fits;
        assign fits = shifted[WHOLE:KEPT] == {(WHOLE - KEPT + 1){shifted[WHOLE]}};
        assign kept = fits ? shifted[KEPT:1] : {shifted[WHOLE], {(KEPT - 1){!shifted[WHOLE]}}};
      end else begin : gen_whole
        assign kept = shifted[KEPT:1];
      end
      assign scaled[l*SCALED_BITS+:SCALED_BITS] = rounded;
    end else begin : gen_no_scaling
      assign scaled[l*SCALED_BITS+:SCALED_BITS] = '0;
    end
  end
endmodule
