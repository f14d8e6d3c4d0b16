// Words of a memory of constants, task by task: for ob < OB, px < PX, n < N the word BASE + ob * N + n.
//
// Timing: with cycle 0 the first one without reset, the first word is valid in cycle 2; from then on there is
// always one, between tasks too. OB_BITS, PX_BITS, N_BITS: of the counters, for fields that need no more.
module tw_stream_rom_walker #(
    parameter int WIDTH = 8,
    parameter int WORDS = 16,
    parameter FILE = "",
    parameter int TASKS = 1,
    parameter TABLE = "",
    parameter KIND = "block",
    parameter int OB_BITS = 16,
    parameter int PX_BITS = 32,
    parameter int N_BITS = 32
) (
    input  logic             clk,
    input  logic             rst,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [WIDTH-1:0] out_data
);
  localparam bit BLOCK = 64'(KIND) == 64'("block");
  localparam bit FILLED = 64'(FILE) != 0;
  localparam int A = WORDS > 1 ? $clog2(WORDS) : 1;
  localparam int ROW = component_config::ROM_WALKER_BITS;

  logic active, read_enable, step, load, next_block, next_task;
  logic last_n, last_px;
  logic [A-1:0] address, block, following;
  logic [OB_BITS-1:0] ob_left;
  logic [PX_BITS-1:0] px_left, px;
  logic [N_BITS-1:0] n_left, n;
  logic [ROW-1:0] row;  // of the task to come, once active

  // verilator lint_off PINCONNECTEMPTY
  tw_stream_task_table #(.ROW(ROW), .TASKS(TASKS), .TABLE(TABLE)) tasks (
      .clk(clk), .rst(rst), .next(load), .last(), .row(row)
  );
  // verilator lint_on PINCONNECTEMPTY

  if (TASKS == 1) begin : gen_one
    assign px = row[component_config::ROM_WALKER_PX_LSB+:PX_BITS];
    assign n = row[component_config::ROM_WALKER_N_LSB+:N_BITS];
  end else begin : gen_several
    always_ff @(posedge clk) begin
      if (load) begin
        px <= row[component_config::ROM_WALKER_PX_LSB+:PX_BITS];
        n  <= row[component_config::ROM_WALKER_N_LSB+:N_BITS];
      end
    end
  end

  assign read_enable = !out_valid || out_ready;
  assign step = active && read_enable;
  assign last_n = n_left == N_BITS'(1);
  assign last_px = px_left == PX_BITS'(1);
  assign next_block = step && last_n && last_px;
  assign next_task = next_block && ob_left == OB_BITS'(1);
  assign load = !rst && (!active || next_task);
  assign following = address + 1'b1;

  always_ff @(posedge clk) begin
    if (rst) begin
      active    <= 1'b0;
      out_valid <= 1'b0;
    end else begin
      active <= 1'b1;
      if (read_enable) out_valid <= active;
    end
    if (load) begin
      address <= row[component_config::ROM_WALKER_BASE_LSB+:A];
      block   <= row[component_config::ROM_WALKER_BASE_LSB+:A];
      ob_left <= row[component_config::ROM_WALKER_OB_LSB+:OB_BITS];
      px_left <= row[component_config::ROM_WALKER_PX_LSB+:PX_BITS];
      n_left  <= row[component_config::ROM_WALKER_N_LSB+:N_BITS];
    end else if (step) begin
      address <= last_n && !last_px ? block : following;
      n_left  <= last_n ? n : n_left - 1'b1;
      if (last_n) px_left <= last_px ? px : px_left - 1'b1;
      if (next_block) begin
        block   <= following;
        ob_left <= ob_left - 1'b1;
      end
    end
  end

  if (BLOCK) begin : gen_block
    (* ram_style = "block" *) logic [WIDTH-1:0] words[0:WORDS-1];
    if (FILLED) initial $readmemh(FILE, words);
    else initial for (int i = 0; i < WORDS; i++) words[i] = '0;
    always_ff @(posedge clk) if (read_enable) out_data <= words[address];
  end else begin : gen_lut
    (* ram_style = "registers" *) logic [WIDTH-1:0] words[0:WORDS-1];
    if (FILLED) initial $readmemh(FILE, words);
    else initial for (int i = 0; i < WORDS; i++) words[i] = '0;
    always_ff @(posedge clk) if (read_enable) out_data <= words[address];
  end
  logic unused;
  assign unused = &{1'b0, row};

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(WIDTH)) out_rules (.clk, .rst, .valid(out_valid), .ready(out_ready), .data(out_data));
`endif
endmodule
