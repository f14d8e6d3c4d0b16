// The four token channels between neighbouring modules: counters of 8 bits.
//
// Timing: a push in t is there in t + 1; a pop (only of a token that is there) counts in its own cycle. The
// 256th token on a channel is an error that names the instruction that pushed it.
module tw_overlay_tokens (
    input  logic        clk,
    input  logic        rst,
    // load->compute, compute->load, compute->store, store->compute
    input  logic [3:0]  push,
    input  logic [3:0]  twice,  // beside push: two tokens at once
    input  logic [3:0]  pop,
    output logic [3:0]  there,
    input  logic [31:0] load_index,
    input  logic [31:0] compute_index,
    input  logic [31:0] store_index,
    output logic        error,
    output logic [31:0] error_index
);
  logic [3:0] overflow;

  for (genvar k = 0; k < 4; k++) begin : gen_channel
    logic [7:0] count, change, most;
    assign change = !push[k] ? 8'hFF : !twice[k] ? 8'd1 : pop[k] ? 8'd1 : 8'd2;
    assign most = 8'hFF - (change & 8'd3);  // with which a push still fits
    assign there[k] = count != 0;
    assign overflow[k] = push[k] && (twice[k] || !pop[k]) && count > most;
    always_ff @(posedge clk) begin
      if (rst) count <= '0;
      else if (push[k] != pop[k] || (push[k] && twice[k])) count <= count + change;
    end
  end

  assign error = overflow != 0;
  assign error_index = overflow[0] ? load_index : overflow[3] ? store_index : compute_index;
endmodule
