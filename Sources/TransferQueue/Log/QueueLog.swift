import Logging
import TransferCore
import TransferJobs

/// A log of the queue's events in a program's logger. It contains only what events contain, which is redacted.
///
/// | level | events |
/// | --- | --- |
/// | `warning` | a job failed for good, or was skipped because another one failed; a hook could not be reached |
/// | `notice` | a batch waits (for a host, the network, the disk …) or continues; bytes were given up |
/// | `info` | a batch began or ended; a user steered it; an attempt failed and another follows |
/// | `debug` | a job began, waits, ended well or was dropped |
///
/// A failure of the database is an `error`, which the run itself logs. Progress is not logged.
struct QueueLog: Sendable {
    struct Entry: Sendable {
        let level: Logger.Level
        let message: String
        var metadata: Logger.Metadata = [:]
    }

    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    /// Whether the logger's level lets any entry through.
    var isWanted: Bool { logger.logLevel <= .warning }

    func tell(_ event: QueueEvent) {
        guard let entry = Self.entry(event), entry.level >= logger.logLevel else { return }
        logger.log(level: entry.level, "\(entry.message)", metadata: entry.metadata, source: "TransferQueue")
    }

    /// Returns the entry of an event; `nil` for an event that is not logged.
    static func entry(_ event: QueueEvent) -> Entry? {
        guard var entry = reported(event.kind) else { return nil }
        entry.metadata["batch"] = "\(event.batch)"
        return entry
    }

    private static func reported(_ kind: QueueEvent.Kind) -> Entry? {
        switch kind {
        case .progress, .batchProgress: nil
        case .batchStarted(let totals):
            Entry(level: .info, message: "batch started", metadata: ["jobs": "\(totals.jobs)"])
        case .batchFinished(let totals, let duration): finished(totals, duration)
        case .batchWaiting(let reason, let transfers):
            Entry(
                level: .notice, message: "batch waits\(reason.logText.map { ": \($0)" } ?? "")",
                metadata: ["reason": "\(reason.metricLabel)", "transfers": "\(transfers)"])
        case .batchContinues(let links, let after, _):
            Entry(
                level: .notice, message: "batch continues",
                metadata: ["links": .array(links.map { "\($0)" }), "after": "\(DurationText.words(after))"])
        case .commanded(let verb, let job): entry(.info, "asked: \(verb.rawValue)", job)
        case .started(let job, let start): started(job, start)
        case .retrying(let job, let delay, let error):
            with(
                error, entry(.info, "job is tried again: \(error.message)", job),
                ["after": "\(DurationText.words(delay))"])
        case .restarted(let job, let reason): entry(.notice, "job begins anew: \(reason)", job)
        case .source(let job, let source):
            entry(
                .info, "source is \(source.state.rawValue)\(source.fault.map { ": \($0.message)" } ?? "")", job,
                ["url": "\(source.url)"])
        case .authorized(let job, _): entry(.debug, "an entry of .netrc is used", job)
        case .congestion(let job, let use): entry(.notice, "uploads are sent by \(use.words)", job)
        case .waiting(let job, let reason):
            entry(
                .debug, "job waits\(reason.logText.map { ": \($0)" } ?? "")", job, ["reason": "\(reason.metricLabel)"])
        case .finished(let receipt): ended(receipt, "job finished")
        case .kept(let receipt): ended(receipt, "job was complete before")
        case .skipped(let job, let need): entry(.warning, "job skipped: it needs \(need)", job)
        case .cancelled(let job): entry(.info, "job cancelled", job)
        case .dropped(let job): entry(.debug, "job dropped: the file is gone, or is another version", job)
        case .failed(let failure): failed(failure)
        case .hook(let news): hook(news)
        }
    }

    // MARK: Entries

    private static func entry(
        _ level: Logger.Level, _ message: String, _ job: String?, _ more: Logger.Metadata = [:]
    ) -> Entry {
        var metadata = more
        if let job { metadata["job"] = "\(job)" }
        return Entry(level: level, message: message, metadata: metadata)
    }

    private static func with(_ error: TransferError, _ entry: Entry, _ more: Logger.Metadata = [:]) -> Entry {
        var entry = entry
        entry.metadata.merge(more) { $1 }
        entry.metadata["code"] = "\(error.code.rawValue)"
        if let status = error.status { entry.metadata["status"] = "\(status)" }
        return entry
    }

    private static func started(_ job: String, _ start: JobStart) -> Entry {
        entry(
            .debug, "job started", job,
            [
                "direction": start.isUpload ? "upload" : "download", "url": "\(start.url)", "offset": "\(start.offset)",
                "attempt": "\(start.attempt)",
            ])
    }

    private static func ended(_ receipt: JobReceipt, _ message: String) -> Entry {
        entry(
            .debug, message, receipt.job,
            [
                "direction": receipt.isUpload ? "upload" : "download", "url": "\(receipt.finalURL)",
                "bytes": "\(receipt.bytes)", "seconds": "\(receipt.seconds)", "attempts": "\(receipt.attempts)",
            ])
    }

    private static func failed(_ failure: JobFailure) -> Entry {
        var more: Logger.Metadata = ["attempts": "\(failure.attempts)"]
        if let host = failure.host { more["host"] = "\(host)" }
        if let url = failure.finalURL { more["url"] = "\(url)" }
        return with(failure.error, entry(.warning, "job failed: \(failure.error.message)", failure.job), more)
    }

    private static func finished(_ totals: BatchTotals, _ duration: Duration) -> Entry {
        Entry(
            level: .info, message: "batch finished",
            metadata: [
                "jobs": "\(totals.jobs)", "completed": "\(totals.completed)", "kept": "\(totals.kept)",
                "failed": "\(totals.failed)", "skipped": "\(totals.skipped)", "cancelled": "\(totals.cancelled)",
                "bytes": "\(totals.bytes)", "after": "\(DurationText.words(duration))",
            ])
    }

    private static func hook(_ news: HookNews) -> Entry {
        let more: Logger.Metadata = ["hook": "\(news.hook)", "attempts": "\(news.attempts)"]
        return switch news.state {
        case .reported: entry(.debug, "hook was called", news.job, more)
        case .retrying(_, let error):
            with(error, entry(.info, "hook is called again: \(error.message)", news.job), more)
        case .failed(let error):
            with(error, entry(.warning, "hook could not be called: \(error.message)", news.job), more)
        }
    }
}

extension WaitReason {
    /// The details of the wait, if there are more than the reason's name.
    fileprivate var logText: String? {
        switch self {
        case .host(let origin, _, let message, _, _): "\(origin): \(message)"
        case .disk(let text, _, _), .schedule(let text), .clock(let text), .openFiles(let text), .network(let text):
            text
        case .dependency(let job): job
        case .retry, .slot, .paused: nil
        }
    }
}
