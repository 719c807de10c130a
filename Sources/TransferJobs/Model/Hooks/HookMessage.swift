import TransferCore

/// The message for a hook, as JSON: the same for a command's standard input and for a webhook's body.
///
/// Every message has `event`, `id` (the same in every attempt), `time` (RFC 3339, UTC), `batch` and `state`. A message
/// about a batch has its counts, `bytes` and `seconds`. URLs contain no secrets.
///
/// A message about a job has `job`, and further keys where their values are known. They have the meanings of `--json`:
/// `direction`, `url`, `to`, `finalUrl`, `path`, `bytes`, `seconds`, `digest`, `validator`, `status`, `attempts`,
/// `code`, `message`, `host`, `again` and `need`.
package enum HookMessage {
    /// Returns a new `id`.
    package static func newID() -> String {
        var random = SystemRandomNumberGenerator()
        let digits = (0..<2).map { _ in
            let text = String(random.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }
        return "evt_" + digits.joined()
    }

    /// Returns the message about a job's end.
    ///
    /// - Parameters:
    ///   - event: The event, as readers of ends receive it.
    ///   - isKept: Whether the job was found to be complete, so that nothing was transferred.
    package static func job(_ event: QueueEvent, id: String, isKept: Bool = false) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            switch event.kind {
            case .finished(let receipt), .kept(let receipt):
                begin(&writer, "job", isKept ? "kept" : "finished", id, event, job: receipt.job)
                write(&writer, receipt)
            case .failed(let failure):
                begin(&writer, "job", "failed", id, event, job: failure.job)
                write(&writer, failure)
            case .skipped(let job, let need):
                begin(&writer, "job", "skipped", id, event, job: job)
                writer.field("need", need)
            case .cancelled(let job): begin(&writer, "job", "cancelled", id, event, job: job)
            default: break
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Returns the message about a batch's end.
    ///
    /// - Parameter time: The time of the end, in milliseconds since 1970.
    package static func batch(_ name: String, _ end: BatchEnd, id: String, time: Int64) -> String {
        let totals = end.totals
        var writer = JSONWriter()
        writer.object { writer in
            let event = QueueEvent(time: time, batch: name, kind: .batchFinished(totals, duration: end.duration))
            begin(&writer, "batch", totals.isComplete ? "complete" : "failed", id, event, job: nil)
            writer.field("jobs", totals.jobs)
            writer.field("kept", totals.kept)
            writer.field("completed", totals.completed)
            writer.field("failed", totals.failed)
            writer.field("skipped", totals.skipped)
            writer.field("cancelled", totals.cancelled)
            writer.field("bytes", Int(totals.bytes))
            writer.field("seconds", end.duration.roundedToMilliseconds)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func begin(
        _ writer: inout JSONWriter, _ what: String, _ state: String, _ id: String, _ event: QueueEvent,
        job: String?
    ) {
        writer.field("event", what == "batch" ? "batch.finished" : "job.\(state)")
        writer.field("id", id)
        writer.field("time", TimeStamp.text(event.time))
        writer.field("batch", event.batch)
        writer.optional("job", job)
        writer.field("state", state)
    }

    private static func write(_ writer: inout JSONWriter, _ receipt: JobReceipt) {
        writer.field("direction", receipt.isUpload ? "upload" : "download")
        writer.optional("url", receipt.route?.url)
        writer.optional("to", receipt.route?.to)
        writer.field("finalUrl", receipt.finalURL)
        writer.field("path", receipt.path)
        writer.field("bytes", Int(receipt.bytes))
        writer.field("seconds", Duration.milliseconds(Int64(min(max(0, receipt.seconds), 1e9) * 1000)))
        writer.optional("digest", receipt.digest?.description)
        writer.optional("validator", receipt.validator)
        if receipt.status != 0 { writer.field("status", receipt.status) }
        writer.field("attempts", receipt.attempts)
    }

    private static func write(_ writer: inout JSONWriter, _ failure: JobFailure) {
        if let route = failure.route {
            if let job = route.job { writer.field("direction", job.isUpload ? "upload" : "download") }
            writer.field("url", route.url)
            writer.field("to", route.to)
        }
        writer.field("code", failure.error.code.rawValue)
        writer.field("message", failure.error.message)
        writer.optional("status", failure.error.status)
        writer.optional("host", failure.host)
        writer.optional("finalUrl", failure.finalURL)
        writer.field("attempts", failure.attempts)
        writer.optional("again", failure.again?.roundedToMilliseconds)
    }
}

/// The end of a batch's run, with data that only the process that ran it knows.
package struct BatchEnd: Sendable, Hashable {
    package let totals: BatchTotals
    package let duration: Duration

    package init(_ totals: BatchTotals, duration: Duration) {
        self.totals = totals
        self.duration = duration
    }
}

extension BatchTotals {
    /// Whether every job has succeeded.
    package var isComplete: Bool { failed + skipped + cancelled == 0 }
}

extension JSONWriter {
    fileprivate mutating func field(_ name: String, _ value: some JSONWritable) {
        key(name)
        value.write(to: &self)
    }

    fileprivate mutating func optional(_ name: String, _ value: (some JSONWritable)?) {
        if let value { field(name, value) }
    }
}

extension Duration {
    fileprivate var roundedToMilliseconds: Duration {
        let (seconds, attoseconds) = max(.zero, self).components
        return .milliseconds(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
