# The style of charts of what ranks do with their time. Beside the variables of frame.gp the script sets ranges, ticks,
# and:
#
#   lines, label[i]   the works, i = 1 .. lines, of a single one the name of its solid part; then exchange, lost, ideal
#   $bars             x, half the width, i, bottom, top, part: 0 the work of one rank, 1 exchange, 2 other
#   $tops             x, efficiency, low, high, where the text stands, the text
#   turned            whether the texts are upright
set grid noxtics
set format y "%.0f %%"
set xlabel "ranks" noenhanced textcolor rgb ink offset 0,0.2

part(i, p) = sprintf("$bars using ($3 == %d && $6 == %d ? $1 : NaN):4:($1-$2):($1+$2):4:5 with boxxyerror ", i, p) . \
    (p == 0 ? "fillstyle solid 0.85 noborder" : p == 1 ? "fillstyle solid 0.35 noborder" : "fillstyle empty linewidth 0.6") . \
    sprintf(" linecolor rgb colour[%d] notitle, ", i)
draw = "plot "
do for [i=1:lines] { draw = draw . part(i, 0) . part(i, 1) . part(i, 2) }
draw = draw . "\
    $tops using ($4 > $3 ? $1 : NaN):2:3:4 with yerrorbars linewidth 1.4 linecolor rgb ink pointtype 7 pointsize 0.5 * size notitle, " . \
    (turned ? "$tops using 1:5:6 with labels rotate left offset 0,0.4 font ',9.5' noenhanced textcolor rgb ink notitle, " \
            : "$tops using 1:5:6 with labels center offset 0,0.6 font ',9.5' noenhanced textcolor rgb ink notitle, ") . "\
    for [i=1:lines] keyentry with boxes fillstyle solid 0.85 noborder linecolor rgb colour[i] title label[i] noenhanced, \
    keyentry with boxes fillstyle solid 0.35 noborder linecolor rgb (lines > 1 ? pale : colour[1]) title label[lines + 1] noenhanced, \
    keyentry with boxes fillstyle empty linewidth 0.6 linecolor rgb (lines > 1 ? pale : colour[1]) title label[lines + 2] noenhanced, \
    100 with lines dashtype 2 linewidth 1.4 linecolor rgb ink title label[lines + 3] noenhanced"
