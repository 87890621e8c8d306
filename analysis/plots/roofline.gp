# The style of the roofline. Beside the variables of frame.gp the script sets the ranges and:
#
#   variants, label[i]      legend of variant i = 1 .. variants, then of the roofs
#   $points                 intensity, GFLOP/s, i, noisy or not
#   $named, name[i]         intensity and GFLOP/s of an op, and the height of its name at the right as a share of the plot's
#   roofs, $roofs           number of roofs; their corners, a block each
set logscale xy
set format "%g"
set xlabel "FLOP/B" noenhanced textcolor rgb ink offset 0,0.2
set rmargin at screen 0.77
do for [i=1:|$named|] {
    beside = real(word($named[i], 3))
    set arrow from word($named[i], 1), word($named[i], 2) to graph 1.02, graph beside nohead back linewidth 0.6 linecolor rgb "#aaaaaa"
    set label name[i] at graph 1.025, graph beside left noenhanced font ",9.5" textcolor rgb ink
}

draw = "plot for [i=1:roofs] $roofs index i-1 using 1:2 with lines dashtype i linewidth 1.6 linecolor rgb pale notitle, \
    for [noisy=0:1] for [i=1:variants] $points using ($3 == i && $4 == noisy ? $1 : NaN):2 with points \
        linecolor rgb shade(i, noisy) pointtype filled[i] pointsize 0.9 * size notitle, \
    for [i=1:variants] keyentry with points linecolor rgb colour[i] pointtype filled[i] pointsize size title label[i] noenhanced, \
    for [i=1:roofs] keyentry with lines dashtype i linewidth 1.6 linecolor rgb pale title label[variants + i] noenhanced"
