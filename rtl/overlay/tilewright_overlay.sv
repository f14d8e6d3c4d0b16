// The overlay: registers, run control, fetch, the three modules with their command queues, tokens, and the
// read and write masters. Structure, timing and errors: docs/design/overlay/overlay_rtl.md.
//
// `irq` is high from the end of a run (done or error) to the next launch. `dbg_running` is the run's register:
// the first cycle in which it is high is cycle 0 of docs/design/overlay/overlay_rtl.md.
module tilewright_overlay (
    input  logic                                  clk,
    input  logic                                  rst_n,
    output logic                                  irq,
    output logic                                  dbg_running,

    input  logic                                  s_axil_awvalid,
    output logic                                  s_axil_awready,
    input  logic [11:0]                           s_axil_awaddr,
    input  logic                                  s_axil_wvalid,
    output logic                                  s_axil_wready,
    input  logic [31:0]                           s_axil_wdata,
    input  logic [3:0]                            s_axil_wstrb,
    output logic                                  s_axil_bvalid,
    input  logic                                  s_axil_bready,
    output logic [1:0]                            s_axil_bresp,
    input  logic                                  s_axil_arvalid,
    output logic                                  s_axil_arready,
    input  logic [11:0]                           s_axil_araddr,
    output logic                                  s_axil_rvalid,
    input  logic                                  s_axil_rready,
    output logic [31:0]                           s_axil_rdata,
    output logic [1:0]                            s_axil_rresp,

    output logic                                  m_axi_arvalid,
    input  logic                                  m_axi_arready,
    output logic [1:0]                            m_axi_arid,
    output logic [overlay_config::ADDR_BITS-1:0]  m_axi_araddr,
    output logic [7:0]                            m_axi_arlen,
    output logic [2:0]                            m_axi_arsize,
    output logic [1:0]                            m_axi_arburst,
    input  logic                                  m_axi_rvalid,
    output logic                                  m_axi_rready,
    input  logic [1:0]                            m_axi_rid,
    input  logic [overlay_config::MEM_BITS-1:0]   m_axi_rdata,
    input  logic [1:0]                            m_axi_rresp,
    // beats are counted, so the last one needs no mark; all writes have one ID
    // verilator lint_off UNUSEDSIGNAL
    input  logic                                  m_axi_rlast,
    input  logic [1:0]                            m_axi_bid,
    // verilator lint_on UNUSEDSIGNAL
    output logic                                  m_axi_awvalid,
    input  logic                                  m_axi_awready,
    output logic [1:0]                            m_axi_awid,
    output logic [overlay_config::ADDR_BITS-1:0]  m_axi_awaddr,
    output logic [7:0]                            m_axi_awlen,
    output logic [2:0]                            m_axi_awsize,
    output logic [1:0]                            m_axi_awburst,
    output logic                                  m_axi_wvalid,
    input  logic                                  m_axi_wready,
    output logic [overlay_config::MEM_BITS-1:0]   m_axi_wdata,
    output logic [overlay_config::MEM_BITS/8-1:0] m_axi_wstrb,
    output logic                                  m_axi_wlast,
    input  logic                                  m_axi_bvalid,
    output logic                                  m_axi_bready,
    input  logic [1:0]                            m_axi_bresp
);
  localparam int A = overlay_config::ADDR_BITS;
  localparam int W = overlay_config::MEM_BITS;
  localparam int C = overlay_config::INSTR_BITS;
  localparam int INDEX = A - overlay_config::LOG_INSTR_BYTES + 1;
  localparam int INDEX_BITS = INDEX > 32 ? 32 : INDEX;
  // Clients of the read master, and who reports errors: places in their vectors.
  localparam int READ_FETCH = 0, READ_COMPUTE = 1, READ_LOAD = 2, CLIENTS = 3;
  localparam int OF_FETCH = 0, OF_LOAD = 1, OF_COMPUTE = 2, OF_STORE = 3, OF_TOKENS = 4, SOURCES = 5;
  localparam int LEN = 9;   // bits of a burst's beats
  localparam int CODE = 4;  // bits of an error code

  logic rst, clear, start, halt, running;
  assign rst = !rst_n;
  assign dbg_running = running;

  // ---- registers and the run ----
  logic launch, soft_reset, status_done, status_error, kept_error, bus_idle, moving, queues_empty;
  logic [31:0] program_low, program_high, program_count, status_index;
  logic [3:0] status_code;
  logic [31:0] wait_load, wait_compute, wait_store;
  logic counter_read, counter_valid;
  logic [4:0] counter_index;
  logic [31:0] counter_value;
  logic [SOURCES-1:0] error;
  logic [SOURCES*CODE-1:0] error_code;
  logic [SOURCES*32-1:0] error_index;

  logic fetch_finished, fetch_blocked;
  logic load_busy, load_waiting, load_empty, store_busy, store_waiting, store_empty, store_reading;
  logic compute_finished, compute_waiting;
  logic [2:0] compute_state;
  logic [31:0] compute_wait_index;
  logic load_head, compute_head, store_head, load_pop, compute_pop, store_pop;
  logic [31:0] load_index, compute_index, store_index;
  logic load_push, compute_push, store_push;
  logic read_idle, write_idle, read_granted, write_granted;
  logic [8:0] read_beats, write_beats;

  // An error is reported once everything that was outstanding has come back.
  assign status_error = kept_error && !running;
  assign irq = status_done || status_error;
  assign s_axil_bresp = 2'b00;
  assign s_axil_rresp = 2'b00;

  tw_overlay_registers control_registers (
      .clk, .rst,
      .awvalid(s_axil_awvalid), .awready(s_axil_awready), .awaddr(s_axil_awaddr),
      .wvalid(s_axil_wvalid), .wready(s_axil_wready), .wdata(s_axil_wdata), .wstrb(s_axil_wstrb),
      .bvalid(s_axil_bvalid), .bready(s_axil_bready),
      .arvalid(s_axil_arvalid), .arready(s_axil_arready), .araddr(s_axil_araddr),
      .rvalid(s_axil_rvalid), .rready(s_axil_rready), .rdata(s_axil_rdata),
      .launch, .soft_reset, .program_low, .program_high, .program_count, .running,
      .status_done, .status_error, .status_code, .status_index, .wait_load, .wait_compute, .wait_store,
      .counter_read, .counter_index, .counter_valid, .counter_value
  );

  assign bus_idle = read_idle && write_idle && !store_reading;
  assign queues_empty = load_empty && store_empty;
  assign moving = !bus_idle || load_busy || store_busy || compute_pop || compute_state == 3'd1
      || compute_state == 3'd2 || compute_state == 3'd3 || !(fetch_finished || fetch_blocked);

  tw_overlay_run_control control (
      .clk, .rst, .launch, .soft_reset, .compute_finished, .fetch_finished, .queues_empty,
      .in_flight(load_busy || store_busy), .bus_idle, .moving,
      .load_waiting, .compute_waiting, .store_waiting,
      .load_index, .compute_index(compute_wait_index), .store_index,
      .error, .error_code, .error_index,
      .clear, .start, .running, .halt, .status_done, .status_error(kept_error), .status_code, .status_index,
      .wait_load, .wait_compute, .wait_store
  );

  tw_overlay_counters performance (
      .clk, .rst(clear), .running, .fetch_finished, .fetch_blocked, .load_busy, .load_waiting, .compute_state,
      .store_busy, .store_waiting, .read_granted, .read_beats, .write_granted, .write_beats,
      .read(counter_read), .read_index(counter_index), .read_valid(counter_valid), .read_value(counter_value)
  );

  // ---- reads ----
  logic [CLIENTS-1:0] req_valid, req_grant, data_valid, data_pop;
  logic [CLIENTS*A-1:0] req_addr;
  logic [CLIENTS*LEN-1:0] req_len;
  logic [CLIENTS*W-1:0] data;
  logic [CLIENTS*2-1:0] data_resp;

  assign m_axi_arsize = 3'(overlay_config::LOG_MEM_BYTES);
  assign m_axi_arburst = 2'b01;
  assign m_axi_rready = 1'b1;

  tw_overlay_read_master reads (
      .clk, .rst(clear), .halt, .req_valid, .req_addr, .req_len, .req_grant,
      .data_valid, .data, .data_resp, .data_pop,
      .arvalid(m_axi_arvalid), .arready(m_axi_arready), .arid(m_axi_arid), .araddr(m_axi_araddr),
      .arlen(m_axi_arlen), .rvalid(m_axi_rvalid), .rid(m_axi_rid), .rdata(m_axi_rdata), .rresp(m_axi_rresp),
      .idle(read_idle), .granted(read_granted), .granted_beats(read_beats)
  );

  // ---- fetch and the command queues ----
  logic [C-1:0] fetched;
  logic [31:0] fetched_index;
  logic load_full, compute_full, store_full;

  tw_overlay_fetch fetcher (
      .clk, .rst(clear), .halt, .start, .address({program_high, program_low}), .count(program_count),
      .req_valid(req_valid[READ_FETCH]), .req_addr(req_addr[READ_FETCH*A+:A]), .req_len(req_len[READ_FETCH*LEN+:LEN]),
      .req_grant(req_grant[READ_FETCH]), .data_valid(data_valid[READ_FETCH]), .data(data[READ_FETCH*W+:W]),
      .data_resp(data_resp[READ_FETCH*2+:2]), .data_pop(data_pop[READ_FETCH]),
      .load_full, .compute_full, .store_full, .load_push, .compute_push, .store_push,
      .cmd(fetched), .cmd_index(fetched_index), .finished(fetch_finished), .blocked(fetch_blocked),
      .error(error[OF_FETCH]), .error_code(error_code[OF_FETCH*CODE+:CODE]), .error_index(error_index[OF_FETCH*32+:32])
  );

  logic [C-1:0] load_cmd, compute_cmd, store_cmd;
  logic [INDEX_BITS-1:0] compute_number;
  // A row of INP elements may be a part of a WGT element.
  localparam int LOG_WGT_ROWS =
      overlay_config::LOG_WGT + (overlay_config::ROW_FUNCTIONS != 0 ? $clog2(overlay_config::BLOCK_IN) : 0);
  localparam int LOG_LOADED = overlay_config::LOG_INP > LOG_WGT_ROWS ? overlay_config::LOG_INP : LOG_WGT_ROWS;

  tw_overlay_memory_queue #(.LOG_SRAM(LOG_LOADED), .PADS(1)) load_queue (
      .clk, .rst(clear), .push(load_push), .push_cmd(fetched), .push_index(fetched_index), .full(load_full),
      .empty(load_empty), .head_valid(load_head), .cmd(load_cmd), .cmd_index(load_index), .pop(load_pop)
  );
  // verilator lint_off PINCONNECTEMPTY
  tw_overlay_sync_fifo #(.WIDTH(INDEX_BITS + C), .LOG_DEPTH(overlay_config::LOG_COMMAND_QUEUE)) compute_queue (
      .clk, .rst(clear), .push(compute_push), .push_data({fetched_index[INDEX_BITS-1:0], fetched}),
      .full(compute_full), .empty(), .head_valid(compute_head), .head({compute_number, compute_cmd}),
      .pop(compute_pop)
  );
  // verilator lint_on PINCONNECTEMPTY
  assign compute_index = 32'(compute_number);
  tw_overlay_memory_queue #(.LOG_SRAM(overlay_config::LOG_ACC), .PADS(0)) store_queue (
      .clk, .rst(clear), .push(store_push), .push_cmd(fetched), .push_index(fetched_index), .full(store_full),
      .empty(store_empty), .head_valid(store_head), .cmd(store_cmd), .cmd_index(store_index), .pop(store_pop)
  );

  // ---- tokens: 0 load->compute, 1 compute->load, 2 compute->store, 3 store->compute ----
  logic [3:0] token_push, token_twice, token_pop, token_there;
  assign {token_twice[3], token_twice[0]} = '0;
  logic [31:0] load_push_index, compute_push_index, store_push_index;

  tw_overlay_tokens channels (
      .clk, .rst(clear), .push(token_push), .twice(token_twice), .pop(token_pop), .there(token_there),
      .load_index(load_push_index), .compute_index(compute_push_index), .store_index(store_push_index),
      .error(error[OF_TOKENS]), .error_index(error_index[OF_TOKENS*32+:32])
  );
  assign error_code[OF_TOKENS*CODE+:CODE] = overlay_config::ERROR_TOKEN;

  // ---- load ----
  logic inp_wr_valid, wgt_wr_valid, wr_pad;
  logic [31:0] wr_index, wr_padval;
  logic [11:0] wr_slice;
  logic [1:0] wr_form;
  logic [15:0] wr_part;
  logic [W-1:0] wr_data;

  tw_overlay_load loader (
      .clk, .rst(clear), .halt, .cmd_valid(load_head), .cmd(load_cmd), .cmd_index(load_index),
      .cmd_pop(load_pop), .token_compute(token_there[1]), .pop_compute(token_pop[1]),
      .push_compute(token_push[0]), .push_index(load_push_index),
      .req_valid(req_valid[READ_LOAD]), .req_addr(req_addr[READ_LOAD*A+:A]), .req_len(req_len[READ_LOAD*LEN+:LEN]),
      .req_grant(req_grant[READ_LOAD]), .data_valid(data_valid[READ_LOAD]), .data(data[READ_LOAD*W+:W]),
      .data_resp(data_resp[READ_LOAD*2+:2]), .data_pop(data_pop[READ_LOAD]),
      .inp_wr_valid, .wgt_wr_valid, .wr_form, .wr_part, .wr_index, .wr_slice, .wr_pad, .wr_padval, .wr_data,
      .busy(load_busy), .waiting(load_waiting),
      .error(error[OF_LOAD]), .error_code(error_code[OF_LOAD*CODE+:CODE]), .error_index(error_index[OF_LOAD*32+:32])
  );

  // ---- compute ----
  logic [overlay_config::LOG_ACC-1:0] out_rd_index;
  logic [overlay_config::BATCH*overlay_config::BLOCK_OUT*overlay_config::OUT_BITS-1:0] out_rd_data;

  tw_overlay_compute computer (
      .clk, .rst(clear), .halt, .cmd_valid(compute_head), .cmd(compute_cmd), .cmd_index(compute_index),
      .cmd_pop(compute_pop), .token_load(token_there[0]), .token_store(token_there[3]),
      .pop_load(token_pop[0]), .pop_store(token_pop[3]), .push_load(token_push[1]),
      .push_store(token_push[2]), .push_load_twice(token_twice[1]), .push_store_twice(token_twice[2]),
      .push_index(compute_push_index),
      .req_valid(req_valid[READ_COMPUTE]), .req_addr(req_addr[READ_COMPUTE*A+:A]),
      .req_len(req_len[READ_COMPUTE*LEN+:LEN]),
      .req_grant(req_grant[READ_COMPUTE]), .data_valid(data_valid[READ_COMPUTE]), .data(data[READ_COMPUTE*W+:W]),
      .data_resp(data_resp[READ_COMPUTE*2+:2]), .data_pop(data_pop[READ_COMPUTE]),
      .inp_wr_valid, .inp_wr_index(wr_index), .inp_wr_slice(wr_slice), .inp_wr_pad(wr_pad),
      .inp_wr_padval(wr_padval), .inp_wr_data(wr_data),
      .wgt_wr_valid, .wgt_wr_index(wr_index), .wgt_wr_slice(wr_slice), .wgt_wr_pad(wr_pad),
      .wgt_wr_padval(wr_padval), .wgt_wr_data(wr_data), .wgt_wr_form(wr_form), .wgt_wr_part(wr_part),
      .out_rd_index, .out_rd_data, .finished(compute_finished), .state(compute_state),
      .waiting(compute_waiting), .wait_index(compute_wait_index),
      .error(error[OF_COMPUTE]), .error_code(error_code[OF_COMPUTE*CODE+:CODE]),
      .error_index(error_index[OF_COMPUTE*32+:32])
  );

  // ---- store and writes ----
  logic write_valid, write_grant, reader_free, item_valid, item_first, item_last, item_ends_burst, stall;
  logic response, response_bad, response_no_memory;
  logic [A-1:0] write_addr;
  logic [8:0] write_len;
  logic [W-1:0] item;
  logic [W/8-1:0] item_strobes;

  tw_overlay_store storer (
      .clk, .rst(clear), .halt, .cmd_valid(store_head), .cmd(store_cmd), .cmd_index(store_index),
      .cmd_pop(store_pop), .token_compute(token_there[2]), .pop_compute(token_pop[2]),
      .push_compute(token_push[3]), .push_index(store_push_index), .out_rd_index, .out_rd_data,
      .req_valid(write_valid), .req_addr(write_addr), .req_len(write_len), .req_grant(write_grant),
      .reader_free, .item_valid, .item, .item_strobes, .item_first, .item_last, .item_ends_burst, .stall,
      .response, .response_bad, .response_no_memory,
      .busy(store_busy), .waiting(store_waiting), .reading(store_reading),
      .error(error[OF_STORE]), .error_code(error_code[OF_STORE*CODE+:CODE]), .error_index(error_index[OF_STORE*32+:32])
  );

  assign write_granted = write_grant;
  assign write_beats = write_len;
  assign m_axi_awid = 2'd0;
  assign m_axi_awsize = 3'(overlay_config::LOG_MEM_BYTES);
  assign m_axi_awburst = 2'b01;
  assign m_axi_bready = 1'b1;

  tw_overlay_write_master writes (
      .clk, .rst(clear), .halt, .req_valid(write_valid), .req_addr(write_addr), .req_len(write_len),
      .reader_free, .req_grant(write_grant),
      .item_valid, .item, .item_strobes, .item_first, .item_last, .item_ends_burst, .stall,
      .response, .response_bad, .response_no_memory,
      .awvalid(m_axi_awvalid), .awready(m_axi_awready), .awaddr(m_axi_awaddr), .awlen(m_axi_awlen),
      .wvalid(m_axi_wvalid), .wready(m_axi_wready), .wdata(m_axi_wdata), .wstrb(m_axi_wstrb),
      .wlast(m_axi_wlast), .bvalid(m_axi_bvalid), .bresp(m_axi_bresp), .idle(write_idle)
  );

`ifndef SYNTHESIS
  tw_overlay_axi_checker axi_rules (
      .clk, .rst,
      .arvalid(m_axi_arvalid), .arready(m_axi_arready), .arid(m_axi_arid), .araddr(m_axi_araddr[11:0]),
      .arlen(m_axi_arlen), .rvalid(m_axi_rvalid),
      .awvalid(m_axi_awvalid), .awready(m_axi_awready), .awaddr(m_axi_awaddr[11:0]), .awlen(m_axi_awlen),
      .wvalid(m_axi_wvalid), .wready(m_axi_wready), .wlast(m_axi_wlast), .bvalid(m_axi_bvalid)
  );
`endif
endmodule
