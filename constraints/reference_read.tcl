# Vivado reads this before it places: reuses placement and routing of the reference, if there is one.
# Remove reference.dcp to place everything from the start.
set spinneret_reference [file join [file dirname [file normalize [info script]]] reference.dcp]
if {[file exists $spinneret_reference]} {
    puts "spinneret: incremental implementation from $spinneret_reference"
    read_checkpoint -incremental $spinneret_reference
}
