// AXI4 writes of store: the address and data registers, and the responses.
//
// Timing (docs/design/overlay/overlay_rtl.md, Store): a request in t is granted in t if fewer than 8 bursts are outstanding,
// the address register is free and store's reader can take it (`reader_free`); the address is valid in t + 1.
// A beat is put together from one item or more (elements smaller than a beat): an item that comes in c + 1
// is in the data register in c + 2, which is valid when the item was the beat's last. `stall` asks to hold the
// item of this cycle for another one: the data register holds a beat that has not been accepted.
module tw_overlay_write_master (
    input  logic                                  clk,
    input  logic                                  rst,
    input  logic                                  halt,
    input  logic                                  req_valid,
    input  logic [overlay_config::ADDR_BITS-1:0]  req_addr,
    input  logic [8:0]                            req_len,
    input  logic                                  reader_free,
    output logic                                  req_grant,
    // items; strobes tell which bytes of `item` count
    input  logic                                  item_valid,
    input  logic [overlay_config::MEM_BITS-1:0]   item,
    input  logic [overlay_config::MEM_BITS/8-1:0] item_strobes,
    input  logic                                  item_first,      // of its beat
    input  logic                                  item_last,       // of its beat
    input  logic                                  item_ends_burst,
    output logic                                  stall,
    output logic                                  response,        // of the oldest burst, in this cycle
    output logic                                  response_bad,
    output logic                                  response_no_memory,
    // AXI
    output logic                                  awvalid,
    input  logic                                  awready,
    output logic [overlay_config::ADDR_BITS-1:0]  awaddr,
    output logic [7:0]                            awlen,
    output logic                                  wvalid,
    input  logic                                  wready,
    output logic [overlay_config::MEM_BITS-1:0]   wdata,
    output logic [overlay_config::MEM_BITS/8-1:0] wstrb,
    output logic                                  wlast,
    input  logic                                  bvalid,
    input  logic [1:0]                            bresp,
    output logic                                  idle
);
  localparam int BYTES = overlay_config::MEM_BITS / 8;

  logic [3:0] outstanding;  // at most 8

  assign req_grant = req_valid && !halt && !outstanding[3] && !awvalid && reader_free;
  assign stall = wvalid && !wready;
  assign response = bvalid;
  assign response_bad = bvalid && bresp[1];
  assign response_no_memory = bresp[0];
  assign idle = outstanding == 0;

  always_ff @(posedge clk) begin
    if (req_grant) begin
      awaddr <= req_addr;
      awlen  <= 8'(req_len - 9'd1);
    end
    if (rst) awvalid <= 1'b0;
    else if (req_grant) awvalid <= 1'b1;
    else if (awready) awvalid <= 1'b0;
    if (rst) outstanding <= '0;
    else outstanding <= outstanding + 4'(req_grant) - 4'(bvalid);
  end

  for (genvar i = 0; i < BYTES; i++) begin : gen_byte
    always_ff @(posedge clk)
      if (item_valid && !stall && item_strobes[i]) wdata[8*i+:8] <= item[8*i+:8];
  end
  always_ff @(posedge clk) begin
    if (item_valid && !stall) begin
      wstrb <= item_first ? item_strobes : wstrb | item_strobes;
      wlast <= item_ends_burst;
    end
    if (rst) wvalid <= 1'b0;
    else if (!stall) wvalid <= item_valid && item_last;
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(overlay_config::ADDR_BITS + 8)) aw_rules (
      .clk, .rst, .valid(awvalid), .ready(awready), .data({awlen, awaddr})
  );
  tw_handshake_checker #(.WIDTH(9 * BYTES + 1)) w_rules (
      .clk, .rst, .valid(wvalid), .ready(wready), .data({wlast, wstrb, wdata})
  );
`endif
endmodule
