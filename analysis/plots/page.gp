# Draws `draw`, a plot command with points of the size `size`, as the file `output`: SVG for a page (analysis/report/svg.h).
# If `hints` is 1, invisible points have the texts of $hints: x, y, text.
eval svg
set output output
size = 0.75
if (hints) { draw = draw . ", $hints using 1:2:3 with labels hypertext point pointtype 7 pointsize 2 linecolor rgb '#FF000000' notitle" }
eval draw
unset output
