// The host of a design under test: writes registers in the order of a file, waits for the interrupt, reads the
// cycle counter. Words of the file: offset in bits 43:32, value in bits 31:0. It is a file for one image: of
// `count` images either IMAGES is written as `count` or, with STREAMING, the bytes are `count` times as many.
module tw_bench_host #(
    parameter     SCRIPT    = "",
    parameter int WRITES    = 1,
    parameter int STREAMING = 0,
    // Offsets of registers.
    parameter int IMAGES       = 16,
    parameter int INPUT_BYTES  = 40,
    parameter int OUTPUT_BYTES = 56,
    parameter int CYCLES_LO    = 24,
    parameter int STATUS       = 4
) (
    input  logic        clk,
    input  logic        rst,
    input  logic [31:0] count,
    output logic        awvalid,
    input  logic        awready,
    output logic [11:0] awaddr,
    output logic        wvalid,
    input  logic        wready,
    output logic [31:0] wdata,
    output logic [3:0]  wstrb,
    input  logic        bvalid,
    output logic        bready,
    output logic        arvalid,
    input  logic        arready,
    output logic [11:0] araddr,
    input  logic        rvalid,
    output logic        rready,
    input  logic [31:0] rdata,
    input  logic        irq,
    output logic        finish,
    output logic        failed,  // a memory port answered with an error
    output logic [63:0] cycles
);
  logic [43:0] script[0:WRITES-1];
  initial $readmemh(SCRIPT, script);

  typedef enum logic [2:0] {
    WRITE,
    RESPONSE,
    WAIT,
    READ_LOW,
    READ_HIGH,
    READ_STATUS,
    DONE
  } state_e;
  state_e state;
  logic [31:0] step;

  logic [43:0] order;
  logic many;
  assign order = script[step];
  assign many = STREAMING != 0 ? order[43:32] == 12'(INPUT_BYTES) || order[43:32] == 12'(OUTPUT_BYTES)
                               : order[43:32] == 12'(IMAGES);
  assign awaddr = order[43:32];
  assign wdata = many ? order[31:0] * count : order[31:0];
  assign wstrb = 4'hf;
  assign bready = 1'b1;
  assign rready = 1'b1;

  always_ff @(posedge clk) begin
    if (rst) begin
      state <= WRITE;
      step <= '0;
      awvalid <= 1'b1;
      wvalid <= 1'b1;
      arvalid <= 1'b0;
      araddr <= '0;
      finish <= 1'b0;
      failed <= 1'b0;
      cycles <= '0;
    end else begin
      if (awready) awvalid <= 1'b0;
      if (wready) wvalid <= 1'b0;
      if (arready) arvalid <= 1'b0;
      case (state)
        WRITE: if ((!awvalid || awready) && (!wvalid || wready)) state <= RESPONSE;
        RESPONSE:
        if (bvalid) begin
          if (step == 32'(WRITES - 1)) state <= WAIT;
          else begin
            step <= step + 32'd1;
            awvalid <= 1'b1;
            wvalid <= 1'b1;
            state <= WRITE;
          end
        end
        WAIT:
        if (irq) begin
          araddr <= 12'(CYCLES_LO);
          arvalid <= 1'b1;
          state <= READ_LOW;
        end
        READ_LOW:
        if (rvalid) begin
          cycles[31:0] <= rdata;
          araddr <= 12'(CYCLES_LO + 4);
          arvalid <= 1'b1;
          state <= READ_HIGH;
        end
        READ_HIGH:
        if (rvalid) begin
          cycles[63:32] <= rdata;
          araddr <= 12'(STATUS);
          arvalid <= 1'b1;
          state <= READ_STATUS;
        end
        READ_STATUS:
        if (rvalid) begin
          failed <= rdata[1];
          finish <= 1'b1;
          state <= DONE;
        end
        default: ;
      endcase
    end
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(12)) aw_rules (.clk, .rst, .valid(awvalid), .ready(awready), .data(awaddr));
  tw_handshake_checker #(.WIDTH(36)) w_rules (.clk, .rst, .valid(wvalid), .ready(wready), .data({wstrb, wdata}));
  tw_handshake_checker #(.WIDTH(12)) ar_rules (.clk, .rst, .valid(arvalid), .ready(arready), .data(araddr));
`endif
endmodule
