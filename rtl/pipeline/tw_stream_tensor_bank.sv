// One part of a tensor memory: a write port and a read port of the same clock, zero at the start. The word at
// read_address is on read_data in the next cycle; the old one where it is written in the same cycle (in
// simulation: designs never read a word that is being written). Every cycle reads: nobody relies on
// a word for longer.
//
// The zeros are for simulation: block memories have them without being told, and synthesis tools that unroll
// the loop take minutes and gigabytes for a large memory.
//
// The variants differ in the attribute alone, which synthesis takes as a literal only.
module tw_stream_tensor_bank #(
    parameter int WIDTH = 8,
    parameter int WORDS = 16,
    parameter int A = 4,
    parameter KIND = "block"
) (
    input  logic             clk,
    input  logic             write_enable,
    input  logic [A-1:0]     write_address,
    input  logic [WIDTH-1:0] write_data,
    input  logic [A-1:0]     read_address,
    output logic [WIDTH-1:0] read_data
);
  if (64'(KIND) == 64'("ultra")) begin : gen_ultra
    (* ram_style = "ultra", no_rw_check *) logic [WIDTH-1:0] words[0:WORDS-1];
`ifndef SYNTHESIS
    initial for (int i = 0; i < WORDS; i++) words[i] = '0;
`endif
    always_ff @(posedge clk) if (write_enable) words[write_address] <= write_data;
    always_ff @(posedge clk) read_data <= words[read_address];
  end else if (64'(KIND) == 64'("block")) begin : gen_block
    (* ram_style = "block", no_rw_check *) logic [WIDTH-1:0] words[0:WORDS-1];
`ifndef SYNTHESIS
    initial for (int i = 0; i < WORDS; i++) words[i] = '0;
`endif
    always_ff @(posedge clk) if (write_enable) words[write_address] <= write_data;
    always_ff @(posedge clk) read_data <= words[read_address];
  end else begin : gen_lutram
    (* ram_style = "distributed", no_rw_check *) logic [WIDTH-1:0] words[0:WORDS-1];
`ifndef SYNTHESIS
    initial for (int i = 0; i < WORDS; i++) words[i] = '0;
`endif
    always_ff @(posedge clk) if (write_enable) words[write_address] <= write_data;
    always_ff @(posedge clk) read_data <= words[read_address];
  end
endmodule
