# The style of all scaling charts. Writes PREFIX.png and PREFIX.svg; the script that loads this file sets:
#
#   prefix title subtitle work note left_out xtitle ytitle   texts; title and labels in enhanced markup
#   series, label[i], look[i], line[i]   number of series; legend, colour, joined by lines or not, i = 1 .. series
#   $points     one block per series, separated by two empty lines: x y low high
#   fits, $fits   number of series with a fitted line; its two ends, in blocks likewise
#
# and the ranges and ticks. Colours: Okabe and Ito, "Color Universal Design", 2008, distinguishable with any kind of
# colour vision; the eighth, a yellow too pale for lines, is replaced by olive. Markers differ as well.
array colour[8] = ["#D55E00", "#0072B2", "#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#000000", "#8A7F00"]
array marker[8] = [7, 5, 6, 4, 9, 13, 8, 12]

ink = "#222222"
pale = "#666666"
with_fits = fits > 0 && series <= 4
legend_beside = series > 2

set logscale xy
unset mxtics
unset mytics
set border 3 linecolor rgb "#999999" linewidth 0.6
set tics nomirror scale 0.4 textcolor rgb ink
set grid xtics ytics linetype 1 linecolor rgb "#e6e6e6" linewidth 0.6
set lmargin at screen 0.125
set rmargin at screen legend_beside ? 0.66 : 0.97
set tmargin at screen 0.775
set bmargin at screen 0.195
set xlabel xtitle textcolor rgb ink offset 0,0.2
set label 1 "{/:Bold ".title."}" at screen 0.02,0.945 left font (strlen(title) > 95 ? ",11" : ",13") textcolor rgb ink
set label 2 subtitle at screen 0.02,0.888 left noenhanced font ",10" textcolor rgb pale
set label 3 ytitle at screen 0.02,0.812 left textcolor rgb ink
# Characters of the full size that fit the width.
fitting = 138.0
set label 4 work at screen 0.02,0.075 left noenhanced \
    font sprintf(",%.2f", strlen(work) > fitting ? 8.5 * fitting / strlen(work) : 8.5) textcolor rgb pale
set label 5 note.(with_fits ? "; dashed: fitted power law" : "").(strlen(left_out) ? "; ".left_out : "") \
    at screen 0.02,0.037 left noenhanced font ",8.5" textcolor rgb pale
if (legend_beside) {
    set key at screen 0.665,0.775 left top vertical Left reverse samplen 1.6 spacing 1.4 font ",9" textcolor rgb ink
} else {
    set key at screen 0.97,0.812 right center horizontal Left reverse samplen 2.2 textcolor rgb ink
}

draw = "plot " . (with_fits ? "for [i=1:series] $fits index i-1 using 1:(line[i] ? $2 : NaN) with lines dashtype 2 linewidth 1.1 \
        linecolor rgb colour[look[i]] notitle, " : "") . "\
    for [i=1:series] $points index i-1 using 1:2:3:4 with yerrorbars linewidth 1.3 \
        linecolor rgb colour[look[i]] pointtype marker[look[i]] pointsize size notitle, \
    for [i=1:series] $points index i-1 using 1:(line[i] ? $2 : NaN) with lines linewidth 1.6 linecolor rgb colour[look[i]] notitle, \
    for [i=1:series] keyentry with linespoints linewidth 1.6 linecolor rgb colour[look[i]] \
        pointtype marker[look[i]] pointsize size title label[i]"

set terminal pngcairo enhanced size 1800,1100 font "DejaVu Sans,11" fontscale 2 linewidth 2 pointscale 2 background "white"
set output prefix.".png"
size = 0.9
eval draw
set terminal svg enhanced size 900,550 font "DejaVu Sans,11" fontscale 1.33 background "white"
set output prefix.".svg"
size = 0.6
eval draw
unset output
