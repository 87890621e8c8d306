# The style of a memory timeline. Beside the variables of frame.gp the script sets:
#
#   categories, label[i]  number and names, i = 1 .. categories
#   entries, peak         of the tape; the entry at the peak
#   $live                 entry, 0, then cumulative bytes over the categories
set xrange [1 : entries > 1 ? entries : 2]
set yrange [0 : *]
set format y "%.3g MiB"
set style fill solid 0.85 noborder
set grid noxtics
set xlabel "entry of the tape" textcolor rgb ink offset 0,0.2
set arrow 1 from peak, graph 0 to peak, graph 1 nohead front linecolor rgb ink linewidth 1.2 dashtype 2

mib = 1048576.0
draw = "plot for [i=1:categories] $live using 1:(column(i + 1) / mib):(column(i + 2) / mib) \
        with filledcurves linecolor rgb colour[i] title label[i]"
