import TransferCore
import TransferQueue

/// A renderer of events as lines of a log: failures, restarts from zero, and the totals once a minute.
///
/// The log has no line for a success, unless `verbose` is set: cron mails all output of a job.
struct LogRenderer: Sendable {
    /// The amount of output about a current run.
    enum Detail: Sendable {
        /// Everything is reported.
        case all
        /// No totals are reported, and only lasting retries, once each.
        case troubles
        /// A live screen shows the totals and the waits: only permanent lines are made.
        case lasting
    }

    var detail = Detail.all
    /// Whether full disks are reported in any case, as no screen shows them.
    var reportsFullDisks = false
    var verbose = false
    var charset = Charset.utf8

    /// The fate of the jobs after the run, which limits the promises in messages.
    var persistence = RunPersistence.watches

    private static let totalsInterval: Int64 = 60_000
    /// The delay below which a retry is not reported where only lasting ones are.
    private static let shortDelay = Duration.seconds(5)

    private struct Key: Hashable, Sendable {
        var batch: String
        var job: String
    }

    /// The URLs of the current jobs, as a retry event does not contain its host.
    private var urls: [Key: String] = [:]
    private var folding = RetryFolding()
    /// The time of the last report of each batch's totals.
    private var reported: [String: Int64] = [:]
    /// The last reported wait of each batch.
    private var waits: [String: (text: String, time: Int64)] = [:]

    init(_ detail: Detail = .all, verbose: Bool = false, charset: Charset = .utf8) {
        self.detail = detail
        if detail == .troubles { folding.window = RetryFolding.longWindow }
        self.verbose = verbose
        self.charset = charset
    }

    /// The last reported sources of current jobs with several connections.
    private var sources: [Key: [JobSource]] = [:]
    private var lastTime: Int64 = 0
    /// The mark behind the name of the event's job.
    private var mark = ""

    /// Adjusts to a clock that was set back: otherwise the log would be silent for that time.
    private mutating func follow(_ time: Int64) {
        let step = time - lastTime
        lastTime = time
        guard step < 0 else { return }
        reported = reported.mapValues { $0 + step }
        folding.shift(by: step)
    }

    private var isLive: Bool { detail == .lasting }

    /// Returns whether a wait of that length is reported.
    private func tells(_ delay: Duration) -> Bool {
        switch detail {
        case .all: true
        case .troubles: delay >= Self.shortDelay
        case .lasting: false
        }
    }

    private func tells(_ reason: WaitReason) -> Bool {
        switch reason {
        case .host(_, _, _, let remaining, _): tells(remaining)
        case .retry, .dependency, .slot, .paused: detail == .all
        case .disk, .network, .schedule, .clock, .openFiles: !isLive
        }
    }

    /// Returns the lines for an event.
    ///
    /// - Parameter insecure: Whether the certificates of the job's servers are not checked.
    mutating func receive(_ event: QueueEvent, insecure: Bool = false) -> [LogLine] {
        follow(event.time)
        mark = insecure ? InsecureJobs.mark : ""
        var lines = folding.hasDue ? folding.flush(time: event.time, all: false, charset: charset) : []
        render(event, &lines)
        return lines
    }

    /// Notes a job's progress, which makes no line of its own. Its sources appear in the line of a batch with one
    /// transfer.
    mutating func note(_ event: QueueEvent) {
        guard case .progress(let job, let progress) = event.kind, !isLive else { return }
        let key = Key(batch: event.batch, job: job)
        if !progress.sources.isEmpty || sources[key] != nil { sources[key] = progress.sources }
    }

