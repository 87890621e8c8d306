# The style of parts that add up, one above the other. Beside the variables of frame.gp the script sets:
#
#   $points               x, 0, then the cumulative values of the parts, in the order of label[i]
#   marked, turn          an x with a dashed line, and where the backward pass begins; 0: there is none. Lines of one width
#                         and colour would all be dashed in gnuplot's SVG.
stats $points using (column(|label| + 2)) name "top" nooutput
set xrange [0.9999 * x_min : x_max > x_min ? 1.0001 * x_max : x_min + 1] # ticks at its ends are seen
set yrange [0 : 1.05 * top_max]
set ytics ()
set for [k=0:int(1.05 * top_max / nice(top_max / 5))] ytics add (named(k * nice(top_max / 5)) k * nice(top_max / 5))
set grid noxtics
if (marked) { set arrow from marked, graph 0 to marked, graph 1 nohead front linecolor rgb ink linewidth 1.2 dashtype 2 }
if (turn) {
    set arrow from turn, graph 0 to turn, graph 1.05 nohead front linecolor rgb pale linewidth 1 dashtype 1
    set label "forward" at turn, graph 1.03 right offset -0.7,0 font ",9.5" textcolor rgb ink
    set label "backward" at turn, graph 1.03 left offset 0.7,0 font ",9.5" textcolor rgb ink
}

draw = "plot for [i=1:|label|] $points using 1:(column(i + 1)):(column(i + 2)) \
        with filledcurves fillstyle solid 0.85 noborder linecolor rgb colour[i] title label[i] noenhanced, \
    for [i=1:|label|] $points using 1:(column(i + 2)) with lines linewidth 0.8 linecolor rgb 'white' notitle"
