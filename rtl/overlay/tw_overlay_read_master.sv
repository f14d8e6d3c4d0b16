// AXI4 reads of three clients: 0 fetch, 1 compute, 2 load, in falling priority; the client is the ARID.
//
// Timing (docs/design/overlay/overlay_rtl.md, Read master): a request in t is granted in t if its client's credits cover the
// burst, no client before it asks, and the address register is free or being accepted in t. The address is
// valid in t + 1. Every client has a queue of 2^LOG_READ_QUEUE beats and a credit for each, so `rready` is
// always 1: a slow client never holds up another.
//
// `halt` refuses requests; what was granted still arrives. `idle`: nothing is outstanding.
module tw_overlay_read_master #(
    localparam int CLIENTS = 3,
    localparam int LEN = 9,  // bits of a burst's beats
    localparam int A = overlay_config::ADDR_BITS,
    localparam int W = overlay_config::MEM_BITS
) (
    input  logic                                     clk,
    input  logic                                     rst,
    input  logic                                     halt,
    // client k: bit k, or the k-th slice
    input  logic [CLIENTS-1:0]                       req_valid,
    input  logic [CLIENTS*A-1:0]                     req_addr,
    input  logic [CLIENTS*LEN-1:0]                   req_len,
    output logic [CLIENTS-1:0]                       req_grant,
    output logic [CLIENTS-1:0]                       data_valid,
    output logic [CLIENTS*W-1:0]                     data,
    output logic [CLIENTS*2-1:0]                     data_resp,
    input  logic [CLIENTS-1:0]                       data_pop,
    // AXI
    output logic                                     arvalid,
    input  logic                                     arready,
    output logic [1:0]                               arid,
    output logic [A-1:0]                             araddr,
    output logic [7:0]                               arlen,
    input  logic                                     rvalid,
    input  logic [1:0]                               rid,
    input  logic [W-1:0]                             rdata,
    input  logic [1:0]                               rresp,
    output logic                                     idle,
    output logic                                     granted,
    output logic [LEN-1:0]                           granted_beats
);
  localparam int Q = overlay_config::LOG_READ_QUEUE;
  localparam int O = Q + $clog2(CLIENTS);  // bits of the beats of all queues

  logic [CLIENTS-1:0] asks;
  logic [A-1:0] address;
  logic [O-1:0] outstanding;
  logic [1:0] winner;

  for (genvar k = 0; k < CLIENTS; k++) begin : gen_client
    logic [Q:0] credits;
    logic [LEN-1:0] len;
    logic arrives;
    assign len = req_len[LEN*k+:LEN];
    assign asks[k] = req_valid[k] && !halt && (Q + LEN + 1)'(credits) >= (Q + LEN + 1)'(len);
    assign arrives = rvalid && rid == 2'(k);

    // verilator lint_off PINCONNECTEMPTY
    tw_overlay_sync_fifo #(.WIDTH(W + 2), .LOG_DEPTH(Q)) beats (
        .clk, .rst, .push(arrives), .push_data({rresp, rdata}), .full(), .empty(),
        .head_valid(data_valid[k]), .head({data_resp[2*k+:2], data[W*k+:W]}), .pop(data_pop[k])
    );
    // verilator lint_on PINCONNECTEMPTY

    always_ff @(posedge clk) begin
      if (rst) credits <= (Q + 1)'(1) << Q;
      else
        credits <= credits - (req_grant[k] ? (Q + 1)'(len) : (Q + 1)'(0)) + (Q + 1)'(data_pop[k]);
    end
  end

  assign winner = asks[0] ? 2'd0 : asks[1] ? 2'd1 : 2'd2;
  assign granted = asks != 0 && (!arvalid || arready);
  assign req_grant = granted ? CLIENTS'(1) << winner : '0;
  assign address = winner == 2'd0 ? req_addr[0+:A] : winner == 2'd1 ? req_addr[A+:A] : req_addr[2*A+:A];
  assign granted_beats = winner == 2'd0 ? req_len[0+:LEN] : winner == 2'd1 ? req_len[LEN+:LEN] : req_len[2*LEN+:LEN];

  always_ff @(posedge clk) begin
    if (granted) begin
      arid   <= winner;
      araddr <= address;
      arlen  <= 8'(granted_beats - LEN'(1));
    end
    if (rst) arvalid <= 1'b0;
    else if (granted) arvalid <= 1'b1;
    else if (arready) arvalid <= 1'b0;
    if (rst) outstanding <= '0;
    else outstanding <= outstanding + (granted ? O'(granted_beats) : O'(0)) - O'(rvalid);
  end
  assign idle = outstanding == 0;

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(A + 10)) ar_rules (
      .clk, .rst, .valid(arvalid), .ready(arready), .data({arid, arlen, araddr})
  );
`endif
endmodule
