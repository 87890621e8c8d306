# The style of charts over an axis. Beside the variables of frame.gp the script sets ranges, ticks, and:
#
#   series, label[i], look[i], open[i], joined[i]    legend, colour, hollow or not, joined by lines or not, i = 1 .. series
#   $points     one block per series, separated by two empty lines: x y low high noisy
#   laws, $laws       number of series with a law; its curve, in blocks likewise
#   xtitle
set logscale xy
set xlabel xtitle noenhanced textcolor rgb ink offset 0,0.2

mark(i) = open[i] ? hollow[look[i]] : filled[look[i]]
draw = "plot \
    for [i=1:series] $points index i-1 using 1:(joined[i] && $5 == 0 ? $2 : NaN) with lines linewidth 1.8 linecolor rgb colour[look[i]] notitle, \
    for [i=1:series] $points index i-1 using 1:($4 > $3 ? $2 : NaN):3:4 with yerrorbars linewidth 1.4 linecolor rgb colour[look[i]] pointtype 0 pointsize 0 notitle, \
    for [i=1:series] $points index i-1 using 1:($5 == 0 ? $2 : NaN) with points linewidth 1.6 linecolor rgb colour[look[i]] \
        pointtype mark(i) pointsize (open[i] ? 1.9 * size : size) notitle, \
    for [i=1:series] $points index i-1 using 1:($5 == 1 ? $2 : NaN) with points linewidth 1.6 linecolor rgb colour[look[i]] \
        pointtype 2 pointsize size notitle, " . \
    (laws > 0 ? "for [i=1:series] $laws index i-1 using 1:2 with lines linewidth 1.8 linecolor rgb colour[look[i]] notitle, " : "") . "\
    for [i=1:series] keyentry with linespoints linewidth 1.8 linetype (open[i] ? -2 : 1) linecolor rgb colour[look[i]] \
        pointtype mark(i) pointsize (open[i] ? 1.5 * size : size) title label[i]"
