// The accumulators with everything that writes and reads them: the loader (ACC and ACC_8BIT), the matrix core,
// the vector ALU and, through the mirror, stores.
//
// One bank, or with gemm_beside_alu two, chosen by the highest index bit, so that core and ALU can work at the
// same time on one each. The ports of the core come first where both ask for a bank: it asks only when it works,
// and then the ALU works on the other bank or not at all. Data one cycle after an index, writes by the end of
// their cycle; what an engine writes is seen by its own next read of that index.
module tw_overlay_accumulators #(
    parameter int SLICES = 1,
    parameter int SLICE_BITS = 1
) (
    input  logic                                       clk,
    // loader
    input  logic                                       ld_valid,
    input  logic                                       ld_narrow,    // 8-bit lanes
    input  logic [overlay_config::LOG_ACC-1:0]         ld_index,
    input  logic [11:0]                                ld_slice,
    input  logic                                       ld_pad,
    input  logic [overlay_config::ACC_BITS-1:0]        ld_padval,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [overlay_config::MEM_BITS-1:0]        ld_data,       // a small element is in the low bits
    // verilator lint_on UNUSEDSIGNAL
    // matrix core
    input  logic                                       gemm_rd_valid,
    input  logic [overlay_config::LOG_ACC-1:0]         gemm_rd_index,
    output logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::ACC_BITS-1:0] gemm_acc,
    input  logic                                       gemm_wr_valid,
    input  logic [overlay_config::LOG_ACC-1:0]         gemm_wr_index,
    // zero without gemm_wr_valid
    input  logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::ACC_BITS-1:0] gemm_wr_data,
    // vector ALU
    input  logic [overlay_config::LOG_ACC-1:0]         alu_rd_index_a,
    input  logic [overlay_config::LOG_ACC-1:0]         alu_rd_index_b,
    output logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::ACC_BITS-1:0] alu_a,
    output logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::ACC_BITS-1:0] alu_b,
    input  logic                                       alu_wr_valid,
    input  logic [overlay_config::LOG_ACC-1:0]         alu_wr_index,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [SLICE_BITS-1:0]                      alu_wr_slice,  // of several only
    // verilator lint_on UNUSEDSIGNAL
    input  logic [overlay_config::ALU_LANES*overlay_config::ACC_BITS-1:0] alu_wr_data,
    // store
    input  logic [overlay_config::LOG_ACC-1:0]         out_rd_index,
    output logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::OUT_BITS-1:0] out_rd_data
);
  localparam int LANES = overlay_config::BATCH * overlay_config::BLOCK_OUT;
  localparam int ACC = overlay_config::ACC_BITS;
  localparam int OUT = overlay_config::OUT_BITS;
  localparam int ALU = overlay_config::ALU_LANES;
  localparam int MEM = overlay_config::MEM_BITS;
  localparam int A = overlay_config::LOG_ACC;
  localparam int BANKS = overlay_config::GEMM_BESIDE_ALU != 0 ? 2 : 1;
  localparam int LOG_DEPTH = A - (BANKS - 1);
  // Lanes that are always written together: of an ALU slice, and of a beat of loaded accumulators.
  localparam int BEAT_LANES = MEM / ACC;
  localparam int COMMON_LANES = ALU < BEAT_LANES ? ALU : BEAT_LANES;
  localparam int PART_LANES = COMMON_LANES < LANES ? COMMON_LANES : LANES;
  localparam int PARTS = LANES / PART_LANES;

  logic [LANES*ACC-1:0] loaded, alu_spread;
  logic [PARTS-1:0] ld_parts, alu_parts;
  for (genvar l = 0; l < LANES; l++) begin : gen_lanes
    localparam int BIT = (l * ACC) % MEM;
    localparam int NARROW_BIT = (l * 8) % MEM;
    assign loaded[l*ACC+:ACC] = ld_pad ? ld_padval
                              : ld_narrow ? ACC'($signed(ld_data[NARROW_BIT+:8])) : ld_data[BIT+:ACC];
    assign alu_spread[l*ACC+:ACC] = alu_wr_data[(l%ALU)*ACC+:ACC];
  end
  for (genvar p = 0; p < PARTS; p++) begin : gen_parts
    localparam int FIRST = p * PART_LANES;
    assign ld_parts[p] = ld_pad || ld_slice == (ld_narrow ? 12'(FIRST * 8 / MEM) : 12'(FIRST * ACC / MEM));
    assign alu_parts[p] = SLICES == 1 || alu_wr_slice == SLICE_BITS'(FIRST / ALU);
  end

  logic [BANKS*LANES*ACC-1:0] bank_gemm, bank_a, bank_b;
  logic [BANKS*LANES*OUT-1:0] bank_out;
  for (genvar k = 0; k < BANKS; k++) begin : gen_banks
    logic ld_here, gemm_wr_here, alu_wr_here, gemm_rd_here;
    logic [LOG_DEPTH-1:0] wr_index, rd_index_a;
    logic [LANES*ACC-1:0] wr_data;
    assign ld_here = ld_valid && (BANKS == 1 || ld_index[A-1] == (k == 1));
    assign gemm_wr_here = gemm_wr_valid && (BANKS == 1 || gemm_wr_index[A-1] == (k == 1));
    assign alu_wr_here = alu_wr_valid && (BANKS == 1 || alu_wr_index[A-1] == (k == 1));
    assign gemm_rd_here = gemm_rd_valid && (BANKS == 1 || gemm_rd_index[A-1] == (k == 1));
    assign wr_index = ld_here ? ld_index[LOG_DEPTH-1:0]
                    : gemm_wr_here ? gemm_wr_index[LOG_DEPTH-1:0] : alu_wr_index[LOG_DEPTH-1:0];
    // The core's result is zero when it writes nothing; one bank is then written by one of the three alone.
    assign wr_data = (loaded & {(LANES * ACC) {ld_here}}) | (alu_spread & {(LANES * ACC) {alu_wr_here}}) |
                     (gemm_wr_data & {(LANES * ACC) {BANKS == 1 || gemm_wr_here}});
    assign rd_index_a = gemm_rd_here ? gemm_rd_index[LOG_DEPTH-1:0] : alu_rd_index_a[LOG_DEPTH-1:0];

    tw_overlay_register_file #(
        .LOG_DEPTH(LOG_DEPTH),
        .PARTS(PARTS)
    ) file (
        .clk(clk),
        .wr_parts(ld_here ? ld_parts : gemm_wr_here ? {PARTS{1'b1}} : alu_wr_here ? alu_parts : '0),
        .wr_forward(gemm_wr_here || (SLICES == 1 && alu_wr_here)),
        .wr_index(wr_index),
        .wr_data(wr_data),
        .rd_index_a(rd_index_a),
        .rd_index_b(alu_rd_index_b[LOG_DEPTH-1:0]),
        .gemm_a(bank_gemm[k*LANES*ACC+:LANES*ACC]),
        .alu_a(bank_a[k*LANES*ACC+:LANES*ACC]),
        .alu_b(bank_b[k*LANES*ACC+:LANES*ACC]),
        .out_rd_index(out_rd_index[LOG_DEPTH-1:0]),
        .out_rd_data(bank_out[k*LANES*OUT+:LANES*OUT])
    );
  end

  if (BANKS == 1) begin : gen_one_bank
    assign gemm_acc = bank_gemm;
    assign alu_a = bank_a;
    assign alu_b = bank_b;
    assign out_rd_data = bank_out;
  end else begin : gen_two_banks
    logic gemm_high, alu_a_high, alu_b_high, out_high;
    always_ff @(posedge clk) begin
      gemm_high <= gemm_rd_index[A-1];
      alu_a_high <= alu_rd_index_a[A-1];
      alu_b_high <= alu_rd_index_b[A-1];
      out_high <= out_rd_index[A-1];
    end
    assign gemm_acc = gemm_high ? bank_gemm[LANES*ACC+:LANES*ACC] : bank_gemm[0+:LANES*ACC];
    assign alu_a = alu_a_high ? bank_a[LANES*ACC+:LANES*ACC] : bank_a[0+:LANES*ACC];
    assign alu_b = alu_b_high ? bank_b[LANES*ACC+:LANES*ACC] : bank_b[0+:LANES*ACC];
    assign out_rd_data = out_high ? bank_out[LANES*OUT+:LANES*OUT] : bank_out[0+:LANES*OUT];
  end
endmodule
