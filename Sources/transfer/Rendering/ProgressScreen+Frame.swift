import TransferCore
import TransferQueue

extension ProgressScreen {
    /// Returns the frame for a screen of this size.
    ///
    /// - Parameter now: The time in milliseconds since 1970.
    /// - Returns: At most `height - 1` lines, each at most `width - 2` columns, so that nothing wraps or scrolls.
    func frame(now: Int64, width: Int, height: Int, charset: Charset) -> [StyledLine] {
        guard !batches.isEmpty else { return [] }
        let width = max(10, width - 2)
        let available = max(1, height - 1)
        let footer = [totalsLine(width, charset), troubleLine(now, charset)].compactMap(\.self)
        let header = headerLines(charset)
        var lines: [StyledLine]
        // On a low screen the totals matter most, then the rows, then the names.
        if available < footer.count + header.count + 3 {
            lines = rowLines(available - footer.count - 1, width, charset)
            if !lines.isEmpty { lines.append("") }
        } else {
            lines = header + [""]
            let rows = rowLines(available - footer.count - lines.count - 1, width, charset)
            if !rows.isEmpty { lines += rows + [""] }
        }
        return (lines + footer).suffix(available).map { $0.cut(to: width, charset: charset) }
    }

    private func headerLines(_ charset: Charset) -> [StyledLine] {
        let counted = counted
        let open = counted.filter { !$0.isFinished }
        let shown = open.isEmpty ? counted : open
        var lines = shown.prefix(3).map { batch -> StyledLine in
            let kept = batch.keptAtStart > 0 ? ", \(NumberText.grouped(batch.keptAtStart)) done by an earlier run" : ""
            let jobs = NumberText.count(batch.progress.totals.jobs, "job")
            return StyledLine("\(charset.name(batch.name, width: 40)): \(jobs)\(kept)")
        }
        if shown.count > 3 {
            lines.append("+ \(NumberText.count(shown.count - 3, "more batch", plural: "more batches"))")
        }
        lines += board.folders.prefix(3).map { StyledLine(charset.visible($0.screenLine)) }
        if board.folders.count > 3 { lines.append("+ \(NumberText.count(board.folders.count - 3, "more folder"))") }
        return lines
    }

    private func rowLines(_ room: Int, _ width: Int, _ charset: Charset) -> [StyledLine] {
        guard room > 0, !jobs.isEmpty else { return [] }
        let sorted = jobs.sorted { ($1.size, $0.name) < ($0.size, $1.name) }
        let sources = sorted.prefix(room).map { job in
            DisplayWidth.of(SourceText.row(of: job.progress, width: .max, charset: charset))
        }
        let layout = RowLayout(width: width, sources: sources.max() ?? 0)
        guard sorted.count > room else { return sorted.map { layout.row($0, charset) } }
        let shown = sorted.prefix(room - 1).map { layout.row($0, charset) }
        return shown + [StyledLine("+ \(NumberText.grouped(sorted.count - shown.count)) more")]
    }

    private func totalsLine(_ width: Int, _ charset: Charset) -> StyledLine {
        let progress = batches.map(\.progress)
        let counted = counted
        var segments: [String]
        if counted.isEmpty {
            segments = [NumberText.count(board.folders.reduce(0) { $0 + $1.uploaded }, "file") + " uploaded"]
        } else {
            let done = counted.reduce(0) { $0 + $1.done }
            let jobs = counted.reduce(0) { $0 + $1.progress.totals.jobs }
            segments = ["\(NumberText.grouped(done)) of \(NumberText.grouped(jobs))", "\(percent)%"]
        }
        let bytes = progress.reduce(Int64(0)) { $0 + $1.totals.bytes }
        if bytes > 0 { segments.append(ByteCount.format(bytes)) }
        let rate = progress.reduce(Int64(0)) { $0 + $1.rate }
        if rate > 0 { segments.append(NumberText.rate(rate)) }
        // Batches run concurrently, so the last of them decides.
        if let eta = counted.compactMap(\.progress.eta).max() { segments.append("ETA \(DurationText.clock(eta))") }
        let active = progress.reduce(0) { $0 + $1.active }
        if active > 0 { segments.append("\(NumberText.grouped(active)) active") }
        while segments.count > 1, segments.joined(separator: "   ").count > width { segments.removeLast() }
        return StyledLine(segments.joined(separator: "   "))
    }

    /// Returns a line such as `3 failed 1,204 waiting: cdn.example said 429, asks for 0:42`.
    private func troubleLine(_ now: Int64, _ charset: Charset) -> StyledLine? {
        func sum(_ value: (BatchProgress) -> Int) -> Int { batches.reduce(0) { $0 + value($1.progress) } }
        var line = StyledLine()
        func add(_ count: Int, _ word: String, _ style: StyledLine.Style, _ line: inout StyledLine) {
            guard count > 0 else { return }
            line.append(line.parts.isEmpty ? "" : "   ")
            line.append("\(NumberText.grouped(count)) \(word)", style)
        }
        add(sum(\.totals.failed), "failed", .bad, &line)
        add(sum(\.totals.skipped), "skipped", .warning, &line)
        add(sum(\.totals.cancelled), "cancelled", .warning, &line)
        let waiting = sum(\.waiting)
        let slowest = batches.filter { $0.progress.waitReason != nil && !$0.isFinished }
            .max { $0.progress.waiting < $1.progress.waiting }
        if let slowest, case .network(let reason)? = slowest.progress.waitReason, slowest.progress.active == 0,
            let words = WaitText.offline(reason, for: now - (slowest.offlineSince ?? now))
        {
            line.append(line.parts.isEmpty ? "" : "   ")
            line.append(charset.visible(words), .warning)
            return line
        }
        add(waiting, "waiting", .warning, &line)
        if let slowest, let reason = slowest.progress.waitReason {
            let words = charset.visible(
                WaitText.screen(reason, because: slowest.lastFailure, elapsed: max(0, now - slowest.time)))
            if waiting > 0 {
                line.append(": \(words)")
            } else {
                line.append(line.parts.isEmpty ? "waiting: " : "   waiting: ", .warning)
                line.append(words)
            }
        }
        return line.parts.isEmpty ? nil : line
    }
}
