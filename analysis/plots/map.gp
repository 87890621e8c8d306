# The style of a map: a cell for each pair of values. Beside the variables of frame.gp the script sets:
#
#   label[i]            names
#   $cells              x, y, numbered from 0, i (0: none), the text in the cell
#   nodes, degrees      the values of x and y, as words
set grid noxtics noytics
set xrange [-0.5 : words(nodes) - 0.5]
set yrange [-0.5 : words(degrees) - 0.5]
set xtics ()
set ytics ()
set for [i=1:words(nodes)] xtics add (short(real(word(nodes, i))) i - 1)
set for [i=1:words(degrees)] ytics add (short(real(word(degrees, i))) i - 1)
set xlabel "nodes" noenhanced textcolor rgb ink offset 0,0.2

draw = "plot for [i=1:|label|] $cells using ($3 == i ? $1 : NaN):2:($1 - 0.48):($1 + 0.48):($2 - 0.48):($2 + 0.48) \
        with boxxyerror fillstyle solid 0.6 noborder linecolor rgb colour[i] title label[i] noenhanced, \
    $cells using ($3 == 0 ? $1 : NaN):2:($1 - 0.48):($1 + 0.48):($2 - 0.48):($2 + 0.48) \
        with boxxyerror fillstyle empty linecolor rgb '#999999' notitle, \
    $cells using 1:($2 + 0.17):($3 > 0 ? label[int($3)] : '') with labels center noenhanced font ',9.5' textcolor rgb ink notitle, \
    $cells using 1:($2 - ($3 > 0 ? 0.17 : 0)):4 with labels center noenhanced font ',9.5' textcolor rgb ink notitle"
