// The compute module: takes its commands in order and runs LOAD UOP/ACC/ACC_8BIT/TABLE, GEMM, ALU and FINISH on the
// scratchpads, the matrix core and the vector ALU. Timing: docs/design/overlay/overlay_rtl.md, Compute.
//
// An instruction starts in the cycle in which its command is popped (start), and is done in the cycle of its
// last write. One runs at a time, but for hardware with gemm_beside_alu: there a GEMM that says so starts while
// an ALU instruction runs, with a micro-op walk of its own and on the other bank of ACC. Ranges and banks are
// checked as indices are formed; the first wrong index stops its instruction, and nothing starts afterwards.
// Fetch has checked operations and memory types.
module tw_overlay_compute (
    input  logic                                 clk,
    input  logic                                 rst,
    input  logic                                 halt,
    // head of the command queue
    input  logic                                 cmd_valid,
    // Encodings have spare bits.
    // verilator lint_off UNUSEDSIGNAL
    input  logic [overlay_config::INSTR_BITS-1:0] cmd,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [31:0]                          cmd_index,
    output logic                                 cmd_pop,
    // tokens
    input  logic                                 token_load,
    input  logic                                 token_store,
    output logic                                 pop_load,
    output logic                                 pop_store,
    output logic                                 push_load,
    output logic                                 push_store,
    output logic                                 push_load_twice,   // a GEMM and an ALU instruction at once
    output logic                                 push_store_twice,
    output logic [31:0]                          push_index,        // of the older one
    // read client
    output logic                                 req_valid,
    output logic [overlay_config::ADDR_BITS-1:0] req_addr,
    output logic [8:0]                           req_len,
    input  logic                                 req_grant,
    input  logic                                 data_valid,
    input  logic [overlay_config::MEM_BITS-1:0]  data,
    input  logic [1:0]                           data_resp,
    output logic                                 data_pop,
    // what the load module writes
    input  logic                                 inp_wr_valid,
    input  logic [31:0]                          inp_wr_index,
    input  logic [11:0]                          inp_wr_slice,
    input  logic                                 inp_wr_pad,
    input  logic [31:0]                          inp_wr_padval,
    input  logic [overlay_config::MEM_BITS-1:0]  inp_wr_data,
    input  logic                                 wgt_wr_valid,
    input  logic [31:0]                          wgt_wr_index,
    input  logic [11:0]                          wgt_wr_slice,
    input  logic                                 wgt_wr_pad,
    input  logic [31:0]                          wgt_wr_padval,
    input  logic [overlay_config::MEM_BITS-1:0]  wgt_wr_data,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [1:0]                           wgt_wr_form,  // of hardware with row_functions
    input  logic [15:0]                          wgt_wr_part,
    // verilator lint_on UNUSEDSIGNAL
    // what the store module reads: data one cycle after the index
    input  logic [overlay_config::LOG_ACC-1:0]   out_rd_index,
    output logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::OUT_BITS-1:0] out_rd_data,
    // of the run
    output logic                                 finished,
    output logic [2:0]                           state,       // 0 starved, 1 gemm, 2 alu, 3 load, 4, 5 token of load, store
    output logic                                 waiting,     // the head waits for a token
    output logic [31:0]                          wait_index,
    output logic                                 error,
    output logic [3:0]                           error_code,
    output logic [31:0]                          error_index
);
  localparam int LANES = overlay_config::BATCH * overlay_config::BLOCK_OUT;
  localparam int ACC = overlay_config::ACC_BITS;
  localparam int A = overlay_config::LOG_ACC;
  localparam int W = overlay_config::LOG_WGT;
  localparam int U = overlay_config::LOG_UOP;
  localparam int SRC = overlay_config::U_SRC_WIDTH;
  localparam int IMM = overlay_config::A_IMM_WIDTH;
  localparam int ALU = overlay_config::ALU_LANES;
  localparam int SLICES = LANES / ALU;
  localparam int SLICE_BITS = SLICES == 1 ? 1 : $clog2(SLICES);
  localparam int PRODUCT = 2 * ACC < 35 ? 2 * ACC : 35;
  localparam int SCALED = (PRODUCT > 32 ? PRODUCT : 32) + 1;
  localparam bit BESIDE = overlay_config::GEMM_BESIDE_ALU != 0;
  // A small core takes its operands straight from the memories, which are addressed a cycle later: two indices
  // are fewer flip-flops than its operands, and its products are quick.
  localparam bit OPERAND_REGISTERS = LANES * overlay_config::BLOCK_IN > 32;
  // Micro-op walks: one for all, or GEMM's (0) and the ALU's (1).
  localparam int WALKS = BESIDE ? 2 : 1;
  localparam int OF_ALU = WALKS - 1;

  localparam logic [2:0] OP_LOAD = 3'd0, OP_GEMM = 3'd2, OP_FINISH = 3'd3, OP_ALU = 3'd4;
  localparam logic [2:0] TYPE_UOP = 3'd0, TYPE_ACC8 = 3'd5, TYPE_TABLE = 3'd6;
  localparam logic [3:0] ALU_MUL = 4'd4, ALU_CLIP = 4'd5, ALU_REQUANTIZE = 4'd7, ALU_LOOKUP = 4'd8;
  localparam logic [3:0] ALU_LOOKUP_WIDE = 4'd9, ALU_ROW_MAX = 4'd10, ALU_ROW_DIVIDE = 4'd11;
  localparam bit ROWS = overlay_config::ROW_FUNCTIONS != 0;
  // From the row unit's start on a row to the row's numbers.
  localparam logic [4:0] TAKES_MAX = 5'd1, TAKES_DIVIDE = 5'd17, TAKES_NORM = 5'd25;
  localparam logic [1:0] IDLE = 2'd0, VECTOR = 2'd2, LOAD = 2'd3;

  // ---- the command at the head
  logic [2:0] head_op;
  logic [3:0] head_alu_op;
  logic head_load, head_gemm, head_alu, head_lookup, head_row, head_finish, head_beside;
  logic pop_prev, pop_next, push_prev, push_next;
  assign head_op = cmd[overlay_config::OP_LSB+:3];
  assign head_alu_op = 4'(cmd[overlay_config::A_OP_LSB+:overlay_config::A_OP_WIDTH]);
  assign head_load = head_op == OP_LOAD;
  assign head_gemm = head_op == OP_GEMM;
  assign head_alu = head_op == OP_ALU;
  assign head_lookup = overlay_config::LOOKUP_TABLE != 0 &&  // of an ALU instruction
                       (head_alu_op == ALU_LOOKUP || (ROWS && head_alu_op == ALU_LOOKUP_WIDE));
  assign head_row = ROWS && head_alu_op >= ALU_ROW_MAX;
  assign head_finish = head_op == OP_FINISH;
  assign head_beside = BESIDE && head_gemm && cmd[overlay_config::G_BESIDE_LSB];
  assign pop_prev = cmd[overlay_config::POP_PREV_LSB];
  assign pop_next = cmd[overlay_config::POP_NEXT_LSB];
  assign push_prev = cmd[overlay_config::PUSH_PREV_LSB];
  assign push_next = cmd[overlay_config::PUSH_NEXT_LSB];

  // ---- what runs: a GEMM, an ALU instruction or a LOAD (running)
  logic gemm_running, alu_running, failed, stopped;
  logic [1:0] running;
  logic ready, tokens_there, start, start_gemm, start_alu, start_load, start_finish;
  logic gemm_done, other_done;
  logic gemm_push_prev, gemm_push_next, other_push_prev, other_push_next;
  logic [1:0] gemm_push, other_push;  // to store, to load
  logic [31:0] gemm_index, other_index;
  assign alu_running = running == VECTOR;
  assign tokens_there = (!pop_prev || token_load) && (!pop_next || token_store);
  assign ready = cmd_valid && !gemm_running && (running == IDLE || (head_beside && alu_running)) &&
                 !halt && !failed && !finished;
  assign start = ready && tokens_there && (!head_load || load_ready);
  assign start_gemm = start && head_gemm;
  assign start_alu = start && head_alu;
  assign start_load = start && head_load;
  assign start_finish = start && head_finish;
  assign cmd_pop = start;
  assign pop_load = start && pop_prev;
  assign pop_store = start && pop_next;
  assign gemm_push = {gemm_done && gemm_push_next, gemm_done && gemm_push_prev};
  assign other_push = other_done ? {other_push_next, other_push_prev}
                                 : {start_finish && push_next, start_finish && push_prev};
  assign {push_store, push_load} = gemm_push | other_push;
  assign {push_store_twice, push_load_twice} = BESIDE ? gemm_push & other_push : '0;
  assign push_index = other_done ? other_index : start_finish ? cmd_index : gemm_index;
  assign waiting = ready && !tokens_there;
  assign wait_index = cmd_index;
  always_comb begin
    if (gemm_running || start_gemm) state = 3'd1;
    else if (alu_running || start_alu) state = 3'd2;
    else if (running == LOAD || start_load) state = 3'd3;
    else if (waiting) state = pop_prev && !token_load ? 3'd4 : 3'd5;
    else state = 3'd0;
  end

  // Where only one instruction runs, one register names it.
  if (BESIDE) begin : gen_named_apart
    always_ff @(posedge clk) begin
      if (start_gemm) begin
        gemm_index <= cmd_index;
        {gemm_push_next, gemm_push_prev} <= {push_next, push_prev};
      end
    end
  end else begin : gen_named_alike
    assign gemm_index = other_index;
    assign {gemm_push_next, gemm_push_prev} = {other_push_next, other_push_prev};
  end

  logic gemm_reset, bipolar, is_mul, is_requantize, is_lookup, is_wide, is_row, use_imm, reads_source;
  logic [4:0] row_takes;
  logic [3:0] alu_op;
  logic signed [IMM-1:0] imm;
  logic signed [31:0] clip_low, clip_high;
  always_ff @(posedge clk) begin
    if (start_gemm) begin
      gemm_reset <= cmd[overlay_config::G_RESET_LSB];
      bipolar <= overlay_config::G_BIPOLAR_PRESENT != 0 && cmd[overlay_config::G_BIPOLAR_LSB];
    end
    if (start_alu || start_load || (start_gemm && !BESIDE)) begin
      other_index <= cmd_index;
      {other_push_next, other_push_prev} <= {push_next, push_prev};
    end
    if (start_alu) begin
      alu_op <= head_lookup ? ALU_REQUANTIZE : head_alu_op;
      is_mul <= head_alu_op == ALU_MUL;
      is_requantize <= overlay_config::WIDE != 0 && (head_alu_op == ALU_REQUANTIZE || head_lookup);
      is_lookup <= head_lookup;
      is_wide <= ROWS && head_alu_op == ALU_LOOKUP_WIDE;
      is_row <= head_row;
      row_takes <= head_alu_op == ALU_ROW_MAX ? TAKES_MAX : head_alu_op == ALU_ROW_DIVIDE ? TAKES_DIVIDE : TAKES_NORM;
      use_imm <= cmd[overlay_config::A_USEIMM_LSB];
      reads_source <= head_alu_op == ALU_REQUANTIZE || head_lookup || head_row || (!cmd[overlay_config::A_USEIMM_LSB] && head_alu_op != ALU_CLIP);
      imm <= cmd[overlay_config::A_IMM_LSB+:IMM];
      clip_low <= 32'(cmd[overlay_config::A_CLIPLO_LSB+:overlay_config::A_CLIPLO_WIDTH]);
      clip_high <= 32'(cmd[overlay_config::A_CLIPHI_LSB+:overlay_config::A_CLIPHI_WIDTH]);
    end
    if (start_gemm) gemm_running <= 1'b1;
    else if (gemm_done) gemm_running <= 1'b0;
    if (start_alu || start_load) running <= head_alu ? VECTOR : LOAD;
    else if (other_done) running <= IDLE;
    if (start_finish) finished <= 1'b1;
    if (stopped) failed <= 1'b1;
    if (rst || stopped) begin
      gemm_running <= 1'b0;
      running <= IDLE;
    end
    if (rst) begin
      finished <= 1'b0;
      failed <= 1'b0;
    end
  end

  // ---- the loader
  logic load_ready, load_done, tl_wr_valid, tl_wr_pad, tl_error;
  logic [2:0] tl_wr_type;
  // verilator lint_off UNUSEDSIGNAL
  logic [1:0] tl_wr_form;  // of hardware with row_functions
  // verilator lint_on UNUSEDSIGNAL
  logic [11:0] tl_wr_slice;
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0] tl_wr_index, tl_wr_padval;  // wider than any scratchpad and lane
  // verilator lint_on UNUSEDSIGNAL
  logic [31:0] tl_error_index;
  logic [3:0] tl_error_code;
  logic [overlay_config::MEM_BITS-1:0] tl_wr_data;

  tw_overlay_tensor_load #(
      .CLASS(1)
  ) loader (
      .clk(clk),
      .rst(rst),
      .halt(halt),
      .start(start_load),
      .cmd(cmd),
      .cmd_index(cmd_index),
      .cmd_tag(4'd0),
      .can_start(load_ready),
      .done(load_done),
      // One instruction at a time: it is known which.
      // verilator lint_off PINCONNECTEMPTY
      .done_tag(),
      .done_index(),
      .busy(),
      // verilator lint_on PINCONNECTEMPTY
      .req_valid(req_valid),
      .req_addr(req_addr),
      .req_len(req_len),
      .req_grant(req_grant),
      .data_valid(data_valid),
      .data(data),
      .data_resp(data_resp),
      .data_pop(data_pop),
      .wr_valid(tl_wr_valid),
      .wr_type(tl_wr_type),
      .wr_form(tl_wr_form),
      // verilator lint_off PINCONNECTEMPTY
      .wr_part(),
      // verilator lint_on PINCONNECTEMPTY
      .wr_index(tl_wr_index),
      .wr_slice(tl_wr_slice),
      .wr_pad(tl_wr_pad),
      .wr_padval(tl_wr_padval),
      .wr_data(tl_wr_data),
      .error(tl_error),
      .error_code(tl_error_code),
      .error_index(tl_error_index)
  );

  // ---- the loop nests and their micro-ops
  // verilator lint_off UNUSEDSIGNAL
  logic [WALKS-1:0] walk_row_last;  // of use to the ALU, where it works on rows
  // verilator lint_on UNUSEDSIGNAL
  logic [WALKS-1:0] walk_valid, walk_last, walk_empty, walk_no_uop, walk_dst_beyond, walk_src_beyond;
  logic [WALKS*A-1:0] walk_dst;
  logic [WALKS*SRC-1:0] walk_src;
  // verilator lint_off UNUSEDSIGNAL
  logic [WALKS-1:0] walk_overwrite, walk_wgt_beyond;  // of no use to the ALU
  logic [WALKS*W-1:0] walk_wgt;
  // verilator lint_on UNUSEDSIGNAL
  logic alu_step_done;
  for (genvar k = 0; k < WALKS; k++) begin : gen_walks
    logic uop_read, advance, begins;
    logic [U-1:0] uop_index;
    logic [overlay_config::UOP_BITS-1:0] uop;
    assign begins = (k == 0 && start_gemm) || (k == OF_ALU && start_alu);
    assign advance = (k == 0 && gemm_running) || !walk_valid[k] || (k == OF_ALU && alu_step_done);

    // A padded micro-op is zero whatever the pad value.
    tw_overlay_scratchpad #(
        .LOG_DEPTH(U),
        .ELEMENT_BITS(overlay_config::UOP_BITS),
        .LANE_BITS(8)
    ) uop_memory (
        .clk(clk),
        .wr_valid(tl_wr_valid && tl_wr_type == TYPE_UOP),
        .wr_index(tl_wr_index),
        .wr_slice(tl_wr_slice),
        .wr_pad(tl_wr_pad),
        .wr_padval(32'd0),
        .wr_data(tl_wr_data),
        .rd_enable(uop_read),
        .rd_index(uop_index),
        .rd_data(uop)
    );
    tw_overlay_uop_sequencer sequencer (
        .clk(clk),
        .rst(rst),
        .start(begins),
        .uop_begin(cmd[overlay_config::G_UBEGIN_LSB+:overlay_config::G_UBEGIN_WIDTH]),
        .uop_end(cmd[overlay_config::G_UEND_LSB+:overlay_config::G_UEND_WIDTH]),
        .iter_out(cmd[overlay_config::G_IOUT_LSB+:overlay_config::G_IOUT_WIDTH]),
        .iter_in(cmd[overlay_config::G_IIN_LSB+:overlay_config::G_IIN_WIDTH]),
        .dst_factor_out(cmd[overlay_config::G_DFO_LSB+:overlay_config::G_DFO_WIDTH]),
        .dst_factor_in(cmd[overlay_config::G_DFI_LSB+:overlay_config::G_DFI_WIDTH]),
        .src_factor_out(head_gemm ? SRC'(cmd[overlay_config::G_SFO_LSB+:overlay_config::G_SFO_WIDTH])
                                  : SRC'(cmd[overlay_config::A_SFO_LSB+:overlay_config::A_SFO_WIDTH])),
        .src_factor_in(head_gemm ? SRC'(cmd[overlay_config::G_SFI_LSB+:overlay_config::G_SFI_WIDTH])
                                 : SRC'(cmd[overlay_config::A_SFI_LSB+:overlay_config::A_SFI_WIDTH])),
        .wgt_factor_out(cmd[overlay_config::G_WFO_LSB+:overlay_config::G_WFO_WIDTH]),
        .wgt_factor_in(cmd[overlay_config::G_WFI_LSB+:overlay_config::G_WFI_WIDTH]),
        .advance(advance),
        .stop(stopped),
        .uop_read(uop_read),
        .uop_index(uop_index),
        .uop(uop),
        .empty(walk_empty[k]),
        .uop_beyond(walk_no_uop[k]),
        .valid(walk_valid[k]),
        .last(walk_last[k]),
        .row_last(walk_row_last[k]),
        .dst(walk_dst[k*A+:A]),
        .src(walk_src[k*SRC+:SRC]),
        .wgt(walk_wgt[k*W+:W]),
        .overwrite(walk_overwrite[k]),
        .dst_beyond(walk_dst_beyond[k]),
        .src_beyond(walk_src_beyond[k]),
        .wgt_beyond(walk_wgt_beyond[k])
    );
  end

  logic gemm_valid, alu_valid;
  logic [A-1:0] gemm_dst, alu_dst;
  logic [SRC-1:0] gemm_src, alu_src;
  logic [W-1:0] gemm_wgt;
  assign gemm_valid = walk_valid[0] && gemm_running;
  assign alu_valid = walk_valid[OF_ALU] && alu_running;
  assign gemm_dst = walk_dst[0+:A];
  assign gemm_src = walk_src[0+:SRC];
  assign gemm_wgt = walk_wgt[0+:W];
  assign alu_dst = walk_dst[OF_ALU*A+:A];
  assign alu_src = walk_src[OF_ALU*SRC+:SRC];

  // Indices that fit their fields may still be beyond INP (in a GEMM) or ACC (in an ALU instruction).
  logic [SRC+1:0] alu_src_last;
  logic [A:0] alu_dst_last;
  logic gemm_beyond, alu_beyond, bank_error;
  logic [31:0] bank_index;
  assign alu_src_last = (SRC + 2)'(alu_src) + (is_requantize ? (SRC + 2)'(2) : '0);
  assign alu_dst_last = (A + 1)'(alu_dst) + (is_row ? (A + 1)'(2) : '0);
  assign gemm_beyond = gemm_running && (walk_no_uop[0] || (walk_valid[0] && (walk_dst_beyond[0] ||
      (!gemm_reset && (walk_src_beyond[0] || walk_wgt_beyond[0] ||
                       (SRC + 2)'(gemm_src) >> overlay_config::LOG_INP != '0)))));
  assign alu_beyond = alu_running && (walk_no_uop[OF_ALU] || (walk_valid[OF_ALU] && (walk_dst_beyond[OF_ALU] || alu_dst_last[A] ||
      (reads_source && (walk_src_beyond[OF_ALU] || alu_src_last >> A != '0)))));
  assign stopped = gemm_beyond || alu_beyond || bank_error;

  if (BESIDE) begin : gen_bank_rule
    tw_overlay_bank_watch watch (
        .clk(clk),
        .rst(rst),
        .start_alu(start_alu),
        .start_other(start && !head_alu && !head_beside),
        .gemm_valid(gemm_valid),
        .gemm_bank(gemm_dst[A-1]),
        .gemm_index(gemm_index),
        .alu_valid(alu_valid),
        .alu_banks({alu_dst_last[A-1] || (reads_source && alu_src_last[A-1]),
                    !alu_dst[A-1] || (reads_source && !alu_src[A-1])}),
        .error(bank_error),
        .error_index(bank_index)
    );
  end else begin : gen_one_bank
    assign bank_error = 1'b0;
    assign bank_index = '0;
  end

  // ---- the matrix core and its operands
  logic [overlay_config::BATCH*overlay_config::BLOCK_IN*overlay_config::INP_BITS-1:0] inp;
  logic [overlay_config::BLOCK_OUT*overlay_config::BLOCK_IN*overlay_config::WGT_BITS-1:0] wgt;
  logic gemm_rd_valid, gemm_wr_valid, gemm_wr_last;
  logic [A-1:0] gemm_rd_index, gemm_wr_index;
  logic [LANES*ACC-1:0] gemm_acc, gemm_result;

  logic [overlay_config::LOG_INP-1:0] inp_index;
  logic [W-1:0] wgt_index;
  if (OPERAND_REGISTERS) begin : gen_addressed_at_once
    assign inp_index = overlay_config::LOG_INP'(gemm_src);
    assign wgt_index = gemm_wgt;
  end else begin : gen_addressed_later
    always_ff @(posedge clk) begin
      inp_index <= overlay_config::LOG_INP'(gemm_src);
      wgt_index <= gemm_wgt;
    end
  end

  tw_overlay_scratchpad #(
      .LOG_DEPTH(overlay_config::LOG_INP),
      .ELEMENT_BITS(overlay_config::BATCH * overlay_config::BLOCK_IN * overlay_config::INP_BITS),
      .LANE_BITS(overlay_config::INP_BITS)
  ) inp_memory (
      .clk(clk),
      .wr_valid(inp_wr_valid),
      .wr_index(inp_wr_index),
      .wr_slice(inp_wr_slice),
      .wr_pad(inp_wr_pad),
      .wr_padval(inp_wr_padval),
      .wr_data(inp_wr_data),
      .rd_enable(1'b1),
      .rd_index(inp_index),
      .rd_data(inp)
  );
  if (ROWS) begin : gen_weight_lanes
    tw_overlay_weight_scratchpad wgt_memory (
        .clk(clk),
        .wr_valid(wgt_wr_valid),
        .wr_form(wgt_wr_form),
        .wr_part(wgt_wr_part),
        .wr_index(wgt_wr_index),
        .wr_slice(wgt_wr_slice),
        .wr_pad(wgt_wr_pad),
        .wr_padval(wgt_wr_padval),
        .wr_data(wgt_wr_data),
        .rd_index(wgt_index),
        .rd_data(wgt)
    );
  end else begin : gen_weights
    tw_overlay_scratchpad #(
        .LOG_DEPTH(overlay_config::LOG_WGT),
        .ELEMENT_BITS(overlay_config::BLOCK_OUT * overlay_config::BLOCK_IN * overlay_config::WGT_BITS),
        .LANE_BITS(overlay_config::WGT_BITS)
    ) wgt_memory (
        .clk(clk),
        .wr_valid(wgt_wr_valid),
        .wr_index(wgt_wr_index),
        .wr_slice(wgt_wr_slice),
        .wr_pad(wgt_wr_pad),
        .wr_padval(wgt_wr_padval),
        .wr_data(wgt_wr_data),
        .rd_enable(1'b1),
        .rd_index(wgt_index),
        .rd_data(wgt)
    );
  end

  tw_overlay_gemm_core #(
      .OPERAND_REGISTERS(OPERAND_REGISTERS)
  ) matrix_core (
      .clk(clk),
      .rst(rst),
      .reset(gemm_reset),
      .bipolar(bipolar),
      .valid(gemm_valid && !stopped),
      .last(walk_last[0]),
      .overwrite(walk_overwrite[0]),
      .dst(gemm_dst),
      .inp(inp),
      .wgt(wgt),
      .acc_valid(gemm_rd_valid),
      .acc_index(gemm_rd_index),
      .acc(gemm_acc),
      .wr_valid(gemm_wr_valid),
      .wr_last(gemm_wr_last),
      .wr_index(gemm_wr_index),
      .wr_data(gemm_result)
  );

  // ---- the vector ALU
  logic param_read, alu_entered, alu_wr_valid, alu_wr_last;
  logic [1:0] param;
  logic [SLICE_BITS-1:0] alu_wr_slice, data_slice;
  logic row_first, row_in_last, row_take;
  logic [1:0] row_param;
  logic [A-1:0] alu_wr_index;
  logic [ALU*ACC-1:0] alu_result;
  logic [LANES*ACC-1:0] acc_a, acc_b;

  tw_overlay_alu_issue #(
      .SLICES(SLICES),
      .SLICE_BITS(SLICE_BITS)
  ) issuer (
      .clk(clk),
      .rst(rst),
      .start(start_alu),
      .is_mul(is_mul),
      .is_requantize(is_requantize),
      .is_lookup(is_lookup),
      .is_row(is_row),
      .row_takes(row_takes),
      .valid(alu_valid && !stopped),
      .last(walk_last[OF_ALU]),
      .row_last(walk_row_last[OF_ALU]),
      .dst(alu_dst),
      .src(A'(alu_src)),
      .step_done(alu_step_done),
      .param_read(param_read),
      .param(param),
      .wr_valid(alu_wr_valid),
      .wr_last(alu_wr_last),
      .wr_dst(alu_wr_index),
      .wr_slice(alu_wr_slice),
      .entered(alu_entered),
      .data_slice(data_slice),
      .row_first(row_first),
      .row_in_last(row_in_last),
      .row_take(row_take),
      .row_param(row_param)
  );

  tw_overlay_alu_lanes #(
      .SLICES(SLICES),
      .SLICE_BITS(SLICE_BITS),
      .SCALED_BITS(SCALED)
  ) alu (
      .clk(clk),
      .op(alu_op),
      .is_requantize(is_requantize),
      .is_lookup(is_lookup),
      .table_wr_valid(tl_wr_valid && tl_wr_type == TYPE_TABLE && !(ROWS && tl_wr_form != 2'd0)),
      .table_wr_index(tl_wr_index[7:0]),
      .table_wr_data(tl_wr_pad ? tl_wr_padval[7:0] : tl_wr_data[7:0]),
      .is_wide(is_wide),
      .wide_wr_valid(tl_wr_valid && tl_wr_type == TYPE_TABLE && tl_wr_form != 2'd0),
      .wide_wr_data(tl_wr_pad ? tl_wr_padval : tl_wr_data[31:0]),
      .rst(rst),
      .is_row(is_row),
      .row_op(alu_op),
      .row_first(row_first),
      .row_in_last(row_in_last),
      .row_take(row_take),
      .row_param(row_param),
      .use_imm(use_imm),
      .imm(imm),
      .clip_low(clip_low),
      .clip_high(clip_high),
      .slice(data_slice),
      .entered(alu_entered),
      .acc_a(acc_a),
      .acc_b(acc_b),
      .param_read(param_read),
      .param(param),
      .result(alu_result)
  );

  tw_overlay_accumulators #(
      .SLICES(SLICES),
      .SLICE_BITS(SLICE_BITS)
  ) acc_memory (
      .clk(clk),
      .ld_valid(tl_wr_valid && tl_wr_type != TYPE_UOP &&
                !(overlay_config::LOOKUP_TABLE != 0 && tl_wr_type == TYPE_TABLE)),
      .ld_narrow(tl_wr_type == TYPE_ACC8),
      .ld_index(tl_wr_index[A-1:0]),
      .ld_slice(tl_wr_slice),
      .ld_pad(tl_wr_pad),
      .ld_padval(tl_wr_padval[ACC-1:0]),
      .ld_data(tl_wr_data),
      .gemm_rd_valid(gemm_rd_valid),
      .gemm_rd_index(gemm_rd_index),
      .gemm_acc(gemm_acc),
      .gemm_wr_valid(gemm_wr_valid),
      .gemm_wr_index(gemm_wr_index),
      .gemm_wr_data(gemm_result),
      .alu_rd_index_a(alu_dst),
      .alu_rd_index_b(A'(alu_src) + A'(param)),
      .alu_a(acc_a),
      .alu_b(acc_b),
      .alu_wr_valid(alu_wr_valid),
      .alu_wr_index(alu_wr_index),
      .alu_wr_slice(alu_wr_slice),
      .alu_wr_data(alu_result),
      .out_rd_index(out_rd_index),
      .out_rd_data(out_rd_data)
  );

  // ---- ends and errors; of several in one cycle the oldest instruction is named
  assign gemm_done = gemm_running && (walk_empty[0] || (gemm_wr_valid && gemm_wr_last));
  assign other_done = running == LOAD ? load_done
                    : alu_running && (walk_empty[OF_ALU] || (alu_wr_valid && alu_wr_last));
  assign error = tl_error || stopped;
  assign error_code = tl_error ? tl_error_code
                    : alu_beyond || gemm_beyond ? overlay_config::ERROR_SCRATCHPAD : overlay_config::ERROR_BANK;
  assign error_index = tl_error ? tl_error_index : alu_beyond ? other_index : gemm_beyond ? gemm_index : bank_index;
endmodule
