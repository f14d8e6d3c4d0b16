// Runs a generated design on the images of this folder and checks its results: prints PASS or FAIL, the images
// and the cycles that the design counted. README.md says how to run it.
//
// +images=N: of those in the folder. Without it all of them, in Icarus one: it needs milliseconds for a cycle.
// +limit=N: cycles after which a run that has not ended fails. Every tenth of it a line says how far it is.
`timescale 1ns / 1ns
module testbench #(
    parameter FOLDER = "."
);
`ifdef __ICARUS__
  localparam int FEWEST = 1;
`else
  localparam int FEWEST = 0;
`endif

  logic clk = 1'b0, rst = 1'b1;
  logic finish, failed;
  logic [31:0] mismatches, words, images, count;
  logic [63:0] cycles, limit, patience, now;

  bench #(
      .FOLDER(FOLDER)
  ) under_test (
      .clk(clk),
      .rst(rst),
      .count(count),
      .finish(finish),
      .failed(failed),
      .mismatches(mismatches),
      .words(words),
      .images(images),
      .patience(patience),
      .cycles(cycles)
  );

  always #5 clk = !clk;

  initial begin
    count = FEWEST != 0 ? 32'(FEWEST) : images;
    if ($value$plusargs("images=%d", count) && (count == 0 || count > images)) begin
      $display("FAIL: the folder has %0d images, not %0d", images, count);
      $finish;
    end
    if (!$value$plusargs("limit=%d", limit)) limit = 64'(count + 1) * patience;
    repeat (8) @(posedge clk);
    @(negedge clk) rst = 1'b0;
    now = '0;
    while (!finish && now < limit) begin
      @(negedge clk) now = now + 64'd1;
      if (now % (limit / 10 + 64'd1) == 0) $display("%0d of at most %0d cycles", now, limit);
    end
    repeat (count * words + 8) @(negedge clk);
    if (!finish) $display("FAIL: no end after %0d cycles", limit);
    else if (mismatches == 0 && !failed)
      $display("PASS: %0d images, %0d words equal, %0d cycles", count, count * words, cycles);
    else $display("FAIL: %0d of %0d words differ, memory error %0d", mismatches, count * words, failed);
    $finish;
  end
endmodule
