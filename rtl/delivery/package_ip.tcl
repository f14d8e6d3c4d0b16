# Packages the design of this folder for block designs: an IP in the folder ip, with AXI interfaces, an interrupt
# and the map of its registers.
#   vivado -mode batch -source package_ip.tcl
# The IP reads memory/ of this folder; package it again where the folder has moved.
cd [file dirname [file normalize [info script]]]

# @design@

create_project -force package ip_project -part $part
add_files -norecurse $sources
set_property file_type SystemVerilog [get_files *.sv]
set_property top $top [current_fileset]
update_compile_order -fileset sources_1
ipx::package_project -root_dir ip -vendor $vendor -library $library -taxonomy /UserIP -import_files -force
set core [ipx::current_core]
set_property name $name $core
set_property version $version $core
set_property display_name $title $core
set_property description $title $core

# Where the contents of the memories are.
foreach kind {user hdl} {
  set parameter [ipx::get_${kind}_parameters FOLDER -of_objects $core]
  set_property value_format string $parameter
  set_property value [pwd] $parameter
}

ipx::infer_bus_interfaces xilinx.com:interface:aximm_rtl:1.0 $core
ipx::infer_bus_interface clk xilinx.com:signal:clock_rtl:1.0 $core
ipx::infer_bus_interface rst xilinx.com:signal:reset_rtl:1.0 $core
ipx::infer_bus_interface irq xilinx.com:signal:interrupt_rtl:1.0 $core
proc parameter {interface name value} {
  set bus [ipx::get_bus_interfaces $interface -of_objects [ipx::current_core]]
  set_property value $value [ipx::add_bus_parameter $name $bus]
}
parameter rst POLARITY ACTIVE_HIGH
parameter irq SENSITIVITY LEVEL_HIGH
ipx::associate_bus_interfaces -clock clk -reset rst $core
foreach interface $interfaces {
  ipx::associate_bus_interfaces -busif $interface -clock clk $core
}

set map [ipx::get_memory_maps s_axi -of_objects $core]
if {$map eq ""} {
  set map [ipx::add_memory_map s_axi $core]
  set_property slave_memory_map_ref s_axi [ipx::get_bus_interfaces s_axi -of_objects $core]
}
set block [ipx::get_address_blocks -of_objects $map]
if {$block eq ""} {
  set block [ipx::add_address_block registers $map]
}
set_property range 4096 $block
set_property width 32 $block
set_property usage register $block
foreach row $registers {
  lassign $row register offset bytes access meaning
  for {set word 0} {$word < $bytes / 4} {incr word} {
    set one $register
    if {$bytes > 4} { append one _ $word }
    set entry [ipx::add_register $one $block]
    set_property address_offset [format 0x%03x [expr {$offset + 4 * $word}]] $entry
    set_property size 32 $entry
    set_property access $access $entry
    set_property description $meaning $entry
  }
}

ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::check_integrity $core
ipx::save_core $core
close_project
