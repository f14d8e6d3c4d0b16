// Reads `bytes` bytes (a multiple of DATA / 8) from `base` on and gives them as a stream. Bursts end at
// multiples of BURST beats, so they are at most BURST long and cross no 4 KiB boundary (BURST is a power of
// two, BURST * DATA / 8 at most 4096).
//
// Timing: `start` in t makes `busy` 1 from t + 1. A burst is asked for in a cycle in which beats are left, the
// address register is free or being accepted, and the queue has room for it and all that was asked for before;
// its address is valid in the next cycle. A beat that arrives in r is valid at the output from r + 2 (KIND
// "block"). `busy` ends in the cycle after all beats were taken. rready is always 1. `error`: an answer of this
// run was no OKAY; the beats come all the same. With QUEUE of at least the memory's latency and a burst, the
// latency costs nothing.
module tw_stream_dma_read #(
    parameter int DATA = 64,
    parameter int BURST = 16,
    parameter int QUEUE = 64,
    parameter int A = 32,
    parameter KIND = "block"
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            start,
    input  logic [A-1:0]    base,
    input  logic [31:0]     bytes,
    output logic            m_arvalid,
    input  logic            m_arready,
    output logic [A-1:0]    m_araddr,
    output logic [7:0]      m_arlen,
    output logic [2:0]      m_arsize,
    output logic [1:0]      m_arburst,
    input  logic            m_rvalid,
    output logic            m_rready,
    input  logic [DATA-1:0] m_rdata,
    input  logic [1:0]      m_rresp,
    input  logic            m_rlast,
    output logic            out_valid,
    input  logic            out_ready,
    output logic [DATA-1:0] out_data,
    output logic            busy,
    output logic            error
);
  localparam int L = $clog2(DATA / 8);
  localparam int N = $clog2(BURST) + 1;  // bits of a burst's beats
  localparam int Q = $clog2(QUEUE + 1);

  logic [A-L-1:0] position;  // in beats
  logic [31-L:0] left;
  logic [Q-1:0] room;
  logic [N-1:0] to_boundary, beats;
  logic ask, taken;

  assign to_boundary = N'(BURST) - (N'(position) & N'(BURST - 1));
  assign beats = left < (32 - L)'(to_boundary) ? N'(left) : to_boundary;
  assign ask = busy && left != 0 && (!m_arvalid || m_arready) && room >= Q'(beats);
  assign taken = out_valid && out_ready;
  assign m_arsize = 3'(L);
  assign m_arburst = 2'b01;
  assign m_rready = 1'b1;

  always_ff @(posedge clk) begin
    if (start) begin
      position <= base[A-1:L];
      left     <= bytes[31:L];
    end else if (ask) begin
      position <= position + (A - L)'(beats);
      left     <= left - (32 - L)'(beats);
    end
    if (ask) begin
      m_araddr <= {position, {L{1'b0}}};
      m_arlen  <= 8'(beats) - 8'd1;
    end
    if (rst) begin
      busy      <= 1'b0;
      error     <= 1'b0;
      m_arvalid <= 1'b0;
      room      <= Q'(QUEUE);
    end else begin
      if (start) busy <= 1'b1;
      else if (left == 0 && room == Q'(QUEUE)) busy <= 1'b0;
      if (start) error <= 1'b0;
      else if (m_rvalid && m_rresp[1]) error <= 1'b1;
      if (ask) m_arvalid <= 1'b1;
      else if (m_arready) m_arvalid <= 1'b0;
      room <= room - (ask ? Q'(beats) : '0) + Q'(taken);
    end
  end

  // Never full: what is asked for has its place.
  // verilator lint_off PINCONNECTEMPTY
  tw_stream_fifo #(.WIDTH(DATA), .DEPTH(QUEUE), .KIND(KIND)) queue (
      .clk(clk), .rst(rst), .in_valid(m_rvalid), .in_ready(), .in_data(m_rdata),
      .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
  );
  // verilator lint_on PINCONNECTEMPTY
  logic unused;
  assign unused = &{1'b0, m_rlast, m_rresp[0], base, bytes};

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(A + 8)) m_ar_rules (
      .clk, .rst, .valid(m_arvalid), .ready(m_arready), .data({m_arlen, m_araddr})
  );
`endif
endmodule
