// A memory of one write and one read port, in the cells that KIND names: "registers", "lutram", "block",
// "ultra". The word at read_address in a cycle with read_enable is on read_data from the next cycle, and stays
// there. Nobody reads a word in the cycle in which it is written.
//
// The variants differ in the attribute alone: synthesis takes it as a literal only.
module tw_stream_memory #(
    parameter int WIDTH = 8,
    parameter int WORDS = 16,
    parameter int A = 4,  // bits of an address
    parameter KIND = "block"
) (
    input  logic             clk,
    input  logic             write_enable,
    input  logic [A-1:0]     write_address,
    input  logic [WIDTH-1:0] write_data,
    input  logic             read_enable,
    input  logic [A-1:0]     read_address,
    output logic [WIDTH-1:0] read_data
);
  if (64'(KIND) == 64'("lutram")) begin : gen_lutram
    (* ram_style = "distributed", no_rw_check *) logic [WIDTH-1:0] words[0:WORDS-1];
    always_ff @(posedge clk) if (write_enable) words[write_address] <= write_data;
    always_ff @(posedge clk) if (read_enable) read_data <= words[read_address];
  end else if (64'(KIND) == 64'("ultra")) begin : gen_ultra
    (* ram_style = "ultra", no_rw_check *) logic [WIDTH-1:0] words[0:WORDS-1];
    always_ff @(posedge clk) if (write_enable) words[write_address] <= write_data;
    always_ff @(posedge clk) if (read_enable) read_data <= words[read_address];
  end else if (64'(KIND) == 64'("registers")) begin : gen_registers
    (* ram_style = "registers", no_rw_check *) logic [WIDTH-1:0] words[0:WORDS-1];
    always_ff @(posedge clk) if (write_enable) words[write_address] <= write_data;
    always_ff @(posedge clk) if (read_enable) read_data <= words[read_address];
  end else begin : gen_block
    (* ram_style = "block", no_rw_check *) logic [WIDTH-1:0] words[0:WORDS-1];
    always_ff @(posedge clk) if (write_enable) words[write_address] <= write_data;
    always_ff @(posedge clk) if (read_enable) read_data <= words[read_address];
  end
endmodule
