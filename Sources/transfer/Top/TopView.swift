import TransferCore
import TransferQueue

/// A look at a queue: its batches with work left, and the transfers under way.
struct TopLook: Sendable {
    /// A transfer under way, with the facts that the queue reports.
    struct Transfer: Sendable, Hashable {
        var batch: String
        var job: String
        var completed: Int64
        var total: Int64?
        /// The rate in bytes a second; `nil` where the queue does not report one.
        var rate: Int64?
        var phase = JobProgress.Phase.transferring
        var worker: String?
    }

    /// The time in milliseconds since 1970.
    var time: Int64
    var batches: [BatchStatusRow]
    var transfers: [Transfer]
}

/// The live screen of a queue that other processes work on. It is pure: it takes looks at the queue, and returns frames
/// of the screen that `run` shows.
struct TopView: Sendable {
    private var screen = ProgressScreen()
    private var last: TopLook?
    private var names: [String] = []
    private var rows: [BatchStatusRow] = []

    /// Takes a look at the queue.
    ///
    /// - Parameter isAll: Whether all batches of the queue were asked for; those without work left are then not shown.
    mutating func take(_ look: TopLook, isAll: Bool) {
        let shown = look.batches.filter { !isAll || $0.remaining > 0 || $0.folder != nil || $0.state == "watching" }
        rows = shown.filter { WatchBatch.folder(of: $0.name) != nil }
        let counted = shown.filter { WatchBatch.folder(of: $0.name) == nil }
        // The screen forgets no batch: another set begins another screen.
        if counted.map(\.name) != names {
            names = counted.map(\.name)
            screen = ProgressScreen()
            for row in counted { screen.receive(Self.event(row, .batchStarted(Self.totals(row)), look.time)) }
        }
        screen.forgetJobs()
        for row in counted {
            let kind: QueueEvent.Kind =
                row.remaining == 0
                ? .batchFinished(Self.totals(row), duration: .zero)
                : .batchProgress(progress(of: row, in: look))
            screen.receive(Self.event(row, kind, look.time))
        }
        let isShown = Set(shown.map(\.name))
        for transfer in look.transfers where isShown.contains(transfer.batch) {
            var progress = JobProgress(
                completed: transfer.completed, total: transfer.total, rate: rate(of: transfer, at: look.time),
                phase: transfer.phase)
            progress.worker = transfer.worker
            screen.receive(
                QueueEvent(
                    time: look.time, batch: transfer.batch, kind: .progress(job: transfer.job, progress)))
        }
        last = look
    }

    /// Returns the frame for a screen of this size, with at most `height - 1` lines.
    func frame(now: Int64, width: Int, height: Int, charset: Charset) -> [StyledLine] {
        let names = BatchNames(rows.map(\.name))
        let folders =
            rows.isEmpty ? [] : StatusTable.lines(rows, charset: charset, names: names, width: max(10, width - 2))
        let above = folders.prefix(max(0, min(folders.count, height / 2))).map {
            StyledLine($0).cut(to: max(10, width - 2), charset: charset)
        }
        guard !self.names.isEmpty else {
            let end = rows.isEmpty ? ["no batch has work left; q ends"] : []
            return above + end.map { StyledLine($0) }
        }
        let gap = above.isEmpty ? [] : [StyledLine("")]
        let rest = screen.frame(
            now: now, width: width, height: height - above.count - gap.count, charset: charset)
        return (above + gap + rest).suffix(max(1, height - 1))
    }

    /// Returns the rate of a transfer: the reported one, or that since the last look.
    private func rate(of transfer: TopLook.Transfer, at time: Int64) -> Int64 {
        if let rate = transfer.rate { return rate }
        guard let last, time > last.time,
            let before = last.transfers.first(where: { $0.job == transfer.job && $0.batch == transfer.batch })
        else { return 0 }
        return max(0, transfer.completed - before.completed) * 1_000 / (time - last.time)
    }

    private func progress(of row: BatchStatusRow, in look: TopLook) -> BatchProgress {
        var progress = BatchProgress()
        progress.totals = Self.totals(row)
        progress.waiting = row.waiting
        progress.rate = row.rate ?? 0
        progress.eta = row.eta
        progress.active = look.transfers.count { $0.batch == row.name }
        if let reason = row.waitingFor {
            progress.waitReason = .network(reason)
        } else if row.state == "paused" {
            progress.waitReason = .paused
        } else if let host = row.hosts.first {
            progress.waitReason = .host(
                origin: host.origin, status: host.status, message: host.message, remaining: host.remaining,
                isAsked: false)
        }
        return progress
    }

    private static func totals(_ row: BatchStatusRow) -> BatchTotals {
        var totals = BatchTotals()
        totals.jobs = row.total
        totals.completed = row.done
        totals.failed = row.failed
        totals.skipped = row.skipped
        totals.cancelled = row.cancelled
        return totals
    }

    private static func event(_ row: BatchStatusRow, _ kind: QueueEvent.Kind, _ time: Int64) -> QueueEvent {
        QueueEvent(time: time, batch: row.name, kind: kind)
    }
}
