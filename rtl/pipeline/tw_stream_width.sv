// IN elements per beat to OUT, the lowest first; one of the two divides the other. A beat that has too many is
// shifted out; beats that have too few are gathered.
//
// Timing: a beat of the output is valid the cycle after the input beat that completes it (or that it is the
// first part of) was taken, further parts of one beat follow in the cycles after. The side with more beats
// passes one per cycle: the next input is taken in the cycle in which the last part leaves.
module tw_stream_width #(
    parameter int ELEMENT = 8,
    parameter int IN = 4,
    parameter int OUT = 1
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   in_valid,
    output logic                   in_ready,
    input  logic [ IN*ELEMENT-1:0] in_data,
    output logic                   out_valid,
    input  logic                   out_ready,
    output logic [OUT*ELEMENT-1:0] out_data
);
  if (IN > OUT) begin : gen_cut
    localparam int PARTS = IN / OUT;
    localparam int COUNT_BITS = $clog2(PARTS);
    logic [IN*ELEMENT-1:0] parts;
    logic [COUNT_BITS-1:0] behind;  // parts left behind the one at the output
    logic last;                     // there are none
    logic load, move;

    // What chooses between a new beat and the next part comes from registers alone: one gate for each bit.
    assign load = !out_valid || last;
    assign move = !out_valid || out_ready;
    assign in_ready = load && move;
    assign out_data = parts[OUT*ELEMENT-1:0];
    always_ff @(posedge clk) begin
      if (move) begin
        if (load) parts <= in_data;
        else parts <= {{OUT * ELEMENT{1'b0}}, parts[IN*ELEMENT-1:OUT*ELEMENT]};
      end
    end
    always_ff @(posedge clk) begin
      if (rst) begin
        out_valid <= 1'b0;
        last <= 1'b0;
        behind <= '0;
      end else if (move) begin
        if (load) out_valid <= in_valid;
        last <= !load && behind == COUNT_BITS'(1);
        behind <= load ? COUNT_BITS'(PARTS - 1) : behind - 1'b1;
      end
    end
  end else if (IN < OUT) begin : gen_gather
    localparam int PARTS = OUT / IN;
    localparam int COUNT_BITS = $clog2(PARTS);
    logic [COUNT_BITS-1:0] missing;  // parts that follow the next one
    logic taken;

    assign in_ready = !out_valid || out_ready;
    assign taken = in_valid && in_ready;
    always_ff @(posedge clk) if (taken) out_data <= {in_data, out_data[OUT*ELEMENT-1:IN*ELEMENT]};
    always_ff @(posedge clk) begin
      if (rst) begin
        out_valid <= 1'b0;
        missing <= COUNT_BITS'(PARTS - 1);
      end else begin
        out_valid <= (taken && missing == '0) || (out_valid && !out_ready);
        if (taken) missing <= missing == '0 ? COUNT_BITS'(PARTS - 1) : missing - 1'b1;
      end
    end
  end else begin : gen_register
    assign in_ready = !out_valid || out_ready;
    always_ff @(posedge clk) if (in_valid && in_ready) out_data <= in_data;
    always_ff @(posedge clk) begin
      if (rst) out_valid <= 1'b0;
      else out_valid <= in_valid || (out_valid && !out_ready);
    end
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(OUT * ELEMENT)) out_rules (
      .clk, .rst, .valid(out_valid), .ready(out_ready), .data(out_data)
  );
`endif
endmodule
