// The memory behind one AXI4 port of a design under test: contents from a file, a latency, one beat per cycle;
// accepts everything in the cycle it is offered. When `finish` rises it compares the results of the first `count`
// images with what is expected.
//
// Timing: the first beat of a read whose address is accepted in t is transferred in t + LATENCY at the
// earliest, the others in the cycles after it; the response of a write whose last beat is accepted in t in
// t + LATENCY.
module tw_bench_memory #(
    parameter int DATA     = 64,
    parameter int A        = 32,
    parameter int WORDS    = 16,
    parameter     FILE     = "",
    parameter int LATENCY  = 32,
    parameter int FIRST    = 0,   // of the results that are compared, in words
    parameter int EACH     = 0,   // words of one
    parameter int COUNT    = 0,   // of all
    parameter     EXPECTED = "",
    parameter     MASK     = ""   // 1: a bit that counts
) (
    input  logic              clk,
    input  logic              rst,
    input  logic              arvalid,
    output logic              arready,
    input  logic [A-1:0]      araddr,
    input  logic [7:0]        arlen,
    output logic              rvalid,
    input  logic              rready,
    output logic [DATA-1:0]   rdata,
    output logic [1:0]        rresp,
    output logic              rlast,
    input  logic              awvalid,
    output logic              awready,
    input  logic [A-1:0]      awaddr,
    input  logic              wvalid,
    output logic              wready,
    input  logic [DATA-1:0]   wdata,
    input  logic [DATA/8-1:0] wstrb,
    input  logic              wlast,
    output logic              bvalid,
    input  logic              bready,
    output logic [1:0]        bresp,
    input  logic              finish,
    input  logic [31:0]       count,
    output logic [31:0]       mismatches
);
  localparam int SHIFT = $clog2(DATA / 8);
  localparam int LOG_BURSTS = 10, BURSTS = 1 << LOG_BURSTS;  // outstanding; designs keep far fewer

  logic [DATA-1:0] memory[0:WORDS-1];
  logic [DATA-1:0] expected[0:(COUNT > 0 ? COUNT : 1)-1];
  logic [DATA-1:0] mask[0:(COUNT > 0 ? COUNT : 1)-1];
  initial begin
    $readmemh(FILE, memory);
    if (COUNT > 0) $readmemh(EXPECTED, expected);
    if (COUNT > 0) $readmemh(MASK, mask);
  end

  assign arready = 1'b1;
  assign awready = 1'b1;
  assign wready = 1'b1;
  assign rresp = 2'b00;
  assign bresp = 2'b00;

  logic [63:0] now;

  // Reads: a ring of bursts with the cycles of their first beats.
  logic [A-1:0] read_address[0:BURSTS-1];
  logic [8:0] read_beats[0:BURSTS-1];
  logic [63:0] read_first[0:BURSTS-1];
  logic [LOG_BURSTS-1:0] read_head, read_tail;
  logic [8:0] beat;        // of the burst at the head, that comes next
  logic [63:0] read_free;  // the first cycle in which the next burst may begin
  logic [63:0] first;
  assign first = now + 64'(LATENCY) > read_free ? now + 64'(LATENCY) : read_free;

  // What happens at the end of this cycle, step by step.
  always_ff @(posedge clk) begin : reads
    logic [LOG_BURSTS-1:0] head, tail;
    logic [8:0] next;
    if (rst) begin
      read_head <= '0;
      read_tail <= '0;
      beat <= '0;
      read_free <= '0;
      rvalid <= 1'b0;
      rlast <= 1'b0;
    end else begin
      head = read_head;
      tail = read_tail;
      next = beat;
      if (arvalid) begin
        read_address[tail] = araddr;
        read_beats[tail] = {1'b0, arlen} + 9'd1;
        read_first[tail] = first;
        read_free <= first + 64'(arlen) + 64'd1;
        tail = tail + LOG_BURSTS'(1);
      end
      if (rvalid && rready) begin
        next = next + 9'd1;
        if (next == read_beats[head]) begin
          next = '0;
          head = head + LOG_BURSTS'(1);
        end
      end
      if (!rvalid || rready) begin
        rvalid <= 1'b0;
        if (head != tail && read_first[head] + 64'(next) <= now + 64'd1) begin
          rvalid <= 1'b1;
          rdata <= memory[(read_address[head] >> SHIFT) + A'(next)];
          rlast <= next + 9'd1 == read_beats[head];
        end
      end
      read_head <= head;
      read_tail <= tail;
      beat <= next;
    end
  end

  // Writes: a ring of addresses, and one of responses' cycles.
  logic [A-1:0] write_address[0:BURSTS-1];
  logic [63:0] response_at[0:BURSTS-1];
  logic [LOG_BURSTS-1:0] write_head, write_tail, response_head, response_tail;
  logic [A-1:0] write_beat;  // of the burst at the head
  logic [63:0] write_free;

  always_ff @(posedge clk) begin : writes
    logic [LOG_BURSTS-1:0] head, tail, answer_head, answer_tail;
    logic [63:0] last;
    if (rst) begin
      write_head <= '0;
      write_tail <= '0;
      response_head <= '0;
      response_tail <= '0;
      write_beat <= '0;
      write_free <= '0;
      bvalid <= 1'b0;
    end else begin
      head = write_head;
      tail = write_tail;
      answer_head = response_head;
      answer_tail = response_tail;
      if (bvalid && bready) answer_head = answer_head + LOG_BURSTS'(1);
      if (awvalid) begin
        write_address[tail] = awaddr;
        tail = tail + LOG_BURSTS'(1);
      end
      if (wvalid) begin
        for (int i = 0; i < DATA / 8; i++) begin
          if (wstrb[i]) memory[(write_address[head] >> SHIFT) + write_beat][8*i+:8] <= wdata[8*i+:8];
        end
        write_beat <= write_beat + A'(1);
        if (wlast) begin
          last = now > write_free + 64'(write_beat) ? now : write_free + 64'(write_beat);
          response_at[answer_tail] = last + 64'(LATENCY);
          write_free <= last + 64'd1;
          answer_tail = answer_tail + LOG_BURSTS'(1);
          head = head + LOG_BURSTS'(1);
          write_beat <= '0;
        end
      end
      if (!bvalid || bready) begin
        bvalid <= answer_head != answer_tail && response_at[answer_head] <= now + 64'd1;
      end
      write_head <= head;
      write_tail <= tail;
      response_head <= answer_head;
      response_tail <= answer_tail;
    end
  end

  // The comparison takes one word per cycle.
  logic [31:0] at;
  always_ff @(posedge clk) begin
    now <= now + 64'd1;
    if (rst) begin
      now <= '0;
      at <= '0;
      mismatches <= '0;
    end else if (finish && at < count * 32'(EACH)) begin
      at <= at + 32'd1;
      if ((memory[32'(FIRST)+at] & mask[at]) !== (expected[at] & mask[at])) mismatches <= mismatches + 32'd1;
    end
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(DATA + 3)) r_rules (
      .clk, .rst, .valid(rvalid), .ready(rready), .data({rresp, rlast, rdata})
  );
  tw_handshake_checker #(.WIDTH(2)) b_rules (.clk, .rst, .valid(bvalid), .ready(bready), .data(bresp));
`endif
endmodule
