// Walks the loop nest of a GEMM or ALU instruction: for y, for x, for u, one micro-op per `advance`.
//
// Three stages. Started in s: A (from s + 1) addresses micro-op u, B (from s + 2) has the micro-op and adds the
// offsets of (y, x), C (from s + 3, `valid`) holds the indices. All stages move in a cycle with `advance` and
// stand still in one without. An instruction without any step is `empty` in s + 1 and leaves A at once.
module tw_overlay_uop_sequencer (
    input  logic                                     clk,
    input  logic                                     rst,
    input  logic                                     start,
    // with start
    input  logic [overlay_config::LOG_UOP-1:0]       uop_begin,
    input  logic [overlay_config::LOG_UOP:0]         uop_end,
    input  logic [overlay_config::G_IOUT_WIDTH-1:0]  iter_out,
    input  logic [overlay_config::G_IIN_WIDTH-1:0]   iter_in,
    input  logic [overlay_config::LOG_ACC-1:0]       dst_factor_out,
    input  logic [overlay_config::LOG_ACC-1:0]       dst_factor_in,
    input  logic [overlay_config::U_SRC_WIDTH-1:0]   src_factor_out,
    input  logic [overlay_config::U_SRC_WIDTH-1:0]   src_factor_in,
    input  logic [overlay_config::LOG_WGT-1:0]       wgt_factor_out,
    input  logic [overlay_config::LOG_WGT-1:0]       wgt_factor_in,
    input  logic                                     advance,
    input  logic                                     stop,        // drops the instruction
    // micro-op memory: data one cycle after the index
    output logic                                     uop_read,
    output logic [overlay_config::LOG_UOP-1:0]       uop_index,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [overlay_config::UOP_BITS-1:0]      uop,         // the encoding has spare bits
    // verilator lint_on UNUSEDSIGNAL
    output logic                                     empty,       // in s + 1
    output logic                                     uop_beyond,  // in s + 1: micro-ops that do not exist
    // stage C
    output logic                                     valid,
    output logic                                     last,
    output logic                                     row_last,    // of an iteration of the outer loop
    output logic [overlay_config::LOG_ACC-1:0]       dst,
    output logic [overlay_config::U_SRC_WIDTH-1:0]   src,
    output logic [overlay_config::LOG_WGT-1:0]       wgt,
    output logic                                     overwrite,
    output logic                                     dst_beyond,  // the index does not fit its bits
    output logic                                     src_beyond,
    output logic                                     wgt_beyond
);
  localparam int U = overlay_config::LOG_UOP;
  localparam int YW = overlay_config::G_IOUT_WIDTH;
  localparam int XW = overlay_config::G_IIN_WIDTH;

  logic a_valid, a_fresh, a_last_u, a_last_x, a_last_y, no_steps;
  logic b_valid, b_last_u, b_last_x, b_last_y;
  logic [U-1:0] u, u_first;
  logic [U:0] u_next, u_end;
  logic [XW-1:0] x_left, x_count;
  logic [YW-1:0] y_left;

  assign no_steps = {1'b0, u} >= u_end || x_left == '0 || y_left == '0;
  assign empty = a_fresh && no_steps;
  assign uop_beyond = a_fresh && !no_steps && u_end > {1'b1, {U{1'b0}}};
  assign u_next = {1'b0, u} + 1'b1;
  assign a_last_u = u_next == u_end;
  assign a_last_x = x_left == XW'(1);
  assign a_last_y = y_left == YW'(1);
  assign uop_read = advance;
  assign uop_index = u;

  always_ff @(posedge clk) begin
    a_fresh <= start;
    if (start) begin
      u <= uop_begin;
      u_first <= uop_begin;
      u_end <= uop_end;
      x_left <= iter_in;
      x_count <= iter_in;
      y_left <= iter_out;
      a_valid <= 1'b1;
    end else if (advance && a_valid) begin
      u <= a_last_u ? u_first : u_next[U-1:0];
      if (a_last_u) x_left <= a_last_x ? x_count : x_left - 1'b1;
      if (a_last_u && a_last_x) y_left <= y_left - 1'b1;
      if (empty || (a_last_u && a_last_x && a_last_y)) a_valid <= 1'b0;
    end
    if (advance) begin
      b_valid <= a_valid && !empty;
      b_last_u <= a_last_u;
      b_last_x <= a_last_x;
      b_last_y <= a_last_y;
      valid <= b_valid;
      last <= b_last_u && b_last_x && b_last_y;
      row_last <= b_last_u && b_last_x;
    end
    if (rst || stop) begin
      a_fresh <= 1'b0;
      a_valid <= 1'b0;
      b_valid <= 1'b0;
      valid <= 1'b0;
    end
  end

  logic next_x, next_y, dst_over, src_over, wgt_over;
  logic [overlay_config::LOG_ACC-1:0] dst_now;
  logic [overlay_config::U_SRC_WIDTH-1:0] src_now;
  logic [overlay_config::LOG_WGT-1:0] wgt_now;
  assign next_x = advance && b_valid && b_last_u;
  assign next_y = b_last_x;

  tw_overlay_index_walker #(
      .WIDTH(overlay_config::LOG_ACC)
  ) dst_walker (
      .clk(clk),
      .start(start),
      .factor_out(dst_factor_out),
      .factor_in(dst_factor_in),
      .next_x(next_x),
      .next_y(next_y),
      .base(uop[overlay_config::U_DST_LSB+:overlay_config::U_DST_WIDTH]),
      .index(dst_now),
      .beyond(dst_over)
  );
  tw_overlay_index_walker #(
      .WIDTH(overlay_config::U_SRC_WIDTH)
  ) src_walker (
      .clk(clk),
      .start(start),
      .factor_out(src_factor_out),
      .factor_in(src_factor_in),
      .next_x(next_x),
      .next_y(next_y),
      .base(uop[overlay_config::U_SRC_LSB+:overlay_config::U_SRC_WIDTH]),
      .index(src_now),
      .beyond(src_over)
  );
  tw_overlay_index_walker #(
      .WIDTH(overlay_config::LOG_WGT)
  ) wgt_walker (
      .clk(clk),
      .start(start),
      .factor_out(wgt_factor_out),
      .factor_in(wgt_factor_in),
      .next_x(next_x),
      .next_y(next_y),
      .base(uop[overlay_config::U_WGT_LSB+:overlay_config::U_WGT_WIDTH]),
      .index(wgt_now),
      .beyond(wgt_over)
  );

  always_ff @(posedge clk) begin
    if (advance) begin
      dst <= dst_now;
      src <= src_now;
      wgt <= wgt_now;
      overwrite <= overlay_config::WIDE != 0 && uop[overlay_config::U_OVERWRITE_LSB];
      dst_beyond <= dst_over;
      src_beyond <= src_over;
      wgt_beyond <= wgt_over;
    end
  end
endmodule
