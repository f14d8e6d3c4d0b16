// A run from launch to end: what clears, halts and ends it, its first error, and the deadlock watchdog.
//
// Timing: a launch in t (nothing running) clears the modules in t (`clear`) and starts fetch; `running` is set
// from t + 1, which is cycle 0. The run ends in the first cycle in which all is finished. An error in t halts
// all modules from t + 1: nothing starts and no burst is requested. Once nothing is outstanding on the bus
// `running` falls. A launch or a soft reset in the middle of a run halts it the same way, and takes effect
// when the bus is idle, so that no transaction is ever forgotten.
module tw_overlay_run_control #(
    localparam int SOURCES = 5,  // of errors: fetch, load, compute, store, tokens
    localparam int CODE = 4,
    localparam int INDEX = 32
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        launch,
    input  logic        soft_reset,
    // the run's end
    input  logic        compute_finished,
    input  logic        fetch_finished,
    input  logic        queues_empty,     // of load and store
    input  logic        in_flight,        // in load or store
    input  logic        bus_idle,
    // deadlock: what each module does in this cycle, and the index at the head of its queue
    input  logic        moving,
    input  logic        load_waiting,
    input  logic        compute_waiting,
    input  logic        store_waiting,
    input  logic [31:0] load_index,
    input  logic [31:0] compute_index,
    input  logic [31:0] store_index,
    // errors, the source that counts first in the lowest place
    input  logic [SOURCES-1:0]       error,
    input  logic [SOURCES*CODE-1:0]  error_code,
    input  logic [SOURCES*INDEX-1:0] error_index,
    output logic        clear,
    output logic        start,
    output logic        running,
    output logic        halt,
    output logic        status_done,
    output logic        status_error,
    output logic [3:0]  status_code,
    output logic [31:0] status_index,
    output logic [31:0] wait_load,        // deadlock: index of the waiting head; all ones: none
    output logic [31:0] wait_compute,
    output logic [31:0] wait_store
);
  localparam int LOG_PATIENCE = 6;
  logic [LOG_PATIENCE:0] still;           // cycles without movement
  logic launch_again, clearing, stop, deadlock, any_error;
  logic [3:0] code;
  logic [31:0] index, load_head, compute_head, store_head;

  assign start = (launch || launch_again) && !running;
  assign clear = rst || start || (soft_reset && !running) || (stop && clearing);
  assign stop = running && (halt ? bus_idle : compute_finished && fetch_finished && queues_empty && !in_flight);
  assign deadlock = still[LOG_PATIENCE];

  assign load_head = load_waiting ? load_index : '1;
  assign compute_head = compute_waiting ? compute_index : '1;
  assign store_head = store_waiting ? store_index : '1;
  assign any_error = error != 0 || deadlock;
  always_comb begin
    code = overlay_config::ERROR_DEADLOCK;
    index = load_waiting ? load_head : compute_waiting ? compute_head : store_head;
    for (int k = SOURCES - 1; k >= 0; k--) begin
      if (error[k]) begin
        code = error_code[CODE*k+:CODE];
        index = error_index[INDEX*k+:INDEX];
      end
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      running      <= 1'b0;
      launch_again <= 1'b0;
    end else begin
      if (start) running <= 1'b1;
      else if (stop) running <= 1'b0;
      if (start) launch_again <= 1'b0;
      else if (soft_reset) launch_again <= 1'b0;
      else if (launch) launch_again <= 1'b1;
    end

    if (clear) begin
      halt         <= 1'b0;
      clearing     <= 1'b0;
      status_done  <= 1'b0;
      status_error <= 1'b0;
      status_code  <= 4'd0;
      status_index <= '1;
      wait_load    <= '1;
      wait_compute <= '1;
      wait_store   <= '1;
      still        <= '0;
    end else if (running) begin
      still <= moving || halt ? '0 : still + 1'b1;
      if (launch || soft_reset) begin
        halt     <= 1'b1;
        clearing <= 1'b1;
      end else if (any_error && !halt) begin
        halt         <= 1'b1;
        status_error <= 1'b1;
        status_code  <= code;
        status_index <= index;
        if (error == 0) begin
          wait_load    <= load_head;
          wait_compute <= compute_head;
          wait_store   <= store_head;
        end
      end else if (stop && !halt) status_done <= 1'b1;
    end
  end
endmodule
