# Builds a bitstream of the design of this folder for a board, and puts it beside driver.py as host/tilewright.bit
# and host/tilewright.hwh. First package_ip.tcl; the board's files have to be installed in Vivado.
#   vivado -mode batch -source block_design.tcl -tclargs BOARD
# BOARD: pynq-z1, pynq-z2, ultra96, kv260.
cd [file dirname [file normalize [info script]]]

# @design@

# Of each board: its processing system, how its board files are called.
set boards {
  pynq-z1 {zynq   *pynq-z1*}
  pynq-z2 {zynq   *pynq-z2*}
  ultra96 {zynqmp *ultra96v2*}
  kv260   {zynqmp *kv260_som*}
}
set board [lindex $argv 0]
if {![dict exists $boards $board]} {
  error "name a board: [join [dict keys $boards] {, }]"
}
lassign [dict get $boards $board] system pattern
set board_part [lindex [lsort -dictionary [get_board_parts -quiet $pattern]] end]
if {$board_part eq ""} {
  error "Vivado has no board files for $board ($pattern); install them (Tools, Vivado Store)"
}
if {![file exists ip/component.xml]} {
  error "there is no ip/component.xml; run package_ip.tcl first"
}

create_project -force board_project board_project
set_property board_part $board_part [current_project]
set_property ip_repo_paths ip [current_project]
update_ip_catalog
create_bd_design tilewright

proc cell {name kind} {
  return [create_bd_cell -type ip -vlnv [lindex [lsort -dictionary [get_ipdefs -all $kind]] end] $name]
}
proc pins {pin args} {
  foreach other $args { connect_bd_net [get_bd_pins $pin] [get_bd_pins $other] }
}

cell design_0 $vlnv
cell reset xilinx.com:ip:proc_sys_reset:*
set ports [llength $masters]
if {$system eq "zynq"} {
  cell ps xilinx.com:ip:processing_system7:*
  apply_bd_automation -rule xilinx.com:bd_rule:processing_system7 -config {make_external "FIXED_IO, DDR" \
    apply_board_preset "1" Master "Disable" Slave "Disable"} [get_bd_cells ps]
  set options [list CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ $clock_mhz CONFIG.PCW_USE_M_AXI_GP0 1 \
    CONFIG.PCW_USE_FABRIC_INTERRUPT 1 CONFIG.PCW_IRQ_F2P_INTR 1]
  for {set c 0} {$c < $ports} {incr c} { lappend options CONFIG.PCW_USE_S_AXI_HP$c 1 }
  set clock ps/FCLK_CLK0
  set resetn ps/FCLK_RESET0_N
  set interrupt ps/IRQ_F2P
  set control ps/M_AXI_GP0
  set control_clock ps/M_AXI_GP0_ACLK
  set memory_port ps/S_AXI_HP%d
  set memory_clock ps/S_AXI_HP%d_ACLK
} else {
  cell ps xilinx.com:ip:zynq_ultra_ps_e:*
  apply_bd_automation -rule xilinx.com:bd_rule:zynq_ultra_ps_e -config {apply_board_preset "1"} [get_bd_cells ps]
  set options [list CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ $clock_mhz CONFIG.PSU__USE__M_AXI_GP0 1 \
    CONFIG.PSU__USE__M_AXI_GP1 0 CONFIG.PSU__USE__M_AXI_GP2 0 CONFIG.PSU__USE__IRQ0 1]
  for {set c 0} {$c < $ports} {incr c} { lappend options CONFIG.PSU__USE__S_AXI_GP[expr {$c + 2}] 1 }
  set clock ps/pl_clk0
  set resetn ps/pl_resetn0
  set interrupt ps/pl_ps_irq0
  set control ps/M_AXI_HPM0_FPD
  set control_clock ps/maxihpm0_fpd_aclk
  set memory_port ps/S_AXI_HP%d_FPD
  set memory_clock ps/saxihp%d_fpd_aclk
}
set_property -dict $options [get_bd_cells ps]

pins $clock reset/slowest_sync_clk design_0/clk $control_clock
pins $resetn reset/ext_reset_in
pins reset/peripheral_reset design_0/rst
pins design_0/irq $interrupt

# An interconnect of one master and one slave, which converts protocols and widths.
proc between {name master slave clock} {
  cell $name xilinx.com:ip:smartconnect:*
  set_property -dict {CONFIG.NUM_SI 1 CONFIG.NUM_MI 1} [get_bd_cells $name]
  pins $clock $name/aclk
  pins reset/peripheral_aresetn $name/aresetn
  connect_bd_intf_net [get_bd_intf_pins $master] [get_bd_intf_pins $name/S00_AXI]
  connect_bd_intf_net [get_bd_intf_pins $name/M00_AXI] [get_bd_intf_pins $slave]
}
between registers $control design_0/s_axi $clock
for {set c 0} {$c < $ports} {incr c} {
  between memory$c design_0/[lindex $masters $c] [format $memory_port $c] $clock
  pins $clock [format $memory_clock $c]
}
assign_bd_address
validate_bd_design
save_bd_design

set design [get_files tilewright.bd]
add_files -norecurse [make_wrapper -files $design -top]
set_property top tilewright_wrapper [current_fileset]
launch_runs impl_1 -to_step write_bitstream -jobs 4
wait_on_run impl_1
if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} {
  error "the implementation failed; board_project has its reports"
}
file copy -force board_project/board_project.runs/impl_1/tilewright_wrapper.bit host/tilewright.bit
set handoff [glob board_project/board_project.*/sources_1/bd/tilewright/hw_handoff/tilewright.hwh]
file copy -force [lindex $handoff 0] host/tilewright.hwh
close_project
