// The performance counters, in the order of their registers: cycles; fetch busy, blocked, idle; load busy,
// token, starved; compute gemm, alu, load, token_load, token_store, starved; store busy, token, starved; bursts
// and beats read, bursts and beats written.
//
// Timing: every module is in one state per cycle of the run, so its counters add up to the cycles.
module counters (
    input  logic         clk,
    input  logic         rst,
    input  logic         running,
    input  logic         fetch_finished,
    input  logic         fetch_blocked,
    input  logic         load_busy,
    input  logic         load_waiting,
    input  logic [2:0]   compute_state,  // 0 starved, 1 gemm, 2 alu, 3 load, 4 token_load, 5 token_store
    input  logic         store_busy,
    input  logic         store_waiting,
    input  logic         read_granted,
    input  logic [8:0]   read_beats,
    input  logic         write_granted,
    input  logic [8:0]   write_beats,
    output logic [639:0] values
);
  logic [19:0] counts;
  logic [2:0] fetch_states, load_states, store_states;

  assign fetch_states = fetch_finished ? 3'b100 : fetch_blocked ? 3'b010 : 3'b001;
  assign load_states = load_busy ? 3'b001 : load_waiting ? 3'b010 : 3'b100;
  assign store_states = store_busy ? 3'b001 : store_waiting ? 3'b010 : 3'b100;
  assign counts = {write_granted, write_granted, read_granted, read_granted, store_states,
                   compute_state == 3'd0, compute_state == 3'd5, compute_state == 3'd4,
                   compute_state == 3'd3, compute_state == 3'd2, compute_state == 3'd1,
                   load_states, fetch_states, 1'b1};

  generate
    for (genvar k = 0; k < 20; k++) begin : gen_counter
      logic [31:0] value;
      logic [8:0] step;
      assign step = k == 17 ? read_beats : k == 19 ? write_beats : 9'd1;
      assign values[32*k+:32] = value;
      always_ff @(posedge clk) begin
        if (rst) value <= '0;
        else if (running && counts[k]) value <= value + 32'(step);
      end
    end
  endgenerate
endmodule
