// The performance counters, in the order of their registers: cycles; fetch busy, blocked, idle; load busy,
// token, starved; compute gemm, alu, load, token_load, token_store, starved; store busy, token, starved; bursts
// and beats read, bursts and beats written.
//
// Every module is in one state per cycle of the run, so its counters add up to the cycles. Flip-flops hold only
// what a counter has gained lately: a walker visits one counter per cycle, adds that to its total in a block
// RAM, and starts it again from zero.
//
// Timing: while `read` is 1, `read_valid` is 1 in the cycle in which the walker has the total of counter
// `read_index`, within 33 cycles; it counts all cycles before this one. So after a run it is exact.
module tw_overlay_counters (
    input  logic        clk,
    input  logic        rst,
    input  logic        running,
    input  logic        fetch_finished,
    input  logic        fetch_blocked,
    input  logic        load_busy,
    input  logic        load_waiting,
    input  logic [2:0]  compute_state,  // 0 starved, 1 gemm, 2 alu, 3 load, 4 token_load, 5 token_store
    input  logic        store_busy,
    input  logic        store_waiting,
    input  logic        read_granted,
    // only as many bits as a burst has
    // verilator lint_off UNUSEDSIGNAL
    input  logic [8:0]  read_beats,
    input  logic        write_granted,
    input  logic [8:0]  write_beats,
    // verilator lint_on UNUSEDSIGNAL
    input  logic        read,
    input  logic [4:0]  read_index,
    output logic        read_valid,
    output logic [31:0] read_value
);
  localparam int COUNTERS = 20;
  localparam int READ_BEATS = 17, WRITE_BEATS = 19;  // those that grow by a burst's beats
  localparam int LOG_SLOTS = 5, SLOTS = 1 << LOG_SLOTS;
  localparam int MOST_BITS = LOG_SLOTS + 1 + $clog2(overlay_config::MAX_BURST);  // beats gained in a round

  // ---- what happens in this cycle ----
  logic [COUNTERS-1:0] counts;
  logic [2:0] fetch_states, load_states, store_states;

  assign fetch_states = fetch_finished ? 3'b100 : fetch_blocked ? 3'b010 : 3'b001;
  assign load_states = load_busy ? 3'b001 : load_waiting ? 3'b010 : 3'b100;
  assign store_states = store_busy ? 3'b001 : store_waiting ? 3'b010 : 3'b100;
  assign counts = {write_granted, write_granted, read_granted, read_granted, store_states,
                   compute_state == 3'd0, compute_state == 3'd5, compute_state == 3'd4,
                   compute_state == 3'd3, compute_state == 3'd2, compute_state == 3'd1,
                   load_states, fetch_states, 1'b1} & {COUNTERS{running}};

  // ---- gains, one slot after the other moved into the totals ----
  logic [LOG_SLOTS-1:0] slot, moved_slot;
  logic [MOST_BITS-1:0] moved;
  logic [SLOTS*MOST_BITS-1:0] gains;
  logic first_round, moved_first, moving;

  assign gains[SLOTS*MOST_BITS-1:COUNTERS*MOST_BITS] = '0;
  for (genvar k = 0; k < COUNTERS; k++) begin : gen_counter
    localparam int BITS = k == READ_BEATS || k == WRITE_BEATS ? MOST_BITS : LOG_SLOTS + 1;
    logic [BITS-1:0] gain, grown;
    if (k == READ_BEATS) assign grown = gain + (counts[k] ? BITS'(read_beats) : '0);
    else if (k == WRITE_BEATS) assign grown = gain + (counts[k] ? BITS'(write_beats) : '0);
    else assign grown = gain + BITS'(counts[k]);
    assign gains[MOST_BITS*k+:MOST_BITS] = MOST_BITS'(grown);
    always_ff @(posedge clk) begin
      if (rst || slot == LOG_SLOTS'(k)) gain <= '0;
      else gain <= grown;
    end
  end

  (* no_rw_check *)
  logic [31:0] totals[0:SLOTS-1];
  logic [31:0] total;

  assign read_value = (moved_first ? 32'd0 : total) + 32'(moved);
  assign read_valid = read && moving && moved_slot == read_index;

  always_ff @(posedge clk) begin
    total <= totals[slot];
    if (moving) totals[moved_slot] <= read_value;
  end
  always_ff @(posedge clk) begin
    moved       <= gains[MOST_BITS*slot+:MOST_BITS];
    moved_slot  <= slot;
    moved_first <= first_round;
    moving      <= !rst;
    if (rst) begin
      slot        <= '0;
      first_round <= 1'b1;
    end else begin
      slot <= slot + LOG_SLOTS'(1);
      if (&slot) first_round <= 1'b0;
    end
  end
endmodule
