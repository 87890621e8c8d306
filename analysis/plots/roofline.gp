# The style of the kernel chart. Writes PREFIX.png and PREFIX.svg; the script that loads this file sets:
#
#   prefix title subtitle work          texts
#   ops, ytics                          one line per op, numbered from 0
#   variants, label[i]                  legend of variant i = 1 .. variants
#   $warm, $cold                        percentage of the roofline, op number, i
#   warm, cold                          their number of points
#
# Colours and markers as in scaling.gp.
array colour[8] = ["#D55E00", "#0072B2", "#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#000000", "#8A7F00"]
array marker[8] = [7, 5, 9, 13, 11, 15, 7, 5]
array hollow[8] = [6, 4, 8, 12, 10, 14, 6, 4]

ink = "#222222"
pale = "#666666"
line = 24                               # pixels per op in the SVG
height = 190 + line * ops

set logscale x
set border 1 linecolor rgb "#999999" linewidth 0.6
set tics nomirror scale 0.4 textcolor rgb ink
set ytics scale 0 noenhanced
set grid xtics ytics linetype 1 linecolor rgb "#e6e6e6" linewidth 0.6
set yrange [ops - 0.5 : -0.5]
set xrange [0.1 : 130]
set xtics ("0.1 %%" 0.1, "0.3 %%" 0.3, "1 %%" 1, "3 %%" 3, "10 %%" 10, "30 %%" 30, "100 %%" 100)
set arrow 1 from 100, graph 0 to 100, graph 1 nohead linecolor rgb pale linewidth 1
set lmargin at screen 0.25
set rmargin at screen 0.97
set tmargin at screen 1 - 105.0 / height
set bmargin at screen 75.0 / height
set label 1 "{/:Bold ".title."}" at screen 0.02, 1 - 25.0 / height left font ",13" textcolor rgb ink
set label 2 subtitle at screen 0.02, 1 - 50.0 / height left noenhanced font ",10" textcolor rgb pale
set label 3 "percentage of the calibrated roofline" at screen 0.02, 1 - 80.0 / height left textcolor rgb ink
set label 4 work at screen 0.02, 30.0 / height left noenhanced font ",8.5" textcolor rgb pale
set label 5 "medians; below 0.1 %: at the left edge".(cold > 0 ? "; hollow: cold caches" : "") \
    at screen 0.02, 13.0 / height left noenhanced font ",8.5" textcolor rgb pale
set key at screen 0.97, 1 - 80.0 / height right center horizontal textcolor rgb ink

inside(x) = x < 0.1 ? 0.1 : x
draw = "plot for [i=1:variants] $warm using ($3 == i ? inside($1) : NaN):2 with points linecolor rgb colour[i] \
        pointtype marker[i] pointsize size title label[i] noenhanced" . \
    (cold > 0 ? ", for [i=1:variants] $cold using ($3 == i ? inside($1) : NaN):2 with points linecolor rgb colour[i] \
        pointtype hollow[i] pointsize size notitle" : "")

set terminal pngcairo enhanced size 1800, 2 * height font "DejaVu Sans,11" fontscale 2 linewidth 2 pointscale 2 background "white"
set output prefix.".png"
size = 0.9
eval draw
set terminal svg enhanced size 900, height font "DejaVu Sans,11" fontscale 1.33 background "white"
set output prefix.".svg"
size = 0.6
eval draw
unset output
