# The style of parts that add up, one above the other. Beside the variables of frame.gp the script sets the range, ticks
# and name of x, the format of y, and:
#
#   parts, label[i]   number and names, i = 1 .. parts
#   $stack            x, 0, then the parts' cumulative values
#   marked, marks     an x with a dashed line, if marks is 1
set yrange [0 : *]
set style fill solid 0.85 noborder
set grid noxtics
set xlabel xtitle noenhanced textcolor rgb ink offset 0,0.2
if (marks) { set arrow 1 from marked, graph 0 to marked, graph 1 nohead front linecolor rgb ink linewidth 1.2 dashtype 2 }

draw = "plot for [i=1:parts] $stack using 1:(column(i + 1)):(column(i + 2)) \
        with filledcurves linecolor rgb colour[i] title label[i] noenhanced"
