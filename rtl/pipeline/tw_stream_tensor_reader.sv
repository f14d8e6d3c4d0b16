// Walks tensors in memory and gives their words, or padding: for ob < OB, y < HO, x < WO, ky < KH, kx < KW,
// cb < CB word BASE + ob*OBS + (y*SH+ky)*RS + (x*SW+kx)*CS + cb of unit UNIT where the pixel (y*SH+Y0+ky,
// x*SW+X0+kx) lies in H x W, else PAD. `last` with the last (ky, kx, cb); with FLAT in every beat.
//
// Timing: `start` in t begins the first task in t + 1, if the progress counts of that cycle are at least those
// that its row names, else in the first later cycle in which they are. Begun in s, its first word is asked
// for (rd_valid) in s + 2; granted in g, it is valid at the output in g + 3. One word per cycle, and one
// cycle of rd_valid = 0 between tasks. At most QUEUE words are asked for and not yet taken; full speed
// from QUEUE = 5. `busy` from t + 1 until the last word has been taken; no start meanwhile.
//
// The address of the next word is one sum: of the first address of the innermost loop that goes on, and of
// that loop's step. OB_BITS, SIZE_BITS (heights, widths), K_BITS, CB_BITS: of the counters, for fields that
// need no more.
module tw_stream_tensor_reader #(
    parameter int AW = 8,
    parameter int PI = 8,
    parameter int UNITS = 1,
    parameter int A = 10,
    parameter int PROGRESS = 1,
    parameter int TASKS = 1,
    parameter TABLE = "",
    parameter int QUEUE = 8,
    parameter int OB_BITS = 16,
    parameter int SIZE_BITS = 16,
    parameter int K_BITS = 8,
    parameter int CB_BITS = 16
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   start,
    input  logic [15:0]            progress0,
    input  logic [15:0]            progress1,
    input  logic [15:0]            progress2,
    input  logic [15:0]            progress3,
    input  logic [15:0]            progress4,
    input  logic [15:0]            progress5,
    input  logic [15:0]            progress6,
    input  logic [15:0]            progress7,
    output logic [UNITS-1:0]       rd_valid,
    input  logic [UNITS-1:0]       rd_ready,
    output logic [A-1:0]           rd_address,
    input  logic [UNITS*PI*AW-1:0] rd_data,
    output logic                   out_valid,
    input  logic                   out_ready,
    output logic [PI*AW-1:0]       out_data,
    output logic                   out_last,
    output logic                   busy
);
  localparam int W = PI * AW;
  localparam int U = UNITS > 1 ? $clog2(UNITS) : 1;
  localparam int Q = $clog2(QUEUE + 1);
  localparam int C = SIZE_BITS + 1;  // bits of a coordinate, two's complement
  localparam int WAIT_AT = component_config::TENSOR_READER_WAIT_LSB + AW;
  localparam int WAIT_BITS = component_config::TENSOR_READER_WAIT_WIDTH;
  localparam int ROW = component_config::TENSOR_READER_BITS + AW + WAIT_BITS * PROGRESS;

  // ---- the row of the current task ----
  logic [ROW-1:0] row;
  logic next_task, last_task;
  tw_stream_task_table #(.ROW(ROW), .TASKS(TASKS), .TABLE(TABLE)) tasks (
      .clk(clk), .rst(rst), .next(next_task), .last(last_task), .row(row)
  );

  // Its fields, as wide as what they count with.
  logic [U-1:0] row_unit;
  logic [A-1:0] row_base;
  logic [A-1:0] row_obs;
  logic [A-1:0] row_rs;
  logic [A-1:0] row_cs;
  logic [A-1:0] row_ys;
  logic [A-1:0] row_xs;
  logic [OB_BITS-1:0] row_ob;
  logic [SIZE_BITS-1:0] row_ho;
  logic [SIZE_BITS-1:0] row_wo;
  logic [K_BITS-1:0] row_kh;
  logic [K_BITS-1:0] row_kw;
  logic [CB_BITS-1:0] row_cb;
  logic [component_config::TENSOR_READER_SH_WIDTH-1:0] row_sh;
  logic [component_config::TENSOR_READER_SW_WIDTH-1:0] row_sw;
  logic [C-1:0] row_y0;
  logic [C-1:0] row_x0;
  logic [SIZE_BITS-1:0] row_h;
  logic [SIZE_BITS-1:0] row_w;
  logic [AW-1:0] row_pad;
  logic row_flat;
  assign row_unit = row[component_config::TENSOR_READER_UNIT_LSB+:U];
  assign row_base = row[component_config::TENSOR_READER_BASE_LSB+:A];
  assign row_obs = A'(row[component_config::TENSOR_READER_OBS_LSB+:component_config::TENSOR_READER_OBS_WIDTH]);
  assign row_rs = row[component_config::TENSOR_READER_RS_LSB+:A];
  assign row_cs = A'(row[component_config::TENSOR_READER_CS_LSB+:component_config::TENSOR_READER_CS_WIDTH]);
  assign row_ys = row[component_config::TENSOR_READER_YS_LSB+:A];
  assign row_xs = row[component_config::TENSOR_READER_XS_LSB+:A];
  assign row_ob = row[component_config::TENSOR_READER_OB_LSB+:OB_BITS];
  assign row_ho = row[component_config::TENSOR_READER_HO_LSB+:SIZE_BITS];
  assign row_wo = row[component_config::TENSOR_READER_WO_LSB+:SIZE_BITS];
  assign row_kh = row[component_config::TENSOR_READER_KH_LSB+:K_BITS];
  assign row_kw = row[component_config::TENSOR_READER_KW_LSB+:K_BITS];
  assign row_cb = row[component_config::TENSOR_READER_CB_LSB+:CB_BITS];
  assign row_sh = row[component_config::TENSOR_READER_SH_LSB+:component_config::TENSOR_READER_SH_WIDTH];
  assign row_sw = row[component_config::TENSOR_READER_SW_LSB+:component_config::TENSOR_READER_SW_WIDTH];
  assign row_y0 = C'($signed(row[component_config::TENSOR_READER_Y0_LSB+:component_config::TENSOR_READER_Y0_WIDTH]));
  assign row_x0 = C'($signed(row[component_config::TENSOR_READER_X0_LSB+:component_config::TENSOR_READER_X0_WIDTH]));
  assign row_h = row[component_config::TENSOR_READER_H_LSB+:SIZE_BITS];
  assign row_w = row[component_config::TENSOR_READER_W_LSB+:SIZE_BITS];
  assign row_pad = row[component_config::TENSOR_READER_PAD_LSB+:AW];
  assign row_flat = row[component_config::TENSOR_READER_FLAT_LSB+AW];

  logic [7:0] met;
  logic [127:0] progress;
  assign progress = {progress7, progress6, progress5, progress4, progress3, progress2, progress1, progress0};
  for (genvar i = 0; i < 8; i++) begin : gen_wait
    if (i < PROGRESS) begin : gen_used
      assign met[i] = progress[16*i+:16] >= row[WAIT_AT+WAIT_BITS*i+:WAIT_BITS];
    end else begin : gen_open
      logic unused;
      assign unused = &{1'b0, progress[16*i+:16]};
      assign met[i] = 1'b1;
    end
  end

  // ---- the loops ----
  logic running, begun, step, load;
  logic [OB_BITS-1:0] ob_left;
  logic [SIZE_BITS-1:0] y_left, x_left;
  logic [K_BITS-1:0] ky_left, kx_left;
  logic [CB_BITS-1:0] cb_left;
  logic end_tap, end_tap_row, end_window, end_line, end_block;  // the last word of ...
  logic [A-1:0] address, tap, tap_row, window, line, block, from, increment, following;
  logic [C-1:0] y, x, window_y, window_x, next_window_y, next_window_x;

  assign end_tap = cb_left == CB_BITS'(1);
  assign end_tap_row = end_tap && kx_left == K_BITS'(1);
  assign end_window = end_tap_row && ky_left == K_BITS'(1);
  assign end_line = end_window && x_left == SIZE_BITS'(1);
  assign end_block = end_line && y_left == SIZE_BITS'(1);
  assign next_task = step && end_block && ob_left == OB_BITS'(1);
  assign load = running && !begun && (&met);

  always_comb begin
    from = address;
    increment = A'(1);
    if (end_block) begin
      from = block;
      increment = row_obs;
    end else if (end_line) begin
      from = line;
      increment = row_ys;
    end else if (end_window) begin
      from = window;
      increment = row_xs;
    end else if (end_tap_row) begin
      from = tap_row;
      increment = row_rs;
    end else if (end_tap) begin
      from = tap;
      increment = row_cs;
    end
    following = from + increment;
  end

  assign next_window_y = end_block ? row_y0 : window_y + C'(row_sh);
  assign next_window_x = end_line ? row_x0 : window_x + C'(row_sw);

  always_ff @(posedge clk) begin
    if (load) begin
      {address, tap, tap_row, window, line, block} <= {6{row_base}};
      ob_left  <= row_ob;
      y_left   <= row_ho;
      x_left   <= row_wo;
      ky_left  <= row_kh;
      kx_left  <= row_kw;
      cb_left  <= row_cb;
      y        <= row_y0;
      window_y <= row_y0;
      x        <= row_x0;
      window_x <= row_x0;
    end else if (step) begin
      address <= following;
      cb_left <= end_tap ? row_cb : cb_left - 1'b1;
      if (end_tap) begin
        tap     <= following;
        kx_left <= end_tap_row ? row_kw : kx_left - 1'b1;
        x       <= end_window ? next_window_x : end_tap_row ? window_x : x + 1'b1;
      end
      if (end_tap_row) begin
        tap_row <= following;
        ky_left <= end_window ? row_kh : ky_left - 1'b1;
        y       <= end_line ? next_window_y : end_window ? window_y : y + 1'b1;
      end
      if (end_window) begin
        window   <= following;
        window_x <= next_window_x;
        x_left   <= end_line ? row_wo : x_left - 1'b1;
      end
      if (end_line) begin
        line     <= following;
        window_y <= next_window_y;
        y_left   <= end_block ? row_ho : y_left - 1'b1;
      end
      if (end_block) begin
        block   <= following;
        ob_left <= ob_left - 1'b1;
      end
    end
  end

  // ---- the request, and what comes back for it two cycles after its grant ----
  logic in_range, asked, pad, ends, granted, taken;
  logic [U-1:0] unit;
  logic [AW-1:0] padding;
  logic [1:0] flying, flying_pad, flying_end;  // bit 0: granted in the cycle before
  logic [U-1:0] flying_unit[0:1];
  logic [AW-1:0] flying_padding[0:1];
  logic [Q-1:0] ahead, filled;

  assign in_range = {1'b0, y} < {2'b0, row_h} && {1'b0, x} < {2'b0, row_w};
  assign granted = asked && (pad || |(rd_valid & rd_ready));
  assign step = begun && (!asked || granted) && ahead != Q'(QUEUE);
  assign taken = out_valid && out_ready;
  assign busy = running || ahead != 0;

  always_ff @(posedge clk) begin
    if (step) begin
      rd_address <= address;
      pad        <= !in_range;
      ends       <= end_window || row_flat;
      unit       <= row_unit;
      padding    <= row_pad;
    end
    flying_pad        <= {flying_pad[0], pad};
    flying_end        <= {flying_end[0], ends};
    flying_unit[0]    <= unit;
    flying_unit[1]    <= flying_unit[0];
    flying_padding[0] <= padding;
    flying_padding[1] <= flying_padding[0];
    if (rst) begin
      running  <= 1'b0;
      begun    <= 1'b0;
      asked    <= 1'b0;
      rd_valid <= '0;
      flying   <= 2'b00;
      ahead    <= '0;
    end else begin
      if (start) running <= 1'b1;
      else if (next_task && last_task) running <= 1'b0;
      if (load) begun <= 1'b1;
      else if (next_task) begun <= 1'b0;
      if (step || granted) begin
        asked <= step;
        for (int i = 0; i < UNITS; i++) begin
          rd_valid[i] <= step && in_range && (UNITS == 1 || row_unit == U'(i));
        end
      end
      flying <= {flying[0], granted};
      ahead  <= ahead + Q'(step) - Q'(taken);
    end
  end

  // ---- the queue ----
  localparam int D = QUEUE > 1 ? $clog2(QUEUE) : 1;
  (* ram_style = "distributed" *) logic [W:0] queue[0:QUEUE-1];
  logic [D-1:0] put_at, get_at;
  logic [W-1:0] word;
  logic ends_out;

  function automatic logic [D-1:0] after(input logic [D-1:0] at);
    after = at == D'(QUEUE - 1) ? '0 : at + 1'b1;
  endfunction

  always_comb begin
    word = '0;
    for (int i = 0; i < UNITS; i++) begin
      if (UNITS == 1 || flying_unit[1] == U'(i)) word = word | rd_data[W*i+:W];
    end
  end
  assign out_valid = filled != 0;
  assign {ends_out, out_data} = queue[get_at];
  assign out_last = out_valid && ends_out;

  always_ff @(posedge clk) begin
    if (flying[1]) queue[put_at] <= {flying_end[1], flying_pad[1] ? {PI{flying_padding[1]}} : word};
    if (rst) begin
      put_at <= '0;
      get_at <= '0;
      filled <= '0;
    end else begin
      if (flying[1]) put_at <= after(put_at);
      if (taken) get_at <= after(get_at);
      filled <= filled + Q'(flying[1]) - Q'(taken);
    end
  end
  logic unused;
  assign unused = &{1'b0, row, flying_unit[1]};

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(W + 1)) out_rules (
      .clk, .rst, .valid(out_valid), .ready(out_ready), .data({out_last, out_data})
  );
  for (genvar i = 0; i < UNITS; i++) begin : gen_rules
    tw_handshake_checker #(.WIDTH(A)) rd_rules (
        .clk, .rst, .valid(rd_valid[i]), .ready(rd_ready[i]), .data(rd_address)
    );
  end
`endif
endmodule
