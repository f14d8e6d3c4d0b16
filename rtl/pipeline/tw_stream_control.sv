// The registers of a design behind an AXI4-Lite port, and the sequence of its images. Offsets and meaning:
// src/tilewright/pipeline/image/registers.h.
//
// Timing: a write takes effect in the cycle after both its address and its data have been accepted; a read
// answers in the cycle after its address. A start bit that takes effect in w makes `start` 1 in w + 1; from
// w + 2 on, the first cycle in which no `busy` is 1 ends the image, and the next image's `start` is in the cycle
// after it. The cycle counter counts the cycles from w + 1 to the one that ends the last image; `irq` is 1
// from the cycle after that, until the next start or until done is cleared. In the cycle of `start` the memory
// ports still say what went wrong in the image before: `error` counts from the next one on.
module tw_stream_control #(
    parameter int A = 32,
    parameter int CHANNELS = 1,
    parameter int BUSY = 1,
    parameter IDENTITY = ""
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            s_awvalid,
    output logic            s_awready,
    input  logic [11:0]     s_awaddr,
    input  logic            s_wvalid,
    output logic            s_wready,
    input  logic [31:0]     s_wdata,
    input  logic [3:0]      s_wstrb,
    output logic            s_bvalid,
    input  logic            s_bready,
    output logic [1:0]      s_bresp,
    input  logic            s_arvalid,
    output logic            s_arready,
    input  logic [11:0]     s_araddr,
    output logic            s_rvalid,
    input  logic            s_rready,
    output logic [31:0]     s_rdata,
    output logic [1:0]      s_rresp,
    output logic            start,
    output logic [A-1:0]    input_base,
    output logic [31:0]     input_bytes,
    output logic [A-1:0]    output_base,
    output logic [31:0]     output_bytes,
    output logic [A-1:0]    weight_base0,
    output logic [A-1:0]    weight_base1,
    output logic [A-1:0]    weight_base2,
    output logic [A-1:0]    weight_base3,
    output logic [31:0]     weight_bytes,
    input  logic [BUSY-1:0] busy,
    input  logic            error,
    output logic            irq
);

  // Words that the host writes; read-only ones among them are 0 here.
  localparam int FIRST = 32'(component_config::REG_IMAGES) / 4;
  localparam int LAST = 32'(component_config::REG_WEIGHT_BYTES) / 4;
  localparam logic [11:0] IDENTITY_AT = component_config::REG_IDENTITY;

  // ---- writes ----
  logic have_address, have_data, write, launch, clear_done;
  logic [11:0] address;
  logic [31:0] value;
  logic [3:0] strobes;

  assign s_awready = !have_address;
  assign s_wready = !have_data;
  assign s_bresp = 2'b00;
  assign write = have_address && have_data && !s_bvalid;
  assign launch = write && address == component_config::REG_CONTROL && strobes[0] &&
                  value[component_config::BIT_CONTROL_START];
  assign clear_done = write && address == component_config::REG_STATUS && strobes[0] &&
                      value[component_config::BIT_STATUS_DONE];

  always_ff @(posedge clk) begin
    if (s_awvalid && s_awready) address <= s_awaddr;
    if (s_wvalid && s_wready) begin
      value   <= s_wdata;
      strobes <= s_wstrb;
    end
    if (rst) begin
      have_address <= 1'b0;
      have_data    <= 1'b0;
      s_bvalid     <= 1'b0;
    end else begin
      have_address <= (s_awvalid && s_awready) || (have_address && !write);
      have_data    <= (s_wvalid && s_wready) || (have_data && !write);
      s_bvalid     <= write || (s_bvalid && !s_bready);
    end
  end

  logic [8*component_config::REG_IDENTITY-1:0] words;  // the register at byte offset n in bits 8 * n and up
  assign words[32*FIRST-1:0] = '0;
  assign words[8*component_config::REG_IDENTITY-1:32*(LAST+1)] = '0;
  for (genvar i = FIRST; i <= LAST; i++) begin : gen_word
    localparam logic [11:0] AT = 12'(4 * i);
    localparam bit DONE = AT == component_config::REG_IMAGES_DONE || AT == component_config::REG_CYCLES_LO ||
                          AT == component_config::REG_CYCLES_HI;
    localparam bit HIGH = AT == component_config::REG_INPUT_HI || AT == component_config::REG_OUTPUT_HI ||
                          AT == component_config::REG_WEIGHTS0_HI || AT == component_config::REG_WEIGHTS1_HI ||
                          AT == component_config::REG_WEIGHTS2_HI || AT == component_config::REG_WEIGHTS3_HI;
    localparam bit WEIGHTS = AT >= component_config::REG_WEIGHTS0_LO &&
                             AT <= component_config::REG_WEIGHTS3_HI;
    localparam bit CHANNEL =
        !WEIGHTS || (4 * i - 32'(component_config::REG_WEIGHTS0_LO)) / 8 < CHANNELS;
    // Bits beyond an address read as 0.
    localparam int BITS = DONE || !CHANNEL ? 0 : HIGH ? (A > 32 ? A - 32 : 0) : 32;
    if (BITS > 0) begin : gen_used
      logic [BITS-1:0] q;
      always_ff @(posedge clk) begin
        if (rst) q <= '0;
        else if (write && address == AT) begin
          for (int b = 0; b < BITS; b++) if (strobes[b/8]) q[b] <= value[b];
        end
      end
      assign words[32*i+:32] = 32'(q);
    end else begin : gen_zero
      assign words[32*i+:32] = '0;
    end
  end

  assign input_bytes = words[8*component_config::REG_INPUT_BYTES+:32];
  assign output_bytes = words[8*component_config::REG_OUTPUT_BYTES+:32];
  assign weight_bytes = words[8*component_config::REG_WEIGHT_BYTES+:32];
  assign weight_base0 = words[8*component_config::REG_WEIGHTS0_LO+:A];
  assign weight_base1 = words[8*component_config::REG_WEIGHTS1_LO+:A];
  assign weight_base2 = words[8*component_config::REG_WEIGHTS2_LO+:A];
  assign weight_base3 = words[8*component_config::REG_WEIGHTS3_LO+:A];

  // ---- the sequence ----
  logic running, image_done, failed;
  logic [31:0] images_done;
  logic [63:0] cycles;

  assign image_done = running && !start && busy == 0;

  always_ff @(posedge clk) begin
    if (rst) begin
      running     <= 1'b0;
      start       <= 1'b0;
      irq         <= 1'b0;
      failed      <= 1'b0;
      images_done <= '0;
      cycles      <= '0;
    end else if (launch && !running) begin
      running     <= 1'b1;
      start       <= 1'b1;
      irq         <= 1'b0;
      failed      <= 1'b0;
      images_done <= '0;
      cycles      <= '0;
    end else begin
      start <= 1'b0;
      if (clear_done) irq <= 1'b0;
      if (running) begin
        cycles <= cycles + 1'b1;
        if (error && !start) failed <= 1'b1;
      end
      if (image_done) begin
        images_done <= images_done + 1'b1;
        if (images_done + 1'b1 >= words[8*component_config::REG_IMAGES+:32]) begin
          running <= 1'b0;
          irq     <= 1'b1;
        end else start <= 1'b1;
      end
    end
    if (launch && !running) begin
      input_base  <= words[8*component_config::REG_INPUT_LO+:A];
      output_base <= words[8*component_config::REG_OUTPUT_LO+:A];
    end else if (image_done) begin
      input_base  <= input_base + A'(words[8*component_config::REG_INPUT_STRIDE+:32]);
      output_base <= output_base + A'(words[8*component_config::REG_OUTPUT_STRIDE+:32]);
    end
  end

  // ---- reads ----
  logic [31:0] identity[0:component_config::IDENTITY_WORDS-1];
  logic [31:0] word;
  if (64'(IDENTITY) != 0) begin : gen_identity
    initial $readmemh(IDENTITY, identity);
  end else begin : gen_anonymous
    initial for (int i = 0; i < component_config::IDENTITY_WORDS; i++) identity[i] = '0;
  end

  logic [31:0] named, told, cycles_low, cycles_high;  // the identity's word, that of `words`
  logic identifies;
  assign named = identity[s_araddr[5:2]];
  assign told = words[{s_araddr[6:2], 5'd0}+:32];
  assign identifies = s_araddr[11:6] == IDENTITY_AT[11:6];
  assign cycles_low = cycles[31:0];
  assign cycles_high = cycles[63:32];

  assign s_arready = !s_rvalid;
  assign s_rresp = 2'b00;
  always_comb begin
    word = '0;
    case (s_araddr)
      component_config::REG_CONTROL:     word = 32'(running) << component_config::BIT_CONTROL_RUNNING;
      component_config::REG_STATUS:
          word = 32'(failed) << component_config::BIT_STATUS_ERROR | 32'(irq) << component_config::BIT_STATUS_DONE;
      component_config::REG_ID:          word = component_config::VALUE_ID;
      component_config::REG_VERSION:     word = component_config::VALUE_VERSION;
      component_config::REG_IMAGES_DONE: word = images_done;
      component_config::REG_CYCLES_LO:   word = cycles_low;
      component_config::REG_CYCLES_HI:   word = cycles_high;
      default: begin
        if (identifies) word = named;
        else if (s_araddr < component_config::REG_IDENTITY) word = told;
      end
    endcase
  end
  always_ff @(posedge clk) begin
    if (s_arvalid && s_arready) s_rdata <= word;
    if (rst) s_rvalid <= 1'b0;
    else s_rvalid <= (s_arvalid && s_arready) || (s_rvalid && !s_rready);
  end
  logic unused;
  assign unused = &{1'b0, words};

`ifndef SYNTHESIS
  tw_handshake_checker s_b_rules (.clk, .rst, .valid(s_bvalid), .ready(s_bready), .data(1'b0));
  tw_handshake_checker #(.WIDTH(32)) s_r_rules (.clk, .rst, .valid(s_rvalid), .ready(s_rready), .data(s_rdata));
`endif
endmodule
