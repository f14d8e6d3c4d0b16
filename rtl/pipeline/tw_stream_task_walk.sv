// Which row of a task table the next beat belongs to: the 32 bits of a row from BEATS on are its number of
// beats (at least 1), the first row follows the last. `flag` is bit FLAG of the row, 0 without RESIDUAL,
// `drain` the 16 bits from DRAIN on, `alone` that they say 1. All are registers, or constants of a single row.
module tw_stream_task_walk #(
    parameter int TASKS = 1,
    parameter int ROW = 49,
    parameter TABLE = "",
    parameter int BEATS = 0,
    parameter int FLAG = 32,
    parameter int DRAIN = 33,
    parameter int RESIDUAL = 1,
    parameter int INDEX = 1
) (
    // verilator lint_off UNUSEDSIGNAL
    input  logic             clk,
    input  logic             rst,
    input  logic             step,
    // verilator lint_on UNUSEDSIGNAL
    output logic [INDEX-1:0] index,
    output logic             flag,
    output logic [     15:0] drain,
    output logic             alone
);
  (* ram_style = "registers" *)
  logic [ROW-1:0] rows[0:TASKS-1];
  if (64'(TABLE) != 0) begin : gen_contents
    initial $readmemh(TABLE, rows);
  end else begin : gen_zero
    initial for (int i = 0; i < TASKS; i++) rows[i] = '0;
  end
  // verilator lint_off UNUSEDSIGNAL
  logic [ROW-1:0] row;
  // verilator lint_on UNUSEDSIGNAL

  if (TASKS == 1) begin : gen_single
    assign row = rows[0];
    assign index = '0;
    assign flag = RESIDUAL != 0 && row[FLAG];
    assign drain = row[DRAIN+:16];
    assign alone = drain == 16'd1;
  end else begin : gen_several
    logic [INDEX-1:0] following;
    logic [31:0] left;
    assign following = rst || index == INDEX'(TASKS - 1) ? '0 : index + 1'b1;
    assign row = rows[following];
    always_ff @(posedge clk) begin
      if (rst || (step && left == 32'd1)) begin
        index <= following;
        left <= row[BEATS+:32];
        flag <= RESIDUAL != 0 && row[FLAG];
        drain <= row[DRAIN+:16];
        alone <= row[DRAIN+:16] == 16'd1;
      end else if (step) begin
        left <= left - 1'b1;
      end
    end
  end
endmodule
