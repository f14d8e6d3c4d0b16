// The task table of a component: the row of the current task, row 0 after reset, the following one from the
// cycle after `next` on, row 0 again after the last. A table of one row is a constant.
//
// `last`: the current row is the last one.
module tw_stream_task_table #(
    parameter int ROW = 8,
    parameter int TASKS = 1,
    parameter TABLE = ""
) (
    input  logic           clk,
    input  logic           rst,
    input  logic           next,
    output logic           last,
    output logic [ROW-1:0] row
);
  logic [ROW-1:0] rows[0:TASKS-1];

  if (64'(TABLE) == 0) begin : gen_zero
    initial for (int i = 0; i < TASKS; i++) rows[i] = '0;
  end else begin : gen_contents
    initial $readmemh(TABLE, rows);
  end
  if (TASKS == 1) begin : gen_constant
    logic unused;
    assign unused = &{1'b0, clk, rst, next};
    assign last = 1'b1;
    assign row = rows[0];
  end else begin : gen_walk
    localparam int T = $clog2(TASKS);
    logic [T-1:0] index;
    assign last = index == T'(TASKS - 1);
    assign row = rows[index];
    always_ff @(posedge clk) begin
      if (rst) index <= '0;
      else if (next) index <= last ? '0 : index + 1'b1;
    end
  end
endmodule
