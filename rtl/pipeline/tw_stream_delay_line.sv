// `in`, STEPS steps later; a step is taken with `enable`. No reset: the delayed bits are payload.
module tw_stream_delay_line #(
    parameter int WIDTH = 8,
    parameter int STEPS = 1
) (
    // verilator lint_off UNUSEDSIGNAL
    input  logic             clk,
    input  logic             enable,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [WIDTH-1:0] in,
    output logic [WIDTH-1:0] out
);
  if (STEPS == 0) begin : gen_through
    assign out = in;
  end else if (STEPS == 1) begin : gen_single
    always_ff @(posedge clk) if (enable) out <= in;
  end else begin : gen_several
    logic [STEPS*WIDTH-1:0] steps;
    always_ff @(posedge clk) if (enable) steps <= {steps[(STEPS-1)*WIDTH-1:0], in};
    assign out = steps[STEPS*WIDTH-1-:WIDTH];
  end
endmodule
