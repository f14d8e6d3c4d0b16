// The windows of a depthwise convolution or a pool from a stream of pixels, row by row: every word is taken once,
// and each output beat is the whole window, tap (ky, kx) in bits [(ky * KW + kx) * PI * AW, ..), for y, x, cb
// (docs/design/pipeline/pipeline.md). What differs between tasks is in TABLE, one row per task and image
// (src/tilewright/pipeline/component/sliding_window.h).
//
// Delays make the window: a line memory delays the stream by 1 .. KH - 1 rows (W * CB words each), a column
// memory, or plain registers where CB is 1, the column so made by 1 .. KW - 1 pixels. The stream is not padded: a
// tap that lies beyond the edge holds a word of another row or image, and is replaced by PAD at the output. So
// there is one step per word, and images follow each other without a gap. Where an image has ended and the next
// has not begun, steps without a word bring the last windows out.
//
// `trail` follows the words at the distance LAG at which the window around them is complete, and says which of
// them give an output and which of its taps lie inside.
//
// Timing: a step in t reads the line memory and is in stage 1 in t + 1, in the window in t + 2. A step is made
// when a word is there or none is needed and stage 1 is free. With several tasks the next word is taken four
// cycles after the step of a task's last output at the earliest.
module tw_stream_sliding_window #(
    parameter int AW = 8,
    parameter int PI = 1,
    parameter int KH = 3,
    parameter int KW = 3,
    parameter int MAX_WORDS = 16,  // W * CB
    parameter int TASKS = 1,
    parameter TABLE = "",
    parameter KIND = "block",
    parameter int REPEAT = 1,
    parameter int MAX_CB = MAX_WORDS,
    parameter int COUNT_BITS = 24  // of H * W * CB and of LAG
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   in_valid,
    output logic                   in_ready,
    input  logic [      PI*AW-1:0] in_data,
    output logic                   out_valid,
    input  logic                   out_ready,
    output logic [KH*KW*PI*AW-1:0] out_data,
    output logic                   out_last
);
  localparam int WORD = PI * AW;
  localparam int COLUMN = KH * WORD;
  localparam int A = $clog2(MAX_WORDS) + 1;  // counts up to MAX_WORDS
  localparam int ADDRESS_BITS = MAX_WORDS > 1 ? $clog2(MAX_WORDS) : 1;
  localparam int CB_BITS = $clog2(MAX_CB) + 1;
  localparam int PLACE_BITS = MAX_CB > 1 ? $clog2(MAX_CB) : 1;
  localparam int T = TASKS > 1 ? $clog2(TASKS) : 1;

  localparam int ROW_BITS = component_config::SLIDING_WINDOW_BITS + AW + KH + KW;

  // The task.
  logic [ROW_BITS-1:0] rows[0:TASKS-1];
  /* verilator lint_off WIDTH */
  if (TABLE != "") begin : gen_table
    initial $readmemh(TABLE, rows);
  end else begin : gen_zero
    initial for (int i = 0; i < TASKS; i++) rows[i] = '0;
  end
  /* verilator lint_on WIDTH */
  /* verilator lint_off UNUSEDSIGNAL */
  logic [ROW_BITS-1:0] row;  // counters are narrower than their fields
  /* verilator lint_on UNUSEDSIGNAL */
  logic [15:0] h, ho;
  logic [A-1:0] w, wo;
  logic [CB_BITS-1:0] cb;
  logic [3:0] sh, sw;
  logic [7:0] pt, pl;
  logic [AW-1:0] pad;
  logic [COUNT_BITS-1:0] lag, count;
  logic [KH-1:0] first_rows;  // taps inside at y = 0
  logic [KW-1:0] first_columns;  // taps inside at x = 0
  assign h = row[component_config::SLIDING_WINDOW_H_LSB+:component_config::SLIDING_WINDOW_H_WIDTH];
  assign w = A'(row[component_config::SLIDING_WINDOW_W_LSB+:component_config::SLIDING_WINDOW_W_WIDTH]);
  assign cb = CB_BITS'(row[component_config::SLIDING_WINDOW_CB_LSB+:component_config::SLIDING_WINDOW_CB_WIDTH]);
  assign sh = row[component_config::SLIDING_WINDOW_SH_LSB+:component_config::SLIDING_WINDOW_SH_WIDTH];
  assign sw = row[component_config::SLIDING_WINDOW_SW_LSB+:component_config::SLIDING_WINDOW_SW_WIDTH];
  assign pt = row[component_config::SLIDING_WINDOW_PT_LSB+:component_config::SLIDING_WINDOW_PT_WIDTH];
  assign pl = row[component_config::SLIDING_WINDOW_PL_LSB+:component_config::SLIDING_WINDOW_PL_WIDTH];
  assign ho = row[component_config::SLIDING_WINDOW_HO_LSB+:component_config::SLIDING_WINDOW_HO_WIDTH];
  assign wo = A'(row[component_config::SLIDING_WINDOW_WO_LSB+:component_config::SLIDING_WINDOW_WO_WIDTH]);
  assign pad = row[component_config::SLIDING_WINDOW_PAD_LSB+:AW];
  assign lag =
      COUNT_BITS'(row[component_config::SLIDING_WINDOW_LAG_LSB+AW+:component_config::SLIDING_WINDOW_LAG_WIDTH]);
  assign count =
      COUNT_BITS'(row[component_config::SLIDING_WINDOW_COUNT_LSB+AW+:component_config::SLIDING_WINDOW_COUNT_WIDTH]);
  assign first_rows = row[component_config::SLIDING_WINDOW_ROWS_LSB+AW+:KH];
  assign first_columns = row[component_config::SLIDING_WINDOW_COLUMNS_LSB+AW+KH+:KW];

  logic loaded;  // the row is there
  logic may_start;  // the next image
  logic first_taken;  // in this step the first word of an image
  logic in_image;  // between the first and the last word of one
  logic waiting, active, idle;

  assign idle = !waiting && !active;
  if (TASKS == 1) begin : gen_one_task
    assign row = rows[0];
    assign loaded = 1'b1;
    assign may_start = !waiting;
  end else begin : gen_tasks
    logic [T-1:0] number;
    logic fetched, started;
    always_ff @(posedge clk) if (!fetched) row <= rows[number];
    assign may_start = !started;
    always_ff @(posedge clk) begin
      if (rst) begin
        number  <= '0;
        fetched <= 1'b0;
        loaded  <= 1'b0;
        started <= 1'b0;
      end else if (!loaded) begin
        fetched <= 1'b1;
        loaded  <= fetched;
      end else if (first_taken) started <= 1'b1;
      else if (started && !in_image && idle) begin
        number  <= number == T'(TASKS - 1) ? '0 : number + 1'b1;
        fetched <= 1'b0;
        loaded  <= 1'b0;
        started <= 1'b0;
      end
    end
  end

  // Words of the image.
  logic [COUNT_BITS-1:0] words_left;
  logic step, stage1_free;

  assign in_ready = loaded && stage1_free && (in_image || may_start);
  assign step = loaded && stage1_free && ((in_valid && (in_image || may_start)) || (!in_image && !idle));
  assign first_taken = in_valid && in_ready && !in_image;
  always_ff @(posedge clk) begin
    if (rst) in_image <= 1'b0;
    else if (first_taken) in_image <= count != COUNT_BITS'(1);
    else if (in_valid && in_ready) in_image <= words_left != COUNT_BITS'(1);
    if (first_taken) words_left <= count - 1'b1;
    else if (in_valid && in_ready) words_left <= words_left - 1'b1;
  end

  // The trail: it begins LAG steps after the image.
  logic [COUNT_BITS-1:0] wait_left, wait_now;
  logic begins, trailing;
  assign wait_now = first_taken ? lag : wait_left;
  assign begins = step && (waiting || first_taken) && wait_now == '0;
  assign trailing = step && (active || begins);

  logic [CB_BITS-1:0] cb_left;
  logic [A-1:0] columns_left, outputs_left;  // in the row
  logic [15:0] rows_left, output_rows_left;
  logic [3:0] phase_x, phase_y;  // of the stride; 0: a window stands here
  logic [KW-1:0] column_inside;
  logic [KH-1:0] row_inside;
  logic emits, pixel_end, row_end, trail_end;

  assign emits = phase_x == '0 && phase_y == '0 && outputs_left != '0;
  assign pixel_end = cb_left == '0;
  assign row_end = pixel_end && columns_left == '0;
  assign trail_end = emits && pixel_end && outputs_left == A'(1) && output_rows_left == 16'd1;

  always_ff @(posedge clk) begin
    if (rst) begin
      waiting <= 1'b0;
      active  <= 1'b0;
    end else if (step) begin
      waiting <= (waiting || first_taken) && !begins;
      active  <= trailing && !trail_end;
    end
    if (step) wait_left <= wait_now - 1'b1;
  end

  always_ff @(posedge clk) begin
    if (rst || (trailing && trail_end) || (!trailing && !active)) begin
      cb_left <= cb - 1'b1;
      columns_left <= w - 1'b1;
      rows_left <= h - 1'b1;
      outputs_left <= wo;
      output_rows_left <= ho;
      phase_x <= '0;
      phase_y <= '0;
      column_inside <= first_columns;
      row_inside <= first_rows;
    end else if (trailing) begin
      cb_left <= pixel_end ? cb - 1'b1 : cb_left - 1'b1;
      if (row_end) begin
        columns_left <= w - 1'b1;
        outputs_left <= wo;
        phase_x <= '0;
        column_inside <= first_columns;
        rows_left <= rows_left - 1'b1;
        phase_y <= phase_y == sh - 1'b1 ? '0 : phase_y + 1'b1;
        if (phase_y == '0) output_rows_left <= output_rows_left - 1'b1;
        row_inside <= KH'({rows_left >= 16'(KH) - 16'(pt), row_inside} >> 1);
      end else if (pixel_end) begin
        columns_left <= columns_left - 1'b1;
        phase_x <= phase_x == sw - 1'b1 ? '0 : phase_x + 1'b1;
        if (emits) outputs_left <= outputs_left - 1'b1;
        column_inside <= KW'({16'(columns_left) >= 16'(KW) - 16'(pl), column_inside} >> 1);
      end
    end
  end

  // Stage 1: the word beside those of the rows above it.
  logic stage1_full, stage1_emits, stage1_last, stage1_moves, window_free;
  logic [WORD-1:0] stage1_word;
  logic [COLUMN-1:0] column;
  logic [KW-1:0] stage1_columns;
  logic [KH-1:0] stage1_rows;
  logic [AW-1:0] stage1_pad;

  assign stage1_moves = stage1_full && window_free;
  assign stage1_free  = !stage1_full || window_free;
  always_ff @(posedge clk) begin
    if (rst) stage1_full <= 1'b0;
    else stage1_full <= step || (stage1_full && !window_free);
    if (step) begin
      stage1_word <= in_data;
      stage1_emits <= trailing && emits;
      stage1_last <= pixel_end;
      stage1_columns <= column_inside;
      stage1_rows <= row_inside;
      stage1_pad <= pad;
    end
  end

  if (KH > 1) begin : gen_lines
    logic [A-1:0] words, address, next_address;
    logic [ADDRESS_BITS-1:0] stage1_address;
    assign words = A'(row[component_config::SLIDING_WINDOW_LINE_LSB+AW+:component_config::SLIDING_WINDOW_LINE_WIDTH]);
    assign next_address = address + 1'b1;
    always_ff @(posedge clk) begin
      if (rst || !loaded) address <= '0;
      else if (step) address <= next_address == words ? '0 : next_address;
      if (step) stage1_address <= address[ADDRESS_BITS-1:0];
    end
    tw_stream_memory #(
        .WIDTH((KH - 1) * WORD),
        .WORDS(MAX_WORDS),
        .A(ADDRESS_BITS),
        .KIND(KIND)
    ) lines (
        .clk(clk),
        .write_enable(stage1_moves),
        .write_address(stage1_address),
        .write_data(column[COLUMN-1:WORD]),
        .read_enable(step),
        .read_address(address[ADDRESS_BITS-1:0]),
        .read_data(column[COLUMN-WORD-1:0])
    );
  end
  assign column[COLUMN-1:COLUMN-WORD] = stage1_word;

  // The window: the column beside those of the pixels before it.
  logic [KW*COLUMN-1:0] window;
  logic [KW-1:0] window_columns;
  logic [KH-1:0] window_rows;
  logic [AW-1:0] window_pad;

  always_ff @(posedge clk) begin
    if (stage1_moves) begin
      window[KW*COLUMN-1:(KW-1)*COLUMN] <= column;
      window_columns <= stage1_columns;
      window_rows <= stage1_rows;
      window_pad <= stage1_pad;
      out_last <= stage1_last;
    end
    if (rst) begin
      out_valid <= 1'b0;
      out_last  <= 1'b0;
    end else out_valid <= window_free ? stage1_full && stage1_emits : 1'b1;
  end

  if (KW > 1 && MAX_CB == 1) begin : gen_shift
    always_ff @(posedge clk) if (stage1_moves) window[(KW-1)*COLUMN-1:0] <= window[KW*COLUMN-1:COLUMN];
  end else if (KW > 1) begin : gen_columns
    (* ram_style = "distributed" *) logic [(KW-1)*COLUMN-1:0] columns[0:MAX_CB-1];
    logic [CB_BITS-1:0] place, next_place;
    logic [KW*COLUMN-1:0] next_window;
    logic [PLACE_BITS-1:0] stage1_place;
    assign next_place = place + 1'b1;
    assign next_window = {column, columns[stage1_place]};
    always_ff @(posedge clk) begin
      if (rst || !loaded) place <= '0;
      else if (step) place <= next_place == cb ? '0 : next_place;
      if (step) stage1_place <= place[PLACE_BITS-1:0];
      if (stage1_moves) begin
        columns[stage1_place] <= next_window[KW*COLUMN-1:COLUMN];
        window[(KW-1)*COLUMN-1:0] <= next_window[(KW-1)*COLUMN-1:0];
      end
    end
  end
  if (REPEAT > 1) begin : gen_repeat
    logic [$clog2(REPEAT)-1:0] repeated;
    assign window_free = !out_valid || (out_ready && repeated == $clog2(REPEAT)'(REPEAT - 1));
    always_ff @(posedge clk) begin
      if (rst) repeated <= '0;
      else if (out_valid && out_ready) repeated <= window_free ? '0 : repeated + 1'b1;
    end
  end else begin : gen_once
    assign window_free = !out_valid || out_ready;
  end
  for (genvar ky = 0; ky < KH; ky++) begin : gen_row
    for (genvar kx = 0; kx < KW; kx++) begin : gen_tap
      assign out_data[(ky*KW+kx)*WORD+:WORD] =
          window_rows[ky] && window_columns[kx] ? window[(kx*KH+ky)*WORD+:WORD] : {PI{window_pad}};
    end
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(KH * KW * WORD + 1)) out_rules (
      .clk, .rst, .valid(out_valid), .ready(out_ready), .data({out_last, out_data})
  );
`endif
endmodule
