# Lines of what, tool, seconds, seconds of processor and KiB, as the table of each kind of thing that was measured: the
# medians of the rounds, and the ratios to curl.
#
# -v kinds: what was measured, in the table's order; -v titles: its headings, divided by |; -v order: the tools; -v goal:
# how many times curl's time the first tool may take of each, where that is asked for: else the exit status is 1.
{
    key = $1 SUBSEP $2
    count[key]++
    time[key] = time[key] " " $3; cpu[key] = cpu[key] " " $4
    if ($5 > peak[key]) peak[key] = $5
}
END {
    kindCount = split(kinds, kind, " ")
    split(titles, title, "|")
    tools = split(order, tool, " ")
    for (k = 1; k <= kindCount; k++) {
        print ""
        printf "%-26s %8s %8s %10s %14s %13s\n", title[k], \
            "time", "CPU", "peak RSS", "time to curl", "CPU to curl"
        base = kind[k] SUBSEP "curl"
        baseTime = median(time[base], count[base]); baseCPU = median(cpu[base], count[base])
        for (t = 1; t <= tools; t++) {
            key = kind[k] SUBSEP tool[t]
            ownTime = median(time[key], count[key]); ownCPU = median(cpu[key], count[key])
            printf "%-26s %8.2f %8.2f %7.1f MB %13.2fx %12.2fx\n", tool[t], ownTime, ownCPU, peak[key] / 1024, \
                baseTime ? ownTime / baseTime : 0, baseCPU ? ownCPU / baseCPU : 0
            if (goal && t == 1 && ownTime > goal * baseTime) missed = missed "\nmissed: " title[k]
        }
    }
    if (goal) printf "\ngoal: at most %.2fx of curl's time%s\n", goal, missed ? missed : ", met"
    exit missed ? 1 : 0
}
