// A scratchpad that a loader fills and one engine reads: INP, WGT, micro-ops. The write port is that of
// tensor_load: a slice of MEM_BITS of an element per cycle, or a whole element of LANE_BITS wide copies of the
// pad value. One memory per slice, so that each has a write enable of its own. Written by the end of the cycle
// of wr_valid; read data one cycle after rd_enable.
module tw_overlay_scratchpad #(
    parameter int LOG_DEPTH = 4,
    parameter int ELEMENT_BITS = 64,
    parameter int LANE_BITS = 8
) (
    input  logic                                clk,
    input  logic                                wr_valid,
    // An element has fewer slices and a scratchpad fewer elements than the ports can count.
    // verilator lint_off UNUSEDSIGNAL
    input  logic [31:0]                         wr_index,
    input  logic [11:0]                         wr_slice,
    input  logic                                wr_pad,
    input  logic [31:0]                         wr_padval,
    input  logic [overlay_config::MEM_BITS-1:0] wr_data,
    // verilator lint_on UNUSEDSIGNAL
    input  logic                                rd_enable,
    input  logic [LOG_DEPTH-1:0]                rd_index,
    output logic [ELEMENT_BITS-1:0]             rd_data
);
  localparam int MEM = overlay_config::MEM_BITS;
  localparam int SLICE = ELEMENT_BITS < MEM ? ELEMENT_BITS : MEM;
  localparam int SLICES = ELEMENT_BITS / SLICE;

  logic [SLICE-1:0] wr_word;
  assign wr_word = wr_pad ? {(SLICE / LANE_BITS){wr_padval[LANE_BITS-1:0]}} : wr_data[SLICE-1:0];

  for (genvar s = 0; s < SLICES; s++) begin : gen_slices
    tw_overlay_memory_bank #(
        .LOG_DEPTH(LOG_DEPTH),
        .WIDTH(SLICE)
    ) bank (
        .clk(clk),
        .wr_enable(wr_valid && (wr_pad || SLICES == 1 || wr_slice == 12'(s))),
        .wr_index(wr_index[LOG_DEPTH-1:0]),
        .wr_data(wr_word),
        .rd_enable(rd_enable),
        .rd_index(rd_index),
        .rd_data(rd_data[s*SLICE+:SLICE])
    );
  end
endmodule
