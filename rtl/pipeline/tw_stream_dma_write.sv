// Writes `bytes` bytes (a multiple of DATA / 8) of a stream from `base` on, in the bursts of dma_read.
//
// Timing: `start` in t makes `busy` 1 from t + 1. The queue takes beats at any time while it has fewer than
// QUEUE. A burst is asked for in a cycle in which all its beats are in the queue, the address register is free
// or being accepted, no beat of the burst before is left behind this cycle's, and fewer than 64 bursts wait
// for their response; its address is valid in the next cycle, its beats from then on. `busy` ends in the
// cycle after the last response. bready is always 1. `error`: a response of this run was no OKAY.
module tw_stream_dma_write #(
    parameter int DATA = 64,
    parameter int BURST = 16,
    parameter int QUEUE = 64,
    parameter int A = 32,
    parameter KIND = "block"
) (
    input  logic              clk,
    input  logic              rst,
    input  logic              start,
    input  logic [A-1:0]      base,
    input  logic [31:0]       bytes,
    input  logic              in_valid,
    output logic              in_ready,
    input  logic [DATA-1:0]   in_data,
    output logic              m_awvalid,
    input  logic              m_awready,
    output logic [A-1:0]      m_awaddr,
    output logic [7:0]        m_awlen,
    output logic [2:0]        m_awsize,
    output logic [1:0]        m_awburst,
    output logic              m_wvalid,
    input  logic              m_wready,
    output logic [DATA-1:0]   m_wdata,
    output logic [DATA/8-1:0] m_wstrb,
    output logic              m_wlast,
    input  logic              m_bvalid,
    output logic              m_bready,
    input  logic [1:0]        m_bresp,
    output logic              busy,
    output logic              error
);
  localparam int L = $clog2(DATA / 8);
  localparam int N = $clog2(BURST) + 1;
  localparam int Q = $clog2(QUEUE + 1);
  localparam int LOG_BURSTS = 6;  // that wait for their response, at most

  logic [A-L-1:0] position;  // in beats
  logic [31-L:0] left;
  logic [Q-1:0] waiting;  // beats in the queue that no burst has been asked for
  logic [N-1:0] to_boundary, beats, burst_left;
  logic [LOG_BURSTS:0] outstanding;
  logic ask, taken, written, head_valid, head_ready, burst_done;

  assign to_boundary = N'(BURST) - (N'(position) & N'(BURST - 1));
  assign beats = left < (32 - L)'(to_boundary) ? N'(left) : to_boundary;
  assign taken = in_valid && in_ready;
  assign written = m_wvalid && m_wready;
  assign burst_done = burst_left == 0 || (m_wlast && written);
  assign ask = busy && left != 0 && (!m_awvalid || m_awready) && waiting >= Q'(beats) && burst_done &&
               !outstanding[LOG_BURSTS];
  assign head_ready = burst_left != 0 && m_wready;
  assign m_wvalid = burst_left != 0 && head_valid;
  assign m_wlast = burst_left == N'(1);
  assign m_wstrb = '1;
  assign m_awsize = 3'(L);
  assign m_awburst = 2'b01;
  assign m_bready = 1'b1;

  always_ff @(posedge clk) begin
    if (start) begin
      position <= base[A-1:L];
      left     <= bytes[31:L];
    end else if (ask) begin
      position <= position + (A - L)'(beats);
      left     <= left - (32 - L)'(beats);
    end
    if (ask) begin
      m_awaddr <= {position, {L{1'b0}}};
      m_awlen  <= 8'(beats) - 8'd1;
    end
    if (rst) begin
      busy        <= 1'b0;
      error       <= 1'b0;
      m_awvalid   <= 1'b0;
      waiting     <= '0;
      burst_left  <= '0;
      outstanding <= '0;
    end else begin
      if (start) busy <= 1'b1;
      else if (left == 0 && outstanding == 0) busy <= 1'b0;
      if (start) error <= 1'b0;
      else if (m_bvalid && m_bresp[1]) error <= 1'b1;
      if (ask) m_awvalid <= 1'b1;
      else if (m_awready) m_awvalid <= 1'b0;
      waiting <= waiting + Q'(taken) - (ask ? Q'(beats) : '0);
      if (ask) burst_left <= beats;
      else if (written) burst_left <= burst_left - 1'b1;
      outstanding <= outstanding + (LOG_BURSTS + 1)'(ask) - (LOG_BURSTS + 1)'(m_bvalid);
    end
  end

  tw_stream_fifo #(.WIDTH(DATA), .DEPTH(QUEUE), .KIND(KIND)) queue (
      .clk(clk), .rst(rst), .in_valid(in_valid), .in_ready(in_ready), .in_data(in_data),
      .out_valid(head_valid), .out_ready(head_ready), .out_data(m_wdata)
  );
  logic unused;
  assign unused = &{1'b0, m_bresp[0], base, bytes};

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(A + 8)) m_aw_rules (
      .clk, .rst, .valid(m_awvalid), .ready(m_awready), .data({m_awlen, m_awaddr})
  );
  tw_handshake_checker #(.WIDTH(DATA + 1)) m_w_rules (
      .clk, .rst, .valid(m_wvalid), .ready(m_wready), .data({m_wlast, m_wdata})
  );
`endif
endmodule
