// Runs a generated design on the images of this folder and checks its results: prints PASS or FAIL and the
// cycles that the design counted. README.md says how to run it.
`timescale 1ns / 1ns
module testbench;
  logic clk = 1'b0, rst = 1'b1;
  logic finish, failed;
  logic [31:0] mismatches, words;
  logic [63:0] cycles;

  bench under_test (
      .clk(clk),
      .rst(rst),
      .finish(finish),
      .failed(failed),
      .mismatches(mismatches),
      .words(words),
      .cycles(cycles)
  );

  always #5 clk = !clk;

  initial begin
    repeat (8) @(posedge clk);
    @(negedge clk) rst = 1'b0;
    while (!finish) @(negedge clk);
    repeat (words + 8) @(negedge clk);
    if (mismatches == 0 && !failed) $display("PASS: %0d words equal, %0d cycles", words, cycles);
    else $display("FAIL: %0d of %0d words differ, memory error %0d", mismatches, words, failed);
    $finish;
  end
endmodule
