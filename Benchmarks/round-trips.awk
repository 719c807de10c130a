# Lines of kind, tool, setting and seconds as a table of Markdown: the medians, and the ratio of the first tool to the best
# of the others with the same setting. The exit status is 1 where a ratio is above 1.2.
#
# -v kinds, -v tools and -v settings: the rows, columns and their groups, in order.
{
    key = $1 SUBSEP $2 SUBSEP $3
    if ($4 + 0 > 0) { count[key]++; values[key] = values[key] " " $4 } else note[key] = $4
}
END {
    kindCount = split(kinds, kind, " "); toolCount = split(tools, tool, " "); settingCount = split(settings, setting, " ")
    printf "| |"
    for (s = 1; s <= settingCount; s++) { for (t = 1; t <= toolCount; t++) printf " %s, %s |", tool[t], setting[s]; printf " ratio |" }
    printf "\n|---|"
    for (s = 1; s <= settingCount; s++) for (t = 0; t <= toolCount; t++) printf "---|"
    print ""
    for (k = 1; k <= kindCount; k++) {
        printf "| %s |", kind[k]
        for (s = 1; s <= settingCount; s++) {
            best = own = 0
            for (t = 1; t <= toolCount; t++) {
                key = kind[k] SUBSEP tool[t] SUBSEP setting[s]
                if (!count[key]) { printf " %s |", note[key] ? note[key] : "–"; continue }
                time = median(values[key], count[key])
                printf " %.1f |", time
                if (t == 1) own = time
                else if (!best || time < best) best = time
            }
            if (own && best) { printf " %.2f |", own / best; if (own > 1.2 * best) missed = 1 } else printf " – |"
        }
        print ""
    }
    exit missed
}
