# The style of charts over an axis. Beside the variables of frame.gp the script sets:
#
#   series, look[i], open[i], joined[i]    colour, hollow or not, joined by lines or not, i = 1 .. series
#   $points     one block per series, separated by two empty lines: x y low high noisy
#   laws, $laws       number of series with a law; its curve, in blocks likewise
#   limits            whether to draw the memory of a GPU of 24 and of 80 GB, if the values come within a tenth of it
stats $points using 3 name "low" nooutput
stats $points using 4 name "high" nooutput
wider(share, least) = share > least ? share : least
margin = wider((x_max / x_min)**0.04, 1.02)
set xrange [x_min / margin : x_max * margin]
margin = wider((high_max / low_min)**0.06, 1.3)
low = low_min / margin
high = high_max * margin
top = high
do for [gb in "24 80"] {
    bytes = 1e9 * gb
    if (limits && bytes <= 10 * top && bytes >= low) {
        high = wider(high, 1.5 * bytes)
        set arrow from graph 0, first bytes to graph 1, first bytes nohead dashtype 2 linewidth 1.2 linecolor rgb pale
        set label gb . " GB" at graph 0.01, first bytes offset 0,0.5 font ",9.5" textcolor rgb pale
    }
}
set yrange [low : high]

# Ticks of y: powers of ten or two, with steps between them, or even steps, as the range is wide.
set logscale xy
set ytics ()
base = binary ? 2 : 10
span = log(high / low) / log(base)
by = binary ? (span > 36 ? 10 : span > 18 ? 4 : span > 9 ? 2 : 1) : span > 8 ? 3 : 1
steps = binary || span > 4 ? "1" : span > 1.7 ? "1 3" : "1 2 5"
from = by * floor(log(low) / log(base) / by)
step = nice((high - low) / 8)
if (span < (binary ? 2.5 : 1.1)) {
    set for [k=ceil(low / step):floor(high / step)] ytics add (named(k * step) k * step)
} else {
    set for [p=from:ceil(log(high) / log(base)):by] for [m in steps] ytics add (named(m * real(base)**p) m * real(base)**p)
}

mark(i) = open[i] ? hollow[look[i]] : filled[look[i]]
draw = "plot \
    for [i=1:series] $points index i-1 using 1:(joined[i] ? $2 : NaN) with lines linewidth 1.8 linecolor rgb colour[look[i]] notitle, \
    for [i=1:series] $points index i-1 using 1:($4 > $3 ? $2 : NaN):3:4 with yerrorbars linewidth 1.4 linecolor rgb colour[look[i]] pointtype 0 pointsize 0 notitle, \
    for [noisy=0:1] for [i=1:series] $points index i-1 using 1:($5 == noisy ? $2 : NaN) with points linewidth 1.6 \
        linecolor rgb shade(look[i], noisy) pointtype mark(i) pointsize (open[i] ? 1.9 : noisy ? 1.3 : 1) * size notitle, " . \
    (laws > 0 ? "for [i=1:series] $laws index i-1 using 1:2 with lines linewidth 1.8 linecolor rgb colour[look[i]] notitle, " : "") . "\
    for [i=1:series] keyentry with linespoints linewidth 1.8 linetype (open[i] ? -2 : 1) linecolor rgb colour[look[i]] \
        pointtype mark(i) pointsize (open[i] ? 1.5 * size : size) title label[i]"
