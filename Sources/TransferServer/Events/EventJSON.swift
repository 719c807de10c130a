import TransferQueue

/// Events with the words of the command's `--json`.
enum EventJSON {
    /// The frame of an event; `nil` for one that streams aren't told.
    static func frame(_ event: QueueEvent) -> EventFeed.Frame? {
        guard let name = name(event.kind) else { return nil }
        let data = CanonicalWriter.bytes { writer in
            writer.member("event", name)
            writer.member("time", time: event.time)
            writer.member("batch", event.batch)
            writer.member("id", job(event.kind))
            members(event, &writer)
            writer.member("cursor", event.cursor.map { String($0) })
        }
        return EventFeed.Frame(cursor: event.cursor, name: name, batch: event.batch, data: data)
    }

    static func isEnd(_ kind: QueueEvent.Kind) -> Bool {
        switch kind {
        case .finished, .failed, .skipped, .cancelled, .dropped: true
        // Complete before this run: nothing has changed.
        default: false
        }
    }

    static func name(_ kind: QueueEvent.Kind) -> String? {
        switch kind {
        case .batchStarted: "batch.started"
        case .batchProgress: "batch.progress"
        case .batchWaiting: "batch.waiting"
        case .batchContinues: "batch.continues"
        case .batchFinished: "batch.finished"
        case .commanded: "batch.commanded"
        case .started: "job.started"
        case .retrying: "job.retrying"
        case .restarted: "job.restarted"
        case .waiting: "job.waiting"
        case .finished: "job.finished"
        case .skipped: "job.skipped"
        case .cancelled: "job.cancelled"
        case .dropped: "job.dropped"
        case .failed: "job.failed"
        // Coalesced elsewhere, or of no change.
        case .progress, .source, .authorized, .kept, .hook: nil
        }
    }

    private static func job(_ kind: QueueEvent.Kind) -> String? {
        switch kind {
        case .commanded(_, let job): job
        case .started(let job, _), .retrying(let job, _, _), .restarted(let job, _), .waiting(let job, _),
            .skipped(let job, _), .cancelled(let job), .dropped(let job):
            job
        case .finished(let receipt): receipt.job
        case .failed(let failure): failure.job
        default: nil
        }
    }

    private static func members(_ event: QueueEvent, _ writer: inout CanonicalWriter) {
        switch event.kind {
        case .batchStarted(let totals), .batchFinished(let totals, _): write(totals, &writer)
        case .batchProgress(let progress):
            write(progress.totals, &writer)
            writer.member("active", progress.active)
            writer.member("waiting", progress.waiting)
            writer.member("rate", progress.rate)
            writer.member("eta", progress.eta)
            if let reason = progress.waitReason { WaitJSON.write(&writer, reason) }
        case .batchWaiting(let reason, _), .waiting(_, let reason): WaitJSON.write(&writer, reason)
        case .batchContinues(let links, let after, _):
            writer.member("links", links)
            writer.member("seconds", after)
        case .commanded(let verb, _): writer.member("verb", verb.rawValue)
        case .started(_, let start):
            writer.member("direction", start.isUpload ? "upload" : "download")
            writer.member("url", JobJSON.shown(start.url, false))
            writer.member("offset", start.offset)
            writer.member("attempt", start.attempt)
        case .retrying(_, let delay, let error):
            writer.member("delay", delay)
            writer.member("reason", error.message)
            writer.member("code", error.code.rawValue)
            writer.member("status", error.status)
        case .restarted(_, let reason): writer.member("reason", reason)
        case .finished(let receipt): ReceiptJSON.write(&writer, receipt, isOwner: false)
        case .skipped(_, let need): writer.member("need", need)
        case .failed(let failure):
            writer.member("code", failure.error.code.rawValue)
            writer.member("message", failure.error.message)
            writer.member("status", failure.error.status)
            writer.member("host", failure.host)
            writer.member("attempts", failure.attempts)
        default: break
        }
    }

    private static func write(_ totals: BatchTotals, _ writer: inout CanonicalWriter) {
        writer.member("jobs", totals.jobs)
        writer.member("kept", totals.kept)
        writer.member("completed", totals.completed)
        writer.member("failed", totals.failed)
        writer.member("skipped", totals.skipped)
        writer.member("cancelled", totals.cancelled)
        writer.member("remaining", totals.remaining)
        writer.member("bytes", totals.bytes)
    }
}
