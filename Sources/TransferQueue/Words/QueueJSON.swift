import TransferCore
import TransferJobs
import TransferStore

/// The JSON form of the queue's events and their parts: the command's output, one object per line, and the service's
/// answers.
///
/// Ends of jobs have `url` (the first source of a download) and `to` (the job's destination or upload URL). If a server
/// was asked, they also have `finalURL`, the URL that was requested last, after redirects. URLs have no secrets. Events
/// of jobs whose servers' certificates are not checked have `"insecure": true`.
///
/// Every line has `event`, `time` (RFC 3339, UTC, milliseconds) and `batch`; those about a job have `id`. Ends of jobs
/// have `cursor` if the queue gave one. Sizes are bytes, rates bytes per second, and durations seconds with up to three
/// decimals. An unknown field is left out.
///
/// | `event`          | further fields                                                                        |
/// |------------------|---------------------------------------------------------------------------------------|
/// | `batch.started`  | *totals*: `jobs` `kept` `completed` `failed` `skipped` `cancelled` `remaining` `bytes`  |
/// | `batch.progress` | *totals*, `active` `waiting` `rate` `eta`, and *wait* if jobs wait                     |
/// | `batch.waiting`  | *wait*, and `transfers` if the network stopped some                                     |
/// | `batch.continues`| `links` (a list) `seconds` `transfers`                                                |
/// | `batch.finished` | *totals*, `seconds`                                                                   |
/// | `batch.commanded`| `verb` (`pause` `resume` `cancel` `retry` `retryFailed`), and `id` for one job's  |
/// | `job.started`    | `direction` (`download`, `upload`) `url` `offset` `attempt` `adopted`                   |
/// | `job.progress`   | `completed` `total` `rate` `phase` `worker`, and `connections` and *sources* (see below)  |
/// | `job.retrying`   | `delay` `reason` `code` `status`, and `host` if a proxy failed                         |
/// | `job.restarted`  | `reason`                                                                              |
/// | `job.source`     | *source*: no longer asked (`dropped`), not for now (`paused`), or asked again (`used`)  |
/// | `job.authorized` | `by` (`netrc`) `machine` `url`: a server behind a redirect got its entry of `~/.netrc`  |
/// | `job.waiting`    | *wait*                                                                                |
/// | `job.finished`   | *receipt*                                                                             |
/// | `job.kept`       | *receipt*                                                                             |
/// | `job.skipped`    | `need`                                                                                |
/// | `job.cancelled`  |                                                                                       |
/// | `job.dropped`    |                                                                                       |
/// | `job.failed`     | `code` `message` `status` `host` `finalURL` `attempts` `again`, and *sources*            |
/// | `hook.reported`      | `hook` `eventId` `attempts`: a hook (`onFinish`) got its message; `id` if it is a job's   |
/// | `hook.retrying`  | `hook` `eventId` `attempts` `delay` `reason` `code` `status`                            |
/// | `hook.failed`    | `hook` `eventId` `attempts` `code` `message` `status`: no attempt follows in this run   |
///
/// `phase` is `connecting`, `transferring`, `verifying` or `saving`; `worker` is present if one has the job.
///
/// *receipt* is `direction` `bytes` `transferred` `seconds` `rate` `digest` `unproven` `lengthUnproven` `validator`
/// `finalURL` `path` `status` `response` `attempts` `proofs`, and *sources*.
///
/// *sources* is present with several connections or URLs: `sources`, a list of *source*. A *source* has `url` (as in
/// the job, without secrets), `host`, `connections` (present; at the end the highest number), and `bytes` (sent in this
/// run). It also has `rate` (of all its connections) and `state` (`used` `paused` `dropped`). An unused source has
/// `cause` (`refused` `otherLength` `otherVersion` `wrongBytes` `slow` `silent` `failed`) and `reason` in words. It has
/// `again` (seconds) if the time of the next request is known.
///
/// *wait* is `for` (`host` `retry` `dependency` `slot` `schedule` `clock` `openFiles` `disk` `network` `paused`). A
/// host has `delay`, `origin`, `status` and `reason`; a retry has `delay`; a dependency has `need`. A disk has `delay`
/// (until the next try) and `reason`; `schedule`, `clock`, `openFiles` and `network` have `reason`.
package enum QueueJSON {
    /// Appends the event and a line feed.
    ///
    /// - Parameter insecure: Whether the certificates of the job's servers are not checked.
    package static func append(_ event: QueueEvent, insecure: Bool = false, to bytes: inout [UInt8]) {
        // The buffer is moved out and in again, so that it is not copied.
        var object = JSONObject(appendingTo: take(&bytes))
        members(of: event, insecure: insecure, to: &object)
        object.optional("cursor", event.cursor)
        bytes = object.end()
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Writes all fields but the cursor, which some clients cannot use as a number.
    ///
    /// - Parameter shown: A function that returns the form of a URL for this output.
    package static func members(
        of event: QueueEvent, insecure: Bool = false, to object: inout JSONObject,
        shown: (String) -> String = { $0 }
    ) {
        object.field("event", event.kind.name)
        object.field("time", time: event.time)
        object.field("batch", event.batch)
        object.optional("id", event.kind.job)
        if event.kind.isEnd, let places = event.places {
            object.field("url", shown(places.url))
            object.field("to", shown(places.to))
        }
        if insecure { object.field("insecure", true) }
        fields(event.kind, &object, shown)
    }

    package static func line(_ event: QueueEvent) -> String {
        var bytes: [UInt8] = []
        append(event, to: &bytes)
        return String(decoding: bytes.dropLast(), as: UTF8.self)
    }

    private static func take(_ bytes: inout [UInt8]) -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        return taken
    }

    private static func fields(
        _ kind: QueueEvent.Kind, _ object: inout JSONObject, _ shown: (String) -> String
    ) {
        switch kind {
        case .batchStarted(let totals): self.totals(totals, &object)
        case .batchProgress(let progress):
            totals(progress.totals, &object)
            object.field("active", progress.active)
            object.field("waiting", progress.waiting)
            object.field("rate", progress.rate)
            object.optional("eta", progress.eta)
            if let reason = progress.waitReason { wait(reason, &object) }
        case .batchWaiting(let reason, let transfers):
            wait(reason, &object)
            if transfers > 0 { object.field("transfers", transfers) }
        case .waiting(_, let reason): wait(reason, &object)
        case .batchContinues(let links, let after, let transfers):
            object.strings("links", links)
            object.field("seconds", after)
            object.field("transfers", transfers)
        case .batchFinished(let totals, let duration):
            self.totals(totals, &object)
            object.field("seconds", duration)
        case .commanded(let verb, _): object.field("verb", verb.rawValue)
        case .started(_, let start):
            object.field("direction", direction(start.isUpload))
            object.field("url", shown(start.url))
            object.field("offset", start.offset)
            object.field("attempt", start.attempt)
            object.optional("adopted", start.adopted?.path)
        case .progress(_, let progress):
            object.field("completed", progress.completed)
            object.optional("total", progress.total)
            object.field("rate", progress.rate)
            object.field("phase", progress.phase.rawValue)
            object.optional("worker", progress.worker)
            if !progress.sources.isEmpty { object.field("connections", progress.connections) }
            sources(progress.sources, &object, shown: shown)
        case .retrying(_, let delay, let error):
            object.field("delay", delay)
            object.field("reason", error.message)
            object.field("code", error.code.rawValue)
            object.optional("status", error.status)
            object.optional("host", error.failedHost)
        case .restarted(_, let reason): object.field("reason", reason)
        case .source(_, let source): self.source(source, &object, shown)
        case .authorized(_, let use):
            object.field("by", "netrc")
            object.field("machine", use.machine)
            object.field("url", shown(use.url))
        case .congestion(_, let use):
            object.field("congestion", use.name)
            object.field("reason", use.words)
        case .finished(let receipt), .kept(let receipt): self.receipt(receipt, &object, shown: shown)
        case .skipped(_, let need): object.field("need", need)
        case .cancelled, .dropped: break
        case .failed(let failure):
            object.field("code", failure.error.code.rawValue)
            object.field("message", failure.error.message)
            object.optional("status", failure.error.status)
            object.optional("host", failure.host)
            object.optional("finalURL", failure.finalURL.map(shown))
            object.field("attempts", failure.attempts)
            if let again = failure.again { object.field("again", again) }
            sources(failure.sources, &object, shown: shown)
        case .hook(let news): hook(news, &object)
        }
    }

    private static func hook(_ news: HookNews, _ object: inout JSONObject) {
        object.field("hook", news.hook)
        object.field("eventId", news.event)
        object.field("attempts", news.attempts)
        switch news.state {
        case .reported: break
        case .retrying(let delay, let error):
            object.field("delay", delay)
            object.field("reason", error.message)
            object.field("code", error.code.rawValue)
            object.optional("status", error.status)
        case .failed(let error):
            object.field("code", error.code.rawValue)
            object.field("message", error.message)
            object.optional("status", error.status)
        }
    }

    private static func totals(_ totals: BatchTotals, _ object: inout JSONObject) {
        object.field("jobs", totals.jobs)
        object.field("kept", totals.kept)
        object.field("completed", totals.completed)
        object.field("failed", totals.failed)
        object.field("skipped", totals.skipped)
        object.field("cancelled", totals.cancelled)
        object.field("remaining", totals.remaining)
        object.field("bytes", totals.bytes)
    }

    /// Writes a receipt.
    ///
    /// - Parameter shown: A function that returns the form of a URL for this output.
    package static func receipt(
        _ receipt: JobReceipt, _ object: inout JSONObject, shown: (String) -> String = { $0 }
    ) {
        object.field("direction", direction(receipt.isUpload))
        object.field("bytes", receipt.bytes)
        object.field("transferred", receipt.transferred)
        object.field("seconds", Duration(declaredSeconds: receipt.seconds))
        object.field("rate", receipt.rate.isFinite ? Int64(min(max(0, receipt.rate), 9e18)) : 0)
        object.optional("digest", receipt.digest?.description)
        object.optional("unproven", receipt.unproven)
        if receipt.isLengthUnproven { object.field("lengthUnproven", true) }
        object.optional("validator", receipt.validator)
        object.field("finalURL", shown(receipt.finalURL))
        object.field("path", receipt.path)
        object.field("status", receipt.status)
        object.optional("response", receipt.response)
        object.field("attempts", receipt.attempts)
        if !receipt.proofs.isEmpty { object.strings("proofs", receipt.proofs.map(\.rawValue)) }
        sources(receipt.sources, &object, shown: shown)
    }

    /// Writes the sources of a download with several connections or URLs.
    package static func sources(
        _ sources: [JobSource], _ object: inout JSONObject, shown: (String) -> String = { $0 }
    ) {
        guard !sources.isEmpty else { return }
        object.objects("sources", sources) { source($1, &$0, shown) }
    }

    private static func source(_ source: JobSource, _ object: inout JSONObject, _ shown: (String) -> String) {
        object.field("url", shown(source.url))
        object.optional("host", Origin(anyURL: source.url)?.hostAndPort)
        object.field("connections", source.connections)
        object.field("bytes", source.bytes)
        object.optional("rate", source.rate)
        object.field("state", source.state.rawValue)
        object.optional("cause", source.fault?.cause.rawValue)
        object.optional("reason", source.fault?.message)
        object.optional("again", source.again)
    }

    package static func wait(_ reason: WaitReason, _ object: inout JSONObject) {
        switch reason {
        case .host(let origin, let status, let message, let remaining, _):
            object.field("for", "host")
            object.field("origin", origin)
            object.optional("status", status)
            object.field("reason", message)
            object.field("delay", remaining)
        case .retry(let remaining):
            object.field("for", "retry")
            object.field("delay", remaining)
        case .dependency(let need):
            object.field("for", "dependency")
            object.field("need", need)
        case .slot: object.field("for", "slot")
        case .schedule(let reason): wait("schedule", reason, &object)
        case .clock(let reason): wait("clock", reason, &object)
        case .openFiles(let reason): wait("openFiles", reason, &object)
        case .network(let reason): wait("network", reason, &object)
        case .disk(let reason, let remaining, _):
            wait("disk", reason, &object)
            object.field("delay", remaining)
        case .paused: object.field("for", "paused")
        }
    }

    private static func wait(_ subject: String, _ reason: String, _ object: inout JSONObject) {
        object.field("for", subject)
        object.field("reason", reason)
    }

    private static func direction(_ isUpload: Bool) -> String { isUpload ? "upload" : "download" }
}
