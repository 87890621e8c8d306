# The style of a memory timeline. Writes PREFIX.png and PREFIX.svg; the script that loads this file sets:
#
#   prefix title          texts
#   categories, label[i]  number and names, i = 1 .. categories
#   peak                  the entry at the peak
#   $live                 entry, 0, then cumulative bytes over the categories
#
# Colours as in scaling.gp.
array colour[8] = ["#0072B2", "#D55E00", "#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#8A7F00", "#999999"]

ink = "#222222"
set border 3 linecolor rgb "#999999" linewidth 0.6
set tics nomirror scale 0.4 textcolor rgb ink
set grid ytics linetype 1 linecolor rgb "#e6e6e6" linewidth 0.6
set yrange [0:*]
set format y "%.3g MiB"
set style fill solid 0.85 noborder
set lmargin at screen 0.125
set rmargin at screen 0.78
set tmargin at screen 0.86
set bmargin at screen 0.13
set xlabel "entry of the tape" textcolor rgb ink
set label 1 "{/:Bold ".title."}" at screen 0.02,0.945 left font ",11" textcolor rgb ink
set arrow 1 from peak, graph 0 to peak, graph 1 nohead linecolor rgb ink linewidth 0.8 dashtype 2
set key at screen 0.79,0.86 left top vertical Left reverse invert samplen 1.6 spacing 1.4 font ",9" textcolor rgb ink

mib = 1048576.0
draw = "plot for [i=1:categories] $live using 1:(column(i + 1) / mib):(column(i + 2) / mib) \
        with filledcurves linecolor rgb colour[i] title label[i]"

set terminal pngcairo enhanced size 1800,1000 font "DejaVu Sans,11" fontscale 2 linewidth 2 background "white"
set output prefix.".png"
eval draw
set terminal svg enhanced size 900,500 font "DejaVu Sans,11" fontscale 1.33 background "white"
set output prefix.".svg"
eval draw
unset output
