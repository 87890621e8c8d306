# Draws `draw`, a plot command with points of the size `size`, as PREFIX.png and PREFIX.svg.
set terminal pngcairo enhanced size 2 * wide, 2 * height font "DejaVu Sans,11" fontscale 2 linewidth 2 pointscale 2 background "white"
set output prefix.".png"
size = 1.1
eval draw
eval svg
set output prefix.".svg"
size = 0.75
eval draw
unset output
