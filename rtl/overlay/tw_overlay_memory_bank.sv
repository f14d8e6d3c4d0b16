// A memory of one write and one read port. The word at rd_index in a cycle with rd_enable is on rd_data from the next
// cycle, and stays there. Reading a word in the cycle in which it is written gives anything: readers either never do
// so or take the written word themselves (register_file).
//
// The description may have it made of several arrays (memory_partition): of words, chosen by the lowest bits of the
// index (cyclic) or the highest (block), or of bits of every word, each array with a run of neighbours (block) or with
// every FACTOR-th one (cyclic). Ports and timing are the same; what differs is how arrays map to block RAM, and the
// multiplexer behind arrays of words.
module tw_overlay_memory_bank #(
    parameter int LOG_DEPTH = 4,
    parameter int WIDTH = 8
) (
    input  logic                 clk,
    input  logic                 wr_enable,
    input  logic [LOG_DEPTH-1:0] wr_index,
    input  logic [WIDTH-1:0]     wr_data,
    input  logic                 rd_enable,
    input  logic [LOG_DEPTH-1:0] rd_index,
    output logic [WIDTH-1:0]     rd_data
);
  localparam bit CYCLIC = overlay_config::PARTITION_CYCLIC != 0;
  localparam bit OF_BITS = overlay_config::PARTITION_WIDTH != 0;
  localparam int LOG_FACTOR = overlay_config::LOG_PARTITION;
  // Every array has two words and a bit at least.
  localparam int LOG_WIDTH = $clog2(WIDTH + 1) - 1;
  localparam int LIMIT = OF_BITS ? LOG_WIDTH : LOG_DEPTH - 1;
  localparam int LOG_ARRAYS = LOG_FACTOR < LIMIT ? LOG_FACTOR : LIMIT;
  localparam int ARRAYS = 1 << LOG_ARRAYS;

  if (LOG_ARRAYS <= 0) begin : gen_whole
    tw_overlay_memory_array #(
        .LOG_DEPTH(LOG_DEPTH),
        .WIDTH(WIDTH)
    ) array (
        .clk(clk),
        .wr_enable(wr_enable),
        .wr_index(wr_index),
        .wr_data(wr_data),
        .rd_enable(rd_enable),
        .rd_index(rd_index),
        .rd_data(rd_data)
    );
  end else if (OF_BITS) begin : gen_bits
    // Where WIDTH is no multiple, the first arrays have a bit more.
    for (genvar a = 0; a < ARRAYS; a++) begin : gen_arrays
      localparam int BITS = (WIDTH + ARRAYS - 1 - a) / ARRAYS;
      localparam int MORE = WIDTH % ARRAYS;
      localparam int FIRST = CYCLIC ? a : a * (WIDTH / ARRAYS) + (a < MORE ? a : MORE);
      localparam int STEP = CYCLIC ? ARRAYS : 1;
      logic [BITS-1:0] wr_bits, rd_bits;
      for (genvar b = 0; b < BITS; b++) begin : gen_wires
        assign wr_bits[b] = wr_data[FIRST+b*STEP];
        assign rd_data[FIRST+b*STEP] = rd_bits[b];
      end
      tw_overlay_memory_array #(
          .LOG_DEPTH(LOG_DEPTH),
          .WIDTH(BITS)
      ) array (
          .clk(clk),
          .wr_enable(wr_enable),
          .wr_index(wr_index),
          .wr_data(wr_bits),
          .rd_enable(rd_enable),
          .rd_index(rd_index),
          .rd_data(rd_bits)
      );
    end
  end else begin : gen_words
    localparam int LOG_WORDS = LOG_DEPTH - LOG_ARRAYS;
    logic [LOG_ARRAYS-1:0] wr_array, rd_array, rd_taken;
    logic [LOG_WORDS-1:0] wr_word, rd_word;
    logic [ARRAYS*WIDTH-1:0] words_read;
    assign wr_array = CYCLIC ? wr_index[LOG_ARRAYS-1:0] : wr_index[LOG_DEPTH-1-:LOG_ARRAYS];
    assign rd_array = CYCLIC ? rd_index[LOG_ARRAYS-1:0] : rd_index[LOG_DEPTH-1-:LOG_ARRAYS];
    assign wr_word = CYCLIC ? wr_index[LOG_DEPTH-1-:LOG_WORDS] : wr_index[LOG_WORDS-1:0];
    assign rd_word = CYCLIC ? rd_index[LOG_DEPTH-1-:LOG_WORDS] : rd_index[LOG_WORDS-1:0];
    for (genvar a = 0; a < ARRAYS; a++) begin : gen_arrays
      tw_overlay_memory_array #(
          .LOG_DEPTH(LOG_WORDS),
          .WIDTH(WIDTH)
      ) array (
          .clk(clk),
          .wr_enable(wr_enable && wr_array == LOG_ARRAYS'(a)),
          .wr_index(wr_word),
          .wr_data(wr_data),
          .rd_enable(rd_enable),
          .rd_index(rd_word),
          .rd_data(words_read[a*WIDTH+:WIDTH])
      );
    end
    always_ff @(posedge clk) if (rd_enable) rd_taken <= rd_array;
    assign rd_data = words_read[32'(rd_taken)*WIDTH+:WIDTH];
  end
endmodule
