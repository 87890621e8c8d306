# What all charts have in common. The script of a chart sets:
#
#   title[i], titles               the lines of the title, in markup, and their number
#   subtitle, note                 texts of several lines, and their numbers: subtitles, notes
#   ytitle                         what the plot shows
#   label[i], tail[i]              entries of the legend, "": none, and what follows them in markup; both may be missing
#   unit, binary                   of the values: "B", with prefixes that step by 1024
#   area                           height of the plot with its ticks
#   $points, logarithmic, xtitle   x and other columns, whether the scale of x is logarithmic, and its name; or none of these
#
# Lengths are pixels of the SVG; the PNG has twice as many. Fonts are legible if the PNG is shown at half its size:
# none is smaller than 9.5, 12.7 pixels. A letter is taken to be 0.6 of its font wide, and in the legend a little less.
#
# Colours: Okabe and Ito, "Color Universal Design", 2008, distinguishable with any kind of colour vision; one, a
# yellow too pale for lines, is replaced by olive. Markers differ as well: filled, and the same hollow. What is
# inconclusive is pale.
array colour[8] = ["#D55E00", "#0072B2", "#009E73", "#CC79A7", "#000000", "#8A7F00", "#E69F00", "#56B4E9"]
array filled[8] = [7, 5, 9, 13, 11, 15, 7, 5]
array hollow[8] = [6, 4, 8, 12, 10, 14, 6, 4]
shade(i, pale) = (pale ? "#A0" : "#00") . substr(colour[i], 2, 7)

# The legend: as many columns as the widest entry leaves room for.
most = 98
entries = 0
widest = 1
if (exists("label")) { do for [i=1:|label|] {
    after = exists("tail") ? tail[i] : ""
    room = most - strlen(after)
    label[i] = (strlen(label[i]) > room ? substr(label[i], 1, room - 3) . "..." : label[i]) . after
    entries = entries + (strlen(label[i]) > 0)
    widest = strlen(label[i]) > widest ? strlen(label[i]) : widest
} }
columns = int(864 / (60 + 7.8 * widest))
columns = columns < 1 ? 1 : columns
rows = (entries + columns - 1) / columns

# Ticks: "10 ms", "1.5k", "1024". `nice` is the next round step.
plain(x) = sprintf("%.6g", x)
iec(x) = x < 1024 ? "" : x < 1048576 ? "Ki" : gprintf("%B", x)
scaled(x) = binary ? sprintf("%g %s", real(gprintf("%.3b", x)), iec(x)) \
                   : sprintf("%g %s", real(gprintf("%.3s", x)), gprintf("%c", x))
bare(x) = sprintf("%g%s", real(gprintf("%.3s", x)), gprintf("%c", x))
short(x) = x >= 1 && strlen(bare(x)) < strlen(plain(x)) ? bare(x) : plain(x)
named(x) = unit eq "" ? short(x) : unit eq "%" ? sprintf("%g %%%%", x) : x == 0 ? "0 " . unit : scaled(x) . unit
power(x) = binary ? 1 : 10**floor(log10(x))
nice(x) = binary ? 2**ceil(log(x) / log(2)) : power(x) * (x <= power(x) ? 1 : x <= 2 * power(x) ? 2 : x <= 5 * power(x) ? 5 : 10)

svg = "set terminal svg enhanced size wide, height font 'DejaVu Sans,11' fontscale 1.33 background 'white'"
ink = "#222222"
pale = "#555555"
wide = 900
above = 20 + 24 * titles + 19 * subtitles + 32
below = 12 + 17 * notes
height = above + 21 * rows + area + below
y(down) = 1 - down * 1.0 / height

# Over an axis with points: ticks of a logarithmic x are at their values, those that are 6 % of the axis apart.
if (exists("logarithmic")) {
    stats $points using 1 name "x" nooutput
    set xlabel xtitle noenhanced textcolor rgb ink offset 0,0.2
    if (logarithmic) {
        set logscale x
        set xtics ()
        array first[101]
        do for [b=1:101] { first[b] = 0 }
        span = log(x_max / x_min)
        do for [i=1:|$points|] { if (strlen($points[i]) > 0) {
            x = real(word($points[i], 1))
            b = span > 0 ? 1 + int(100 * log(x / x_min) / span) : 1
            first[b] = first[b] > 0 && first[b] < x ? first[b] : x
        } }
        next = 0
        do for [b=1:101] { if (first[b] > next) {
            set xtics add (short(first[b]) first[b])
            next = first[b] * exp(0.06 * span)
        } }
    }
}

set micro
set border 3 linecolor rgb "#999999" linewidth 0.8
set tics nomirror scale 0.4 textcolor rgb ink
set grid xtics ytics linetype 1 linecolor rgb "#dddddd" linewidth 0.8
unset mxtics
unset mytics
set lmargin at screen 0.125
set rmargin at screen 0.97
set tmargin at screen y(above + 21 * rows + 18)
set bmargin at screen (below + 56.0) / height
do for [i=1:titles] {
    set label "{/:Bold ".title[i]."}" at screen 0.02, y(4 + 24 * i) left font ",13" textcolor rgb ink
}
set label subtitle at screen 0.02, y(28 + 24 * titles) left noenhanced font ",10.5" textcolor rgb pale
set label ytitle at screen 0.02, y(above - 8) left noenhanced font ",11" textcolor rgb ink
set label note at screen 0.02, y(height - below + 12) left noenhanced font ",9.5" textcolor rgb pale
set key at screen 0.02, y(above + 4) left top vertical Left reverse maxrows (rows > 0 ? rows : 1) samplen 2.2 \
    spacing 1.12 width 2 font ",10.5" textcolor rgb ink
