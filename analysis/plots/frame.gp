# What all charts have in common. The script of a chart sets:
#
#   title[i], titles               the lines of the title, in enhanced markup, and their number
#   subtitle, subtitles            the machine, and its number of lines
#   ytitle                         what the plot shows
#   rows                           of the legend
#   note, notes                    texts below the plot, and their number of lines
#   area                           height of the plot with its ticks
#
# Lengths are pixels of the SVG; the PNG has twice as many. Fonts are legible if the PNG is shown at half its size:
# none is smaller than 9.5, 12.7 pixels.
#
# Colours: Okabe and Ito, "Color Universal Design", 2008, distinguishable with any kind of colour vision; the eighth, a
# yellow too pale for lines, is replaced by olive. Markers differ as well: filled, and the same hollow.
array colour[8] = ["#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A7F00"]
array filled[8] = [7, 5, 9, 13, 11, 15, 7, 5]
array hollow[8] = [6, 4, 8, 12, 10, 14, 6, 4]

svg = "set terminal svg enhanced size wide, height font 'DejaVu Sans,11' fontscale 1.33 background 'white'"
ink = "#222222"
pale = "#555555"
wide = 900
above = 20 + 24 * titles + 19 * subtitles + 32
below = 12 + 17 * notes
height = above + 21 * rows + area + below
y(down) = 1 - down * 1.0 / height

set border 3 linecolor rgb "#999999" linewidth 0.8
set tics nomirror scale 0.4 textcolor rgb ink
set grid xtics ytics linetype 1 linecolor rgb "#dddddd" linewidth 0.8
unset mxtics
unset mytics
set lmargin at screen 0.125
set rmargin at screen 0.97
set tmargin at screen y(above + 21 * rows + 8)
set bmargin at screen (below + 56.0) / height
do for [i=1:titles] {
    set label i "{/:Bold ".title[i]."}" at screen 0.02, y(4 + 24 * i) left font ",13" textcolor rgb ink
}
set label 3 subtitle at screen 0.02, y(28 + 24 * titles) left noenhanced font ",10.5" textcolor rgb pale
set label 4 ytitle at screen 0.02, y(above - 8) left noenhanced font ",11" textcolor rgb ink
set label 5 note at screen 0.02, y(height - below + 12) left noenhanced font ",9.5" textcolor rgb pale
set key at screen 0.02, y(above + 4) left top vertical Left reverse maxrows (rows > 0 ? rows : 1) samplen 2.2 \
    spacing 1.12 width 2 font ",10.5" textcolor rgb ink
