// Reduces rows of ACC elements to the three numbers that requantize takes (docs/reference/isa.md, "Rows"):
// row_max, row_divide, row_norm. All lanes of an element get the same number.
//
// A slice enters in cycle 1 (counted from its issue). Stages: 1 its lanes, 2 their maximum and sums, 3 those
// of the row, which are there from cycle 4 after its last slice until cycle 4 after the next row's first one.
// `take` copies them into a serial unit: a division of 16 steps of two bits, or three products, their sum, two
// steps of normalisation and an inverse root of 17 bits. `value` is valid from 1 (row_max), 17 (row_divide) or
// 25 (row_norm) cycles after `take` until the next one.
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
    input  logic [SLICE_BITS-1:0]                      slice,
    input  logic [overlay_config::ALU_LANES*32-1:0]    lanes,
    input  logic                                       take,     // the sums of a row
    input  logic [1:0]                                 param,    // which number
    output logic [31:0]                                value
);
  localparam int ALU = overlay_config::ALU_LANES;
  localparam logic [3:0] ROW_MAX = 4'd10, ROW_DIVIDE = 4'd11;

  // ---- the row's maximum and sums
  logic [ALU*32-1:0] taken;
  logic [ALU-1:0] kept;
  logic [1:0] valid, opens;
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
  logic [4:0] age;
  logic [31:0] held, magnitude;  // the largest, the sum or, of a centred norm, the narrow sum and its magnitude
  logic [3:0] fraction;
  assign fraction = imm[19:16];
  assign magnitude = held[31] ? -held : held;
  always_ff @(posedge clk) begin
    if (take) held <= op == ROW_MAX ? largest : op == ROW_DIVIDE ? sum : imm[20] ? narrow : '0;
    if (rst) age <= '0;
    else if (take) age <= 5'd1;
    else if (age != '0) age <= age == 5'd24 ? '0 : age + 5'd1;
  end

  // division: two bits of the quotient per step, from the highest, over the numerator's low 32 bits
  logic saturates;
  logic [31:0] remainder;  // below the sum, unless it saturates
  logic [31:0] digits;
  logic [30:0] quotient;
  logic [33:0] next, thrice;
  logic [1:0] digit;
  assign next = {remainder, digits[31:30]};
  assign digit = next >= thrice ? 2'd3 : next >= {1'b0, held, 1'b0} ? 2'd2 : next >= {2'b0, held} ? 2'd1 : 2'd0;
  always_ff @(posedge clk) begin
    if (take) begin
      saturates <= number[63:31] >= {1'b0, sum};
      remainder <= number[63:32];
      digits <= number[31:0];
      thrice <= {2'b0, sum} + {1'b0, sum, 1'b0};
    end else if (age != '0 && age <= 5'd16) begin
      case (digit)
        2'd3: remainder <= 32'(next - thrice);
        2'd2: remainder <= next[31:0] - {held[30:0], 1'b0};
        2'd1: remainder <= next[31:0] - held;
        default: remainder <= next[31:0];
      endcase
      digits <= {digits[29:0], 2'b0};
      quotient <= {quotient[28:0], digit};
    end
  end

  // v = ((count * squares - held^2) << 2*fraction) + number, by one multiplier, then normalised: its highest
  // pair of bits is not zero, and its exponent is that of four. The root r is the largest with
  // r*r*highest <= 2^62: with q that product and p = r*highest, a further bit k of r adds (p << k+1) +
  // (highest << 2k).
  logic [47:0] factor;
  logic [15:0] by;
  logic [63:0] part, v, scaled, p, q;
  logic [5:0] exponent;
  logic [16:0] root;
  logic [65:0] candidate;
  logic accepted;
  assign scaled = (v << {fraction, 1'b0}) + number;
  assign candidate = {2'd0, q} + {2'd0, p} + {2'd0, v};
  assign accepted = candidate[65:62] == 4'd0 || (candidate[65:62] == 4'd1 && candidate[61:0] == '0);

  logic [63:0] coarse, fine;  // v without leading zeros: first by multiples of 8, then of 2
  logic [5:0] coarse_by, fine_by;
  always_comb begin
    coarse = v;
    coarse_by = '0;
    for (int i = 32; i >= 8; i /= 2) begin
      if (coarse >> (64 - i) == '0) begin
        coarse = coarse << i;
        coarse_by = coarse_by + 6'(i / 2);
      end
    end
    fine = v;
    fine_by = '0;
    for (int i = 4; i >= 2; i /= 2) begin
      if (fine >> (64 - i) == '0) begin
        fine = fine << i;
        fine_by = fine_by + 6'(i / 2);
      end
    end
  end

  always_ff @(posedge clk) begin
    part <= 64'(factor) * 64'(by);
    if (take) begin
      factor <= squares;
      by <= count;
    end else begin
      factor <= {16'd0, magnitude};
      by <= age == 5'd1 ? magnitude[15:0] : magnitude[31:16];
    end
    case (age)
      5'd0: v <= v;
      5'd1: v <= '0;
      5'd2: v <= part;
      5'd3: v <= v - part;
      5'd4: v <= v - (part << 16);
      5'd5: begin
        v <= scaled == '0 ? 64'd1 : scaled;
        exponent <= 6'd32;
        p <= '0;
        q <= '0;
      end
      5'd6: begin
        v <= coarse;
        exponent <= exponent - coarse_by;
      end
      5'd7: begin
        v <= {fine[63:32], 32'd0};
        exponent <= exponent - fine_by;
      end
      default: begin
        root <= {root[15:0], accepted};
        if (accepted) q <= candidate[63:0];
        p <= (p + (accepted ? v << 1 : '0)) >> 1;
        v <= v >> 2;
      end
    endcase
  end

  logic [31:0] shift;
  assign shift = exponent > {2'd0, fraction} + 6'd1 ? 32'(exponent) - 32'(fraction) - 32'd1 : 32'd0;
  always_comb begin
    if (op == ROW_MAX) value = param == 2'd0 ? -held : param == 2'd1 ? 32'd1 : 32'd0;
    else if (op == ROW_DIVIDE)
      value = param == 2'd0 ? 32'd0 : param == 2'd1 ? {1'b0, saturates ? 31'h7fffffff : quotient} : {26'd0, imm[21:16]};
    else value = param == 2'd0 ? -held : param == 2'd1 ? {15'd0, root} : shift;
  end
endmodule
