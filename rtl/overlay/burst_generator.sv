// Cuts `rows` rows of `row_bytes` bytes, `stride` bytes from start to start, into bursts of at most MAX_BURST
// beats that cross no 4 KiB boundary. One slot holds the burst that is asked for.
//
// Timing: started in s, active from s + 1; fills the slot in the first active cycle (valid from s + 2) and in
// every cycle in which the slot is granted while bursts are left, over row ends too. Idle from the cycle after
// the last grant; without any burst active in s + 1 only.
//
// `address` and `stride` have one bit more than an address: set when the true value does not fit. A row that
// does not end within the address space raises `error` in the cycle that would have filled the slot, and ends
// the generator. A start overrides a reset of the same cycle (fetch starts in the cycle that clears a run).
module burst_generator #(
    parameter int ROW_BITS = 16
) (
    input  logic                               clk,
    input  logic                               rst,
    input  logic                               start,
    input  logic [overlay_config::ADDR_BITS:0] address,
    input  logic [ROW_BITS-1:0]                row_bytes,
    input  logic [15:0]                        rows,
    input  logic [overlay_config::ADDR_BITS:0] stride,
    output logic                                 active,
    output logic                                 slot_valid,
    output logic [overlay_config::ADDR_BITS-1:0] slot_address,
    output logic [8:0]                           slot_beats,
    input  logic                                 grant,
    output logic                                 error
);
  localparam int A = overlay_config::ADDR_BITS;
  localparam int L = overlay_config::LOG_MEM_BYTES;
  localparam int P = A - L;                // bits of a beat's position
  localparam int N = ROW_BITS - L + 2;     // bits of the beats of a row
  localparam int R = P > N ? P + 1 : N + 1;
  localparam int PAGE = 12 - L;            // log2 of the beats of 4 KiB
  localparam logic [12:0] MOST = 13'(overlay_config::MAX_BURST);

  logic [A:0] row_address, row_stride;     // of the row after the one being cut; top bit: beyond
  logic [ROW_BITS-1:0] bytes;
  logic [15:0] rows_left;                  // with the one being cut
  logic row_over;                          // the row being cut starts beyond
  logic [P-1:0] position;
  logic [N-1:0] beats_left;

  logic [A:0] from;                        // start of the row to load next
  logic [A:0] after;
  logic [A:0] sum;
  logic [ROW_BITS-1:0] from_bytes;
  logic [N-1:0] from_beats;
  logic [12:0] to_boundary, beats;
  logic [R-1:0] row_end;
  logic fill, more, over, row_done;

  assign from = start ? address : row_address;
  assign from_bytes = start ? row_bytes : bytes;
  assign from_beats = N'((ROW_BITS + 1)'({1'b0, from_bytes} + (ROW_BITS + 1)'(from[L-1:0])
                                         + (ROW_BITS + 1)'((1 << L) - 1)) >> L);
  assign sum = {1'b0, from[A-1:0]} + {1'b0, start ? stride[A-1:0] : row_stride[A-1:0]};
  assign after = {from[A] | (start ? stride[A] : row_stride[A]) | sum[A], sum[A-1:0]};

  assign more = rows_left != 0;
  assign fill = active && more && (!slot_valid || grant);
  assign row_end = R'(position) + R'(beats_left);
  assign over = row_over || row_end > (R'(1) << P);
  assign error = fill && over;

  assign to_boundary = (13'd1 << PAGE) - 13'(position[PAGE-1:0]);
  always_comb begin
    beats = to_boundary < MOST ? to_boundary : MOST;
    if ((N + 13)'(beats_left) < (N + 13)'(beats)) beats = 13'(beats_left);
  end
  assign row_done = (N + 13)'(beats_left) == (N + 13)'(beats);

  always_ff @(posedge clk) begin
    if (start || (fill && row_done)) begin
      position    <= from[A-1:L];
      row_over    <= from[A];
      beats_left  <= from_beats;
      row_address <= after;
    end else if (fill) begin
      position   <= position + P'(beats);
      beats_left <= beats_left - N'(beats);
    end
    if (start) begin
      row_stride <= stride;
      bytes      <= row_bytes;
    end
    if (fill) begin
      slot_address <= {position, {L{1'b0}}};
      slot_beats   <= beats[8:0];
    end
  end

  always_ff @(posedge clk) begin
    if (start) begin
      active     <= 1'b1;
      slot_valid <= 1'b0;
      rows_left  <= row_bytes == 0 ? 16'd0 : rows;
    end else if (rst || error) begin
      active     <= 1'b0;
      slot_valid <= 1'b0;
      rows_left  <= 16'd0;
    end else begin
      if (fill) slot_valid <= 1'b1;
      else if (grant) slot_valid <= 1'b0;
      if (active && !more && (!slot_valid || grant)) active <= 1'b0;
      if (fill && row_done) rows_left <= rows_left - 16'd1;
    end
  end
endmodule
