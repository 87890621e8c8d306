# The style of percentages of the roofline. Beside the variables of frame.gp the script sets:
#
#   ops, ytics                      one line per op, numbered from 0
#   label[i]                        legend of variant i
#   $warm, $cold, warm, cold        percentage, op number, i, noisy or not; their number of points
#   $outside, outside, highest       percentage, op number, text beside the point; their number; the highest percentage
set logscale x
set border 1
set ytics scale 0 noenhanced
set yrange [ops - 0.5 : -0.5]
set xrange [0.1 : (highest > 100 ? 3.5 * highest : 130)]
set xtics ("0.1 %%" 0.1, "0.3 %%" 0.3, "1 %%" 1, "3 %%" 3, "10 %%" 10, "30 %%" 30, "100 %%" 100)
if (highest > 300) { set xtics add ("1000 %%" 1000) }
set object 1 rectangle from 100, graph 0 to graph 1, graph 1 behind fillcolor rgb "#fbeae3" fillstyle solid noborder
set arrow 1 from 100, graph 0 to 100, graph 1 nohead linecolor rgb pale linewidth 1.4
set lmargin at screen 0.3
set bmargin at screen (below + 40.0) / height

draw = "plot for [noisy=0:1] for [i=1:|label|] $warm using ($3 == i && $4 == noisy ? $1 : NaN):2 with points \
        linecolor rgb shade(i, noisy) pointtype filled[i] pointsize size notitle, \
    for [i=1:|label|] keyentry with points linecolor rgb colour[i] pointtype filled[i] pointsize size title label[i] noenhanced" . \
    (cold > 0 ? ", for [i=1:|label|] $cold using ($3 == i ? $1 : NaN):2 with points linecolor rgb colour[i] \
        linewidth 1.3 pointtype hollow[i] pointsize size notitle" : "") . \
    (outside > 0 ? ", $outside using 1:2:3 with labels left offset 0.8,0 font ',10.5' noenhanced textcolor rgb ink notitle" : "")
