// The windows of a convolution from a stream of pixels, word by word: a ring of ROWS rows of the image, written
// in the order of the stream and read window by window (docs/design/pipeline/pipeline.md). Channel-major (LANES = 0): for y, x,
// ob, ky, kx, cb; lane by lane (LANES = 1): for y, x, cb, ky, kx. Words outside the image are PI times PAD.
//
// A word is read as soon as it has been written. What no later window needs is free at once: along the topmost
// row of the windows pixel by pixel, other rows with the last window of theirs. So the ring needs
// ROWS >= min(KH, H), and with ROWS = KH and SH = 1 the writer already runs at the windows' rate.
//
// `distance` counts the words of the stream written behind the first word of the topmost row, `level` those
// written behind the first word that is still needed. Both go below zero when rows are skipped. All walks are
// incremental: constants are added, nothing is multiplied.
//
// Timing: a word taken in t may be read in t + 1; what is read (or is padding) in t is at the output from t + 1.
module tw_stream_line_window #(
    parameter int AW = 8,
    parameter int PI = 1,
    parameter int H = 8,
    parameter int W = 8,
    parameter int CB = 1,
    parameter int KH = 3,
    parameter int KW = 3,
    parameter int SH = 1,
    parameter int SW = 1,
    parameter int PT = 1,
    parameter int PL = 1,
    parameter int HO = 8,
    parameter int WO = 8,
    parameter int OB = 1,
    parameter int PAD = 0,
    parameter int LANES = 0,
    parameter int ROWS = 3,
    parameter KIND = "block"
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             in_valid,
    output logic             in_ready,
    input  logic [PI*AW-1:0] in_data,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [PI*AW-1:0] out_data,
    output logic             out_last
);
  localparam int ROW = W * CB;  // words
  localparam int RING = ROWS * ROW;
  localparam int A = RING > 1 ? $clog2(RING) : 1;
  // The topmost row of the windows lies above the image for the first TOP_Y output rows; then it is TOP_ROW.
  localparam int TOP_Y = (PT + SH - 1) / SH;
  localparam int TOP_ROW = TOP_Y * SH - PT;
  localparam int LEFT_X = (PL + SW - 1) / SW;
  localparam int LEFT_COLUMN = LEFT_X * SW - PL;
  localparam int LAST_TOP = (HO - 1) * SH > PT ? (HO - 1) * SH - PT : 0;
  localparam int LAST_LEFT = (WO - 1) * SW > PL ? (WO - 1) * SW - PL : 0;
  // Words by which the topmost row moves behind the last window of an output row.
  localparam int MOVE_TOP = TOP_ROW * ROW;
  localparam int MOVE = SH * ROW;
  localparam int MOVE_IMAGE = (H - LAST_TOP) * ROW;
  localparam int ROW_START = -(PT * ROW + PL * CB);
  // The first window lies outside of the image. It waits for the image nevertheless: the stages behind would
  // take it for the beginning of the next one.
  localparam bit BLANK = PT >= KH || PL >= KW;
  // Signed counts of words: the ring, what a window spans, what is skipped.
  localparam int B = $clog2(RING + (KH + SH + PT + 1) * ROW + (KW + PL) * CB + MOVE_IMAGE) + 1;
  localparam int ROW_BITS = $clog2(H + KH + SH + PT) + 1;
  localparam int COLUMN_BITS = $clog2(W + KW + SW + PL) + 1;
  localparam int X_BITS = WO > 1 ? $clog2(WO) : 1;
  localparam int Y_BITS = HO > 1 ? $clog2(HO) : 1;
  localparam int OB_BITS = OB > 1 ? $clog2(OB) : 1;
  localparam int KY_BITS = KH > 1 ? $clog2(KH) : 1;
  localparam int KX_BITS = KW > 1 ? $clog2(KW) : 1;
  localparam int CB_BITS = CB > 1 ? $clog2(CB) : 1;

  logic [Y_BITS-1:0] y;
  logic [X_BITS-1:0] x;
  logic [OB_BITS-1:0] ob;
  logic [KY_BITS-1:0] ky;
  logic [KX_BITS-1:0] kx;
  logic [CB_BITS-1:0] cb;
  logic signed [ROW_BITS-1:0] row;  // y * SH - PT + ky
  logic signed [COLUMN_BITS-1:0] column;  // x * SW - PL + kx
  logic signed [B-1:0] offset;  // of the word, behind the first word of the topmost row
  logic signed [B-1:0] row_start;  // offset of the first word of window x = 0
  logic signed [B-1:0] distance, level;

  localparam logic signed [ROW_BITS-1:0] ROWS_INSIDE = ROW_BITS'(H);
  localparam logic signed [COLUMN_BITS-1:0] COLUMNS_INSIDE = COLUMN_BITS'(W);
  localparam logic signed [B-1:0] RING_WORDS = B'(RING);
  logic signed [31:0] y_index, x_index;  // to compare with numbers that may not fit their bits
  assign y_index = 32'(y);
  assign x_index = 32'(x);

  logic free, outside, go, taken;
  logic y_end, x_end, ob_end, ky_end, kx_end, cb_end;
  logic line_end, window_end, pixel_end, row_end, image_end;

  assign y_end = y == Y_BITS'(HO - 1);
  assign x_end = x == X_BITS'(WO - 1);
  assign ob_end = ob == OB_BITS'(OB - 1);
  assign ky_end = ky == KY_BITS'(KH - 1);
  assign kx_end = kx == KX_BITS'(KW - 1);
  assign cb_end = cb == CB_BITS'(CB - 1);
  assign line_end = kx_end && (LANES != 0 || cb_end);
  assign window_end = line_end && ky_end;
  assign pixel_end = window_end && (LANES != 0 ? cb_end : ob_end);
  assign row_end = pixel_end && x_end;
  assign image_end = row_end && y_end;

  assign outside = row < 0 || row >= ROWS_INSIDE || column < 0 || column >= COLUMNS_INSIDE;
  assign free = !out_valid || out_ready;
  assign go = free && (outside ? !BLANK || y_index != 0 || distance > 0 : distance > offset);
  assign in_ready = level < RING_WORDS;
  assign taken = in_valid && in_ready;

  // Where the walk goes from here.
  localparam int SPAN = (KH - 1) * ROW + (LANES != 0 ? (KW - 1) * CB : KW * CB - 1);
  logic signed [B-1:0] step, next_start, move, freed;
  always_comb begin
    if (pixel_end) step = B'(SW * CB - SPAN - (LANES != 0 ? CB - 1 : 0));
    else if (window_end) step = B'(LANES != 0 ? 1 - SPAN : -SPAN);
    else if (line_end) step = B'(LANES != 0 ? ROW - (KW - 1) * CB : ROW - KW * CB + 1);
    else step = B'(LANES != 0 ? CB : 1);

    if (image_end) move = B'(MOVE_IMAGE);
    else if (y_index >= TOP_Y) move = B'(MOVE);
    else if (y_index == TOP_Y - 1) move = B'(MOVE_TOP);
    else move = '0;
    next_start = image_end ? B'(ROW_START) : row_start + (y_index >= TOP_Y ? '0 : B'(MOVE) - move);

    freed = '0;
    if (row_end) freed = y_index >= TOP_Y ? move - B'(LAST_LEFT * CB) : move;
    else if (pixel_end && y_index >= TOP_Y) begin
      if (x_index >= LEFT_X) freed = B'(SW * CB);
      else if (x_index == LEFT_X - 1) freed = B'(LEFT_COLUMN * CB);
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      y <= '0;
      x <= '0;
      ob <= '0;
      ky <= '0;
      kx <= '0;
      cb <= '0;
      row <= ROW_BITS'(-PT);
      column <= COLUMN_BITS'(-PL);
      offset <= B'(ROW_START);
      row_start <= B'(ROW_START);
    end else if (go) begin
      if (LANES != 0 ? window_end : 1'b1) cb <= cb_end ? '0 : cb + 1'b1;
      if (LANES != 0 || cb_end) kx <= kx_end ? '0 : kx + 1'b1;
      if (line_end) ky <= ky_end ? '0 : ky + 1'b1;
      if (window_end && LANES == 0) ob <= ob_end ? '0 : ob + 1'b1;
      if (pixel_end) x <= x_end ? '0 : x + 1'b1;
      if (row_end) y <= y_end ? '0 : y + 1'b1;

      if (image_end) row <= ROW_BITS'(-PT);
      else if (row_end) row <= row + ROW_BITS'(SH - (KH - 1));
      else if (window_end) row <= row - ROW_BITS'(KH - 1);
      else if (line_end) row <= row + ROW_BITS'(1);
      if (row_end) column <= COLUMN_BITS'(-PL);
      else if (pixel_end) column <= column + COLUMN_BITS'(SW - (KW - 1));
      else if (line_end) column <= column - COLUMN_BITS'(KW - 1);
      else if (LANES != 0 || cb_end) column <= column + COLUMN_BITS'(1);

      offset <= row_end ? next_start : offset + step;
      if (row_end) row_start <= next_start;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      distance <= '0;
      level <= '0;
    end else begin
      distance <= distance + B'(taken) - (go && row_end ? move : '0);
      level <= level + B'(taken) - (go ? freed : '0);
    end
  end

  // Addresses in the ring.
  logic [A-1:0] write_address, top_address;
  logic [A:0] read_sum, top_sum;
  logic [A-1:0] read_address;

  function automatic logic [A-1:0] wrap(input logic [A:0] address);
    wrap = A'(address >= (A + 1)'(RING) ? address - (A + 1)'(RING) : address);
  endfunction

  assign read_sum = {1'b0, top_address} + (A + 1)'(offset);
  assign read_address = wrap(read_sum);
  always_comb begin
    if (image_end) top_sum = (A + 1)'(MOVE_IMAGE % RING);
    else if (y_index >= TOP_Y) top_sum = (A + 1)'(MOVE % RING);
    else if (y_index == TOP_Y - 1) top_sum = (A + 1)'(MOVE_TOP % RING);
    else top_sum = '0;
    top_sum = top_sum + {1'b0, top_address};
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      write_address <= '0;
      top_address   <= '0;
    end else begin
      if (taken) write_address <= write_address == A'(RING - 1) ? '0 : write_address + 1'b1;
      if (go && row_end) top_address <= wrap(top_sum);
    end
  end

  logic [PI*AW-1:0] word;
  logic padding;
  tw_stream_memory #(
      .WIDTH(PI * AW),
      .WORDS(RING),
      .A(A),
      .KIND(KIND)
  ) ring (
      .clk(clk),
      .write_enable(taken),
      .write_address(write_address),
      .write_data(in_data),
      .read_enable(go && !outside),
      .read_address(read_address),
      .read_data(word)
  );

  assign out_data = padding ? {PI{AW'(PAD)}} : word;
  always_ff @(posedge clk) begin
    if (go) begin
      padding  <= outside;
      out_last <= window_end;
    end
    if (rst) begin
      out_valid <= 1'b0;
      out_last  <= 1'b0;
    end else out_valid <= go || (out_valid && !out_ready);
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(PI * AW + 1)) out_rules (
      .clk, .rst, .valid(out_valid), .ready(out_ready), .data({out_last, out_data})
  );
`endif
endmodule
