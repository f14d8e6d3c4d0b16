// Receives bytes from a serial line: one start bit, eight data bits with the lowest first, one stop bit, no parity.
// The line is sampled in the middle of each bit, CYCLES_PER_BIT clock cycles long. `valid` is a pulse of one cycle in the
// middle of the stop bit; a byte without a stop bit is dropped.
module tw_board_serial_receiver #(
    parameter int CYCLES_PER_BIT = 12
) (
    input  logic       clk,
    input  logic       rst,
    input  logic       line,
    output logic       valid,
    output logic [7:0] data
);
  localparam int COUNTER_BITS = $clog2(CYCLES_PER_BIT);
  localparam logic [COUNTER_BITS-1:0] FULL = COUNTER_BITS'(CYCLES_PER_BIT - 1);
  localparam logic [COUNTER_BITS-1:0] HALF = COUNTER_BITS'(CYCLES_PER_BIT / 2 - 1);

  logic [1:0] settled;  // the line is asynchronous
  logic active;
  logic [3:0] bit_index;  // 0 start, 1..8 data, 9 stop
  logic [COUNTER_BITS-1:0] counter;

  always_ff @(posedge clk) begin
    settled <= {settled[0], line};
    valid <= 1'b0;
    if (rst) begin
      settled <= 2'b11;
      active  <= 1'b0;
    end else if (!active) begin
      active <= !settled[1];
      bit_index <= 4'd0;
      counter <= HALF;
    end else if (counter != '0) begin
      counter <= counter - 1'b1;
    end else begin
      counter   <= FULL;
      bit_index <= bit_index + 4'd1;
      if (bit_index == 4'd0) begin
        active <= !settled[1];  // a glitch is no start bit
      end else if (bit_index == 4'd9) begin
        active <= 1'b0;
        valid  <= settled[1];
      end else begin
        data <= {settled[1], data[7:1]};
      end
    end
  end
endmodule
