// Puts a stream of parts of words into tensors: for ob < OB, y < HO, x < WO, d < D, with w = ob*OBS +
// d / PARTS (PARTS = PI / PF): part d mod PARTS of word BASE + y*RS + x*CS + w of unit UNIT; taken but not
// written where w >= LIMIT.
//
// Timing: a beat taken in t is asked for (wr_valid) in t + 1; the next one is taken in the cycle of its grant
// (that of a beat that is not written: t + 1). After the last beat of a task one cycle takes none.
// `progress` is the number of tasks completed since `clear`, from the cycle after the grant of a task's last
// beat on.
//
// The address of the next word is one sum, as in tensor_reader. OB_BITS, SIZE_BITS (heights, widths), D_BITS,
// W_BITS (words per pixel): of the counters, for fields that need no more.
module tw_stream_tensor_writer #(
    parameter int AW = 8,
    parameter int PI = 8,
    parameter int PF = 8,
    parameter int UNITS = 1,
    parameter int A = 10,
    parameter int TASKS = 1,
    parameter TABLE = "",
    parameter int OB_BITS = 16,
    parameter int SIZE_BITS = 16,
    parameter int D_BITS = 16,
    parameter int W_BITS = 16,
    localparam int PARTS = PI / PF,
    localparam int P = PARTS > 1 ? $clog2(PARTS) : 1
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             in_valid,
    output logic             in_ready,
    input  logic [PF*AW-1:0] in_data,
    output logic [UNITS-1:0] wr_valid,
    input  logic [UNITS-1:0] wr_ready,
    output logic [A-1:0]     wr_address,
    output logic [P-1:0]     wr_part,
    output logic [PF*AW-1:0] wr_data,
    output logic [15:0]      progress,
    input  logic             clear
);
  localparam int U = UNITS > 1 ? $clog2(UNITS) : 1;
  localparam int ROW = component_config::TENSOR_WRITER_BITS;

  logic [ROW-1:0] row;  // of the current task
  logic next_task;
  // verilator lint_off PINCONNECTEMPTY
  tw_stream_task_table #(.ROW(ROW), .TASKS(TASKS), .TABLE(TABLE)) tasks (
      .clk(clk), .rst(rst), .next(next_task), .last(), .row(row)
  );
  // verilator lint_on PINCONNECTEMPTY

  // Its fields, as wide as what they count with.
  logic [U-1:0] row_unit;
  logic [A-1:0] row_base;
  logic [component_config::TENSOR_WRITER_OBS_WIDTH-1:0] row_obs;
  logic [A-1:0] row_rs;
  logic [A-1:0] row_cs;
  logic [OB_BITS-1:0] row_ob;
  logic [SIZE_BITS-1:0] row_ho;
  logic [SIZE_BITS-1:0] row_wo;
  logic [D_BITS-1:0] row_d;
  logic [W_BITS-1:0] row_limit;
  assign row_unit = row[component_config::TENSOR_WRITER_UNIT_LSB+:U];
  assign row_base = row[component_config::TENSOR_WRITER_BASE_LSB+:A];
  assign row_obs = row[component_config::TENSOR_WRITER_OBS_LSB+:component_config::TENSOR_WRITER_OBS_WIDTH];
  assign row_rs = row[component_config::TENSOR_WRITER_RS_LSB+:A];
  assign row_cs = A'(row[component_config::TENSOR_WRITER_CS_LSB+:component_config::TENSOR_WRITER_CS_WIDTH]);
  assign row_ob = row[component_config::TENSOR_WRITER_OB_LSB+:OB_BITS];
  assign row_ho = row[component_config::TENSOR_WRITER_HO_LSB+:SIZE_BITS];
  assign row_wo = row[component_config::TENSOR_WRITER_WO_LSB+:SIZE_BITS];
  assign row_d = row[component_config::TENSOR_WRITER_D_LSB+:D_BITS];
  assign row_limit = row[component_config::TENSOR_WRITER_LIMIT_LSB+:W_BITS];

  // ---- the loops ----
  logic begun, take, end_word, end_pixel, end_line, end_block;  // the last beat of ...
  logic [P-1:0] part;
  logic [OB_BITS-1:0] ob_left;
  logic [SIZE_BITS-1:0] y_left, x_left;
  logic [D_BITS-1:0] d_left;
  logic [W_BITS-1:0] w, first_w, next_first_w;
  logic [A-1:0] address, pixel, line, block, from, increment, following;

  assign take = in_valid && in_ready;
  assign end_word = part == P'(PARTS - 1);
  assign end_pixel = d_left == D_BITS'(1);
  assign end_line = end_pixel && x_left == SIZE_BITS'(1);
  assign end_block = end_line && y_left == SIZE_BITS'(1);
  assign next_task = take && end_block && ob_left == OB_BITS'(1);
  assign next_first_w = end_block ? first_w + W_BITS'(row_obs) : first_w;

  always_comb begin
    from = address;
    increment = A'(end_word);
    if (end_block) begin
      from = block;
      increment = A'(row_obs);
    end else if (end_line) begin
      from = line;
      increment = row_rs;
    end else if (end_pixel) begin
      from = pixel;
      increment = row_cs;
    end
    following = from + increment;
  end

  always_ff @(posedge clk) begin
    if (!begun) begin
      {address, pixel, line, block} <= {4{row_base}};
      ob_left <= row_ob;
      y_left  <= row_ho;
      x_left  <= row_wo;
      d_left  <= row_d;
      part    <= '0;
      w       <= '0;
      first_w <= '0;
    end else if (take) begin
      address <= following;
      d_left  <= end_pixel ? row_d : d_left - 1'b1;
      part    <= end_pixel || end_word ? '0 : part + 1'b1;
      w       <= end_pixel ? next_first_w : w + W_BITS'(end_word);
      first_w <= next_first_w;
      if (end_pixel) begin
        pixel  <= following;
        x_left <= end_line ? row_wo : x_left - 1'b1;
      end
      if (end_line) begin
        line   <= following;
        y_left <= end_block ? row_ho : y_left - 1'b1;
      end
      if (end_block) begin
        block   <= following;
        ob_left <= ob_left - 1'b1;
      end
    end
  end

  // ---- the request ----
  logic asked, skip, ends, granted, written;

  assign written = w < row_limit;
  assign granted = asked && (skip || |(wr_valid & wr_ready));
  assign in_ready = begun && (!asked || granted);

  always_ff @(posedge clk) begin
    if (take) begin
      wr_address <= address;
      wr_part    <= part;
      wr_data    <= in_data;
      skip       <= !written;
      ends       <= next_task;
    end
    if (rst) begin
      begun    <= 1'b0;
      asked    <= 1'b0;
      wr_valid <= '0;
      progress <= '0;
    end else begin
      begun <= !next_task;
      if (take || granted) begin
        asked <= take;
        for (int i = 0; i < UNITS; i++) begin
          wr_valid[i] <= take && written && (UNITS == 1 || row_unit == U'(i));
        end
      end
      if (clear) progress <= '0;
      else if (granted && ends) progress <= progress + 1'b1;
    end
  end
  logic unused;
  assign unused = &{1'b0, row, row_unit, row_obs};

`ifndef SYNTHESIS
  for (genvar i = 0; i < UNITS; i++) begin : gen_rules
    tw_handshake_checker #(.WIDTH(A + P + PF * AW)) wr_rules (
        .clk, .rst, .valid(wr_valid[i]), .ready(wr_ready[i]), .data({wr_part, wr_address, wr_data})
    );
  end
`endif
endmodule
