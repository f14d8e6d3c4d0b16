// LOAD: asks for the rows of a rectangle and writes its padded box into a scratchpad, element by element.
// CLASS 0 loads INP and WGT (four instructions in flight), CLASS 1 UOP, ACC, ACC_8BIT and the table (one).
//
// Timing (docs/design/overlay/overlay_rtl.md, Load): started in s, the burst generator is active from s + 1, the instruction
// is in flight from s + 1. Data works on the oldest instruction in flight, one step per cycle; `done` is set
// in the cycle of its last step. `wr_*` and `error` are registered: they follow a step by one cycle.
//
// A row or a column count beyond the scratchpad's depth is kept as another one that is also beyond it: such a
// LOAD ends with an error at its first element out of range, whatever its exact sizes are.
//
// Elements of at least a beat take one beat per step (wr_slice counts them). Smaller ones take a step each and
// stand in the low bits of wr_data; their beat is popped with its last used element.
//
// With row_functions, INP elements may become rows or columns (wr_form 1, 2) of WGT elements: rows of the box
// follow each other inside of an element (wr_part), and a block of them takes as many elements as a row has.
module tw_overlay_tensor_load #(
    parameter int CLASS = 0
) (
    input  logic                                 clk,
    input  logic                                 rst,
    input  logic                                 halt,
    input  logic                                 start,       // takes the instruction
    // fields of other instructions and spare bits of this one are not looked at
    // verilator lint_off UNUSEDSIGNAL
    input  logic [overlay_config::INSTR_BITS-1:0] cmd,
    input  logic [31:0]                          cmd_index,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [3:0]                           cmd_tag,     // comes back when it is done
    output logic                                 can_start,   // from registers
    output logic                                 done,        // of the oldest, with its tag and index
    output logic [3:0]                           done_tag,
    output logic [31:0]                          done_index,
    output logic                                 busy,        // from registers
    // to the read master
    output logic                                 req_valid,
    output logic [overlay_config::ADDR_BITS-1:0] req_addr,
    output logic [8:0]                           req_len,
    input  logic                                 req_grant,
    input  logic                                 data_valid,
    input  logic [overlay_config::MEM_BITS-1:0]  data,
    input  logic [1:0]                           data_resp,
    output logic                                 data_pop,
    // to the scratchpads
    output logic                                 wr_valid,
    output logic [2:0]                           wr_type,
    output logic [1:0]                           wr_form,
    output logic [15:0]                          wr_part,
    output logic [31:0]                          wr_index,
    output logic [11:0]                          wr_slice,
    output logic                                 wr_pad,
    output logic [31:0]                          wr_padval,
    output logic [overlay_config::MEM_BITS-1:0]  wr_data,
    output logic                                 error,
    output logic [3:0]                           error_code,
    output logic [31:0]                          error_index
);
  localparam int A = overlay_config::ADDR_BITS;
  localparam int L = overlay_config::LOG_MEM_BYTES;
  localparam int PAD = overlay_config::M_YPAD0_WIDTH;
  localparam int PADVAL = overlay_config::M_PADVAL_WIDTH;
  localparam int INDEX = A - overlay_config::LOG_INSTR_BYTES + 1;
  localparam int INDEX_BITS = INDEX > 32 ? 32 : INDEX;
  localparam logic [2:0] TYPE_UOP = 3'd0, TYPE_WGT = 3'd1, TYPE_ACC8 = 3'd5, TYPE_TABLE = 3'd6;
  localparam int LOG_TABLE = 8;                // entries of one byte, or of four
  localparam bit ROWS = overlay_config::ROW_FUNCTIONS != 0;

  // log2 of the bytes of an element, log2 of the elements of its scratchpad
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [4:0] log_bytes(input logic [2:0] memory_type, input logic [1:0] form);
  // verilator lint_on UNUSEDSIGNAL
    if (CLASS == 0)
      log_bytes = memory_type == TYPE_WGT && !(ROWS && form != 2'd0) ? 5'(overlay_config::LOG_WGT_BYTES)
                                                                     : 5'(overlay_config::LOG_INP_BYTES);
    else if (memory_type == TYPE_UOP) log_bytes = 5'(overlay_config::LOG_UOP_BYTES);
    else if (overlay_config::LOOKUP_TABLE != 0 && memory_type == TYPE_TABLE)
      log_bytes = ROWS && form != 2'd0 ? 5'd2 : 5'd0;
    else if (memory_type == TYPE_ACC8) log_bytes = 5'(overlay_config::LOG_ACC8_BYTES);
    else log_bytes = 5'(overlay_config::LOG_ACC_BYTES);
  endfunction
  function automatic logic [5:0] log_depth(input logic [2:0] memory_type);
    if (CLASS == 0)
      log_depth = memory_type == TYPE_WGT ? 6'(overlay_config::LOG_WGT) : 6'(overlay_config::LOG_INP);
    else if (overlay_config::LOOKUP_TABLE != 0 && memory_type == TYPE_TABLE) log_depth = 6'(LOG_TABLE);
    else log_depth = memory_type == TYPE_UOP ? 6'(overlay_config::LOG_UOP) : 6'(overlay_config::LOG_ACC);
  endfunction
  function automatic int larger(input int a, input int b);
    larger = a > b ? a : b;
  endfunction

  localparam int LOG_MOST_BYTES = CLASS == 0
      ? larger(overlay_config::LOG_WGT_BYTES, overlay_config::LOG_INP_BYTES)
      : larger(larger(overlay_config::LOG_UOP_BYTES, overlay_config::LOG_ACC_BYTES), overlay_config::LOG_ACC8_BYTES);
  // A block of rows is one of WGT elements; counts have 16 bits.
  localparam int LOG_BLOCK = $clog2(overlay_config::BLOCK_IN);
  localparam int LOG_WGT_ROWS = !ROWS ? overlay_config::LOG_WGT
      : overlay_config::LOG_WGT + LOG_BLOCK < 15 ? overlay_config::LOG_WGT + LOG_BLOCK : larger(overlay_config::LOG_WGT, 15);
  localparam int LOG_MOST_DEPTH = CLASS == 0 ? larger(LOG_WGT_ROWS, overlay_config::LOG_INP)
      : larger(larger(overlay_config::LOG_UOP, overlay_config::LOG_ACC),
               overlay_config::LOOKUP_TABLE != 0 ? LOG_TABLE : 0);
  localparam int D = LOG_MOST_DEPTH;
  localparam int K = D + 2;                    // bits of row and column counts; the top one: beyond
  localparam int X = larger(K, PAD);           // bits of counters within a phase
  localparam int SLICE = larger(1, LOG_MOST_BYTES - L);

  // ---- the instruction; encodings with narrower fields leave the upper bits zero ----
  // verilator lint_off UNUSEDSIGNAL
  logic [2:0] cmd_type;
  logic [1:0] cmd_form;
  logic [15:0] cmd_ysize, cmd_xsize;
  logic [31:0] cmd_sram, cmd_dram, cmd_xstride;
  // verilator lint_on UNUSEDSIGNAL
  assign cmd_type = cmd[overlay_config::M_TYPE_LSB+:3];
  assign cmd_form = ROWS ? 2'(cmd[overlay_config::M_FORM_LSB+:overlay_config::M_FORM_WIDTH]) : 2'd0;
  assign cmd_sram = 32'(cmd[overlay_config::M_SRAM_LSB+:overlay_config::M_SRAM_WIDTH]);
  assign cmd_dram = cmd[overlay_config::M_DRAM_LSB+:32];
  assign cmd_ysize = cmd[overlay_config::M_YSIZE_LSB+:16];
  assign cmd_xsize = cmd[overlay_config::M_XSIZE_LSB+:16];
  assign cmd_xstride = 32'(cmd[overlay_config::M_XSTRIDE_LSB+:overlay_config::M_XSTRIDE_WIDTH]);

  // ---- requests ----
  logic generating, generator_error, flight_full, flight_empty;
  logic [INDEX_BITS-1:0] generator_index;
  logic [63:0] first_byte, stride_bytes;

  logic [K-1:0] rows, columns;                 // of data

  assign rows = {(cmd_ysize >> (K - 1)) != 0, cmd_ysize[K-2:0]};
  assign columns = {(cmd_xsize >> (K - 1)) != 0, cmd_xsize[K-2:0]};
  assign first_byte = {32'd0, cmd_dram} << log_bytes(cmd_type, cmd_form);
  assign stride_bytes = {32'd0, cmd_xstride} << log_bytes(cmd_type, cmd_form);

  tw_overlay_burst_generator #(.ROW_BITS(K + LOG_MOST_BYTES), .COUNT_BITS(K)) generator (
      .clk, .rst, .start,
      .address({|first_byte[63:A], first_byte[A-1:0]}),
      .row_bytes((K + LOG_MOST_BYTES)'(columns) << log_bytes(cmd_type, cmd_form)),
      .rows,
      .stride({|stride_bytes[63:A], stride_bytes[A-1:0]}),
      .active(generating),
      .slot_valid(req_valid), .slot_address(req_addr), .slot_beats(req_len), .grant(req_grant),
      .error(generator_error)
  );
  always_ff @(posedge clk) if (start) generator_index <= cmd_index[INDEX_BITS-1:0];

  // ---- instructions in flight ----
  logic [2:0] kind;
  logic [1:0] form;
  logic [D:0] sram;                            // top bit: beyond every scratchpad
  logic [L-1:0] dram_low, stride_low;          // position in a beat, for elements smaller than one
  logic [K-1:0] ysize, xsize;
  logic [PAD-1:0] ypad0, ypad1, xpad0, xpad1;
  logic [PADVAL-1:0] padval;
  logic [INDEX_BITS-1:0] index;

  tw_overlay_register_fifo #(
      .WIDTH(5 + D + 1 + 2 * L + 2 * K + 4 * PAD + PADVAL + INDEX_BITS + 4), .DEPTH(CLASS == 0 ? 4 : 1)
  ) in_flight (
      .clk, .rst, .push(start),
      .push_data({cmd_type, cmd_form, (cmd_sram >> D) != 0, cmd_sram[D-1:0], cmd_dram[L-1:0], cmd_xstride[L-1:0],
                  rows, columns, cmd[overlay_config::M_YPAD0_LSB+:PAD], cmd[overlay_config::M_YPAD1_LSB+:PAD],
                  cmd[overlay_config::M_XPAD0_LSB+:PAD], cmd[overlay_config::M_XPAD1_LSB+:PAD],
                  cmd[overlay_config::M_PADVAL_LSB+:PADVAL], cmd_index[INDEX_BITS-1:0], cmd_tag}),
      .full(flight_full), .empty(flight_empty),
      .head({kind, form, sram, dram_low, stride_low, ysize, xsize, ypad0, ypad1, xpad0, xpad1, padval, index,
             done_tag}),
      .pop(done)
  );
  assign can_start = !generating && !flight_full;
  assign busy = generating || !flight_empty;
  assign done_index = 32'(index);

  // ---- one step per cycle: rows and columns each go through the pads before, the data, the pads behind ----
  localparam logic [1:0] BEFORE = 2'd0, DATA = 2'd1, BEHIND = 2'd2;
  logic [1:0] row_phase, column_phase, row_now, column_now;  // as kept; without the empty phases in front
  logic [X-1:0] y, x, next_y, next_x, row_count, column_count;
  logic row_phase_ends, column_phase_ends, last_row, last_column;

  assign column_now = column_phase == BEFORE && xpad0 == 0 ? DATA : column_phase;
  assign column_count = column_now == DATA ? X'(xsize) : column_now == BEFORE ? X'(xpad0) : X'(xpad1);
  assign next_x = x + X'(1);
  assign column_phase_ends = next_x == column_count;
  assign last_column = column_phase_ends && (column_now == BEHIND || (column_now == DATA && xpad1 == 0));

  assign row_now = row_phase != BEFORE || ypad0 != 0 ? row_phase : ysize != 0 ? DATA : BEHIND;
  assign row_count = row_now == DATA ? X'(ysize) : row_now == BEFORE ? X'(ypad0) : X'(ypad1);
  assign next_y = y + X'(1);
  assign row_phase_ends = next_y == row_count;
  assign last_row = row_phase_ends
      && (row_now == BEHIND || (ypad1 == 0 && (row_now == DATA || ysize == 0)));

  logic [SLICE-1:0] slice, slice_mask;
  logic [L-1:0] row_position, position, position_mask, byte_position;
  logic [4:0] log_element;
  logic whole_beats, nothing, in_data, step, element_done, row_ends;

  assign log_element = log_bytes(kind, form);
  assign whole_beats = log_element >= 5'(L);
  assign slice_mask = whole_beats ? SLICE'((12'd1 << (log_element - 5'(L))) - 12'd1) : '0;
  assign position_mask = whole_beats ? '0 : L'((12'd1 << (5'(L) - log_element)) - 12'd1);
  assign position = (dram_low + row_position + L'(x)) & position_mask;
  assign byte_position = whole_beats ? '0 : position << log_element;

  assign nothing = xsize == 0 || (ypad0 == 0 && ysize == 0 && ypad1 == 0);
  assign in_data = row_now == DATA && column_now == DATA;
  assign step = !flight_empty && !nothing && (!in_data || data_valid);
  assign element_done = step && (!in_data || slice == slice_mask);
  assign row_ends = element_done && last_column;
  assign data_pop = step && in_data && (whole_beats || position == position_mask || column_phase_ends);
  assign done = !flight_empty && (nothing || (row_ends && last_row));

  always_ff @(posedge clk) begin
    if (rst || done) begin
      row_phase    <= BEFORE;
      column_phase <= BEFORE;
      y            <= '0;
      x            <= '0;
      slice        <= '0;
      row_position <= '0;
    end else begin
      if (step) slice <= element_done ? '0 : slice + SLICE'(1);
      if (element_done) begin
        x            <= column_phase_ends ? '0 : next_x;
        column_phase <= last_column ? BEFORE : !column_phase_ends ? column_now
                        : column_now == BEFORE ? DATA : BEHIND;
      end
      if (row_ends) begin
        y         <= row_phase_ends ? '0 : next_y;
        row_phase <= !row_phase_ends ? row_now : row_now == BEFORE && ysize != 0 ? DATA : BEHIND;
        if (row_now == DATA) row_position <= row_position + stride_low;
      end
    end
  end

  // ---- the write, one cycle later ----
  logic stepped, beyond;
  logic fresh, advance;                        // before the first step; the step before ended an element
  logic [D+1:0] target;                        // the top two bits: beyond every scratchpad
  logic bad_resp, no_memory;
  logic [INDEX_BITS-1:0] step_index;

  // As parts of WGT elements: back to the block's first element after each row but its last.
  // verilator lint_off UNUSEDSIGNAL
  logic transposed, goes_back, next_block, back, opens_block;  // where there are such elements
  logic [D+1:0] next_target, block;
  logic [15:0] part;
  // verilator lint_on UNUSEDSIGNAL
  assign transposed = ROWS && CLASS == 0 && kind == TYPE_WGT && form != 2'd0;
  assign goes_back = transposed && row_ends && part != 16'(overlay_config::BLOCK_IN - 1);
  assign next_block = transposed && row_ends && part == 16'(overlay_config::BLOCK_IN - 1);
  assign next_target = fresh ? {1'b0, sram} : back ? block : target + (D + 2)'(advance);
  if (ROWS && CLASS == 0) begin : gen_parts
    always_ff @(posedge clk) begin
      if (rst || done) part <= '0;
      else if (row_ends) part <= next_block ? '0 : part + 16'd1;
      if (step) begin
        back <= goes_back;
        opens_block <= next_block;
        if (fresh || opens_block) block <= next_target;
        wr_part <= part;
      end
    end
  end else begin : gen_whole
    assign part = '0;
    assign back = 1'b0;
    assign opens_block = 1'b0;
    assign block = '0;
    assign wr_part = '0;
  end

  always_ff @(posedge clk) begin
    stepped  <= step && !rst;
    if (rst || done) fresh <= 1'b1;
    else if (step) fresh <= 1'b0;
    if (step) advance <= element_done;
    bad_resp <= data_pop && data_resp[1] && !rst;
    if (step) begin
      wr_type    <= kind;
      wr_form    <= form;
      target     <= next_target;
      wr_slice   <= in_data ? 12'(slice) : 12'd0;
      wr_pad     <= !in_data;
      wr_padval  <= overlay_config::WIDE != 0 ? 32'(padval) : 32'd0;
      wr_data    <= data >> {byte_position, 3'd0};
      no_memory  <= data_resp[0];
      step_index <= index;
    end
  end

  assign beyond = (target >> log_depth(wr_type)) != 0;
  assign wr_valid = stepped && !beyond && !halt;
  assign wr_index = 32'(target);
  assign error = (stepped && beyond) || bad_resp || generator_error;
  always_comb begin
    error_index = 32'(step_index);
    if (stepped && beyond) error_code = overlay_config::ERROR_SCRATCHPAD;
    else if (bad_resp)
      error_code = no_memory ? overlay_config::ERROR_ADDRESS : overlay_config::ERROR_BUS;
    else begin
      error_code = overlay_config::ERROR_ADDRESS;
      error_index = 32'(generator_index);
    end
  end
endmodule
