# The style of a map: a cell for each pair of values. Beside the variables of frame.gp the script sets ranges and ticks
# of x and y, cells numbered from 0, and:
#
#   winners, label[i]   number and names, i = 1 .. winners
#   $cells              x, y, i (0: none), the text in the cell
#   xtitle
set grid noxtics noytics
set xlabel xtitle noenhanced textcolor rgb ink offset 0,0.2

draw = "plot for [i=1:winners] $cells using ($3 == i ? $1 : NaN):2:($1 - 0.48):($1 + 0.48):($2 - 0.48):($2 + 0.48) \
        with boxxyerror fillstyle solid 0.6 noborder linecolor rgb colour[i] title label[i] noenhanced, \
    $cells using ($3 == 0 ? $1 : NaN):2:($1 - 0.48):($1 + 0.48):($2 - 0.48):($2 + 0.48) \
        with boxxyerror fillstyle empty linecolor rgb '#999999' notitle, \
    $cells using 1:2:4 with labels center noenhanced font ',9.5' textcolor rgb ink notitle"
