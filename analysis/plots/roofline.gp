# The style of the roofline. Beside the variables of frame.gp the script sets the ranges and:
#
#   variants, label[i]      legend of variant i = 1 .. variants
#   $points                 intensity, GFLOP/s, i, noisy or not
#   $labels                 where the op's name stands, and the name
#   $leaders                lines from the names to their points
#   roofs, roof[i], $roofs  number and legends of the roofs; their corners, a block each
set logscale xy
set format "%g"
set xlabel "FLOP/B" noenhanced textcolor rgb ink offset 0,0.2

draw = "plot $leaders using 1:2 with lines linewidth 0.8 linecolor rgb '#999999' notitle, \
    for [i=1:roofs] $roofs index i-1 using 1:2 with lines dashtype i linewidth 1.6 linecolor rgb pale notitle, \
    for [i=1:variants] $points using ($3 == i && $4 == 0 ? $1 : NaN):2 with points linecolor rgb colour[i] \
        pointtype filled[i] pointsize 0.9 * size notitle, \
    for [i=1:variants] $points using ($3 == i && $4 == 1 ? $1 : NaN):2 with points linecolor rgb colour[i] \
        pointtype 2 pointsize 0.9 * size notitle, \
    $labels using 1:2:3 with labels center noenhanced font ',9.5' textcolor rgb ink notitle, \
    for [i=1:variants] keyentry with points linecolor rgb colour[i] pointtype filled[i] pointsize size title label[i] noenhanced, \
    for [i=1:roofs] keyentry with lines dashtype i linewidth 1.6 linecolor rgb pale title roof[i] noenhanced"
