// The store module: STORE of OUT, the low bits of ACC, up to four in flight, in order.
//
// Timing (docs/design/overlay/overlay_rtl.md, Store): started in s, its burst generator is active from s + 1. From the cycle
// after the grant of a burst the reader reads one item per cycle out of the OUT mirror: a beat's slice of an
// element, or an element smaller than a beat. `out_rd_index` in c gives `out_rd_data` in c + 1, which goes on
// to the write master. An instruction is done when its reader has finished and its responses are counted.
//
// Bursts are numbered modulo 32 as they are granted; an instruction in flight remembers the number after its
// last one, so it is done when the count of responses reaches that number (at most 8 are ever outstanding).
module tw_overlay_store (
    input  logic                                  clk,
    input  logic                                  rst,
    input  logic                                  halt,
    input  logic                                  cmd_valid,
    // fields of other instructions and, in the plain encoding, upper bits are not looked at
    // verilator lint_off UNUSEDSIGNAL
    input  logic [overlay_config::INSTR_BITS-1:0] cmd,
    input  logic [31:0]                           cmd_index,
    // verilator lint_on UNUSEDSIGNAL
    output logic                                  cmd_pop,
    input  logic                                  token_compute,
    output logic                                  pop_compute,
    output logic                                  push_compute,
    output logic [31:0]                           push_index,
    // the OUT mirror in compute
    output logic [overlay_config::LOG_ACC-1:0]    out_rd_index,
    input  logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::OUT_BITS-1:0] out_rd_data,
    // to the write master
    output logic                                  req_valid,
    output logic [overlay_config::ADDR_BITS-1:0]  req_addr,
    output logic [8:0]                            req_len,
    input  logic                                  req_grant,
    output logic                                  reader_free,
    output logic                                  item_valid,
    output logic [overlay_config::MEM_BITS-1:0]   item,
    output logic [overlay_config::MEM_BITS/8-1:0] item_strobes,
    output logic                                  item_first,
    output logic                                  item_last,
    output logic                                  item_ends_burst,
    input  logic                                  stall,
    input  logic                                  response,
    input  logic                                  response_bad,
    input  logic                                  response_no_memory,
    // for the counters and the end of the run
    output logic                                  busy,
    output logic                                  waiting,
    output logic                                  reading,        // a granted burst is not read yet
    output logic                                  error,
    output logic [3:0]                            error_code,
    output logic [31:0]                           error_index
);
  localparam int A = overlay_config::ADDR_BITS;
  localparam int L = overlay_config::LOG_MEM_BYTES;
  localparam int E = overlay_config::LOG_OUT_BYTES;
  localparam int BYTES = overlay_config::MEM_BITS / 8;
  localparam int INDEX = A - overlay_config::LOG_INSTR_BYTES + 1;
  localparam int INDEX_BITS = INDEX > 32 ? 32 : INDEX;
  localparam int DEPTH = overlay_config::LOG_ACC;
  localparam int K = DEPTH + 2;               // bits of row and column counts; the top one: beyond
  localparam int ITEM = L > E ? L - E : E > L ? E - L : 1;  // bits of an item's number in its beat or element

  logic start, needs_token, done, generating, generator_error, open;
  logic [63:0] first_byte, stride_bytes;
  logic [K-1:0] rows, columns;                // a count beyond ACC is kept as another one beyond it
  logic [15:0] x_size, y_size;
  logic [31:0] sram, dram, stride;

  // ---- start ----
  assign needs_token = cmd[overlay_config::POP_PREV_LSB];
  assign waiting = cmd_valid && needs_token && !token_compute;
  assign cmd_pop = start;
  assign pop_compute = start && needs_token;
  assign y_size = cmd[overlay_config::M_YSIZE_LSB+:16];
  assign x_size = cmd[overlay_config::M_XSIZE_LSB+:16];
  assign rows = {(y_size >> (K - 1)) != 0, y_size[K-2:0]};
  assign columns = {(x_size >> (K - 1)) != 0, x_size[K-2:0]};
  assign sram = 32'(cmd[overlay_config::M_SRAM_LSB+:overlay_config::M_SRAM_WIDTH]);
  assign dram = cmd[overlay_config::M_DRAM_LSB+:32];
  assign stride = 32'(cmd[overlay_config::M_XSTRIDE_LSB+:overlay_config::M_XSTRIDE_WIDTH]);
  assign first_byte = {32'd0, dram} << E;
  assign stride_bytes = {32'd0, stride} << E;

  tw_overlay_burst_generator #(.ROW_BITS(K + E), .COUNT_BITS(K)) generator (
      .clk, .rst, .start,
      .address({|first_byte[63:A], first_byte[A-1:0]}),
      .row_bytes((K + E)'(columns) << E), .rows,
      .stride({|stride_bytes[63:A], stride_bytes[A-1:0]}),
      .active(generating),
      .slot_valid(req_valid), .slot_address(req_addr), .slot_beats(req_len), .grant(req_grant),
      .error(generator_error)
  );

  // ---- instructions in flight: a ring of four ----
  logic [2:0] first, next;                    // oldest in flight, next to start
  logic [INDEX_BITS-1:0] indices[0:3];
  logic [3:0] pushes;
  logic [4:0] ends[0:3];                      // number after the last burst
  logic [4:0] issued, answered;
  logic [1:0] burst_owner[0:7];               // instruction of each outstanding burst
  logic [1:0] newest;
  logic [4:0] missing;
  logic in_flight, complete;
  logic [1:0] answered_owner;

  assign open = generating || reading;        // the newest asks for bursts or reads them
  assign in_flight = first != next;
  assign newest = next[1:0] - 2'd1;
  assign missing = ends[first[1:0]] - answered;
  // `missing` is negative while an instruction is done later than its last response
  assign complete = in_flight && !(open && first[1:0] == newest) && (missing == 0 || missing[4]);
  assign done = complete;
  assign answered_owner = burst_owner[answered[2:0]];
  assign start = cmd_valid && !waiting && !halt && !open && next != {~first[2], first[1:0]};
  assign push_compute = done && pushes[first[1:0]];
  assign push_index = 32'(indices[first[1:0]]);
  assign busy = start || open || in_flight;

  always_ff @(posedge clk) begin
    if (start) begin
      indices[next[1:0]] <= cmd_index[INDEX_BITS-1:0];
      pushes[next[1:0]]  <= cmd[overlay_config::PUSH_PREV_LSB];
    end
    if (open) ends[newest] <= issued + 5'(req_grant);
    if (req_grant) burst_owner[issued[2:0]] <= newest;
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      first    <= '0;
      next     <= '0;
      issued   <= '0;
      answered <= '0;
    end else begin
      first    <= first + 3'(done);
      next     <= next + 3'(start);
      issued   <= issued + 5'(req_grant);
      answered <= answered + 5'(response);
    end
  end

  // ---- the reader ----
  logic reads, element_ends, last_item, beyond, is_first, is_last;
  logic [8:0] beats_left;
  logic [DEPTH:0] target;                     // top bit: beyond ACC
  logic [DEPTH-1:0] shown;
  logic [ITEM-1:0] number, item_number;       // of the item in its beat (E < L) or its element

  assign reads = reading && !stall;
  assign last_item = reads && is_last && beats_left == 9'd1;
  assign reader_free = !reading || last_item;
  assign beyond = reads && target[DEPTH];
  // a stalled item is read again, so that it stays at the mirror's output
  assign out_rd_index = stall ? shown : target[DEPTH-1:0];

  always_ff @(posedge clk) begin
    if (rst) reading <= 1'b0;
    else if (req_grant) reading <= 1'b1;
    else if (last_item) reading <= 1'b0;
    if (req_grant) beats_left <= req_len;
    else if (reads && is_last) beats_left <= beats_left - 9'd1;
    if (start) target <= {(sram >> DEPTH) != 0, sram[DEPTH-1:0]};
    else if (reads && element_ends) target <= target + (DEPTH + 1)'(1);
    if (!stall) shown <= target[DEPTH-1:0];
  end

  if (E < L) begin : gen_elements_in_beat
    logic row_ends, at_beat_start;
    logic [K-1:0] x, next_x, row_length;
    logic [ITEM-1:0] row_number, row_step, next_row_number;
    assign next_row_number = row_number + row_step;
    assign next_x = x + K'(1);
    assign row_ends = next_x == row_length;
    assign is_last = row_ends || &number;
    assign is_first = at_beat_start;
    assign element_ends = 1'b1;
    always_ff @(posedge clk) begin
      if (start) begin
        x             <= '0;
        at_beat_start <= 1'b1;
        row_length    <= columns;
        number     <= dram[ITEM-1:0];
        row_number <= dram[ITEM-1:0];
        row_step   <= stride[ITEM-1:0];
      end else if (reads) begin
        at_beat_start <= is_last;
        x      <= row_ends ? '0 : next_x;
        number <= row_ends ? next_row_number : number + ITEM'(1);
        if (row_ends) row_number <= next_row_number;
      end
    end
    assign item = {(BYTES >> E) {out_rd_data}};
    for (genvar i = 0; i < BYTES; i++) begin : gen_strobe
      assign item_strobes[i] = item_number == ITEM'(i >> E);
    end
  end else begin : gen_beats_of_element
    assign is_last = 1'b1;
    assign is_first = 1'b1;
    assign element_ends = E == L || &number;
    always_ff @(posedge clk) begin
      if (start) number <= '0;
      else if (reads && E != L) number <= number + ITEM'(1);
    end
    assign item = E == L ? out_rd_data[overlay_config::MEM_BITS-1:0]
                         : out_rd_data[overlay_config::MEM_BITS*item_number+:overlay_config::MEM_BITS];
    assign item_strobes = '1;
  end

  always_ff @(posedge clk) begin
    if (rst) item_valid <= 1'b0;
    else if (!stall) item_valid <= reading;
    if (!stall) begin
      item_number     <= number;
      item_first      <= is_first;
      item_last       <= is_last;
      item_ends_burst <= is_last && beats_left == 9'd1;
    end
  end

  // ---- errors ----
  logic [1:0] error_owner;
  assign error_owner = response_bad ? answered_owner : newest;
  assign error_index = 32'(indices[error_owner]);
  assign error = response_bad || beyond || generator_error;
  always_comb begin
    error_code = overlay_config::ERROR_ADDRESS;
    if (response_bad) begin
      if (!response_no_memory) error_code = overlay_config::ERROR_BUS;
    end else if (beyond) error_code = overlay_config::ERROR_SCRATCHPAD;
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(BYTES + 3)) item_rules (
      .clk, .rst, .valid(item_valid), .ready(!stall), .data({item_strobes, item_first, item_last, item_ends_burst})
  );
`endif
endmodule
