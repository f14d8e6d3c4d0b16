// One product of two signed numbers, `a * b`, from registers that move with `enable`. It is there after one
// step, or after two where a multiplication for DSP blocks needs more than one of them.
//
// "dsp" (and "pair"): a block of 25 x 18 bits where the operands fit, else the partial products of operands
// cut into low bits and signed rests, added in the second step: two blocks for 25 x 31 bits, four for 32 x 32. "lut": rows of gated additions, one per bit of the shorter operand; no `*`, so that no
// synthesis tool takes a block for it.
module tw_stream_multiply #(
    parameter int A = 8,
    parameter int B = 8,
    parameter MULTIPLY = "dsp"
) (
    input  logic                  clk,
    input  logic                  enable,
    input  logic signed [  A-1:0] a,
    input  logic signed [  B-1:0] b,
    output logic signed [A+B-1:0] p
);
  localparam bit ROWS = 64'(MULTIPLY) == 64'("lut");
  localparam bit FITS = (A <= 25 && B <= 18) || (A <= 18 && B <= 25);
  // What a block takes of an operand too wide for it, without sign: of the wider side, unless the other
  // operand needs that.
  localparam int AL = B > 18 && B <= 25 ? 17 : 24;
  localparam int BL = 17;

  if (A < B) begin : gen_swapped
    tw_stream_multiply #(
        .A(B),
        .B(A),
        .MULTIPLY(MULTIPLY)
    ) other_order (
        .clk,
        .enable,
        .a(b),
        .b(a),
        .p
    );
  end else if (ROWS) begin : gen_rows
    // Row j is the product's part from bit j on; its lowest bit is done.
    logic [A+B-1:0] whole;
    for (genvar j = 0; j < B; j++) begin : gen_bits
      logic signed [A:0] above, term, row;
      assign term = b[j] ? (A + 1)'(a) : '0;
      if (j == 0) assign above = '0;
      else assign above = gen_bits[j-1].row >>> 1;
      if (j == B - 1) assign row = above - term;
      else assign row = above + term;
      if (j == B - 1) assign whole[A+B-1:B-1] = row;
      else assign whole[j] = row[0];
    end
    always_ff @(posedge clk) if (enable) p <= whole;
  end else if (FITS) begin : gen_single
    always_ff @(posedge clk) if (enable) p <= a * b;
  end else if (B > 25) begin : gen_four
    logic signed [A-AL-1:0] a_high;
    logic signed [B-BL-1:0] b_high;
    logic signed [AL:0] a_low;
    logic signed [BL:0] b_low;
    // verilator lint_off UNUSEDSIGNAL
    logic signed [AL+BL+1:0] low;  // not negative: the two highest bits are 0
    // verilator lint_on UNUSEDSIGNAL
    logic signed [A-AL+B-BL-1:0] high;
    logic signed [AL+B-BL:0] low_high;
    logic signed [A-AL+BL:0] high_low;
    assign a_high = a[A-1:AL];
    assign b_high = b[B-1:BL];
    assign a_low = {1'b0, a[AL-1:0]};
    assign b_low = {1'b0, b[BL-1:0]};
    always_ff @(posedge clk) begin
      if (enable) begin
        low <= a_low * b_low;
        high <= a_high * b_high;
        low_high <= a_low * b_high;
        high_low <= a_high * b_low;
        p <= $signed({high, low[AL+BL-1:0]}) + ((A + B)'(low_high) <<< BL) + ((A + B)'(high_low) <<< AL);
      end
    end
  end else begin : gen_two
    logic signed [A-AL-1:0] a_high;
    logic signed [AL:0] a_low;
    logic signed [B+AL:0] low;
    logic signed [B+A-AL-1:0] high;
    assign a_high = a[A-1:AL];
    assign a_low = {1'b0, a[AL-1:0]};
    always_ff @(posedge clk) begin
      if (enable) begin
        low <= a_low * b;
        high <= a_high * b;
        p <= (A + B)'(low) + ((A + B)'(high) <<< AL);
      end
    end
  end
endmodule
