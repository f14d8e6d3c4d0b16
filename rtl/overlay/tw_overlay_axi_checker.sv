// Rules of AXI4 that the overlay's memory port keeps whatever the memory does, as immediate assertions. For
// simulation: the top instantiates it unless SYNTHESIS is defined (as Yosys does), and simulators that do not
// check assertions drop it. That offers stay until they are accepted, tw_handshake_checker says in the masters.
//
// Checked in every cycle after reset: requests are whole beats within a 4 KiB page and not longer than the
// hardware's bursts; at most 8 writes and no more beats read than all read queues hold are outstanding; the last
// beat of each write is marked and no beat comes before its address was asked for; and the memory answers only
// what it was asked.
module tw_overlay_axi_checker (
    input logic        clk,
    input logic        rst,
    input logic        arvalid,
    input logic        arready,
    input logic [1:0]  arid,
    input logic [11:0] araddr,  // in its page
    input logic [7:0]  arlen,
    input logic        rvalid,
    input logic        awvalid,
    input logic        awready,
    input logic [11:0] awaddr,
    input logic [7:0]  awlen,
    input logic        wvalid,
    input logic        wready,
    input logic        wlast,
    input logic        bvalid
);
  localparam int L = overlay_config::LOG_MEM_BYTES;

  // A request is one burst: whole beats, within a page, not too long.
  function automatic logic is_burst(input logic [11:0] address, input logic [7:0] len);
    is_burst = address[L-1:0] == 0 && 9'(len) < 9'(overlay_config::MAX_BURST)
        && (32'(address) >> L) + 32'(len) < (32'd4096 >> L);
  endfunction

  // ---- what is outstanding ----
  logic ar_held, aw_held;            // a request that was there in the cycle before
  logic [31:0] beats_read;           // asked for and not arrived
  logic [3:0] asked, sent, answered; // writes: addresses, last beats, responses
  logic [7:0] lens[0:15];            // of the writes asked for
  logic [8:0] beats_sent;            // of the write being sent
  logic new_read, new_write, beat;
  logic [3:0] asked_now;
  logic [8:0] len_sent;

  assign new_read = arvalid && !ar_held;
  assign new_write = awvalid && !aw_held;
  assign asked_now = asked + 4'(new_write);
  assign beat = wvalid && wready;
  assign len_sent = 9'(lens[sent]);

  always_ff @(posedge clk) begin
    if (new_write) lens[asked] <= awlen;
    if (rst) begin
      ar_held    <= 1'b0;
      aw_held    <= 1'b0;
      beats_read <= 32'd0;
      asked      <= 4'd0;
      sent       <= 4'd0;
      answered   <= 4'd0;
      beats_sent <= 9'd0;
    end else begin
      ar_held    <= arvalid && !arready;
      aw_held    <= awvalid && !awready;
      beats_read <= beats_read + (new_read ? 32'(arlen) + 32'd1 : 32'd0) - 32'(rvalid);
      asked      <= asked_now;
      sent       <= sent + 4'(beat && wlast);
      answered   <= answered + 4'(bvalid);
      if (beat) beats_sent <= wlast ? 9'd0 : beats_sent + 9'd1;
    end
  end

  always @(posedge clk) begin
    if (!rst) begin
      assert (!arvalid || (is_burst(araddr, arlen) && arid != 2'd3));
      assert (!awvalid || is_burst(awaddr, awlen));
      assert (beats_read <= 32'd3 << overlay_config::LOG_READ_QUEUE);
      assert (!rvalid || beats_read != 0);
      assert (asked_now - answered <= 4'd8);
      assert (!wvalid || (sent != asked && wlast == (beats_sent == len_sent)));
      assert (!bvalid || answered != sent);
    end
  end
endmodule
