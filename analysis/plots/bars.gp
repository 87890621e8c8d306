# The style of bar charts. Beside the variables of frame.gp the script sets the ticks of y, and:
#
#   bars, high        their number, and the end of the scale, with room for the texts
#   letters           of the longest line of the names
#   $bars             number, value, low, high, colour, hollow or not, the value as text
set border 1
set grid noytics
set lmargin at screen (30 + 8.4 * letters) / wide
set xrange [0 : high]
set xtics ()
set for [k=0:int(0.94 * high / nice(high / 7))] xtics add (named(k * nice(high / 7)) k * nice(high / 7))
set yrange [bars - 0.4 : -0.6]
set ytics scale 0 noenhanced font ",10.5"
set bmargin at screen (below + 36.0) / height

draw = "plot \
    for [i=1:8] $bars using (0):1:(0):($5 == i && $6 == 0 ? $2 : NaN):($1 - 0.36):($1 + 0.36) with boxxyerror fillstyle solid 0.8 noborder \
        linecolor rgb colour[i] notitle, \
    for [i=1:8] $bars using (0):1:(0):($5 == i && $6 == 1 ? $2 : NaN):($1 - 0.33):($1 + 0.33) with boxxyerror fillstyle empty \
        linewidth 1.6 linecolor rgb colour[i] notitle, \
    $bars using ($4 > $3 ? $2 : NaN):1:3:4 with xerrorbars pointtype 0 linewidth 1.4 linecolor rgb ink notitle, \
    $bars using ($4 > $2 ? $4 : $2):1:7 with labels left offset 0.7,0 font ',10.5' noenhanced textcolor rgb ink notitle"
