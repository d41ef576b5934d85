# Draws a timeline as an SVG: panels one below the other on one axis of time, each with its rows, and in a row a box for whatever
# ran there. Each line of the data is a box, its columns parted by tabs: panel, row, from and to in microseconds, what is
# written in it, and its shade, from 1 to 4. A line that begins with # is a remark.
#
#     awk -F'\t' -v id=NAME -v title=WORDS -v panels=NAME,NAME -f book/timeline.awk DATA
#
# `panels` chooses some, in that order; without it all are drawn as they come. What does not fit into a box is left out.
BEGIN {
    left = 92; right = 632; width = 640; row_height = 24; head = 20; gap = 12; top = 4; letter = 6.2
    split(".10,.30,.52,.75", opacity, ",")
    wanted = split(panels, want, ",")
    for (p = 1; p <= wanted; p++) panel_named(want[p])
}
/^#/ || NF == 0 { next }
NF != 6 || $3 + 0 != $3 || $4 + 0 != $4 || $4 < $3 || !($6 in opacity) {
    printf "%s:%d: is not a box: panel, row, from, to, words, shade\n", FILENAME, FNR >"/dev/stderr"; failed = 1; exit 1
}
wanted && !($1 in number) { next }
{
    p = panel_named($1)
    if (!((p, $2) in row)) { row[p, $2] = ++rows[p]; row_name[p, rows[p]] = $2 }
    k = ++boxes
    of[k] = p; in_row[k] = row[p, $2]; from[k] = $3; to[k] = $4; words[k] = $5; shade[k] = $6
    if ($4 > last) last = $4
}

function panel_named(name) {
    if (!(name in number)) { number[name] = ++count; panel[count] = name }
    return number[name]
}
function across(v) { return left + (right - left) * v / last }
function text(at, level, anchor, words) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", at, level, anchor, words
}

END {
    if (failed) exit 1
    for (p = 1; p <= count; p++)
        if (!rows[p]) { printf "%s: has nothing of %s\n", FILENAME, panel[p] >"/dev/stderr"; exit 1 }
    if (!boxes) { print FILENAME ": has nothing to draw" >"/dev/stderr"; exit 1 }
    level = top
    for (p = 1; p <= count; p++) { start[p] = level; level += head + rows[p] * row_height + gap }
    axis = level

    # The ticks' distance: 1, 2 or 5 times a power of ten, so that there are at most ten.
    tick = 1
    while (last / tick > 10) tick *= (tick ~ /^2/ ? 2.5 : 2)

    printf "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s\" font-size=\"11\" font-family=\"inherit\">\n", width, axis + 36, id
    printf "<title id=\"%s\">%s</title>\n<g fill=\"none\" stroke=\"currentColor\" stroke-width=\".8\">\n", id, title
    for (t = 0; t <= last; t += tick)
        printf "<path d=\"M%.1f %dV%d\" opacity=\".2\"/><path d=\"M%.1f %dv4\"/>\n", across(t), top + head, axis, across(t), axis
    printf "<path d=\"M%d %dH%d\"/>\n", left, axis, right
    for (p = 1; p <= count; p++)
        for (r = 1; r <= rows[p]; r++)
            printf "<path d=\"M%d %.1fH%d\" opacity=\".25\"/>\n", left, start[p] + head + r * row_height, right
    for (k = 1; k <= boxes; k++) {
        wide = across(to[k]) - across(from[k])
        printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"currentColor\" fill-opacity=\"%s\"/>\n", across(from[k]),
               start[of[k]] + head + (in_row[k] - 1) * row_height + 3, wide, row_height - 5, opacity[shade[k]]
    }
    print "</g>\n<g fill=\"currentColor\">"
    for (p = 1; p <= count; p++) {
        printf "<text x=\"%d\" y=\"%.1f\" font-weight=\"bold\">%s</text>\n", left, start[p] + 14, panel[p]
        for (r = 1; r <= rows[p]; r++) text(left - 6, start[p] + head + r * row_height - 8, "end", row_name[p, r])
    }
    for (k = 1; k <= boxes; k++)
        if (words[k] != "" && length(words[k]) * letter + 2 <= across(to[k]) - across(from[k]))
            text((across(from[k]) + across(to[k])) / 2, start[of[k]] + head + in_row[k] * row_height - 8, "middle", words[k])
    for (t = 0; t <= last; t += tick) text(across(t), axis + 16, "middle", t)
    text((left + right) / 2, axis + 31, "middle", "microseconds")
    print "</g>\n</svg>"
}