    private mutating func render(_ event: QueueEvent, _ lines: inout [LogLine]) {
        func add(_ level: LogLine.Level, _ text: String) {
            lines.append(LogLine(level: level, time: event.time, text: charset.visible(text)))
        }
        if !sources.isEmpty, event.kind.isEnd, let job = event.kind.job {
            sources[Key(batch: event.batch, job: job)] = nil
        }
        if folding.hasSleepers, let job = event.kind.endsWaitOf {
            folding.woke(batch: event.batch, job: name(job, event))
        }
        switch event.kind {
        case .batchStarted(let totals):
            // A watched folder's batch has no end towards which its jobs could be counted.
            guard WatchBatch.folder(of: event.batch) == nil else { return }
            reported[event.batch] = event.time
            if detail == .all { add(.info, Self.header(event.batch, totals)) }
        case .batchProgress(let progress): lines += self.progress(progress, event)
        case .batchWaiting(let reason, let transfers):
            if tells(reason) { lines += waiting(reason, transfers, event) }
        case .batchContinues(let links, let after, let transfers):
            let wasReported = waits.removeValue(forKey: event.batch) != nil
            guard detail == .all || detail == .troubles && wasReported else { return }
            let by = links.isEmpty ? "" : " by \(links.joined(separator: ", "))"
            let number =
                transfers > 0 ? ", \(NumberText.count(transfers, "transfer")) continue\(transfers == 1 ? "s" : "")" : ""
            add(.info, prefix(event) + "online\(by) after \(WaitText.time(after))\(number)")
        case .batchFinished:
            if !isLive { lines += folding.flush(time: event.time, all: true, charset: charset) }
            folding.ended(batch: event.batch)
            reported[event.batch] = nil
            waits[event.batch] = nil
            urls = urls.filter { $0.key.batch != event.batch }
        case .commanded(let verb, let job):
            let batch = WatchBatch.folder(of: event.batch) ?? event.batch
            add(.info, "\(job.map { name($0, event) } ?? batch): \(Self.past(verb))")
        case .started(let job, let start):
            if let adopted = start.adopted { add(.info, Self.adoption(name(job, event), adopted)) }
            if !isLive { urls[Key(batch: event.batch, job: job)] = start.url }
        case .retrying(let job, let delay, let error):
            guard tells(delay) else { return }
            let host = urls.removeValue(forKey: Key(batch: event.batch, job: job)).flatMap {
                Origin(anyURL: $0)?.hostAndPort
            }
            folding.add(
                batch: event.batch, job: name(job, event), host: error.failedHost ?? host ?? "", delay: delay,
                error: error,
                time: event.time)
        case .authorized(let job, let use):
            add(.info, "\(name(job, event)): redirected to \(use.url), which gets \(use.machine)'s entry of .netrc")
        case .congestion(let job, let use): add(.warn, "\(name(job, event)): sent by \(use.words)")
        case .source(let job, let source):
            if verbose { add(.info, "\(name(job, event)): \(SourceText.change(source))") }
        case .restarted(let job, let reason): add(.warn, "\(name(job, event)): from 0 again, \(reason)")
        case .failed(let failure):
            lines += settled(failure.job, event)
            urls[Key(batch: event.batch, job: failure.job)] = nil
            add(.error, FailureText.line(failure, name: name(failure.job, event), persistence: persistence))
        case .finished(let receipt):
            if verbose { lines += settled(receipt.job, event) }
            urls[Key(batch: event.batch, job: receipt.job)] = nil
            if verbose { add(.info, Self.success(receipt, name(receipt.job, event))) }
            if receipt.isLengthUnproven { add(.warn, Self.openEnd(name(receipt.job, event))) }
            if let unproven = receipt.unproven { add(.warn, Self.doubt(name(receipt.job, event), unproven)) }
        case .kept(let receipt):
            if verbose { add(.info, "\(name(receipt.job, event)): kept, complete before") }
        case .skipped(let job, let need):
            urls[Key(batch: event.batch, job: job)] = nil
            add(.warn, "\(name(job, event)): skipped, it needs \(need), which did not complete")
        case .cancelled(let job):
            urls[Key(batch: event.batch, job: job)] = nil
            if verbose { add(.info, "\(name(job, event)): cancelled") }
        case .dropped(let job):
            urls[Key(batch: event.batch, job: job)] = nil
            if verbose { add(.info, "\(name(job, event)): not uploaded, the file is gone or has changed since") }
        case .waiting(let job, .disk(let message, let remaining, let patience)):
            urls[Key(batch: event.batch, job: job)] = nil
            guard !isLive || reportsFullDisks else { return }
            folding.add(
                batch: event.batch, job: name(job, event), host: "", delay: remaining,
                error: TransferError(.diskFull, message), patience: patience, time: event.time)
        case .waiting(let job, let reason):
            urls[Key(batch: event.batch, job: job)] = nil
            if verbose, detail == .all { add(.info, "\(name(job, event)): waiting: \(WaitText.log(reason))") }
        case .hook(let news):
            let subject = news.job.map { name($0, event) } ?? event.batch
            if let (level, text) = HookText.line(news, of: subject, persistence: persistence),
                level != .info || verbose
            {
                add(level, text)
            }
        case .progress: break
        }
    }

    private static func past(_ verb: QueueVerb) -> String {
        switch verb {
        case .pause: "paused on request"
        case .resume: "resumed on request"
        case .cancel: "cancelled on request"
        case .retry, .retryFailed: "retried on request"
        }
    }

    /// Returns the remaining lines when the process ends.
    mutating func finish(time: Int64) -> [LogLine] { folding.flush(time: time, all: true, charset: charset) }

