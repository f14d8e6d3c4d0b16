// The rule of GEMM beside ALU: a GEMM that may overlap an ALU instruction touches the other bank of ACC. Those
// GEMMs are the ones marked so that follow the ALU instruction with nothing but each other in between, whether
// or not they meet in time: what each side touched is collected as indices are formed (`valid`), until another
// instruction starts. A common bank is an error that names the first such GEMM that touched it.
module tw_overlay_bank_watch (
    input  logic        clk,
    input  logic        rst,
    input  logic        start_alu,
    input  logic        start_other,   // of anything but such a GEMM
    input  logic        gemm_valid,
    input  logic        gemm_bank,
    input  logic [31:0] gemm_index,
    input  logic        alu_valid,
    input  logic [1:0]  alu_banks,     // bank 1, bank 0
    output logic        error,
    output logic [31:0] error_index
);
  logic watching;  // since an ALU instruction
  logic [1:0] alu_touched, gemm_touched;
  logic [31:0] first [0:1];
  logic [1:0] common;

  assign common = alu_touched & gemm_touched;
  assign error = common != '0;
  assign error_index = common == 2'b11 ? (first[1] < first[0] ? first[1] : first[0])
                     : common[1] ? first[1] : first[0];

  always_ff @(posedge clk) begin
    if (alu_valid) alu_touched <= alu_touched | alu_banks;
    if (watching && gemm_valid && !gemm_touched[gemm_bank]) begin
      gemm_touched[gemm_bank] <= 1'b1;
      first[gemm_bank] <= gemm_index;
    end
    if (start_alu || start_other || rst) begin
      watching <= start_alu;
      alu_touched <= '0;
      gemm_touched <= '0;
    end
    if (error) alu_touched <= '0;
  end
endmodule
