// The overlay on a board that has nothing but an FPGA, a clock and a serial line: the memory of the overlay is block RAM of
// the same chip, its host the serial line with CYCLES_PER_BIT clock cycles per bit (12 MHz: 1 Mbaud). The folders beside this
// file say which pins these are. LEDs: overlay running, interrupt (done or error), serial line in each direction.
module overlay_board #(
    parameter int LOG_MEMORY_BYTES = 12,
    parameter int CYCLES_PER_BIT = 12
) (
    input  logic       clk,
    input  logic       serial_rx,
    output logic       serial_tx,
    output logic [3:0] led
);
  localparam int ADDR_BITS = overlay_config::ADDR_BITS;
  localparam int MEM_BITS = overlay_config::MEM_BITS;

  // Flip-flops wake up as zero, the block RAM of an iCE40 some microseconds later: a reset of 2^8 cycles.
  logic [8:0] awake = 9'd0;
  logic rst_n;
  assign rst_n = awake[8];
  always_ff @(posedge clk) if (!awake[8]) awake <= awake + 9'd1;

  logic irq, running;
  logic awvalid_l, awready_l, wvalid_l, wready_l, bvalid_l, arvalid_l, arready_l, rvalid_l;
  logic [31:0] rdata_l, bridge_wdata;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [15:0] bridge_address;  // its top bit has chosen between registers and memory already
  /* verilator lint_on UNUSEDSIGNAL */
  logic door_valid, door_write, door_ready;

  logic arvalid, arready, rvalid, rready, rlast, awvalid, awready, wvalid, wready, wlast, bvalid, bready;
  logic [1:0] arid, rid, rresp, bresp;
  logic [ADDR_BITS-1:0] araddr, awaddr;
  logic [7:0] arlen;
  logic [MEM_BITS-1:0] rdata, wdata;
  logic [MEM_BITS/8-1:0] wstrb;
  logic [31:0] door_rdata;

  // The 32-bit word that the bridge asked for, of a wider one.
  assign door_rdata = 32'(rdata >> {bridge_address[14:0] & 15'(MEM_BITS / 8 - 4), 3'd0});
  assign led = {!serial_rx, !serial_tx, irq, running};

  tw_board_serial_bridge #(
      .CYCLES_PER_BIT(CYCLES_PER_BIT)
  ) bridge (
      .clk(clk),
      .rst(!rst_n),
      .rx(serial_rx),
      .tx(serial_tx),
      .axil_awvalid(awvalid_l),
      .axil_awready(awready_l),
      .axil_wvalid(wvalid_l),
      .axil_wready(wready_l),
      .axil_bvalid(bvalid_l),
      .axil_arvalid(arvalid_l),
      .axil_arready(arready_l),
      .axil_rvalid(rvalid_l),
      .axil_rdata(rdata_l),
      .mem_valid(door_valid),
      .mem_write(door_write),
      .mem_ready(door_ready),
      .mem_rdata(door_rdata),
      .address(bridge_address),
      .wdata(bridge_wdata)
  );

  tw_board_block_memory #(
      .WIDTH(MEM_BITS),
      .LOG_WORDS(LOG_MEMORY_BYTES - overlay_config::LOG_MEM_BYTES),
      .ADDR_BITS(ADDR_BITS)
  ) ram (
      .clk(clk),
      .rst(!rst_n),
      .arvalid(arvalid),
      .arready(arready),
      .arid(arid),
      .araddr(araddr),
      .arlen(arlen),
      .rvalid(rvalid),
      .rready(rready),
      .rid(rid),
      .rdata(rdata),
      .rresp(rresp),
      .rlast(rlast),
      .awvalid(awvalid),
      .awready(awready),
      .awaddr(awaddr),
      .wvalid(wvalid),
      .wready(wready),
      .wdata(wdata),
      .wstrb(wstrb),
      .wlast(wlast),
      .bvalid(bvalid),
      .bready(bready),
      .bresp(bresp),
      .door_valid(door_valid),
      .door_write(door_write),
      .door_address(ADDR_BITS'(bridge_address[14:0])),
      .door_wdata(bridge_wdata),
      .door_ready(door_ready)
  );

  // Bursts are incrementing and of the full width, writes have one identifier, and the bridge only starts what is legal.
  /* verilator lint_off PINCONNECTEMPTY */
  tilewright_overlay overlay (
      .clk(clk),
      .rst_n(rst_n),
      .irq(irq),
      .dbg_running(running),
      .s_axil_awvalid(awvalid_l),
      .s_axil_awready(awready_l),
      .s_axil_awaddr(bridge_address[11:0]),
      .s_axil_wvalid(wvalid_l),
      .s_axil_wready(wready_l),
      .s_axil_wdata(bridge_wdata),
      .s_axil_wstrb(4'hF),
      .s_axil_bvalid(bvalid_l),
      .s_axil_bready(1'b1),
      .s_axil_bresp(),
      .s_axil_arvalid(arvalid_l),
      .s_axil_arready(arready_l),
      .s_axil_araddr(bridge_address[11:0]),
      .s_axil_rvalid(rvalid_l),
      .s_axil_rready(1'b1),
      .s_axil_rdata(rdata_l),
      .s_axil_rresp(),
      .m_axi_arvalid(arvalid),
      .m_axi_arready(arready),
      .m_axi_arid(arid),
      .m_axi_araddr(araddr),
      .m_axi_arlen(arlen),
      .m_axi_arsize(),
      .m_axi_arburst(),
      .m_axi_rvalid(rvalid),
      .m_axi_rready(rready),
      .m_axi_rid(rid),
      .m_axi_rdata(rdata),
      .m_axi_rresp(rresp),
      .m_axi_rlast(rlast),
      .m_axi_awvalid(awvalid),
      .m_axi_awready(awready),
      .m_axi_awid(),
      .m_axi_awaddr(awaddr),
      .m_axi_awlen(),
      .m_axi_awsize(),
      .m_axi_awburst(),
      .m_axi_wvalid(wvalid),
      .m_axi_wready(wready),
      .m_axi_wdata(wdata),
      .m_axi_wstrb(wstrb),
      .m_axi_wlast(wlast),
      .m_axi_bvalid(bvalid),
      .m_axi_bready(bready),
      .m_axi_bid(2'd0),
      .m_axi_bresp(bresp)
  );
  /* verilator lint_on PINCONNECTEMPTY */
endmodule
