// A memory of words of PARTS parts that several readers and writers share: one read of a word and one write of
// a part per cycle. Reader or writer i has slice i of every port; the lowest index that asks is served.
//
// Timing: a request is granted in the cycle in which its valid and ready are 1; ready depends on the valids of
// lower indices. A part granted in t is written at the end of t. The word of a read granted in t is on rd_data
// in t + 2, for that cycle only; it is the one that writes granted before t left.
module tw_stream_tensor_memory #(
    parameter int WIDTH = 64,
    parameter int PARTS = 1,
    parameter int WORDS = 16,
    parameter int READERS = 1,
    parameter int WRITERS = 1,
    parameter KIND = "block",
    localparam int A = WORDS > 1 ? $clog2(WORDS) : 1,
    localparam int P = PARTS > 1 ? $clog2(PARTS) : 1,
    localparam int PART = WIDTH / PARTS
) (
    input  logic                    clk,
    input  logic                    rst,
    input  logic [READERS-1:0]      rd_valid,
    output logic [READERS-1:0]      rd_ready,
    input  logic [READERS*A-1:0]    rd_address,
    output logic [WIDTH-1:0]        rd_data,
    input  logic [WRITERS-1:0]      wr_valid,
    output logic [WRITERS-1:0]      wr_ready,
    input  logic [WRITERS*A-1:0]    wr_address,
    input  logic [WRITERS*P-1:0]    wr_part,
    input  logic [WRITERS*PART-1:0] wr_data
);
  logic [A-1:0] read_address, write_address;
  logic [P-1:0] write_part;
  logic [PART-1:0] write_data;
  logic [WIDTH-1:0] word;

  // The first one that asks: all behind it wait.
  assign rd_ready[0] = 1'b1;
  for (genvar i = 1; i < READERS; i++) begin : gen_reader
    assign rd_ready[i] = !(|rd_valid[i-1:0]);
  end
  assign wr_ready[0] = 1'b1;
  for (genvar i = 1; i < WRITERS; i++) begin : gen_writer
    assign wr_ready[i] = !(|wr_valid[i-1:0]);
  end

  always_comb begin
    read_address = '0;
    for (int i = 0; i < READERS; i++) begin
      if (rd_valid[i] && rd_ready[i]) read_address = read_address | rd_address[A*i+:A];
    end
    write_address = '0;
    write_part = '0;
    write_data = '0;
    for (int i = 0; i < WRITERS; i++) begin
      if (wr_valid[i] && wr_ready[i]) begin
        write_address = write_address | wr_address[A*i+:A];
        write_part = write_part | wr_part[P*i+:P];
        write_data = write_data | wr_data[PART*i+:PART];
      end
    end
  end

  for (genvar i = 0; i < PARTS; i++) begin : gen_part
    logic enable;
    assign enable = |wr_valid && (PARTS == 1 || write_part == P'(i));
    tw_stream_tensor_bank #(.WIDTH(PART), .WORDS(WORDS), .A(A), .KIND(KIND)) bank (
        .clk(clk), .write_enable(enable), .write_address(write_address), .write_data(write_data),
        .read_address(read_address), .read_data(word[PART*i+:PART])
    );
  end

  always_ff @(posedge clk) rd_data <= word;

  logic unused;
  assign unused = &{1'b0, rst, write_part};
endmodule
