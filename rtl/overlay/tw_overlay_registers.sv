// The registers behind the AXI4-Lite port; offsets are those of
// src/tilewright/overlay/rtl/registers.h.
//
// Timing: a write takes effect in the cycle after both its address and its data have been accepted: `launch`
// and `soft_reset` are pulses of that cycle. A read answers in the cycle after its address was accepted, that
// of a counter up to 34 cycles later.
module tw_overlay_registers (
    input  logic         clk,
    input  logic         rst,
    input  logic         awvalid,
    output logic         awready,
    input  logic [11:0]  awaddr,
    input  logic         wvalid,
    output logic         wready,
    input  logic [31:0]  wdata,
    input  logic [3:0]   wstrb,
    output logic         bvalid,
    input  logic         bready,
    input  logic         arvalid,
    output logic         arready,
    input  logic [11:0]  araddr,
    output logic         rvalid,
    input  logic         rready,
    output logic [31:0]  rdata,
    // to and from run_control
    output logic         launch,
    output logic         soft_reset,
    output logic [31:0]  program_low,
    output logic [31:0]  program_high,
    output logic [31:0]  program_count,
    input  logic         running,
    input  logic         status_done,
    input  logic         status_error,
    input  logic [3:0]   status_code,
    input  logic [31:0]  status_index,
    input  logic [31:0]  wait_load,
    input  logic [31:0]  wait_compute,
    input  logic [31:0]  wait_store,
    // to counters
    output logic         counter_read,
    output logic [4:0]   counter_index,
    input  logic         counter_valid,
    input  logic [31:0]  counter_value
);
  localparam logic [11:0] LAST_COUNTER = overlay_config::REG_CYCLES + 12'd76;

  // ---- writes ----
  logic have_address, have_data, write;
  logic [11:0] address;
  logic [31:0] value;
  logic [3:0] strobes;

  assign awready = !have_address;
  assign wready = !have_data;
  assign write = have_address && have_data && !bvalid;
  assign launch = write && address == overlay_config::REG_CONTROL && strobes[0] && value[0] && !value[1];
  assign soft_reset = write && address == overlay_config::REG_CONTROL && strobes[0] && value[1];

  always_ff @(posedge clk) begin
    if (awvalid && awready) address <= awaddr;
    if (wvalid && wready) begin
      value   <= wdata;
      strobes <= wstrb;
    end
    if (rst) begin
      have_address <= 1'b0;
      have_data    <= 1'b0;
      bvalid       <= 1'b0;
    end else begin
      have_address <= awvalid && awready || have_address && !write;
      have_data    <= wvalid && wready || have_data && !write;
      bvalid       <= write || bvalid && !bready;
    end
  end

  for (genvar i = 0; i < 4; i++) begin : gen_byte
    always_ff @(posedge clk) begin
      if (write && strobes[i]) begin
        if (address == overlay_config::REG_PROGRAM_LO) program_low[8*i+:8] <= value[8*i+:8];
        if (address == overlay_config::REG_PROGRAM_HI) program_high[8*i+:8] <= value[8*i+:8];
        if (address == overlay_config::REG_PROGRAM_COUNT) program_count[8*i+:8] <= value[8*i+:8];
      end
    end
  end

  // ---- reads ----
  logic [31:0] word;
  logic is_counter;

  assign arready = !rvalid && !counter_read;
  assign is_counter = araddr >= overlay_config::REG_CYCLES && araddr <= LAST_COUNTER;
  always_comb begin
    case (araddr)
      overlay_config::REG_CONTROL:         word = {31'd0, running};
      overlay_config::REG_STATUS:          word = {20'd0, status_code, 6'd0, status_error, status_done};
      overlay_config::REG_ERROR_INDEX:     word = status_index;
      overlay_config::REG_ID:              word = overlay_config::OVERLAY_ID;
      overlay_config::REG_PROGRAM_LO:      word = program_low;
      overlay_config::REG_PROGRAM_HI:      word = program_high;
      overlay_config::REG_PROGRAM_COUNT:   word = program_count;
      overlay_config::REG_WAIT_LOAD:       word = wait_load;
      overlay_config::REG_WAIT_COMPUTE:    word = wait_compute;
      overlay_config::REG_WAIT_STORE:      word = wait_store;
      overlay_config::REG_HW_BATCH:        word = overlay_config::VALUE_HW_BATCH;
      overlay_config::REG_HW_BLOCK_IN:     word = overlay_config::VALUE_HW_BLOCK_IN;
      overlay_config::REG_HW_BLOCK_OUT:    word = overlay_config::VALUE_HW_BLOCK_OUT;
      overlay_config::REG_HW_WIDTHS:       word = overlay_config::VALUE_HW_WIDTHS;
      overlay_config::REG_HW_DEPTHS:       word = overlay_config::VALUE_HW_DEPTHS;
      overlay_config::REG_HW_MEMORY_WIDTH: word = overlay_config::VALUE_HW_MEMORY_WIDTH;
      overlay_config::REG_HW_WIDE:         word = overlay_config::VALUE_HW_WIDE;
      default:                             word = 32'd0;
    endcase
  end
  always_ff @(posedge clk) begin
    if (arvalid && arready) begin
      rdata         <= word;
      counter_index <= 5'((araddr - overlay_config::REG_CYCLES) >> 2);
    end else if (counter_valid) rdata <= counter_value;
    if (rst) begin
      rvalid       <= 1'b0;
      counter_read <= 1'b0;
    end else begin
      rvalid       <= arvalid && arready && !is_counter || counter_valid || rvalid && !rready;
      counter_read <= arvalid && arready && is_counter || counter_read && !counter_valid;
    end
  end

`ifndef SYNTHESIS
  tw_handshake_checker b_rules (.clk, .rst, .valid(bvalid), .ready(bready), .data(1'b0));
  tw_handshake_checker #(.WIDTH(32)) r_rules (.clk, .rst, .valid(rvalid), .ready(rready), .data(rdata));
`endif
endmodule
