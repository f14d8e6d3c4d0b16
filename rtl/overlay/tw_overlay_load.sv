// The load module: LOAD of INP and WGT, up to four in flight, in order.
//
// Timing: starts the command at the head of its queue when its token (from compute) is there and tensor_load
// can start; the token is taken in that cycle. The token to compute is pushed in the cycle of `done`.
module tw_overlay_load (
    input  logic                                 clk,
    input  logic                                 rst,
    input  logic                                 halt,
    input  logic                                 cmd_valid,
    // fields of other instructions and, in the plain encoding, upper bits are not looked at
    // verilator lint_off UNUSEDSIGNAL
    input  logic [overlay_config::INSTR_BITS-1:0] cmd,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [31:0]                          cmd_index,
    output logic                                 cmd_pop,
    input  logic                                 token_compute,   // one is there
    output logic                                 pop_compute,
    output logic                                 push_compute,
    output logic [31:0]                          push_index,
    // to the read master
    output logic                                 req_valid,
    output logic [overlay_config::ADDR_BITS-1:0] req_addr,
    output logic [8:0]                           req_len,
    input  logic                                 req_grant,
    input  logic                                 data_valid,
    input  logic [overlay_config::MEM_BITS-1:0]  data,
    input  logic [1:0]                           data_resp,
    output logic                                 data_pop,
    // to the scratchpads in compute; the rest of a write is common to both
    output logic                                 inp_wr_valid,
    output logic                                 wgt_wr_valid,
    output logic [15:0]                          wr_part,         // of WGT from INP elements, and its form
    output logic [1:0]                           wr_form,
    output logic [31:0]                          wr_index,
    output logic [11:0]                          wr_slice,
    output logic                                 wr_pad,
    output logic [31:0]                          wr_padval,
    output logic [overlay_config::MEM_BITS-1:0]  wr_data,
    // for the counters and the end of the run
    output logic                                 busy,
    output logic                                 waiting,         // the head waits for a token
    output logic                                 error,
    output logic [3:0]                           error_code,
    output logic [31:0]                          error_index
);
  logic can_start, active, needs_token, done, start, wr_valid;
  logic [2:0] wr_type;
  logic [3:0] done_tag;

  assign needs_token = cmd[overlay_config::POP_NEXT_LSB];
  assign waiting = cmd_valid && needs_token && !token_compute;
  assign start = cmd_valid && !waiting && can_start && !halt;
  assign cmd_pop = start;
  assign pop_compute = start && needs_token;
  assign push_compute = done && done_tag[0];
  assign busy = start || active;

  // verilator lint_off UNUSEDSIGNAL
  logic [2:0] tag_rest;  // load has one neighbour to push to
  // verilator lint_on UNUSEDSIGNAL
  assign tag_rest = done_tag[3:1];

  tw_overlay_tensor_load #(.CLASS(0)) tensors (
      .clk, .rst, .halt, .start,
      .cmd, .cmd_index, .cmd_tag({3'd0, cmd[overlay_config::PUSH_NEXT_LSB]}),
      .can_start, .done, .done_tag, .done_index(push_index), .busy(active),
      .req_valid, .req_addr, .req_len, .req_grant, .data_valid, .data, .data_resp, .data_pop,
      .wr_valid, .wr_type, .wr_form, .wr_part, .wr_index, .wr_slice, .wr_pad, .wr_padval, .wr_data,
      .error, .error_code, .error_index
  );

  assign inp_wr_valid = wr_valid && wr_type != 3'd1;
  assign wgt_wr_valid = wr_valid && wr_type == 3'd1;
endmodule
