import TransferCore
import TransferQueue

extension EndReport {
    /// Returns the report for people: one line for a success, otherwise the reasons with advice.
    func lines(width: Int, charset: Charset) -> [StyledLine] {
        var lines = [StyledLine(charset.visible(headline))]
        if unproven > 0 { lines.append(StyledLine(charset.visible(unprovenLine))) }
        guard totals.failed > 0 else { return lines }
        let table = groupLines(width, charset)
        if !table.isEmpty { lines += [""] + table }
        guard hint.isLasting else { return lines }
        lines += [
            "", StyledLine("List:   \(hint.command("status", lasting, options: ["--failed"]))"),
            StyledLine("Again:  \(hint.command("retry", lasting, options: ["--failed"]))"),
        ]
        return lines
    }

    /// A line such as `2 complete, length unproven: a.iso, b.iso`.
    private var unprovenLine: String {
        let more = unproven > unprovenNames.count ? ", \u{2026}" : ""
        return
            "\(NumberText.grouped(unproven)) complete, length unproven: \(unprovenNames.joined(separator: ", "))\(more)"
    }

    /// Returns the line for a batch that this run leaves unfinished:
    /// `mirror: stopped, 12 left; continue with: transfer run …`.
    func stoppedLine(command: String?, charset: Charset) -> StyledLine {
        var line = "\(batch): stopped, \(NumberText.grouped(totals.remaining)) left"
        if totals.failed > 0 { line += ", \(NumberText.grouped(totals.failed)) failed" }
        if let command { line += "; continue with: \(command)" }
        return StyledLine(charset.visible(line))
    }

    /// A line such as `nightly: 47 of 200,000 failed, 142,100 kept, 57,853 fetched; 114 GiB, 11m 42s`.
    var headline: String {
        let sent = min(uploads, totals.completed)
        let fetched = totals.completed - sent
        var moved: [String] = []
        if fetched > 0 { moved.append("\(NumberText.grouped(fetched)) fetched") }
        if sent > 0 { moved.append("\(NumberText.grouped(sent)) sent") }
        var kept: [String] = []
        if totals.kept > 0 {
            let asked = moved.isEmpty && totals.failed == 0 && confirmed == 0 ? ", servers not asked" : ""
            kept.append("\(NumberText.grouped(totals.kept)) kept\(asked)")
        }
        var words = totals.failed > 0 ? kept + moved : moved + kept
        if totals.failed > 0 {
            words.insert("\(NumberText.grouped(totals.failed)) of \(NumberText.grouped(totals.jobs)) failed", at: 0)
        }
        if totals.skipped > 0 { words.append("\(NumberText.grouped(totals.skipped)) skipped") }
        if totals.cancelled > 0 { words.append("\(NumberText.grouped(totals.cancelled)) cancelled") }
        if words.isEmpty { words = [totals.jobs == 0 ? "no jobs" : "nothing to do"] }
        var cost: [String] = []
        if totals.bytes > 0 || !moved.isEmpty { cost.append(ByteCount.format(totals.bytes)) }
        if let duration { cost.append(DurationText.words(duration)) }
        return "\(batch): \(words.joined(separator: ", "))" + (cost.isEmpty ? "" : "; \(cost.joined(separator: ", "))")
    }

    private func groupLines(_ width: Int, _ charset: Charset) -> [StyledLine] {
        let groups = sortedGroups
        let shown = groups.prefix(Self.shownGroups)
        guard !shown.isEmpty else { return [] }
        let reasons = shown.map { charset.visible($0.reason) }
        let hosts = shown.map { charset.visible($0.host) }
        let counts = shown.map { NumberText.grouped($0.count) }
        let countWidth = max(5, counts.map(\.count).max() ?? 0)
        // The columns are wide enough for usual values, so that they are at the same place in most reports.
        let reasonWidth = clamp(reasons.map { DisplayWidth.of($0) }.max() ?? 0, 20, max(20, width * 2 / 5))
        let hostWidth = clamp(hosts.map { DisplayWidth.of($0) }.max() ?? 0, 12, max(12, width / 4))
        var lines = shown.indices.map { index -> StyledLine in
            let start =
                counts[index].rightAligned(countWidth) + "  "
                + charset.sentence(reasons[index], width: reasonWidth).padded(reasonWidth) + "  "
                + charset.name(hosts[index], width: hostWidth).padded(hostWidth) + "  "
            let room = max(12, width - DisplayWidth.of(start))
            return StyledLine(start + Self.names(shown[index], room, charset))
        }
        let hidden = groups.dropFirst(Self.shownGroups)
        let more = hidden.reduce(ungrouped) { $0 + $1.count }
        if more > 0 {
            let elsewhere = hidden.isEmpty ? "" : ", in \(NumberText.count(hidden.count, "other group"))"
            lines.append(StyledLine("+\(NumberText.grouped(more))".rightAligned(countWidth) + " more" + elsewhere))
        }
        return lines
    }

    /// Returns `images/98/981240.jpg, …`: two names when they fit, and at least one.
    private static func names(_ group: Group, _ room: Int, _ charset: Charset) -> String {
        for shown in stride(from: group.names.count, to: 0, by: -1) {
            let rest = group.count > shown ? ", \(charset.ellipsis)" : ""
            let text = group.names.prefix(shown).map { charset.visible($0) }.joined(separator: ", ") + rest
            if DisplayWidth.of(text) <= room { return text }
            if shown == 1 { return charset.name(group.names[0], width: room - DisplayWidth.of(rest)) + rest }
        }
        return ""
    }

    private func clamp(_ value: Int, _ least: Int, _ most: Int) -> Int { min(most, max(least, value)) }
}
