// Turns bytes of a serial line into 32-bit accesses to the overlay's registers (AXI4-Lite) and to the board's memory.
//   'A' a0 a1        the address of the next access, little-endian; bit 15 chooses registers (1) or memory (0)
//   'W' d0 d1 d2 d3  writes a word, little-endian; the address grows by 4
//   'R'              reads a word and answers d0 d1 d2 d3; the address grows by 4
// Other bytes are ignored, so a line of them brings the bridge back in step. An access takes a few cycles, less than a byte
// on the line: writes need no answer. Memory port: a request is held until `mem_ready`; read data follow in the next cycle.
module tw_board_serial_bridge #(
    parameter int CYCLES_PER_BIT = 12
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        rx,
    output logic        tx,
    output logic        axil_awvalid,
    input  logic        axil_awready,
    output logic        axil_wvalid,
    input  logic        axil_wready,
    input  logic        axil_bvalid,
    output logic        axil_arvalid,
    input  logic        axil_arready,
    input  logic        axil_rvalid,
    input  logic [31:0] axil_rdata,
    output logic        mem_valid,
    output logic        mem_write,
    input  logic        mem_ready,
    input  logic [31:0] mem_rdata,
    output logic [15:0] address,
    output logic [31:0] wdata
);
  localparam logic [7:0] SET_ADDRESS = 8'h41, WRITE = 8'h57, READ = 8'h52;
  typedef enum logic [2:0] {
    COMMAND,
    ARGUMENT,
    ACCESS,
    MEMORY_DATA,
    ANSWER
  } state_t;

  state_t state;
  logic [7:0] command;
  logic [1:0] bytes_left;  // argument or answer bytes after this one
  logic [31:0] word;       // read data, shifted out
  logic rx_valid, tx_ready;
  logic [7:0] rx_data;

  tw_board_serial_receiver #(
      .CYCLES_PER_BIT(CYCLES_PER_BIT)
  ) receiver (
      .clk  (clk),
      .rst  (rst),
      .line (rx),
      .valid(rx_valid),
      .data (rx_data)
  );
  tw_board_serial_transmitter #(
      .CYCLES_PER_BIT(CYCLES_PER_BIT)
  ) transmitter (
      .clk  (clk),
      .rst  (rst),
      .valid(state == ANSWER),
      .data (word[7:0]),
      .ready(tx_ready),
      .line (tx)
  );

  always_ff @(posedge clk) begin
    // Each channel of an AXI4-Lite access ends by itself.
    if (axil_awready) axil_awvalid <= 1'b0;
    if (axil_wready) axil_wvalid <= 1'b0;
    if (axil_arready) axil_arvalid <= 1'b0;
    if (mem_ready) mem_valid <= 1'b0;
    case (state)
      COMMAND:
      if (rx_valid) begin
        command <= rx_data;
        bytes_left <= rx_data == SET_ADDRESS ? 2'd1 : 2'd3;
        if (rx_data == SET_ADDRESS || rx_data == WRITE) state <= ARGUMENT;
        if (rx_data == READ) begin
          state <= ACCESS;
          mem_write <= 1'b0;
          mem_valid <= !address[15];
          axil_arvalid <= address[15];
        end
      end
      ARGUMENT:
      if (rx_valid) begin
        bytes_left <= bytes_left - 2'd1;
        if (command == SET_ADDRESS) address <= {rx_data, address[15:8]};
        else wdata <= {rx_data, wdata[31:8]};
        if (bytes_left == 2'd0) begin
          state <= COMMAND;
          if (command == WRITE) begin
            state <= ACCESS;
            mem_write <= 1'b1;
            mem_valid <= !address[15];
            axil_awvalid <= address[15];
            axil_wvalid <= address[15];
          end
        end
      end
      ACCESS:
      if (address[15] ? (axil_bvalid || axil_rvalid) : mem_ready) begin
        word <= axil_rdata;
        bytes_left <= 2'd3;
        if (command == WRITE) begin
          state   <= COMMAND;
          address <= address + 16'd4;
        end else state <= address[15] ? ANSWER : MEMORY_DATA;
      end
      MEMORY_DATA: begin
        word  <= mem_rdata;
        state <= ANSWER;
      end
      default:
      if (tx_ready) begin
        word <= {8'd0, word[31:8]};
        bytes_left <= bytes_left - 2'd1;
        if (bytes_left == 2'd0) begin
          state   <= COMMAND;
          address <= address + 16'd4;
        end
      end
    endcase
    if (rst) begin
      state <= COMMAND;
      mem_valid <= 1'b0;
      axil_awvalid <= 1'b0;
      axil_wvalid <= 1'b0;
      axil_arvalid <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  tw_handshake_checker #(.WIDTH(16)) axil_aw_rules (
      .clk, .rst, .valid(axil_awvalid), .ready(axil_awready), .data(address)
  );
  tw_handshake_checker #(.WIDTH(32)) axil_w_rules (.clk, .rst, .valid(axil_wvalid), .ready(axil_wready), .data(wdata));
  tw_handshake_checker #(.WIDTH(16)) axil_ar_rules (
      .clk, .rst, .valid(axil_arvalid), .ready(axil_arready), .data(address)
  );
  tw_handshake_checker #(.WIDTH(49)) mem_rules (
      .clk, .rst, .valid(mem_valid), .ready(mem_ready), .data({mem_write, address, wdata})
  );
`endif
endmodule
