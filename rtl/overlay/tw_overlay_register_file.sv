// A bank of accumulators (ACC): one write port, two read ports (two copies), and a mirror of their low output
// bits that only stores read. Lanes are written in parts, each part its own memories and write enable.
//
// Read data one cycle after the index. A word read in the cycle in which all of it is written by an engine
// (wr_forward) is read as written: the next GEMM iteration or ALU step sees this one's result. Steps of an ALU
// that works on a part of a word never meet the part that the step before wrote: then the ALU's data (alu_a,
// alu_b) come from the memory alone.
module tw_overlay_register_file #(
    parameter int LOG_DEPTH = 4,
    parameter int PARTS = 1
) (
    input  logic                                                                clk,
    input  logic [PARTS-1:0]                                                    wr_parts,
    input  logic                                                                wr_forward,
    input  logic [LOG_DEPTH-1:0]                                                wr_index,
    input  logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::ACC_BITS-1:0] wr_data,
    input  logic [LOG_DEPTH-1:0]                                                rd_index_a,
    input  logic [LOG_DEPTH-1:0]                                                rd_index_b,
    output logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::ACC_BITS-1:0] gemm_a,
    output logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::ACC_BITS-1:0] alu_a,
    output logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::ACC_BITS-1:0] alu_b,
    input  logic [LOG_DEPTH-1:0]                                                out_rd_index,
    output logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::OUT_BITS-1:0] out_rd_data
);
  localparam int LANES = overlay_config::BATCH * overlay_config::BLOCK_OUT;
  localparam int ACC = overlay_config::ACC_BITS;
  localparam int OUT = overlay_config::OUT_BITS;
  localparam int PART_LANES = LANES / PARTS;
  localparam bit FORWARD_ALU = overlay_config::ALU_LANES == LANES;

  logic [LANES*ACC-1:0] memory_a, memory_b, forwarded;
  logic [LANES*OUT-1:0] wr_out;
  logic hit_a, hit_b;

  for (genvar l = 0; l < LANES; l++) begin : gen_lanes
    assign wr_out[l*OUT+:OUT] = wr_data[l*ACC+:OUT];
  end

  for (genvar p = 0; p < PARTS; p++) begin : gen_parts
    tw_overlay_memory_bank #(
        .LOG_DEPTH(LOG_DEPTH),
        .WIDTH(PART_LANES * ACC)
    ) copy_a (
        .clk(clk),
        .wr_enable(wr_parts[p]),
        .wr_index(wr_index),
        .wr_data(wr_data[p*PART_LANES*ACC+:PART_LANES*ACC]),
        .rd_enable(1'b1),
        .rd_index(rd_index_a),
        .rd_data(memory_a[p*PART_LANES*ACC+:PART_LANES*ACC])
    );
    tw_overlay_memory_bank #(
        .LOG_DEPTH(LOG_DEPTH),
        .WIDTH(PART_LANES * ACC)
    ) copy_b (
        .clk(clk),
        .wr_enable(wr_parts[p]),
        .wr_index(wr_index),
        .wr_data(wr_data[p*PART_LANES*ACC+:PART_LANES*ACC]),
        .rd_enable(1'b1),
        .rd_index(rd_index_b),
        .rd_data(memory_b[p*PART_LANES*ACC+:PART_LANES*ACC])
    );
    tw_overlay_memory_bank #(
        .LOG_DEPTH(LOG_DEPTH),
        .WIDTH(PART_LANES * OUT)
    ) mirror (
        .clk(clk),
        .wr_enable(wr_parts[p]),
        .wr_index(wr_index),
        .wr_data(wr_out[p*PART_LANES*OUT+:PART_LANES*OUT]),
        .rd_enable(1'b1),
        .rd_index(out_rd_index),
        .rd_data(out_rd_data[p*PART_LANES*OUT+:PART_LANES*OUT])
    );
  end

  always_ff @(posedge clk) begin
    forwarded <= wr_data;
    hit_a <= wr_forward && wr_index == rd_index_a;
    hit_b <= FORWARD_ALU && wr_forward && wr_index == rd_index_b;
  end
  assign gemm_a = hit_a ? forwarded : memory_a;
  assign alu_a = FORWARD_ALU ? gemm_a : memory_a;
  assign alu_b = hit_b ? forwarded : memory_b;
endmodule
