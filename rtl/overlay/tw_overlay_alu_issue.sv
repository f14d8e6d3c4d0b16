// When the slices of an ALU instruction start (docs/design/overlay/overlay_rtl.md, Compute). `issue` addresses ACC in its
// cycle; `wr_valid` follows in the cycle in which the slice is written.
//
//   single-cycle operations   a slice per cycle, written one cycle after issue
//   mul                       a slice every five cycles, written four after
//   requantize                a slice per cycle, written six after. Its parameter vectors ACC[src .. src + 2]
//                             are read (param_read) when they are not the kept ones; reading and issuing wait
//                             for the steps in flight that write what is about to be read.
//                             Through the table it is written seven cycles after issue.
//   operations on rows        a slice per cycle; while the row unit works on a row the next one is issued, and
//                             only then the row's 3 * SLICES writes come (row_writes)
//
// Slices wait only at the first slice of a step, so what is in flight is kept per step: its destination and
// the cycles until its last slice is written.
module tw_overlay_alu_issue #(
    parameter int SLICES = 1,
    parameter int SLICE_BITS = 1
) (
    input  logic                                   clk,
    input  logic                                   rst,
    input  logic                                   start,         // of an ALU instruction
    input  logic                                   is_mul,
    // verilator lint_off UNUSEDSIGNAL
    input  logic                                   is_requantize,  // of the wide set
    input  logic                                   is_lookup,      // of hardware with a table; also is_requantize
    input  logic                                   is_row,         // of hardware with row_functions
    input  logic [4:0]                             row_takes,      // cycles of the row unit
    // verilator lint_on UNUSEDSIGNAL
    // the step whose turn it is
    input  logic                                   valid,
    input  logic                                   last,
    // verilator lint_off UNUSEDSIGNAL
    input  logic                                   row_last,      // of its row
    // verilator lint_on UNUSEDSIGNAL
    input  logic [overlay_config::LOG_ACC-1:0]     dst,
    // verilator lint_off UNUSEDSIGNAL
    input  logic [overlay_config::LOG_ACC-1:0]     src,           // only requantize cares
    // verilator lint_on UNUSEDSIGNAL
    output logic                                   step_done,     // issues its last slice
    output logic                                   param_read,    // ACC[src + param] is read in this cycle
    output logic [1:0]                             param,
    // the slice that is written in this cycle
    output logic                                   wr_valid,
    output logic                                   wr_last,
    output logic [overlay_config::LOG_ACC-1:0]     wr_dst,
    output logic [SLICE_BITS-1:0]                  wr_slice,
    output logic                                   entered,       // the cycle after an issue
    output logic [SLICE_BITS-1:0]                  data_slice,    // the slice whose data ACC delivers then
    output logic                                   row_first,     // it is the first of its row
    output logic                                   row_in_last,   // it is of its row's last step
    output logic                                   row_take,      // the row unit starts on the oldest row
    output logic [1:0]                             row_param      // which number of the row is written
);
  localparam int A = overlay_config::LOG_ACC;
  localparam int ITEM = A + SLICE_BITS + 1;

  logic [SLICE_BITS-1:0] slice;
  logic issue, last_slice, may_issue;
  assign last_slice = SLICES == 1 || slice == SLICE_BITS'(SLICES - 1);

  // mul
  logic [2:0] pause;

  // rows
  logic row_waits;
  // verilator lint_off UNUSEDSIGNAL
  logic row_writes, row_wr_last;  // the plain set has none
  logic [A-1:0] row_dst;
  logic [SLICE_BITS-1:0] row_slice;
  // verilator lint_on UNUSEDSIGNAL
  if (overlay_config::ROW_FUNCTIONS != 0) begin : gen_rows
    logic open, all;         // a row has begun; the last one has been issued
    logic [1:0] rows;        // issued and not yet written
    logic taken, ended;      // the unit has the oldest of them; a row's last write was in the cycle before
    logic [4:0] takes_left;
    logic [2:0] closing;     // a row's last slice was issued two to four cycles before
    logic ends, row_end, last_write;
    logic [A-1:0] first_dst, write_dst;  // of the newest row, of the oldest
    assign ends = is_row && issue && last_slice && row_last;
    assign row_waits = rows[1];
    assign row_take = (closing[2] && !taken) || (ended && rows != '0);
    assign row_writes = taken && takes_left == '0 && (rows[1] || all);
    assign last_write = row_writes && row_param == 2'd2 && (SLICES == 1 || row_slice == SLICE_BITS'(SLICES - 1));
    assign row_wr_last = last_write && rows == 2'd1;
    assign row_dst = write_dst + A'(row_param);
    always_ff @(posedge clk) begin
      row_first <= issue && !open;
      row_in_last <= row_last;
      row_end <= ends;
      closing <= {closing[1:0], row_end};
      if (is_row && issue) begin
        open <= !(last_slice && row_last);
        if (!open) first_dst <= dst;
      end
      if (ends) begin
        all <= last;
        if (rows == '0) write_dst <= open ? first_dst : dst;
      end
      if (last_write) write_dst <= first_dst;
      rows <= rows + {1'b0, ends} - {1'b0, last_write};
      ended <= last_write;
      if (row_take) begin
        taken <= 1'b1;
        takes_left <= row_takes - 5'd1;
      end else begin
        if (last_write) taken <= 1'b0;
        if (takes_left != '0) takes_left <= takes_left - 5'd1;
      end
      if (row_writes) begin
        row_slice <= SLICES == 1 || row_slice == SLICE_BITS'(SLICES - 1) ? '0 : row_slice + 1'b1;
        if (last_write) row_param <= '0;
        else if (SLICES == 1 || row_slice == SLICE_BITS'(SLICES - 1)) row_param <= row_param + 2'd1;
      end
      if (start || rst) begin
        rows <= '0;
        closing <= '0;
        {open, all, taken, ended, row_end} <= '0;
        row_slice <= '0;
        row_param <= '0;
      end
    end
  end else begin : gen_no_rows
    assign row_waits = 1'b0;
    assign row_writes = 1'b0;
    assign row_wr_last = 1'b0;
    assign row_dst = '0;
    assign row_slice = '0;
    assign row_first = 1'b0;
    assign row_in_last = 1'b0;
    assign row_take = 1'b0;
    assign row_param = '0;
  end

  if (overlay_config::WIDE != 0) begin : gen_requantization
    function automatic logic in_params(input logic [A-1:0] index, input logic [A-1:0] first);
      logic [A:0] distance;
      distance = {1'b0, index} - {1'b0, first};
      in_params = distance < (A + 1)'(3);
    endfunction

    // The longest time that a slice is in flight, and the bits that count one more.
    localparam int FLIGHT = overlay_config::LOOKUP_TABLE != 0 ? 7 : 6;
    localparam int LEFT = overlay_config::LOOKUP_TABLE != 0 ? 4 : 3;
    localparam int ENTRIES = (FLIGHT + SLICES - 1) / SLICES;
    logic [ENTRIES-1:0] hit_dst, hit_params;
    logic [A-1:0] kept_src;
    logic first_slice, kept_valid, kept, reading;
    logic [ENTRIES*A-1:0] flying_dst;
    logic [ENTRIES*LEFT-1:0] flying_left;
    for (genvar e = 0; e < ENTRIES; e++) begin : gen_flying
      logic [A-1:0] index;
      logic here;
      assign index = flying_dst[e*A+:A];
      assign here = flying_left[e*LEFT+:LEFT] != '0;
      assign hit_dst[e] = here && index == dst;
      assign hit_params[e] = here && in_params(index, src);
      // Steps shift in at entry 0.
      logic [A-1:0] newer_dst;
      logic [LEFT-1:0] newer_left;
      if (e == 0) assign {newer_dst, newer_left} = {dst, is_lookup ? LEFT'(8) : LEFT'(7)};
      else assign {newer_dst, newer_left} = {flying_dst[(e-1)*A+:A], flying_left[(e-1)*LEFT+:LEFT]};
      always_ff @(posedge clk) begin
        if (step_done) begin
          flying_dst[e*A+:A] <= newer_dst;
          flying_left[e*LEFT+:LEFT] <= newer_left == '0 ? '0 : newer_left - 1'b1;
        end else begin
          flying_left[e*LEFT+:LEFT] <= here ? flying_left[e*LEFT+:LEFT] - 1'b1 : '0;
        end
        if (start) flying_left[e*LEFT+:LEFT] <= '0;
      end
    end

    assign first_slice = slice == '0;
    assign kept = kept_valid && kept_src == src;
    assign reading = valid && is_requantize && first_slice && !kept;
    assign param_read = reading && (param != '0 || hit_params == '0);
    assign may_issue = is_mul ? pause == '0 : !is_requantize || !first_slice || (kept && hit_dst == '0);
    always_ff @(posedge clk) begin
      if (param_read) begin
        param <= param == 2'd2 ? '0 : param + 1'b1;
        kept_valid <= param == 2'd2;
        kept_src <= src;
      end
      if (step_done && in_params(dst, kept_src)) kept_valid <= 1'b0;
      if (start || rst) begin
        param <= '0;
        kept_valid <= 1'b0;
      end
    end
  end else begin : gen_no_requantization
    assign param_read = 1'b0;
    assign param = '0;
    assign may_issue = !is_mul || pause == '0;
  end

  assign issue = valid && may_issue && !row_waits;
  assign step_done = issue && last_slice;

  // The slice issued last waits one cycle for its write, of mul four: the next one is issued after that.
  logic issued;
  logic [ITEM-1:0] item;
  assign entered = issued;
  assign data_slice = item[A+:SLICE_BITS];
  always_ff @(posedge clk) begin
    issued <= issue;
    if (issue) begin
      item <= {last && last_slice, slice, dst};
      slice <= last_slice ? '0 : slice + 1'b1;
    end
    pause <= issue ? 3'd4 : pause == '0 ? '0 : pause - 1'b1;
    if (start || rst) begin
      issued <= 1'b0;
      slice <= '0;
      pause <= '0;
    end
  end

  // Slices of requantize follow each other: a delay of five more cycles, six through the table.
  if (overlay_config::WIDE != 0) begin : gen_delay
    localparam int DELAY = overlay_config::LOOKUP_TABLE != 0 ? 6 : 5;
    logic [DELAY*(ITEM+1)-1:0] delayed;
    logic wr_after_one;
    logic [ITEM-1:0] written;
    logic [ITEM:0] requantized;
    always_ff @(posedge clk) begin
      delayed <= {delayed[(DELAY-1)*(ITEM+1)-1:0], issued, item};
      if (start || rst) for (int i = 0; i < DELAY; i++) delayed[i*(ITEM+1)+ITEM] <= 1'b0;
    end
    assign wr_after_one = is_mul ? pause == 3'd1 : issued;
    assign requantized = is_lookup ? delayed[(DELAY-1)*(ITEM+1)+:ITEM+1] : delayed[4*(ITEM+1)+:ITEM+1];
    assign wr_valid = is_row ? row_writes : is_requantize ? requantized[ITEM] : wr_after_one;
    assign written = is_row ? {row_wr_last, row_slice, row_dst} : is_requantize ? requantized[ITEM-1:0] : item;
    assign {wr_last, wr_slice, wr_dst} = written;
  end else begin : gen_no_delay
    assign wr_valid = is_mul ? pause == 3'd1 : issued;
    assign {wr_last, wr_slice, wr_dst} = item;
  end
endmodule
