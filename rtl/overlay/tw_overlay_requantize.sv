// Multiplication of ACC lanes, alone (mul) and as requantisation:
//   clip(round_shift((acc + bias) * multiplier, shift) + zero), the clip left to vector_alu.
//
// Lanes enter in cycle 1 (counted from the issue of their slice). Stages: 1 sum, 2 two partial products, 3 the
// product (`product` from cycle 4), 4 shift, 5 rounding and zero (`scaled` from cycle 6). One slice per cycle.
//
// Rounding half up adds the highest bit that the shift drops. The definition adds half of 2^shift modulo 2^64
// instead, which differs in one case only: shift 63, and a product of 2^62 gives -1.
module tw_overlay_requantize #(
    parameter int SCALED_BITS = 36
) (
    input  logic                                                             clk,
    input  logic [overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0]    acc,
    input  logic [overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0]    bias,
    input  logic [overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0]    multiplier,
    // The plain instruction set multiplies only.
    // verilator lint_off UNUSEDSIGNAL
    input  logic [overlay_config::ALU_LANES*6-1:0]                           shift,
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
      logic [5:0] shift_2, shift_3, shift_4;
      logic corner;
      logic signed [P:0] shifted;
      logic signed [KEPT-1:0] kept;
      logic signed [SCALED_BITS-1:0] rounded;
      assign corner = ACC == 32 && shift_4 == 6'd63 && !full[P-1] && full[P-2];
      always_ff @(posedge clk) begin
        shift_2 <= shift[l*6+:6];
        shift_3 <= shift_2;
        shift_4 <= shift_3;
        shifted <= corner ? $signed({{P{1'b1}}, 1'b0}) : $signed({full, 1'b0}) >>> shift_4;
        rounded <= SCALED_BITS'(kept) + SCALED_BITS'(zero) + SCALED_BITS'($signed({1'b0, shifted[0]}));
      end
      if (P > KEPT) begin : gen_saturation
        logic fits;
        assign fits = shifted[P:KEPT] == {(P - KEPT + 1){shifted[P]}};
        assign kept = fits ? shifted[KEPT:1] : {shifted[P], {(KEPT - 1){!shifted[P]}}};
      end else begin : gen_whole
        assign kept = shifted[KEPT:1];
      end
      assign scaled[l*SCALED_BITS+:SCALED_BITS] = rounded;
    end else begin : gen_no_scaling
      assign scaled[l*SCALED_BITS+:SCALED_BITS] = '0;
    end
  end
endmodule
