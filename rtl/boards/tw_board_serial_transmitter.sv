// Sends bytes on a serial line in the form that serial_receiver reads. A byte is taken in a cycle with `valid` and
// `ready`; its start bit is on the line in the next cycle.
module tw_board_serial_transmitter #(
    parameter int CYCLES_PER_BIT = 12
) (
    input  logic       clk,
    input  logic       rst,
    input  logic       valid,
    input  logic [7:0] data,
    output logic       ready,
    output logic       line
);
  localparam int COUNTER_BITS = $clog2(CYCLES_PER_BIT);

  logic [8:0] shifter;  // what follows the bit on the line; ones behind the stop bit
  logic [3:0] bits_left;
  logic [COUNTER_BITS-1:0] counter;

  assign ready = bits_left == 4'd0;

  always_ff @(posedge clk) begin
    if (rst) begin
      line <= 1'b1;
      bits_left <= 4'd0;
    end else if (ready) begin
      counter <= COUNTER_BITS'(CYCLES_PER_BIT - 1);
      if (valid) begin
        line <= 1'b0;
        shifter <= {1'b1, data};
        bits_left <= 4'd10;
      end
    end else if (counter != '0) begin
      counter <= counter - 1'b1;
    end else begin
      counter <= COUNTER_BITS'(CYCLES_PER_BIT - 1);
      bits_left <= bits_left - 4'd1;
      line <= shifter[0];
      shifter <= {1'b1, shifter[8:1]};
    end
  end
endmodule
