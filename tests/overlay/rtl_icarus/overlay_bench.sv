// The overlay under Icarus: a memory of fixed latency in SystemVerilog behind the AXI port, one run started and
// read out over AXI4-Lite. Plus arguments: memory (hex bytes), result (likewise, written), address, count,
// latency. Prints "status S cycles C".
//
// The memory is MemoryModel's kFixed with a beat in every cycle: the first beat of a read `latency` cycles after
// its address or behind the beat before it, the response of a write `latency` cycles after its last beat.
`timescale 1ns / 1ns
module overlay_bench;
  localparam int BYTES = 1 << 16;
  localparam int PORT = overlay_config::MEM_BITS / 8;
  localparam int A = overlay_config::ADDR_BITS;
  localparam int QUEUE = 4096;
  localparam int MOST_CYCLES = 1000000;

  reg clk = 0;
  reg rst_n = 0;
  always #5 clk = !clk;

  reg awvalid_l = 0, wvalid_l = 0, arvalid_l = 0;
  reg [11:0] awaddr_l = 0, araddr_l = 0;
  reg [31:0] wdata_l = 0;
  wire awready_l, wready_l, bvalid_l, arready_l, rvalid_l, irq, running;
  wire [31:0] rdata_l;

  wire arvalid, awvalid, wvalid, wlast;
  wire [1:0] arid;
  wire [A-1:0] araddr, awaddr;
  wire [7:0] arlen;
  wire [overlay_config::MEM_BITS-1:0] wdata;
  wire [PORT-1:0] wstrb;
  reg rvalid = 0, rlast = 0, bvalid = 0;
  reg [1:0] rid = 0;
  reg [overlay_config::MEM_BITS-1:0] rdata = 0;

  tilewright_overlay overlay (
      .clk(clk), .rst_n(rst_n), .irq(irq), .dbg_running(running),
      .s_axil_awvalid(awvalid_l), .s_axil_awready(awready_l), .s_axil_awaddr(awaddr_l),
      .s_axil_wvalid(wvalid_l), .s_axil_wready(wready_l), .s_axil_wdata(wdata_l), .s_axil_wstrb(4'hf),
      .s_axil_bvalid(bvalid_l), .s_axil_bready(1'b1), .s_axil_bresp(),
      .s_axil_arvalid(arvalid_l), .s_axil_arready(arready_l), .s_axil_araddr(araddr_l),
      .s_axil_rvalid(rvalid_l), .s_axil_rready(1'b1), .s_axil_rdata(rdata_l), .s_axil_rresp(),
      .m_axi_arvalid(arvalid), .m_axi_arready(1'b1), .m_axi_arid(arid), .m_axi_araddr(araddr),
      .m_axi_arlen(arlen), .m_axi_arsize(), .m_axi_arburst(),
      .m_axi_rvalid(rvalid), .m_axi_rready(), .m_axi_rid(rid), .m_axi_rdata(rdata), .m_axi_rresp(2'b00),
      .m_axi_rlast(rlast),
      .m_axi_awvalid(awvalid), .m_axi_awready(1'b1), .m_axi_awid(), .m_axi_awaddr(awaddr), .m_axi_awlen(),
      .m_axi_awsize(), .m_axi_awburst(),
      .m_axi_wvalid(wvalid), .m_axi_wready(1'b1), .m_axi_wdata(wdata), .m_axi_wstrb(wstrb),
      .m_axi_wlast(wlast),
      .m_axi_bvalid(bvalid), .m_axi_bready(), .m_axi_bid(2'b00), .m_axi_bresp(2'b00)
  );

  // ---- memory ----
  reg [7:0] bytes[0:BYTES-1];
  integer latency, now = 0, last_due = 0;
  // Beats of reads, addresses of writes, responses: rings.
  integer read_due[0:QUEUE-1], read_address[0:QUEUE-1];
  reg [2:0] read_info[0:QUEUE-1];
  integer write_address[0:QUEUE-1], response_due[0:QUEUE-1];
  integer read_head = 0, read_tail = 0, write_head = 0, write_tail = 0, response_head = 0, response_tail = 0;
  integer write_beat = 0, i;

  always @(posedge clk) begin
    now <= now + 1;
    if (arvalid) begin
      for (i = 0; i <= arlen; i = i + 1) begin
        last_due = (last_due + 1 > now + latency) ? last_due + 1 : now + latency;
        read_due[read_tail%QUEUE] = last_due;
        read_address[read_tail%QUEUE] = araddr + i * PORT;
        read_info[read_tail%QUEUE] = {i == arlen, arid};
        read_tail = read_tail + 1;
      end
    end
    if (awvalid) begin
      write_address[write_tail%QUEUE] = awaddr;
      write_tail = write_tail + 1;
    end
    if (wvalid) begin
      for (i = 0; i < PORT; i = i + 1) begin
        if (wstrb[i]) bytes[write_address[write_head%QUEUE]+write_beat*PORT+i] = wdata[8*i+:8];
      end
      write_beat = write_beat + 1;
      if (wlast) begin
        write_beat = 0;
        write_head = write_head + 1;
        response_due[response_tail%QUEUE] = now + latency;
        response_tail = response_tail + 1;
      end
    end
    // What is driven in cycle now + 1.
    rvalid <= 1'b0;
    if (read_head < read_tail && read_due[read_head%QUEUE] <= now + 1) begin
      rvalid <= 1'b1;
      {rlast, rid} <= read_info[read_head%QUEUE];
      for (i = 0; i < PORT; i = i + 1) rdata[8*i+:8] <= bytes[read_address[read_head%QUEUE]+i];
      read_head = read_head + 1;
    end
    bvalid <= 1'b0;
    if (response_head < response_tail && response_due[response_head%QUEUE] <= now + 1) begin
      bvalid <= 1'b1;
      response_head = response_head + 1;
    end
  end

  // ---- host ----
  task write_register(input [11:0] address, input [31:0] value);
    begin
      @(negedge clk);
      awaddr_l = address;
      wdata_l = value;
      awvalid_l = 1;
      wvalid_l = 1;
      while (awvalid_l || wvalid_l) begin
        // Accepted at the next rising edge if ready now.
        #1;
        if (awready_l && wready_l) begin
          @(negedge clk);
          awvalid_l = 0;
          wvalid_l = 0;
        end else if (awready_l && awvalid_l) begin
          @(negedge clk);
          awvalid_l = 0;
        end else if (wready_l && wvalid_l) begin
          @(negedge clk);
          wvalid_l = 0;
        end else @(negedge clk);
      end
      @(negedge clk);
    end
  endtask

  task read_register(input [11:0] address, output [31:0] value);
    reg accepted;
    begin
      @(negedge clk);
      araddr_l = address;
      arvalid_l = 1;
      accepted = 0;
      while (!accepted) begin
        #1 accepted = arready_l;
        @(negedge clk);
      end
      arvalid_l = 0;
      while (!rvalid_l) @(negedge clk);
      value = rdata_l;
      @(negedge clk);
    end
  endtask

  reg [8*256-1:0] memory_file, result_file;
  integer address, count;
  reg [31:0] status, cycles;
  initial begin
    if (!$value$plusargs("memory=%s", memory_file) || !$value$plusargs("result=%s", result_file)
        || !$value$plusargs("address=%d", address) || !$value$plusargs("count=%d", count)
        || !$value$plusargs("latency=%d", latency)) begin
      $display("missing plus argument");
      $finish;
    end
    $readmemh(memory_file, bytes);
    repeat (4) @(negedge clk);
    rst_n = 1;
    write_register(overlay_config::REG_PROGRAM_LO, address);
    write_register(overlay_config::REG_PROGRAM_HI, 0);
    write_register(overlay_config::REG_PROGRAM_COUNT, count);
    write_register(overlay_config::REG_CONTROL, 1);
    while (!irq && now < MOST_CYCLES) @(negedge clk);
    read_register(overlay_config::REG_STATUS, status);
    read_register(overlay_config::REG_CYCLES, cycles);
    $display("status %0d cycles %0d", status, cycles);
    $writememh(result_file, bytes);
    $finish;
  end
endmodule
