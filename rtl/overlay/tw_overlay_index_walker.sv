// One affine index of a loop nest: micro-op field + y * factor_out + x * factor_in, by addition alone. The
// factors are taken with start; `index` belongs to the (y, x) reached so far. A step with next_x leaves a
// column, with next_y (and next_x) a row. Sums are kept modulo 2^WIDTH with a sticky carry: `beyond` tells that
// the true index does not fit WIDTH bits.
module tw_overlay_index_walker #(
    parameter int WIDTH = 8
) (
    input  logic             clk,
    input  logic             start,
    input  logic [WIDTH-1:0] factor_out,
    input  logic [WIDTH-1:0] factor_in,
    input  logic             next_x,
    input  logic             next_y,
    input  logic [WIDTH-1:0] base,
    output logic [WIDTH-1:0] index,
    output logic             beyond
);
  logic [WIDTH-1:0] step_out, step_in, row, column;
  logic row_beyond, column_beyond;
  logic [WIDTH:0] moved, sum;

  assign moved = {1'b0, next_y ? row : column} + {1'b0, next_y ? step_out : step_in};
  assign sum = {1'b0, base} + {1'b0, column};
  assign index = sum[WIDTH-1:0];
  assign beyond = sum[WIDTH] || column_beyond;

  always_ff @(posedge clk) begin
    if (start) begin
      step_out <= factor_out;
      step_in <= factor_in;
      row <= '0;
      column <= '0;
      row_beyond <= 1'b0;
      column_beyond <= 1'b0;
    end else if (next_x) begin
      column <= moved[WIDTH-1:0];
      column_beyond <= moved[WIDTH] || (next_y ? row_beyond : column_beyond);
      if (next_y) begin
        row <= moved[WIDTH-1:0];
        row_beyond <= moved[WIDTH] || row_beyond;
      end
    end
  end
endmodule
