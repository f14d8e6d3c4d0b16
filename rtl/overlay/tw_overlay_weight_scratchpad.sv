// WGT of hardware with row_functions: a scratchpad that also takes INP elements as rows or columns of its
// elements. Every lane of 8 bits is a memory of its own, with a write enable of its own; reads are those of
// tw_overlay_scratchpad.
//
// Lane k of row o stands at bits 8*(o*block + k). As a row (wr_form 1), part r and slice s of the INP element
// are lanes s*PER_SLICE.. of row r; as a column (2) they are column r of rows s*PER_SLICE.. .
module tw_overlay_weight_scratchpad (
    input  logic                                clk,
    input  logic                                wr_valid,
    // An element has fewer slices and parts and a scratchpad fewer elements than the ports can count.
    // verilator lint_off UNUSEDSIGNAL
    input  logic [1:0]                          wr_form,
    input  logic [15:0]                         wr_part,
    input  logic [31:0]                         wr_index,
    input  logic [11:0]                         wr_slice,
    input  logic                                wr_pad,
    input  logic [31:0]                         wr_padval,
    input  logic [overlay_config::MEM_BITS-1:0] wr_data,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [overlay_config::LOG_WGT-1:0]  rd_index,
    output logic [overlay_config::BLOCK_OUT*overlay_config::BLOCK_IN*8-1:0] rd_data
);
  localparam int BLOCK = overlay_config::BLOCK_IN;
  localparam int BEAT = overlay_config::MEM_BITS / 8;
  localparam int WHOLE_SLICE = BLOCK * BLOCK < BEAT ? BLOCK * BLOCK : BEAT;  // lanes of a slice of WGT
  localparam int PER_SLICE = BLOCK < BEAT ? BLOCK : BEAT;                    // of INP

  for (genvar o = 0; o < BLOCK; o++) begin : gen_rows
    for (genvar k = 0; k < BLOCK; k++) begin : gen_columns
      localparam int LANE = o * BLOCK + k;
      logic here;
      logic [7:0] word;
      always_comb begin
        if (wr_form == 2'd1) begin
          here = wr_part == 16'(o) && (wr_pad || wr_slice == 12'(k / PER_SLICE));
          word = wr_data[k%PER_SLICE*8+:8];
        end else if (wr_form == 2'd2) begin
          here = wr_part == 16'(k) && (wr_pad || wr_slice == 12'(o / PER_SLICE));
          word = wr_data[o%PER_SLICE*8+:8];
        end else begin
          here = wr_pad || wr_slice == 12'(LANE / WHOLE_SLICE);
          word = wr_data[LANE%WHOLE_SLICE*8+:8];
        end
        if (wr_pad) word = wr_padval[7:0];
      end
      tw_overlay_memory_bank #(
          .LOG_DEPTH(overlay_config::LOG_WGT),
          .WIDTH(8)
      ) bank (
          .clk(clk),
          .wr_enable(wr_valid && here),
          .wr_index(wr_index[overlay_config::LOG_WGT-1:0]),
          .wr_data(word),
          .rd_enable(1'b1),
          .rd_index(rd_index),
          .rd_data(rd_data[LANE*8+:8])
      );
    end
  end
endmodule
