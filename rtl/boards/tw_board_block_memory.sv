// An AXI4 memory of 2^LOG_WORDS words of WIDTH bits in block RAM, with a second door of 32 bits for the board's serial
// bridge. One burst is read and one written at a time, a beat per cycle; the first beat of a read follows its address by two
// cycles. Bursts are incrementing and of the full width. A burst whose address lies beyond the memory answers DECERR. The
// bridge is served between bursts: `door_ready` in the cycle of the access, the word it reads on `rdata` in the next.
module tw_board_block_memory #(
    parameter int WIDTH = 32,
    parameter int LOG_WORDS = 10,
    parameter int ADDR_BITS = 16
) (
    input  logic                 clk,
    input  logic                 rst,
    input  logic                 arvalid,
    output logic                 arready,
    input  logic [          1:0] arid,
    input  logic [ADDR_BITS-1:0] araddr,
    input  logic [          7:0] arlen,
    output logic                 rvalid,
    input  logic                 rready,
    output logic [          1:0] rid,
    output logic [    WIDTH-1:0] rdata,
    output logic [          1:0] rresp,
    output logic                 rlast,
    input  logic                 awvalid,
    output logic                 awready,
    input  logic [ADDR_BITS-1:0] awaddr,
    input  logic                 wvalid,
    output logic                 wready,
    input  logic [    WIDTH-1:0] wdata,
    input  logic [  WIDTH/8-1:0] wstrb,
    input  logic                 wlast,
    output logic                 bvalid,
    input  logic                 bready,
    output logic [          1:0] bresp,
    input  logic                 door_valid,
    input  logic                 door_write,
    input  logic [ADDR_BITS-1:0] door_address,
    input  logic [         31:0] door_wdata,
    output logic                 door_ready
);
  localparam int LANES = WIDTH / 8;
  localparam int WORD_LSB = $clog2(LANES);
  localparam logic [1:0] OKAY = 2'b00, DECERR = 2'b11;

  (* no_rw_check *)
  logic [WIDTH-1:0] memory[0:(1 << LOG_WORDS) - 1];

  logic reading, read_outside, writing, write_outside;
  logic [LOG_WORDS-1:0] read_word, write_word;
  logic [7:0] beats_left;
  logic read_idle, write_idle, door_read, door_store, next_beat;

  assign read_idle = !reading && !rvalid;
  assign write_idle = !writing && !bvalid;
  assign door_read = door_valid && !door_write && read_idle;
  assign door_store = door_valid && door_write && write_idle;
  assign door_ready = door_read || door_store;
  assign arready = read_idle && !door_valid;
  assign awready = write_idle && !door_valid;
  assign wready = writing;
  assign rresp = read_outside ? DECERR : OKAY;
  assign bresp = write_outside ? DECERR : OKAY;
  assign next_beat = reading && (!rvalid || rready);

  // One read port and one write port, each with one address.
  logic [LOG_WORDS-1:0] port_read_word, port_write_word;
  logic [WIDTH-1:0] port_wdata;
  logic [LANES-1:0] port_strobe, door_strobe;
  assign port_read_word = door_read ? door_address[WORD_LSB+:LOG_WORDS] : read_word;
  assign port_write_word = door_store ? door_address[WORD_LSB+:LOG_WORDS] : write_word;
  assign port_wdata = door_store ? {WIDTH / 32{door_wdata}} : wdata;
  assign door_strobe = LANES'('hF) << (door_address & ADDR_BITS'(LANES - 4));
  assign port_strobe = door_store ? door_strobe : (wvalid && wready && !write_outside) ? wstrb : '0;
  always_ff @(posedge clk) begin
    for (int lane = 0; lane < LANES; lane++) begin
      if (port_strobe[lane]) memory[port_write_word][8*lane+:8] <= port_wdata[8*lane+:8];
    end
    if (door_read || next_beat) rdata <= memory[port_read_word];
  end

  always_ff @(posedge clk) begin
    if (rvalid && rready) rvalid <= 1'b0;
    if (arvalid && arready) begin
      reading <= 1'b1;
      rid <= arid;
      read_word <= araddr[WORD_LSB+:LOG_WORDS];
      read_outside <= (araddr >> (LOG_WORDS + WORD_LSB)) != '0;
      beats_left <= arlen;
    end else if (next_beat) begin
      rvalid <= 1'b1;
      rlast <= beats_left == 8'd0;
      reading <= beats_left != 8'd0;
      beats_left <= beats_left - 8'd1;
      read_word <= read_word + 1'b1;
    end
    if (rst) begin
      reading <= 1'b0;
      rvalid  <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (bvalid && bready) bvalid <= 1'b0;
    if (awvalid && awready) begin
      writing <= 1'b1;
      write_word <= awaddr[WORD_LSB+:LOG_WORDS];
      write_outside <= (awaddr >> (LOG_WORDS + WORD_LSB)) != '0;
    end else if (wvalid && wready) begin
      write_word <= write_word + 1'b1;
      writing <= !wlast;
      bvalid <= wlast;
    end
    if (rst) begin
      writing <= 1'b0;
      bvalid  <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(WIDTH + 5)) r_rules (
      .clk, .rst, .valid(rvalid), .ready(rready), .data({rid, rresp, rlast, rdata})
  );
  tw_handshake_checker #(.WIDTH(2)) b_rules (.clk, .rst, .valid(bvalid), .ready(bready), .data(bresp));
`endif
endmodule
