// The compute module of the overlay between two registers behind a few pins: what is placed and routed where the whole
// overlay is larger than a data set can afford (docs/design/tune/implementation_data.md). Inputs come from a shift register (scan
// chain), as wide as a command with its number, in the place of the command queue's head; every output of the module
// goes into a signature register (MISR), so none of it is dead. All paths begin and end in flip-flops, as in the overlay.
//
// Not for running programs: the chain moves one bit per cycle, and inputs other than commands share its bits.
module compute_fixture (
    input  logic clk,
    input  logic rst_in,
    input  logic valid_in,  // the chain's content is a command
    input  logic scan_in,
    output logic scan_out   // the signature, a bit per cycle
);
  localparam int A = overlay_config::ADDR_BITS;
  localparam int MEM = overlay_config::MEM_BITS;
  localparam int C = overlay_config::INSTR_BITS;
  // As in tilewright_overlay: as many instructions as the memory can hold.
  localparam int INDEX = A - overlay_config::LOG_INSTR_BYTES + 1;
  localparam int N = INDEX > 32 ? 32 : INDEX;
  localparam int OUT = overlay_config::BATCH * overlay_config::BLOCK_OUT * overlay_config::OUT_BITS;
  localparam int LOG_ACC = overlay_config::LOG_ACC;
  localparam int LOADED = overlay_config::LOG_INP > overlay_config::LOG_WGT ? overlay_config::LOG_INP
                                                                           : overlay_config::LOG_WGT;
  // Where inputs other than commands lie in the chain.
  localparam int DATA = 9;
  localparam int WR_DATA = DATA + MEM;
  localparam int WR_INDEX = WR_DATA + MEM;
  localparam int WR_SLICE = WR_INDEX + LOADED;
  localparam int WR_PADVAL = WR_SLICE + 12;
  localparam int OUT_INDEX = WR_PADVAL + 8;
  localparam int OTHERS = OUT_INDEX + LOG_ACC;
  localparam int CHAIN = N + C > OTHERS ? N + C : OTHERS;
  localparam int SIGNATURE = 19 + A + 9 + OUT + 3 * N;

  logic [CHAIN-1:0] chain;
  logic [SIGNATURE-1:0] signature, observed;
  logic rst, cmd_valid;
  always_ff @(posedge clk) begin
    rst <= rst_in;
    cmd_valid <= valid_in;
    chain <= {chain[CHAIN-2:0], scan_in};
    signature <= rst ? '0 : {signature[SIGNATURE-2:0], signature[SIGNATURE-1]} ^ observed;
  end
  assign scan_out = signature[SIGNATURE-1];

  logic cmd_pop;
  logic req_valid, data_pop, finished, waiting, error;
  logic pop_load, pop_store, push_load, push_store, push_load_twice, push_store_twice;
  logic [A-1:0] req_addr;
  logic [8:0] req_len;
  logic [OUT-1:0] out_rd_data;
  logic [2:0] state;
  logic [3:0] error_code;
  // Wider than the numbers that there are.
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0] push_index, wait_index, error_index;
  // verilator lint_on UNUSEDSIGNAL
  assign observed = {
      finished, waiting, error, req_valid, data_pop, cmd_pop, pop_load, pop_store, push_load, push_store, push_load_twice,
      push_store_twice, state, error_code, req_addr, req_len, out_rd_data,
      push_index[N-1:0], wait_index[N-1:0], error_index[N-1:0]
  };

  tw_overlay_compute computer (
      .clk(clk),
      .rst(rst),
      .halt(chain[0]),
      .cmd_valid(cmd_valid),
      .cmd(chain[C-1:0]),
      .cmd_index(32'(chain[N+C-1:C])),
      .cmd_pop(cmd_pop),
      .token_load(chain[1]),
      .token_store(chain[2]),
      .pop_load(pop_load),
      .pop_store(pop_store),
      .push_load(push_load),
      .push_store(push_store),
      .push_load_twice(push_load_twice),
      .push_store_twice(push_store_twice),
      .push_index(push_index),
      .req_valid(req_valid),
      .req_addr(req_addr),
      .req_len(req_len),
      .req_grant(chain[3]),
      .data_valid(chain[4]),
      .data(chain[DATA+:MEM]),
      .data_resp(chain[6:5]),
      .data_pop(data_pop),
      .inp_wr_valid(chain[7]),
      .inp_wr_index(32'(chain[WR_INDEX+:LOADED])),
      .inp_wr_slice(chain[WR_SLICE+:12]),
      .inp_wr_pad(chain[8]),
      .inp_wr_padval(32'(chain[WR_PADVAL+:8])),
      .inp_wr_data(chain[WR_DATA+:MEM]),
      .wgt_wr_valid(chain[7] && chain[WR_INDEX]),
      .wgt_wr_index(32'(chain[WR_INDEX+:LOADED])),
      .wgt_wr_slice(chain[WR_SLICE+:12]),
      .wgt_wr_pad(chain[8]),
      .wgt_wr_padval(32'(chain[WR_PADVAL+:8])),
      .wgt_wr_data(chain[WR_DATA+:MEM]),
      .out_rd_index(chain[OUT_INDEX+:LOG_ACC]),
      .out_rd_data(out_rd_data),
      .finished(finished),
      .state(state),
      .waiting(waiting),
      .wait_index(wait_index),
      .error(error),
      .error_code(error_code),
      .error_index(error_index)
  );
endmodule
