// Two AXI4 read masters on one memory port. The memory answers in order (there are no IDs), so a queue of who
// asked tells whose beats come.
//
// Timing: an address accepted from a client in t is valid at the memory in t + 1. It is accepted when the
// address register is free or being accepted and fewer than 64 bursts are outstanding; client 0 goes before
// client 1. Beats of the memory reach their client in the same cycle.
module tw_stream_read_share #(
    parameter int A = 32,
    parameter int DATA = 64
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            c0_arvalid,
    output logic            c0_arready,
    input  logic [A-1:0]    c0_araddr,
    input  logic [7:0]      c0_arlen,
    input  logic [2:0]      c0_arsize,
    input  logic [1:0]      c0_arburst,
    output logic            c0_rvalid,
    input  logic            c0_rready,
    output logic [DATA-1:0] c0_rdata,
    output logic [1:0]      c0_rresp,
    output logic            c0_rlast,
    input  logic            c1_arvalid,
    output logic            c1_arready,
    input  logic [A-1:0]    c1_araddr,
    input  logic [7:0]      c1_arlen,
    input  logic [2:0]      c1_arsize,
    input  logic [1:0]      c1_arburst,
    output logic            c1_rvalid,
    input  logic            c1_rready,
    output logic [DATA-1:0] c1_rdata,
    output logic [1:0]      c1_rresp,
    output logic            c1_rlast,
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
    input  logic            m_rlast
);
  localparam int LOG_BURSTS = 6;  // outstanding at most
  (* ram_style = "distributed" *) logic owners[0:(1<<LOG_BURSTS)-1];
  logic [LOG_BURSTS-1:0] put_at, get_at;
  logic [LOG_BURSTS:0] outstanding;
  logic free, ask, done, owner;

  assign free = (!m_arvalid || m_arready) && !outstanding[LOG_BURSTS];
  assign c0_arready = free;
  assign c1_arready = free && !c0_arvalid;
  assign ask = free && (c0_arvalid || c1_arvalid);
  assign done = m_rvalid && m_rlast && m_rready;
  assign owner = outstanding != 0 && owners[get_at];

  assign c0_rvalid = m_rvalid && !owner;
  assign c1_rvalid = m_rvalid && owner;
  assign m_rready = owner ? c1_rready : c0_rready;
  assign {c0_rdata, c0_rresp, c0_rlast} = {m_rdata, m_rresp, m_rlast};
  assign {c1_rdata, c1_rresp, c1_rlast} = {m_rdata, m_rresp, m_rlast};
  assign m_arsize = 3'($clog2(DATA / 8));
  assign m_arburst = 2'b01;

  always_ff @(posedge clk) begin
    if (ask) begin
      m_araddr       <= c0_arvalid ? c0_araddr : c1_araddr;
      m_arlen        <= c0_arvalid ? c0_arlen : c1_arlen;
      owners[put_at] <= !c0_arvalid;
    end
    if (rst) begin
      m_arvalid   <= 1'b0;
      put_at      <= '0;
      get_at      <= '0;
      outstanding <= '0;
    end else begin
      if (ask) m_arvalid <= 1'b1;
      else if (m_arready) m_arvalid <= 1'b0;
      put_at      <= put_at + LOG_BURSTS'(ask);
      get_at      <= get_at + LOG_BURSTS'(done);
      outstanding <= outstanding + (LOG_BURSTS + 1)'(ask) - (LOG_BURSTS + 1)'(done);
    end
  end
  logic unused;
  assign unused = &{1'b0, c0_arsize, c0_arburst, c1_arsize, c1_arburst};

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(A + 8)) m_ar_rules (
      .clk, .rst, .valid(m_arvalid), .ready(m_arready), .data({m_arlen, m_araddr})
  );
  tw_handshake_checker #(.WIDTH(DATA + 3)) c0_r_rules (
      .clk, .rst, .valid(c0_rvalid), .ready(c0_rready), .data({c0_rresp, c0_rlast, c0_rdata})
  );
  tw_handshake_checker #(.WIDTH(DATA + 3)) c1_r_rules (
      .clk, .rst, .valid(c1_rvalid), .ready(c1_rready), .data({c1_rresp, c1_rlast, c1_rdata})
  );
`endif
endmodule
