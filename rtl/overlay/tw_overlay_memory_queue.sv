// The command queue of load or store: a sync_fifo of instructions that keeps of each field what can matter.
//
// A field that reaches further than its scratchpad (of 2^LOG_SRAM elements) or the address space is kept as
// another value that does, so that the instruction is an error all the same; `cmd` has the instruction's layout
// with these values, and zero where no field of a LOAD (or, without PADS, of a STORE) is. Timing as sync_fifo.
module tw_overlay_memory_queue #(
    parameter int LOG_SRAM = 8,
    parameter bit PADS = 1
) (
    input  logic                                  clk,
    input  logic                                  rst,
    input  logic                                  push,
    // of other instructions
    // verilator lint_off UNUSEDSIGNAL
    input  logic [overlay_config::INSTR_BITS-1:0] push_cmd,
    input  logic [31:0]                           push_index,
    // verilator lint_on UNUSEDSIGNAL
    output logic                                  full,
    output logic                                  empty,
    output logic                                  head_valid,
    output logic [overlay_config::INSTR_BITS-1:0] cmd,
    output logic [31:0]                           cmd_index,
    input  logic                                  pop
);
  function automatic int smaller(input int a, input int b);
    smaller = a < b ? a : b;
  endfunction
  localparam int C = overlay_config::INSTR_BITS;
  localparam int A = overlay_config::ADDR_BITS;
  localparam int INDEX = smaller(32, A - overlay_config::LOG_INSTR_BYTES + 1);
  // bits kept of each field; the top one stands for those above too
  localparam int SRAM = smaller(overlay_config::M_SRAM_WIDTH, LOG_SRAM + 1);
  localparam int DRAM = smaller(32, A + 1);
  localparam int SIZE = smaller(16, LOG_SRAM + 2);
  localparam int STRIDE = smaller(overlay_config::M_XSTRIDE_WIDTH, A + 1);
  localparam int PAD = overlay_config::M_YPAD0_WIDTH;
  // The form follows the pad value.
  localparam int PADVAL = overlay_config::M_PADVAL_WIDTH + (overlay_config::ROW_FUNCTIONS != 0 ? overlay_config::M_FORM_WIDTH : 0);
  localparam int BOX = PADS ? 4 * PAD + (overlay_config::WIDE != 0 ? PADVAL : 0) : 1;

  logic [SRAM-1:0] sram, head_sram;
  logic [DRAM-1:0] dram, head_dram;
  logic [SIZE-1:0] ysize, xsize, head_ysize, head_xsize;
  logic [STRIDE-1:0] stride, head_stride;
  logic [BOX-1:0] box;
  // verilator lint_off UNUSEDSIGNAL
  logic [BOX-1:0] head_box;  // one spare bit without pads
  // verilator lint_on UNUSEDSIGNAL
  logic [2:0] head_type;
  logic [3:0] head_tokens;
  logic [INDEX-1:0] head_index;

  assign sram = {(push_cmd[overlay_config::M_SRAM_LSB+:overlay_config::M_SRAM_WIDTH] >> (SRAM - 1)) != 0,
                 push_cmd[overlay_config::M_SRAM_LSB+:SRAM-1]};
  assign dram = {(push_cmd[overlay_config::M_DRAM_LSB+:32] >> (DRAM - 1)) != 0,
                 push_cmd[overlay_config::M_DRAM_LSB+:DRAM-1]};
  assign ysize = {(push_cmd[overlay_config::M_YSIZE_LSB+:16] >> (SIZE - 1)) != 0,
                  push_cmd[overlay_config::M_YSIZE_LSB+:SIZE-1]};
  assign xsize = {(push_cmd[overlay_config::M_XSIZE_LSB+:16] >> (SIZE - 1)) != 0,
                  push_cmd[overlay_config::M_XSIZE_LSB+:SIZE-1]};
  assign stride = {
      (push_cmd[overlay_config::M_XSTRIDE_LSB+:overlay_config::M_XSTRIDE_WIDTH] >> (STRIDE - 1)) != 0,
      push_cmd[overlay_config::M_XSTRIDE_LSB+:STRIDE-1]
  };

  tw_overlay_sync_fifo #(
      .WIDTH(SRAM + DRAM + 2 * SIZE + STRIDE + BOX + 3 + 4 + INDEX), .LOG_DEPTH(overlay_config::LOG_COMMAND_QUEUE)
  ) queue (
      .clk, .rst, .push,
      .push_data({sram, dram, ysize, xsize, stride, box, push_cmd[overlay_config::M_TYPE_LSB+:3],
                  push_cmd[overlay_config::POP_PREV_LSB+:4], push_index[INDEX-1:0]}),
      .full, .empty, .head_valid,
      .head({head_sram, head_dram, head_ysize, head_xsize, head_stride, head_box, head_type, head_tokens,
             head_index}),
      .pop
  );

  // The pads follow each other, as the token bits do.
  logic [C-1:0] head_pads;
  if (!PADS) begin : gen_no_pads
    assign box = 1'b0;
    assign head_pads = '0;
  end else if (overlay_config::WIDE != 0) begin : gen_wide_pads
    assign box = {push_cmd[overlay_config::M_PADVAL_LSB+:PADVAL], push_cmd[overlay_config::M_YPAD0_LSB+:4*PAD]};
    assign head_pads = C'(head_box[4*PAD-1:0]) << overlay_config::M_YPAD0_LSB
        | C'(head_box[BOX-1:4*PAD]) << overlay_config::M_PADVAL_LSB;
  end else begin : gen_plain_pads
    assign box = push_cmd[overlay_config::M_YPAD0_LSB+:4*PAD];
    assign head_pads = C'(head_box) << overlay_config::M_YPAD0_LSB;
  end
  assign cmd = C'(head_tokens) << overlay_config::POP_PREV_LSB | C'(head_type) << overlay_config::M_TYPE_LSB
      | C'(head_sram) << overlay_config::M_SRAM_LSB | C'(head_dram) << overlay_config::M_DRAM_LSB
      | C'(head_ysize) << overlay_config::M_YSIZE_LSB | C'(head_xsize) << overlay_config::M_XSIZE_LSB
      | C'(head_stride) << overlay_config::M_XSTRIDE_LSB | head_pads;
  assign cmd_index = 32'(head_index);
endmodule
