// One field of a task table, STAGE steps (at least one) behind the task's index: bits [LOW, LOW + WIDTH) of
// the row that `index` named in the step of that many before. A step is taken with `enable`. With a single
// row the field is a constant.
module tw_stream_row_field #(
    parameter int TASKS = 1,
    parameter int ROW = 8,
    parameter TABLE = "",
    parameter int LOW = 0,
    parameter int WIDTH = 8,
    parameter int STAGE = 1,
    parameter int INDEX = 1
) (
    input  logic             clk,
    input  logic             enable,
    input  logic [INDEX-1:0] index,
    output logic [WIDTH-1:0] field
);
  (* ram_style = "registers" *)
  logic [ROW-1:0] rows[0:TASKS-1];
  if (64'(TABLE) != 0) begin : gen_contents
    initial $readmemh(TABLE, rows);
  end else begin : gen_zero
    initial for (int i = 0; i < TASKS; i++) rows[i] = '0;
  end

  logic [INDEX-1:0] row;
  tw_stream_delay_line #(
      .WIDTH(INDEX),
      .STEPS(STAGE - 1)
  ) behind (
      .clk,
      .enable,
      .in (index),
      .out(row)
  );
  // verilator lint_off UNUSEDSIGNAL
  logic [ROW-1:0] word;
  // verilator lint_on UNUSEDSIGNAL
  assign word = rows[row];
  always_ff @(posedge clk) if (enable) field <= word[LOW+:WIDTH];
endmodule
