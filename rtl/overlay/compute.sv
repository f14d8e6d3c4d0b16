// The compute module: takes its commands in order, one at a time, and runs LOAD UOP/ACC/ACC_8BIT, GEMM, ALU and
// FINISH on the scratchpads, the matrix core and the vector ALU. Timing: docs/overlay_rtl.md, Compute.
//
// An instruction starts in the cycle in which its command is popped (start), and is done in the cycle of its
// last write (done). Ranges are checked as indices are formed; the first index beyond a scratchpad stops the
// instruction, and nothing starts afterwards.
module compute (
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
    output logic [31:0]                          push_index,
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
  localparam int SRC = overlay_config::U_SRC_WIDTH;
  localparam int IMM = overlay_config::A_IMM_WIDTH;
  localparam int ALU = overlay_config::ALU_LANES;
  localparam int SLICES = LANES / ALU;
  localparam int SLICE_BITS = SLICES == 1 ? 1 : $clog2(SLICES);
  // Lanes that are always written together: of an ALU slice, and of a beat of loaded accumulators.
  localparam int BEAT_LANES = overlay_config::MEM_BITS / ACC;
  localparam int PART_LANES = ALU < BEAT_LANES ? ALU : BEAT_LANES;
  localparam int BANK_LANES = PART_LANES < LANES ? PART_LANES : LANES;
  localparam int BANKS = LANES / BANK_LANES;
  localparam int PRODUCT = 2 * ACC < 35 ? 2 * ACC : 35;
  localparam int SCALED = (PRODUCT > 32 ? PRODUCT : 32) + 1;

  localparam logic [2:0] OP_LOAD = 3'd0, OP_GEMM = 3'd2, OP_FINISH = 3'd3, OP_ALU = 3'd4;
  localparam logic [2:0] TYPE_UOP = 3'd0, TYPE_ACC = 3'd3, TYPE_ACC8 = 3'd5;
  localparam logic [3:0] ALU_MUL = 4'd4, ALU_CLIP = 4'd5, ALU_REQUANTIZE = 4'd7;
  localparam logic [1:0] IDLE = 2'd0, GEMM = 2'd1, VECTOR = 2'd2, LOAD = 2'd3;
  localparam logic [3:0] HIGHEST_ALU = overlay_config::WIDE != 0 ? ALU_REQUANTIZE : ALU_MUL;

  // ---- the command at the head
  logic [2:0] head_op, head_type;
  logic [3:0] head_alu;
  logic head_load, head_gemm, head_alu_op, head_finish, head_legal;
  logic pop_prev, pop_next, push_prev, push_next;
  assign head_op = cmd[overlay_config::OP_LSB+:3];
  assign head_type = cmd[overlay_config::M_TYPE_LSB+:3];
  assign head_alu = 4'(cmd[overlay_config::A_OP_LSB+:overlay_config::A_OP_WIDTH]);
  assign head_load = head_op == OP_LOAD && (head_type == TYPE_UOP || head_type == TYPE_ACC || head_type == TYPE_ACC8);
  assign head_gemm = head_op == OP_GEMM;
  assign head_alu_op = head_op == OP_ALU && head_alu <= HIGHEST_ALU;
  assign head_finish = head_op == OP_FINISH;
  assign head_legal = head_load || head_gemm || head_alu_op || head_finish;
  assign pop_prev = cmd[overlay_config::POP_PREV_LSB];
  assign pop_next = cmd[overlay_config::POP_NEXT_LSB];
  assign push_prev = cmd[overlay_config::PUSH_PREV_LSB];
  assign push_next = cmd[overlay_config::PUSH_NEXT_LSB];

  // ---- one instruction at a time
  logic [1:0] running;
  logic failed, ready, tokens_there, start, done, load_ready, load_done;
  logic push_prev_q, push_next_q;
  logic [31:0] index_q;
  logic range_error, illegal;
  assign tokens_there = (!pop_prev || token_load) && (!pop_next || token_store);
  assign ready = cmd_valid && running == IDLE && !halt && !failed && !finished;
  assign start = ready && tokens_there && (!head_load || load_ready);
  assign illegal = start && !head_legal;
  assign cmd_pop = start;
  assign pop_load = start && pop_prev;
  assign pop_store = start && pop_next;
  assign push_load = (done && push_prev_q) || (start && head_finish && push_prev);
  assign push_store = (done && push_next_q) || (start && head_finish && push_next);
  assign push_index = done ? index_q : cmd_index;
  assign waiting = ready && !tokens_there;
  assign wait_index = cmd_index;
  always_comb begin
    if (running != IDLE) state = {1'b0, running};
    else if (start && head_gemm) state = 3'd1;
    else if (start && head_alu_op) state = 3'd2;
    else if (start && head_load) state = 3'd3;
    else if (waiting) state = pop_prev && !token_load ? 3'd4 : 3'd5;
    else state = 3'd0;
  end

  // ---- fields of the running instruction
  logic gemm_reset, bipolar, is_mul, is_requantize, use_imm, reads_source;
  logic [3:0] alu_op;
  logic signed [IMM-1:0] imm;
  logic signed [31:0] clip_low, clip_high;
  always_ff @(posedge clk) begin
    if (start) begin
      index_q <= cmd_index;
      push_prev_q <= push_prev;
      push_next_q <= push_next;
      gemm_reset <= cmd[overlay_config::G_RESET_LSB];
      bipolar <= overlay_config::G_BIPOLAR_PRESENT != 0 && cmd[overlay_config::G_BIPOLAR_LSB];
      alu_op <= head_alu;
      is_mul <= head_alu == ALU_MUL;
      is_requantize <= overlay_config::WIDE != 0 && head_alu == ALU_REQUANTIZE;
      use_imm <= cmd[overlay_config::A_USEIMM_LSB];
      reads_source <= head_alu == ALU_REQUANTIZE || (!cmd[overlay_config::A_USEIMM_LSB] && head_alu != ALU_CLIP);
      imm <= cmd[overlay_config::A_IMM_LSB+:IMM];
      clip_low <= 32'(cmd[overlay_config::A_CLIPLO_LSB+:overlay_config::A_CLIPLO_WIDTH]);
      clip_high <= 32'(cmd[overlay_config::A_CLIPHI_LSB+:overlay_config::A_CLIPHI_WIDTH]);
    end
    if (start && head_legal) begin
      running <= head_gemm ? GEMM : head_alu_op ? VECTOR : head_load ? LOAD : IDLE;
      finished <= head_finish;
    end else if (done || range_error) begin
      running <= IDLE;
    end
    if (range_error || illegal) failed <= 1'b1;
    if (rst) begin
      running <= IDLE;
      finished <= 1'b0;
      failed <= 1'b0;
    end
  end

  // ---- the loop nest
  logic seq_empty, seq_uop_beyond, seq_valid, seq_last, seq_overwrite, seq_advance;
  logic seq_dst_beyond, seq_src_beyond, seq_wgt_beyond, uop_read;
  logic [overlay_config::LOG_UOP-1:0] uop_index;
  logic [overlay_config::UOP_BITS-1:0] uop;
  logic [A-1:0] seq_dst;
  logic [SRC-1:0] seq_src;
  logic [overlay_config::LOG_WGT-1:0] seq_wgt;
  logic gemm_running, alu_running, alu_step_done;
  assign gemm_running = running == GEMM;
  assign alu_running = running == VECTOR;
  assign seq_advance = gemm_running || !seq_valid || alu_step_done;

  uop_sequencer sequencer (
      .clk(clk),
      .rst(rst),
      .start(start && (head_gemm || head_alu_op)),
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
      .advance(seq_advance),
      .stop(range_error),
      .uop_read(uop_read),
      .uop_index(uop_index),
      .uop(uop),
      .empty(seq_empty),
      .uop_beyond(seq_uop_beyond),
      .valid(seq_valid),
      .last(seq_last),
      .dst(seq_dst),
      .src(seq_src),
      .wgt(seq_wgt),
      .overwrite(seq_overwrite),
      .dst_beyond(seq_dst_beyond),
      .src_beyond(seq_src_beyond),
      .wgt_beyond(seq_wgt_beyond)
  );

  // Indices that fit their fields may still be beyond INP (in a GEMM) or ACC (in an ALU instruction).
  logic [SRC+1:0] source_last;
  logic gemm_beyond, alu_beyond;
  assign source_last = (SRC + 2)'(seq_src) + (is_requantize ? (SRC + 2)'(2) : '0);
  assign gemm_beyond = seq_dst_beyond ||
      (!gemm_reset && (seq_src_beyond || seq_wgt_beyond || (SRC + 2)'(seq_src) >> overlay_config::LOG_INP != '0));
  assign alu_beyond = seq_dst_beyond || (reads_source && (seq_src_beyond || source_last >> A != '0));
  assign range_error = seq_uop_beyond || (seq_valid && (gemm_running ? gemm_beyond : alu_beyond));

  // ---- the loader
  logic tl_wr_valid, tl_wr_pad, tl_error;
  logic [2:0] tl_wr_type;
  logic [11:0] tl_wr_slice;
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0] tl_wr_index, tl_wr_padval;  // wider than any scratchpad and lane
  // verilator lint_on UNUSEDSIGNAL
  logic [31:0] tl_error_index;
  logic [3:0] tl_error_code;
  logic [overlay_config::MEM_BITS-1:0] tl_wr_data;

  tensor_load #(
      .CLASS(1)
  ) loader (
      .clk(clk),
      .rst(rst),
      .halt(halt),
      .start(start && head_load),
      .cmd_type(head_type),
      .cmd_sram(32'(cmd[overlay_config::M_SRAM_LSB+:overlay_config::M_SRAM_WIDTH])),
      .cmd_dram(cmd[overlay_config::M_DRAM_LSB+:32]),
      .cmd_ysize(cmd[overlay_config::M_YSIZE_LSB+:16]),
      .cmd_xsize(cmd[overlay_config::M_XSIZE_LSB+:16]),
      .cmd_xstride(32'(cmd[overlay_config::M_XSTRIDE_LSB+:overlay_config::M_XSTRIDE_WIDTH])),
      .cmd_ypad0(8'(cmd[overlay_config::M_YPAD0_LSB+:overlay_config::M_YPAD0_WIDTH])),
      .cmd_ypad1(8'(cmd[overlay_config::M_YPAD1_LSB+:overlay_config::M_YPAD1_WIDTH])),
      .cmd_xpad0(8'(cmd[overlay_config::M_XPAD0_LSB+:overlay_config::M_XPAD0_WIDTH])),
      .cmd_xpad1(8'(cmd[overlay_config::M_XPAD1_LSB+:overlay_config::M_XPAD1_WIDTH])),
      .cmd_padval(overlay_config::WIDE != 0 ? 32'(cmd[overlay_config::M_PADVAL_LSB+:overlay_config::M_PADVAL_WIDTH]) : '0),
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
      .wr_index(tl_wr_index),
      .wr_slice(tl_wr_slice),
      .wr_pad(tl_wr_pad),
      .wr_padval(tl_wr_padval),
      .wr_data(tl_wr_data),
      .error(tl_error),
      .error_code(tl_error_code),
      .error_index(tl_error_index)
  );

  // A padded micro-op is zero whatever the pad value.
  scratchpad #(
      .LOG_DEPTH(overlay_config::LOG_UOP),
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

  // ---- the matrix core and its operands
  logic [overlay_config::BATCH*overlay_config::BLOCK_IN*overlay_config::INP_BITS-1:0] inp;
  logic [overlay_config::BLOCK_OUT*overlay_config::BLOCK_IN*overlay_config::WGT_BITS-1:0] wgt;
  logic gemm_wr_valid, gemm_wr_last;
  logic [A-1:0] gemm_rd_index, gemm_wr_index;
  logic [LANES*ACC-1:0] acc_a, acc_b, gemm_result;

  scratchpad #(
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
      .rd_index(overlay_config::LOG_INP'(seq_src)),
      .rd_data(inp)
  );
  scratchpad #(
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
      .rd_index(seq_wgt),
      .rd_data(wgt)
  );

  gemm_core core (
      .clk(clk),
      .rst(rst),
      .reset(gemm_reset),
      .bipolar(bipolar),
      .valid(seq_valid && gemm_running && !range_error),
      .last(seq_last),
      .overwrite(seq_overwrite),
      .dst(seq_dst),
      .inp(inp),
      .wgt(wgt),
      .acc_index(gemm_rd_index),
      .acc(acc_a),
      .wr_valid(gemm_wr_valid),
      .wr_last(gemm_wr_last),
      .wr_index(gemm_wr_index),
      .wr_data(gemm_result)
  );

  // ---- the vector ALU
  logic param_read, alu_wr_valid, alu_wr_last;
  logic [1:0] param;
  logic [SLICE_BITS-1:0] alu_wr_slice, data_slice;
  logic [A-1:0] alu_wr_index;
  logic [ALU*ACC-1:0] alu_result;

  alu_issue #(
      .SLICES(SLICES),
      .SLICE_BITS(SLICE_BITS)
  ) issuer (
      .clk(clk),
      .rst(rst),
      .start(start),
      .is_mul(is_mul),
      .is_requantize(is_requantize),
      .valid(seq_valid && alu_running && !range_error),
      .last(seq_last),
      .dst(seq_dst),
      .src(A'(seq_src)),
      .step_done(alu_step_done),
      .param_read(param_read),
      .param(param),
      .wr_valid(alu_wr_valid),
      .wr_last(alu_wr_last),
      .wr_dst(alu_wr_index),
      .wr_slice(alu_wr_slice),
      .data_slice(data_slice)
  );

  alu_lanes #(
      .SLICES(SLICES),
      .SLICE_BITS(SLICE_BITS),
      .SCALED_BITS(SCALED)
  ) alu (
      .clk(clk),
      .op(alu_op),
      .is_requantize(is_requantize),
      .use_imm(use_imm),
      .imm(imm),
      .clip_low(clip_low),
      .clip_high(clip_high),
      .slice(data_slice),
      .acc_a(acc_a),
      .acc_b(acc_b),
      .param_read(param_read),
      .param(param),
      .result(alu_result)
  );

  // ---- accumulators: written by one of the three
  logic acc_load;
  logic [BANKS-1:0] wr_banks;
  logic [A-1:0] wr_index;
  logic [LANES*ACC-1:0] wr_data;
  assign acc_load = tl_wr_valid && tl_wr_type != TYPE_UOP;
  assign wr_index = acc_load ? tl_wr_index[A-1:0] : gemm_running ? gemm_wr_index : alu_wr_index;

  for (genvar l = 0; l < LANES; l++) begin : lanes
    localparam int BIT = (l * ACC) % overlay_config::MEM_BITS;
    localparam int BIT8 = (l * 8) % overlay_config::MEM_BITS;
    logic [ACC-1:0] loaded;
    assign loaded = tl_wr_pad ? tl_wr_padval[ACC-1:0]
                  : tl_wr_type == TYPE_ACC8 ? ACC'($signed(tl_wr_data[BIT8+:8])) : tl_wr_data[BIT+:ACC];
    assign wr_data[l*ACC+:ACC] = acc_load ? loaded
                               : gemm_running ? gemm_result[l*ACC+:ACC] : alu_result[(l%ALU)*ACC+:ACC];
  end
  for (genvar b = 0; b < BANKS; b++) begin : banks
    localparam int FIRST = b * BANK_LANES;
    logic in_beat;
    assign in_beat = tl_wr_slice == (tl_wr_type == TYPE_ACC8 ? 12'(FIRST * 8 / overlay_config::MEM_BITS)
                                                              : 12'(FIRST * ACC / overlay_config::MEM_BITS));
    assign wr_banks[b] = acc_load ? tl_wr_pad || in_beat
                       : gemm_running ? gemm_wr_valid
                       : alu_wr_valid && (SLICES == 1 || alu_wr_slice == SLICE_BITS'(FIRST / ALU));
  end

  register_file #(
      .BANKS(BANKS)
  ) accumulators (
      .clk(clk),
      .wr_banks(wr_banks),
      .wr_forward(gemm_running ? gemm_wr_valid : SLICES == 1 && alu_wr_valid),
      .wr_index(wr_index),
      .wr_data(wr_data),
      .rd_index_a(gemm_running ? gemm_rd_index : seq_dst),
      .rd_index_b(A'(seq_src) + A'(param)),
      .rd_data_a(acc_a),
      .rd_data_b(acc_b),
      .out_rd_index(out_rd_index),
      .out_rd_data(out_rd_data)
  );

  // ---- ends and errors
  always_comb begin
    case (running)
      GEMM: done = seq_empty || (gemm_wr_valid && gemm_wr_last);
      VECTOR: done = seq_empty || (alu_wr_valid && alu_wr_last);
      LOAD: done = load_done;
      default: done = 1'b0;
    endcase
  end
  assign error = tl_error || range_error || illegal;
  assign error_code = tl_error ? tl_error_code : range_error ? overlay_config::ERROR_SCRATCHPAD : overlay_config::ERROR_ILLEGAL;
  assign error_index = tl_error ? tl_error_index : range_error ? index_q : cmd_index;
endmodule