    private mutating func progress(_ progress: BatchProgress, _ event: QueueEvent) -> [LogLine] {
        guard !isLive else { return [] }
        if let reason = progress.waitReason, tells(reason) {
            let waiting = progress.waitingForReason ?? progress.waiting
            folding.pause(batch: event.batch, reason: reason, waiting: waiting, time: event.time)
        }
        var lines = folding.flush(time: event.time, all: true, charset: charset)
        guard detail == .all, WatchBatch.folder(of: event.batch) == nil else { return lines }
        // Progress comes about once a second; a tolerance of half a second keeps the lines at the full minutes.
        guard event.time - (reported[event.batch] ?? 0) >= Self.totalsInterval - 500 else { return lines }
        reported[event.batch] = event.time
        let text = prefix(event) + Self.totals(progress) + from(event.batch, progress)
        lines.append(LogLine(level: .info, time: event.time, text: charset.visible(text)))
        return lines
    }

    /// Returns a text such as ` from a.example x4, b.example x2`.
    private func from(_ batch: String, _ progress: BatchProgress) -> String {
        guard progress.active == 1, let reported = sources.first(where: { $0.key.batch == batch })?.value else {
            return ""
        }
        let hosts = SourceText.row(reported, width: 48, charset: charset)
        return hosts.isEmpty ? "" : " from \(hosts)"
    }

    private mutating func settled(_ job: String, _ event: QueueEvent) -> [LogLine] {
        folding.settle(batch: event.batch, job: name(job, event), time: event.time, charset: charset)
    }

    /// Returns the job's name; for a watched folder's jobs the file's path.
    private func name(_ job: String, _ event: QueueEvent) -> String {
        (WatchBatch.folder(of: event.batch).map { "\($0)/\(WatchedFolder.path(ofJob: job))" } ?? job) + mark
    }

    /// Returns the batch's name, where there are several.
    private func prefix(_ event: QueueEvent) -> String {
        if let folder = WatchBatch.folder(of: event.batch) { return "\(folder): " }
        return reported.count > 1 ? "\(event.batch): " : ""
    }

    private mutating func waiting(_ reason: WaitReason, _ transfers: Int, _ event: QueueEvent) -> [LogLine] {
        if case .host = reason {
            folding.pause(batch: event.batch, reason: reason, waiting: 0, time: event.time)
            return folding.flush(time: event.time, all: true, charset: charset)
        }
        let text = WaitText.log(reason)
        if let last = waits[event.batch], last.text == text, event.time - last.time < folding.window { return [] }
        waits[event.batch] = (text, event.time)
        let line: String
        if case .network = reason {
            line = prefix(event) + (text.hasPrefix("offline") ? text : "waiting: \(text)")
        } else {
            line = "\(WatchBatch.folder(of: event.batch) ?? event.batch): waiting: \(text)"
        }
        let number = transfers > 0 ? ", \(NumberText.count(transfers, "transfer")) paused" : ""
        return [LogLine(level: .warn, time: event.time, text: charset.visible(line + number))]
    }

    private static func header(_ batch: String, _ totals: BatchTotals) -> String {
        let jobs = NumberText.count(totals.jobs, "job")
        guard totals.kept > 0 else { return "\(batch): \(jobs)" }
        return
            "\(batch): \(jobs), \(NumberText.grouped(totals.kept)) done, \(NumberText.grouped(totals.remaining)) to do"
    }

    private static func totals(_ progress: BatchProgress) -> String {
        let totals = progress.totals
        var words = ["\(NumberText.grouped(totals.kept + totals.completed))/\(NumberText.grouped(totals.jobs))"]
        words += [ByteCount.format(totals.bytes), NumberText.rate(progress.rate)]
        if totals.failed > 0 { words.append("failed \(NumberText.grouped(totals.failed))") }
        if let eta = progress.eta { words.append("ETA \(NumberText.estimate(eta))") }
        return words.joined(separator: " ")
    }

    private static func adoption(_ job: String, _ adopted: AdoptedBytes) -> String {
        "\(job): adopted \(ByteCount.format(adopted.count)) of \(adopted.path)"
    }

    private static func doubt(_ job: String, _ unproven: Int64) -> String {
        "\(job): nothing proves its first \(ByteCount.format(unproven)), which another tool had fetched"
    }

    private static func openEnd(_ job: String) -> String {
        "\(job): complete, length unproven: the server reported none, and the connection's end may have cut the file"
    }

    private static func success(_ receipt: JobReceipt, _ name: String) -> String {
        let time = DurationText.words(.milliseconds(Int64(receipt.seconds * 1000)))
        let moved = ByteCount.format(receipt.transferred)
        let rest: String
        if let coding = receipt.contentCoding {
            rest = ", compressed as \(moved) (\(coding))"
        } else {
            // The time of a continued file covers only the rest of it.
            rest = receipt.transferred > 0 && receipt.transferred < receipt.bytes ? ", \(moved) of it now" : ""
        }
        let verified = receipt.digest.map { ", \($0.algorithm.rawValue) verified" } ?? ""
        return
            "\(name): \(receipt.isUpload ? "sent" : "fetched") \(ByteCount.format(receipt.bytes)) in \(time)\(rest), "
            + "\(NumberText.rate(Int64(receipt.rate)))\(verified)"
    }
}
