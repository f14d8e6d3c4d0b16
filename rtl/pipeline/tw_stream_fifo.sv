// First-in first-out queue of DEPTH beats, the one at the output included.
//
// Timing: a beat taken in t is valid at the output from t + 1 (KIND "registers", "lutram") or t + 2 ("block",
// "ultra"), not before the beat ahead of it has left; in_ready = fewer than DEPTH beats inside, of registers.
//
// The word at the output stands in a register, or in the memory's output register; the rest in a ring. A ring
// in LUTs is read and passed by in one cycle. A ring in block RAM is read one cycle after the word was written
// at the earliest, so no word is ever read while it is written.
module tw_stream_fifo #(
    parameter int WIDTH = 8,
    parameter int DEPTH = 4,
    parameter KIND = "lutram"
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             in_valid,
    output logic             in_ready,
    input  logic [WIDTH-1:0] in_data,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [WIDTH-1:0] out_data
);
  localparam bit LATE = 64'(KIND) == 64'("block") || 64'(KIND) == 64'("ultra");
  localparam bit PLAIN = 64'(KIND) == 64'("registers");
  localparam int RING = LATE ? DEPTH : (DEPTH > 1 ? DEPTH - 1 : 1);  // words besides the output register
  localparam int A = RING > 1 ? $clog2(RING) : 1;
  localparam int COUNT_BITS = $clog2(DEPTH + 1);

  logic [COUNT_BITS-1:0] count;  // beats inside
  logic [A-1:0] write_address, read_address;
  logic ring_empty, put, get, pop, push, free;

  function automatic logic [A-1:0] after(input logic [A-1:0] address);
    after = address == A'(RING - 1) ? '0 : address + 1'b1;
  endfunction

  assign in_ready = count != COUNT_BITS'(DEPTH);
  assign ring_empty = count == COUNT_BITS'(out_valid);
  assign push = in_valid && in_ready;
  assign pop = out_valid && out_ready;
  assign free = !out_valid || out_ready;  // the output takes the next beat
  assign get = free && !ring_empty;

  always_ff @(posedge clk) begin
    if (rst) begin
      count <= '0;
      write_address <= '0;
      read_address <= '0;
    end else begin
      count <= count + COUNT_BITS'(push) - COUNT_BITS'(pop);
      if (put) write_address <= after(write_address);
      if (get) read_address <= after(read_address);
    end
  end

  if (LATE) begin : gen_late
    assign put = push;
    always_ff @(posedge clk) begin
      if (rst) out_valid <= 1'b0;
      else out_valid <= get || !free;
    end
    tw_stream_memory #(
        .WIDTH(WIDTH),
        .WORDS(RING),
        .A(A),
        .KIND(KIND)
    ) memory (
        .clk(clk),
        .write_enable(put),
        .write_address(write_address),
        .write_data(in_data),
        .read_enable(get),
        .read_address(read_address),
        .read_data(out_data)
    );
  end else begin : gen_early
    logic [WIDTH-1:0] head;  // of the ring
    assign put = push && !(free && ring_empty);
    if (PLAIN) begin : gen_registers
      (* ram_style = "registers" *) logic [WIDTH-1:0] ring[0:RING-1];
      always_ff @(posedge clk) if (put) ring[write_address] <= in_data;
      assign head = ring[read_address];
    end else begin : gen_lutram
      (* ram_style = "distributed" *) logic [WIDTH-1:0] ring[0:RING-1];
      always_ff @(posedge clk) if (put) ring[write_address] <= in_data;
      assign head = ring[read_address];
    end
    always_ff @(posedge clk) if (free) out_data <= ring_empty ? in_data : head;
    always_ff @(posedge clk) begin
      if (rst) out_valid <= 1'b0;
      else out_valid <= !free || get || push;
    end
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(WIDTH)) out_rules (.clk, .rst, .valid(out_valid), .ready(out_ready), .data(out_data));
`endif
endmodule
