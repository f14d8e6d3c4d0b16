// Cuts rows of bytes, `stride` bytes from start to start, into bursts of at most MAX_BURST beats that cross no
// 4 KiB boundary. One slot holds the burst that is asked for.
//
// Timing: started in s, active from s + 1; fills the slot in the first active cycle (valid from s + 2) and in
// every cycle in which the slot is granted while bursts are left, over row ends too. Idle from the cycle after
// the last grant; without any burst active in s + 1 only.
//
// `address` and `stride` have one bit more than an address: set when the true value does not fit. A burst that
// would lie beyond the address space raises `error` in the cycle that would have filled the slot, and ends the
// generator. A start overrides a reset of the same cycle (fetch starts in the cycle that clears a run).
module tw_overlay_burst_generator #(
    parameter int ROW_BITS = 16,   // of row_bytes
    parameter int COUNT_BITS = 16  // of rows
) (
    input  logic                                 clk,
    input  logic                                 rst,
    input  logic                                 start,
    input  logic [overlay_config::ADDR_BITS:0]   address,
    input  logic [ROW_BITS-1:0]                  row_bytes,
    input  logic [COUNT_BITS-1:0]                rows,
    input  logic [overlay_config::ADDR_BITS:0]   stride,
    output logic                                 active,
    output logic                                 slot_valid,
    output logic [overlay_config::ADDR_BITS-1:0] slot_address,
    output logic [8:0]                           slot_beats,
    input  logic                                 grant,
    output logic                                 error
);
  localparam int A = overlay_config::ADDR_BITS;
  localparam int L = overlay_config::LOG_MEM_BYTES;
  localparam int P = A - L;                              // bits of a beat's position
  localparam int S = (ROW_BITS > L ? ROW_BITS : L) + 2;  // bits of the bytes of a row with both its ends
  localparam int N = S - L;                              // bits of the beats of a row
  localparam int PAGE = 12 - L;                          // log2 of the beats of 4 KiB
  localparam int M = $clog2(overlay_config::MAX_BURST);  // at most PAGE
  localparam int U = N > M + 1 ? N : M + 1;
  localparam logic [M:0] MOST = (M + 1)'(overlay_config::MAX_BURST);

  logic [A:0] row_address, row_stride;  // of the row being cut; top bit: beyond
  logic [ROW_BITS-1:0] bytes;
  logic [COUNT_BITS-1:0] rows_left;     // with the one being cut
  logic [P:0] position;                 // top bit: beyond
  logic [N-1:0] beats_left;

  // ---- the row to load next ----
  logic [A:0] from, next_address;
  logic [ROW_BITS-1:0] from_bytes;
  logic [N-1:0] from_beats;
  logic carry;

  assign {carry, next_address[A-1:0]} = {1'b0, row_address[A-1:0]} + {1'b0, row_stride[A-1:0]};
  assign next_address[A] = carry || row_address[A] || row_stride[A];
  assign from = start ? address : next_address;
  assign from_bytes = start ? row_bytes : bytes;
  assign from_beats = N'((S'(from_bytes) + S'(from[L-1:0]) + S'((1 << L) - 1)) >> L);

  // ---- the burst to ask for next: up to a page's last beats it is the longest, or the rest of the row ----
  logic [M:0] limit, beats;
  logic near_boundary, row_done, fill, more;

  assign near_boundary = &(position[PAGE-1:0] | PAGE'((1 << M) - 1));
  assign limit = near_boundary ? MOST - ((M + 1)'(position) & (MOST - (M + 1)'(1))) : MOST;
  assign row_done = U'(beats_left) <= U'(limit);
  assign beats = row_done ? (M + 1)'(beats_left) : limit;
  assign more = rows_left != 0;
  assign fill = active && more && (!slot_valid || grant);
  assign error = fill && position[P];

  always_ff @(posedge clk) begin
    if (start || (fill && row_done)) begin
      position    <= from[A:L];
      beats_left  <= from_beats;
      row_address <= from;
    end else if (fill) begin
      position   <= position + (P + 1)'(beats);
      beats_left <= beats_left - N'(beats);
    end
    if (start) begin
      row_stride <= stride;
      bytes      <= row_bytes;
    end
    if (fill) begin
      slot_address <= {position[P-1:0], {L{1'b0}}};
      slot_beats   <= 9'(beats);
    end
  end

  always_ff @(posedge clk) begin
    if (start) begin
      active     <= 1'b1;
      slot_valid <= 1'b0;
      rows_left  <= row_bytes == 0 ? '0 : rows;
    end else if (rst || error) begin
      active     <= 1'b0;
      slot_valid <= 1'b0;
      rows_left  <= '0;
    end else begin
      if (fill) slot_valid <= 1'b1;
      else if (grant) slot_valid <= 1'b0;
      if (active && !more && (!slot_valid || grant)) active <= 1'b0;
      if (fill && row_done) rows_left <= rows_left - COUNT_BITS'(1);
    end
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(A + 9)) slot_rules (
      .clk, .rst(rst || start), .valid(slot_valid), .ready(grant), .data({slot_beats, slot_address})
  );
`endif
endmodule
