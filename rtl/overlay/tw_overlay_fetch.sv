// Fetches the program and hands each instruction to the queue of its module.
//
// Timing (docs/design/overlay/overlay_rtl.md, Fetch): started in the cycle before cycle 0. A beat is popped when the
// instruction register is empty or its last instruction leaves; an instruction is in the register in the cycle
// after its last beat was popped, and leaves in any cycle in which its queue is not full. With instructions
// smaller than a beat the register holds a beat of them.
//
// What no module can execute is an error here, in the first cycle in the register: unknown operation codes and
// versions, memory types that cannot be loaded or stored, FINISH before the end, a last instruction that is not
// FINISH. A LOAD or STORE that moves nothing may have any memory type; of a LOAD it still chooses the queue.
module tw_overlay_fetch (
    input  logic                                  clk,
    input  logic                                  rst,
    input  logic                                  halt,
    input  logic                                  start,
    // aligned to an instruction: low bits are not looked at
    // verilator lint_off UNUSEDSIGNAL
    input  logic [63:0]                           address,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [31:0]                           count,
    // to the read master
    output logic                                  req_valid,
    output logic [overlay_config::ADDR_BITS-1:0]  req_addr,
    output logic [8:0]                            req_len,
    input  logic                                  req_grant,
    input  logic                                  data_valid,
    input  logic [overlay_config::MEM_BITS-1:0]   data,
    input  logic [1:0]                            data_resp,
    output logic                                  data_pop,
    // to the queues
    input  logic                                  load_full,
    input  logic                                  compute_full,
    input  logic                                  store_full,
    output logic                                  load_push,
    output logic                                  compute_push,
    output logic                                  store_push,
    output logic [overlay_config::INSTR_BITS-1:0] cmd,
    output logic [31:0]                           cmd_index,
    // for the counters and the end of the run
    output logic                                  finished,  // all pushed, from registers
    output logic                                  blocked,   // an instruction waits for room in its queue
    output logic                                  error,
    output logic [3:0]                            error_code,
    output logic [31:0]                           error_index
);
  localparam int A = overlay_config::ADDR_BITS;
  localparam int L = overlay_config::LOG_MEM_BYTES;
  localparam int I = overlay_config::LOG_INSTR_BYTES;
  localparam int INDEX_BITS = A - I + 1 > 32 ? 32 : A - I + 1;
  localparam logic [2:0] OP_LOAD = 3'd0, OP_STORE = 3'd1, OP_FINISH = 3'd3, OP_ALU = 3'd4;
  localparam logic [2:0] TYPE_WGT = 3'd1, TYPE_INP = 3'd2, TYPE_OUT = 3'd4;
  localparam logic [2:0] TYPE_TABLE = 3'd6, LAST_TYPE = overlay_config::LOOKUP_TABLE != 0 ? TYPE_TABLE : 3'd5;
  localparam bit ROWS = overlay_config::ROW_FUNCTIONS != 0;
  localparam int MOST_ALU = ROWS ? 12 : overlay_config::WIDE == 0 ? 4 : overlay_config::LOOKUP_TABLE != 0 ? 8 : 7;

  // ---- beats ----
  logic generator_error, too_many;
  // verilator lint_off UNUSEDSIGNAL
  logic generating;
  // verilator lint_on UNUSEDSIGNAL

  assign too_many = (64'(count) >> INDEX_BITS) != 0;
  tw_overlay_burst_generator #(.ROW_BITS(A + 1)) generator (
      .clk, .rst, .start,
      .address({(address >> A) != 0 || too_many, address[A-1:I], {I{1'b0}}}),
      .row_bytes((A + 1)'(count[INDEX_BITS-1:0]) << I), .rows(16'd1), .stride({(A + 1) {1'b0}}),
      .active(generating),
      .slot_valid(req_valid), .slot_address(req_addr), .slot_beats(req_len), .grant(req_grant),
      .error(generator_error)
  );

  // ---- the instruction register ----
  logic valid, leaves, last_in_register, completes, last;
  logic [INDEX_BITS-1:0] index, left;  // of the instruction in the register or next to come; with it

  assign last = left == INDEX_BITS'(1);
  assign data_pop = data_valid && (!valid || (leaves && last_in_register));

  if (I > L) begin : gen_beats_of_instruction
    logic [overlay_config::INSTR_BITS-1:0] gathered;
    logic [I-L-1:0] part;
    assign cmd = gathered;
    assign completes = &part;
    assign last_in_register = 1'b1;
    always_ff @(posedge clk) begin
      if (data_pop) gathered <= {data, gathered[overlay_config::INSTR_BITS-1:overlay_config::MEM_BITS]};
      if (rst) part <= '0;
      else if (data_pop) part <= part + (I - L)'(1);
    end
  end else if (I == L) begin : gen_beat_is_instruction
    logic [overlay_config::MEM_BITS-1:0] gathered;
    assign cmd = gathered;
    assign completes = 1'b1;
    assign last_in_register = 1'b1;
    always_ff @(posedge clk) if (data_pop) gathered <= data;
  end else begin : gen_instructions_in_beat
    logic [overlay_config::MEM_BITS-1:0] gathered;
    logic [L-I-1:0] number;
    assign cmd = gathered[overlay_config::INSTR_BITS*number+:overlay_config::INSTR_BITS];
    assign completes = 1'b1;
    assign last_in_register = &number || last;
    always_ff @(posedge clk) begin
      if (data_pop) gathered <= data;
      if (start) number <= address[L-1:I];
      else if (leaves) number <= number + (L - I)'(1);
    end
  end

  always_ff @(posedge clk) begin
    if (start) begin
      index    <= '0;
      left     <= count[INDEX_BITS-1:0];
      finished <= count == 0;
    end else if (leaves) begin
      index    <= index + INDEX_BITS'(1);
      left     <= left - INDEX_BITS'(1);
      finished <= last;
    end
    if (rst) valid <= 1'b0;
    else if (data_pop && completes) valid <= 1'b1;
    else if (leaves && last_in_register) valid <= 1'b0;
  end

  // ---- which queue ----
  logic [2:0] op, memory_type;
  logic to_load, to_store, moves, illegal, no_finish, full;
  logic [3:0] alu_op, version;
  logic [1:0] form;  // of WGT: INP elements as rows 1, as columns 2; of the table: of words 1
  logic unknown_form;

  assign op = cmd[overlay_config::OP_LSB+:3];
  assign memory_type = cmd[overlay_config::M_TYPE_LSB+:3];
  assign alu_op = 4'(cmd[overlay_config::A_OP_LSB+:overlay_config::A_OP_WIDTH]);
  assign version = 4'(cmd[overlay_config::VERSION_LSB+:overlay_config::VERSION_WIDTH]);
  assign form = ROWS ? 2'(cmd[overlay_config::M_FORM_LSB+:overlay_config::M_FORM_WIDTH]) : 2'd0;
  assign unknown_form = form != 2'd0 && !(memory_type == TYPE_WGT && form != 2'd3) &&
                        !(memory_type == TYPE_TABLE && form == 2'd1);
  assign to_load = op == OP_LOAD && (memory_type == TYPE_WGT || memory_type == TYPE_INP);
  assign to_store = op == OP_STORE;
  assign moves = cmd[overlay_config::M_XSIZE_LSB+:16] != 0;
  assign illegal = op > OP_ALU || (op == OP_LOAD && moves && (memory_type == TYPE_OUT || memory_type > LAST_TYPE))
      || ((op == OP_LOAD || op == OP_STORE) && moves && unknown_form)
      || (op == OP_STORE && moves && memory_type != TYPE_OUT) || (op == OP_ALU && alu_op > 4'(MOST_ALU))
      || (overlay_config::WIDE != 0 && version != 4'd1);
  assign no_finish = (op == OP_FINISH) != last;
  assign full = to_load ? load_full : to_store ? store_full : compute_full;

  assign blocked = valid && full;
  assign leaves = valid && !full && !illegal && !no_finish && !halt;
  assign load_push = leaves && to_load;
  assign store_push = leaves && to_store;
  assign compute_push = leaves && !to_load && !to_store;
  assign cmd_index = 32'(index);

  // ---- errors ----
  logic bad_resp, no_memory, nothing;
  logic [INDEX_BITS-1:0] bad_index;

  always_ff @(posedge clk) begin
    bad_resp  <= data_pop && data_resp[1] && !rst;
    no_memory <= data_resp[0];
    bad_index <= index + INDEX_BITS'(valid);
    nothing   <= start && count == 0;
  end
  assign error = generator_error || bad_resp || nothing || (valid && (illegal || no_finish));
  always_comb begin
    error_index = 32'(index);
    if (generator_error) error_code = overlay_config::ERROR_ADDRESS;
    else if (bad_resp) begin
      error_code = no_memory ? overlay_config::ERROR_ADDRESS : overlay_config::ERROR_BUS;
      error_index = 32'(bad_index);
    end else if (valid && illegal) error_code = overlay_config::ERROR_ILLEGAL;
    else error_code = overlay_config::ERROR_NO_FINISH;
    if (nothing) error_index = '1;
  end
endmodule
