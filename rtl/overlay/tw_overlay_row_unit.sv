// Reduces rows of ACC elements to the three numbers that requantize takes (docs/reference/isa.md, "Rows"):
// row_max, row_divide, row_norm. All lanes of an element get the same number.
//
// A slice enters in cycle 1 (counted from its issue). Stages: 1 its lanes, 2 their maximum and sums, 3 those
// of the row. The row's last slice then starts a serial unit (age 1 is cycle 5): a division of 31 steps, or a
// product of 32 steps, one addition, 5 steps of normalisation and an inverse root of 17 bits. `value` is valid
// from cycle 4 (row_max), 36 (row_divide), 60 (row_norm) until the next row's first slice is in stage 3.
module tw_overlay_row_unit #(
    parameter int SLICE_BITS = 1
) (
    input  logic                                       clk,
    input  logic                                       rst,
    input  logic [3:0]                                 op,
    input  logic [21:0]                                imm,      // lanes, shift or fraction, center
    input  logic [63:0]                                number,   // numerator, epsilon
    // with `entered`
    input  logic                                       entered,
    input  logic                                       first,    // slice of a row
    input  logic                                       in_last,  // of the row's last step
    input  logic                                       ends,     // last slice of a row
    input  logic [SLICE_BITS-1:0]                      slice,
    input  logic [overlay_config::ALU_LANES*32-1:0]    lanes,
    input  logic [1:0]                                 param,    // which number
    output logic [31:0]                                value
);
  localparam int ALU = overlay_config::ALU_LANES;
  localparam logic [3:0] ROW_MAX = 4'd10, ROW_DIVIDE = 4'd11;

  // ---- the row's maximum and sums
  logic [ALU*32-1:0] taken;
  logic [ALU-1:0] kept;
  logic [1:0] valid, opens;
  logic [2:0] closes;
  logic signed [31:0] largest_now, largest;
  logic [31:0] sum_now, narrow_now, sum, narrow;
  logic [47:0] squares_now, squares;
  logic [15:0] count_now, count;
  logic signed [31:0] tree_largest;
  logic [31:0] tree_sum, tree_narrow;
  logic [47:0] tree_squares;
  logic [15:0] tree_count;

  always_comb begin
    tree_largest = 32'sh80000000;
    tree_sum = '0;
    tree_narrow = '0;
    tree_squares = '0;
    tree_count = '0;
    for (int l = 0; l < ALU; l++) begin
      if (kept[l]) begin
        if ($signed(taken[l*32+:32]) > tree_largest) tree_largest = taken[l*32+:32];
        tree_sum = tree_sum + taken[l*32+:32];
        tree_narrow = tree_narrow + 32'($signed(taken[l*32+:17]));
        tree_squares = tree_squares + 48'(34'($signed(taken[l*32+:17])) * 34'($signed(taken[l*32+:17])));
        tree_count = tree_count + 16'd1;
      end
    end
  end

  always_ff @(posedge clk) begin
    taken <= lanes;
    for (int l = 0; l < ALU; l++) kept[l] <= !in_last || 32'(slice) * 32'(ALU) + 32'(l) < {16'd0, imm[15:0]};
    valid <= {valid[0], entered && !rst};
    opens <= {opens[0], first};
    closes <= {closes[1:0], entered && ends && !rst};
    largest_now <= tree_largest;
    sum_now <= tree_sum;
    narrow_now <= tree_narrow;
    squares_now <= tree_squares;
    count_now <= tree_count;
    if (valid[1]) begin
      largest <= !opens[1] && largest > largest_now ? largest : largest_now;
      sum <= (opens[1] ? 32'd0 : sum) + sum_now;
      narrow <= (opens[1] ? 32'd0 : narrow) + narrow_now;
      squares <= (opens[1] ? 48'd0 : squares) + squares_now;
      count <= (opens[1] ? 16'd0 : count) + count_now;
    end
  end

  // ---- the serial unit
  logic [5:0] age;
  logic [3:0] fraction;
  logic [31:0] mean_part, magnitude;
  assign fraction = imm[19:16];
  assign mean_part = imm[20] ? narrow : 32'd0;
  assign magnitude = mean_part[31] ? -mean_part : mean_part;
  always_ff @(posedge clk) begin
    if (rst) age <= '0;
    else if (closes[2]) age <= 6'd1;
    else if (age != '0) age <= age == 6'd55 ? '0 : age + 6'd1;
  end

  // division: the quotient's bits from the highest, over the numerator's low 31 bits
  logic saturates, subtracts;
  logic [31:0] remainder;  // below the sum, unless it saturates
  logic [32:0] doubled;
  logic [30:0] digits, quotient;
  assign doubled = {remainder, digits[30]};
  assign subtracts = doubled >= {1'b0, sum};
  always_ff @(posedge clk) begin
    if (closes[2]) begin
      saturates <= number[63:31] >= {1'b0, sum};
      remainder <= number[62:31];
      digits <= number[30:0];
    end else if (age != '0 && age <= 6'd31) begin
      remainder <= subtracts ? doubled[31:0] - sum : doubled[31:0];
      digits <= {digits[29:0], 1'b0};
      quotient <= {quotient[29:0], subtracts};
    end
  end

  // v = ((count * squares - mean_part^2) << 2*fraction) + number, then normalised: its highest pair of bits is
  // not zero, and its exponent is that of four. The root r is the largest with r*r*highest <= 2^62: with q that
  // product and p = r*highest, a further bit k of r adds (p << k+1) + (highest << 2k).
  logic [63:0] v, scaled, multiple, power, p, q;
  logic [31:0] power_bits;
  logic [15:0] multiple_bits;
  logic [5:0] exponent;
  logic [16:0] root;
  logic [65:0] candidate;
  logic accepted;
  assign scaled = (v << {fraction, 1'b0}) + number;
  assign candidate = {2'd0, q} + {2'd0, p} + {2'd0, v};
  assign accepted = candidate[65:62] == 4'd0 || (candidate[65:62] == 4'd1 && candidate[61:0] == '0);

  logic zeros;          // the highest `distance` bits of v
  logic [5:0] distance;
  always_comb begin
    case (age)
      6'd34: {distance, zeros} = {6'd32, v[63:32] == '0};
      6'd35: {distance, zeros} = {6'd16, v[63:48] == '0};
      6'd36: {distance, zeros} = {6'd8, v[63:56] == '0};
      6'd37: {distance, zeros} = {6'd4, v[63:60] == '0};
      default: {distance, zeros} = {6'd2, v[63:62] == '0};
    endcase
  end

  always_ff @(posedge clk) begin
    if (closes[2]) begin
      v <= '0;
      multiple <= {16'd0, squares};
      multiple_bits <= count;
      power <= {32'd0, magnitude};
      power_bits <= magnitude;
    end else if (age == '0) begin
      v <= v;
    end else if (age <= 6'd32) begin
      v <= v + (multiple_bits[0] ? multiple : '0) - (power_bits[0] ? power : '0);
      multiple <= multiple << 1;
      multiple_bits <= multiple_bits >> 1;
      power <= power << 1;
      power_bits <= power_bits >> 1;
    end else if (age == 6'd33) begin
      v <= scaled == '0 ? 64'd1 : scaled;
      exponent <= 6'd32;
      p <= '0;
      q <= '0;
    end else if (age <= 6'd38) begin
      if (zeros) begin
        v <= v << distance;
        exponent <= exponent - (distance >> 1);
      end
      if (age == 6'd38) v[31:0] <= '0;
    end else begin
      root <= {root[15:0], accepted};
      if (accepted) q <= candidate[63:0];
      p <= (p + (accepted ? v << 1 : '0)) >> 1;
      v <= v >> 2;
    end
  end

  logic [31:0] shift;
  assign shift = exponent > {2'd0, fraction} + 6'd1 ? 32'(exponent) - 32'(fraction) - 32'd1 : 32'd0;
  always_comb begin
    if (op == ROW_MAX) value = param == 2'd0 ? -largest : param == 2'd1 ? 32'd1 : 32'd0;
    else if (op == ROW_DIVIDE)
      value = param == 2'd0 ? 32'd0 : param == 2'd1 ? {1'b0, saturates ? 31'h7fffffff : quotient} : {26'd0, imm[21:16]};
    else value = param == 2'd0 ? -mean_part : param == 2'd1 ? {15'd0, root} : shift;
  end
endmodule
