# Draws measured series, both axes logarithmic, as an SVG: each line of the data is a series, x and y, parted by tabs,
# the series in the order in which they are to be told apart. A line that begins with # is a remark.
#
#     awk -F'\t' -v id=NAME -v title=WORDS -v x=WORDS -v y=WORDS -v limit=Y -v limit_name=WORDS -f book/plot.awk DATA
#
# x's ticks are powers of 2, y's powers of 10. No colour tells the lines apart, but their dashes, and names at their ends.
BEGIN {
    left = 62; right = 348; top = 14; bottom = 282; width = 480; height = 322
    split("none,7 3,2 3,9 3 2 3,none,4 2,9 2 2 2 2 2", dashes, ",")
}
/^#/ || NF == 0 { next }
NF != 3 || $2 <= 0 || $3 <= 0 { printf "%s:%d: is not a series, x and y\n", FILENAME, FNR >"/dev/stderr"; failed = 1; exit 1 }
!($1 in points) { name[++series] = $1 }
{
    k = ++points[$1]
    at_x[$1, k] = $2; at_y[$1, k] = $3
    if (!count++) { x_least = x_most = $2; y_least = y_most = $3 }
    if ($2 < x_least) x_least = $2
    if ($2 > x_most) x_most = $2
    if ($3 < y_least) y_least = $3
    if ($3 > y_most) y_most = $3
}

function floor(v,    whole) { whole = int(v); return whole > v ? whole - 1 : whole }
function log10(v) { return log(v) / log(10) }
function across(v) { return left + (right - left) * log(v / x_least) / log(x_most / x_least) }
function up(v) { return bottom - (bottom - top) * (log10(v) - low) / (high - low) }

# 1000000 as 1,000,000.
function grouped(v,    text, out) {
    if (v < 1) return v ""
    text = sprintf("%.0f", v)
    while (length(text) > 3) {
        out = "," substr(text, length(text) - 2) out
        text = substr(text, 1, length(text) - 3)
    }
    return text out
}

function text(at, level, anchor, words) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", at, level, anchor, words
}

END {
    if (failed) exit 1
    if (!count) { print FILENAME ": has nothing to draw" >"/dev/stderr"; exit 1 }
    if (limit && limit > y_most) y_most = limit
    low = floor(log10(y_least)); high = -floor(-log10(y_most))

    printf "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s\" font-size=\"11\" font-family=\"inherit\">\n", width, height, id
    printf "<title id=\"%s\">%s</title>\n<g fill=\"none\" stroke=\"currentColor\">\n", id, title
    printf "<path d=\"M%d %dV%dH%d\"/>\n", left, top, bottom, right
    for (e = low + 1; e <= high; e++)
        printf "<path d=\"M%d %.1fH%d\" opacity=\".2\"/>\n", left, up(10 ^ e), right
    for (v = x_least; v <= x_most; v *= 2)
        printf "<path d=\"M%.1f %dv4\"/>\n", across(v), bottom
    if (limit) printf "<path d=\"M%d %.1fH%d\" opacity=\".6\" stroke-width=\".8\"/>\n", left, up(limit), right
    for (s = 1; s <= series; s++) {
        printf "<path stroke-width=\"1.6\" stroke-dasharray=\"%s\" d=\"", dashes[(s - 1) % 7 + 1]
        for (k = 1; k <= points[name[s]]; k++)
            printf "%s%.1f %.1f", k == 1 ? "M" : "L", across(at_x[name[s], k]), up(at_y[name[s], k])
        print "\"/>"
    }

    # The names, from the highest line's end down, no two closer than a line of text.
    ends = series
    for (s = 1; s <= series; s++) {
        k = points[name[s]]
        end_x[s] = across(at_x[name[s], k]); end_y[s] = up(at_y[name[s], k]); called[s] = name[s]
    }
    if (limit) { ends++; end_x[ends] = right; end_y[ends] = up(limit); called[ends] = limit_name }
    last = top - 13
    for (n = 1; n <= ends; n++) {
        best = 0
        for (s = 1; s <= ends; s++)
            if (!(s in placed) && (!best || end_y[s] < end_y[best])) best = s
        placed[best] = end_y[best] > last + 13 ? end_y[best] : last + 13
        last = placed[best]
        printf "<path stroke-width=\".6\" opacity=\".6\" d=\"M%.1f %.1fL%d %.1f\"/>\n", end_x[best] + 2, end_y[best], right + 12, last
    }
    print "</g>\n<g fill=\"currentColor\">"
    for (s = 1; s <= ends; s++) text(right + 15, placed[s] + 4, "start", called[s])
    for (e = low; e <= high; e++) text(left - 6, up(10 ^ e) + 4, "end", grouped(10 ^ e))
    for (step = 4; log(x_most / x_least) / log(step) > 5; step *= 2);   # so that no number runs into the next
    for (v = x_least; v <= x_most; v *= step) text(across(v), bottom + 17, "middle", grouped(v))
    text((left + right) / 2, bottom + 34, "middle", x)
    printf "<text transform=\"translate(11 %.1f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n", (top + bottom) / 2, y
    print "</g>\n</svg>"
}
