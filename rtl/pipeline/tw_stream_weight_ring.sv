// Words of WIDTH bits, put together from beats of BEAT bits or cut from one (lowest first), kept in a ring of
// DEPTH words and read task by task: for ob < OB, px < PX, n < N the word ob * N + n of those that the task
// began with. A word is free after its last use, which is in the last repetition (px = PX - 1); with HOLD all
// stay, and the next task begins with the same ones. So the ring has to hold N words if PX > 1, OB * N with
// HOLD; more of them let the stream run ahead. STREAM words, where it is not 0, are one pass over all tasks'
// words: the rest of the beat that holds the last one is dropped, so every pass begins with a beat.
//
// Timing: a word whose last beat is taken in t can be read in t + 1, and is valid at the output in t + 2.
// in_ready = fewer than DEPTH words inside, of registers (BEAT > WIDTH: in the cycles of a beat's last word, or
// the stream's; the words before it are copied while the beat waits). One word per cycle, between tasks too.
module tw_stream_weight_ring #(
    parameter int WIDTH = 64,
    parameter int DEPTH = 16,
    parameter int BEAT = 64,
    parameter int TASKS = 1,
    parameter TABLE = "",
    parameter KIND = "block",
    parameter int STREAM = 0,
    parameter int OB_BITS = 16,
    parameter int PX_BITS = 32,
    parameter int N_BITS = 32
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             in_valid,
    output logic             in_ready,
    input  logic [BEAT-1:0]  in_data,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [WIDTH-1:0] out_data
);
  localparam int BANKS = WIDTH > BEAT ? WIDTH / BEAT : 1;
  localparam int CUTS = BEAT > WIDTH ? BEAT / WIDTH : 1;
  localparam int PARTS = BANKS > CUTS ? BANKS : CUTS;
  localparam int P = PARTS > 1 ? $clog2(PARTS) : 1;
  localparam int SLICE = WIDTH / BANKS;  // bits written at a time
  localparam int A = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam int L = $clog2(DEPTH + 1);
  localparam int S = STREAM > 1 ? $clog2(STREAM) : 1;
  localparam int ROW = component_config::WEIGHT_RING_BITS;

  function automatic logic [A-1:0] after(input logic [A-1:0] address);
    after = address == A'(DEPTH - 1) ? '0 : address + 1'b1;
  endfunction

  logic [L-1:0] level;  // words inside
  logic free_one, word_done;

  // ---- the stream writes ----
  logic write, last_part, last_word;
  logic [P-1:0] part;  // of the word, or of the beat
  logic [A-1:0] write_address;
  logic [SLICE-1:0] write_data;

  assign write = in_valid && level != L'(DEPTH);
  assign last_part = part == P'(PARTS - 1) || last_word;
  assign word_done = write && (CUTS > 1 || last_part);
  assign in_ready = level != L'(DEPTH) && (CUTS == 1 || last_part);
  assign write_data = CUTS > 1 ? in_data[SLICE*part+:SLICE] : in_data[SLICE-1:0];

  if (CUTS > 1 && STREAM % CUTS != 0) begin : gen_stream
    logic [S-1:0] stored;  // words of this pass
    assign last_word = stored == S'(STREAM - 1);
    always_ff @(posedge clk) begin
      if (rst) stored <= '0;
      else if (write) stored <= last_word ? '0 : stored + 1'b1;
    end
  end else begin : gen_endless
    assign last_word = 1'b0;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      part          <= '0;
      write_address <= '0;
      level         <= '0;
    end else begin
      if (write) part <= last_part ? '0 : part + 1'b1;
      if (word_done) write_address <= after(write_address);
      level <= level + L'(word_done) - L'(free_one);
    end
  end

  // ---- the walk ----
  logic active, free, step, load, next_block, next_task, last_n, last_px;
  logic [ROW-1:0] row;  // of the task to come, once active
  logic [OB_BITS-1:0] ob_left;
  logic [PX_BITS-1:0] px_left, px;
  logic [N_BITS-1:0] n_left, n;
  logic hold;
  // Words from the oldest one on: of the next word to read, of the block's first one.
  logic [L-1:0] offset, block_offset;
  logic [A-1:0] read_address, following, block, oldest;

  // verilator lint_off PINCONNECTEMPTY
  tw_stream_task_table #(.ROW(ROW), .TASKS(TASKS), .TABLE(TABLE)) tasks (
      .clk(clk), .rst(rst), .next(load), .last(), .row(row)
  );
  // verilator lint_on PINCONNECTEMPTY

  if (TASKS == 1) begin : gen_one
    assign px = row[component_config::WEIGHT_RING_PX_LSB+:PX_BITS];
    assign n = row[component_config::WEIGHT_RING_N_LSB+:N_BITS];
    assign hold = row[component_config::WEIGHT_RING_HOLD_LSB];
  end else begin : gen_several
    always_ff @(posedge clk) begin
      if (load) begin
        px   <= row[component_config::WEIGHT_RING_PX_LSB+:PX_BITS];
        n    <= row[component_config::WEIGHT_RING_N_LSB+:N_BITS];
        hold <= row[component_config::WEIGHT_RING_HOLD_LSB];
      end
    end
  end

  assign free = !out_valid || out_ready;
  assign step = active && free && offset != level;
  assign last_n = n_left == N_BITS'(1);
  assign last_px = px_left == PX_BITS'(1);
  assign next_block = step && last_n && last_px;
  assign next_task = next_block && ob_left == OB_BITS'(1);
  assign load = !rst && (!active || next_task);
  assign free_one = step && last_px && !hold;
  assign following = after(read_address);

  always_ff @(posedge clk) begin
    if (load) begin
      ob_left <= row[component_config::WEIGHT_RING_OB_LSB+:OB_BITS];
      px_left <= row[component_config::WEIGHT_RING_PX_LSB+:PX_BITS];
      n_left  <= row[component_config::WEIGHT_RING_N_LSB+:N_BITS];
    end else if (step) begin
      n_left <= last_n ? n : n_left - 1'b1;
      if (last_n) px_left <= last_px ? px : px_left - 1'b1;
      if (next_block) ob_left <= ob_left - 1'b1;
    end
    if (rst) begin
      active       <= 1'b0;
      out_valid    <= 1'b0;
      offset       <= '0;
      block_offset <= '0;
      read_address <= '0;
      block        <= '0;
      oldest       <= '0;
    end else begin
      active <= 1'b1;
      if (free) out_valid <= step;
      if (free_one) begin
        oldest       <= following;
        read_address <= following;
        block        <= following;
      end else if (next_task) begin
        read_address <= oldest;
        block        <= oldest;
        offset       <= '0;
        block_offset <= '0;
      end else if (next_block) begin
        read_address <= following;
        block        <= following;
        offset       <= offset + 1'b1;
        block_offset <= offset + 1'b1;
      end else if (step) begin
        read_address <= last_n ? block : following;
        offset       <= last_n ? block_offset : offset + 1'b1;
      end
    end
  end

  for (genvar i = 0; i < BANKS; i++) begin : gen_bank
    logic enable;
    assign enable = write && (BANKS == 1 || part == P'(i));
    tw_stream_memory #(.WIDTH(SLICE), .WORDS(DEPTH), .A(A), .KIND(KIND)) bank (
        .clk(clk), .write_enable(enable), .write_address(write_address), .write_data(write_data),
        .read_enable(step), .read_address(read_address), .read_data(out_data[SLICE*i+:SLICE])
    );
  end
  logic unused;
  assign unused = &{1'b0, row};

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(WIDTH)) out_rules (.clk, .rst, .valid(out_valid), .ready(out_ready), .data(out_data));
`endif
endmodule
