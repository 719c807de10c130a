import TransferCore
import TransferQueue

/// The output of `transfer why`.
enum WhyText {
    private static let labelWidth = 10

    /// Returns the explanation.
    ///
    /// - Parameters:
    ///   - batch: The name of its batch for people; by default its full name.
    ///   - lasting: The name for commands to paste; by default `batch`.
    ///   - again: The command that continues the batch, where no process runs it.
    ///   - width: The columns of the terminal; `nil` for output of any width. Commands to paste are never broken.
    static func lines(
        _ explanation: JobExplanation, charset: Charset, batch: String? = nil, lasting: String? = nil,
        again: String? = nil, hint: CommandHint = CommandHint(), width: Int? = nil
    ) -> [String] {
        let name = "\(batch ?? explanation.batch)/\(explanation.job)"
        let waited = explanation.waited.map { ", \(DurationText.words(.seconds($0.components.seconds)))" } ?? ""
        var lines = ["\(name): \(headline(explanation))\(waited)"]
        func add(_ label: String, _ text: String) { lines.append("  \(label.padded(labelWidth))\(text)") }
        for (label, text) in causes(explanation) { add(label, text) }
        for (label, text) in places(explanation) { add(label, text) }
        if let held = explanation.held { add("held", "\(amount(held.bytes, of: held.total)), in \(held.path)") }
        if let sent = explanation.sent {
            add("sent", "\(amount(sent.bytes, of: sent.total)), held by the server (\(sent.uploadProtocol))")
        }
        if let congestion = explanation.congestion { add("sends by", congestion) }
        for (index, line) in SourceText.lines(explanation.sources).enumerated() {
            add(index == 0 ? "sources" : "", line)
        }
        if let error = explanation.lastError { add("last", error) }
        if let time = explanation.settles { add("then", "moved or deleted, at \(TimeText.local(time)) or later") }
        for rule in explanation.rules {
            let place = rule.place.map { "\("".padded(2))\(baseName($0))" } ?? ""
            add("rule", rule.text.padded(33) + place)
        }
        for link in explanation.links { add(link.name, link.verdict) }
        if hasAttempts(explanation) {
            let isFree = if case .network = explanation.reason { true } else { false }
            // A watched folder's server is tried without a limit of attempts.
            let limit = explanation.attempts > explanation.attemptLimit ? "" : " of \(explanation.attemptLimit)"
            add("attempts", "\(explanation.attempts)\(limit) used\(isFree ? ", none by this wait" : "")")
        }
        let called = lasting.map { "\($0)/\(explanation.job)" } ?? name
        if let starts = starts(explanation, called, again, hint) { add("starts", starts) }
        return lines.flatMap { line in
            let shown = charset.visible(line.withoutTrailingSpaces)
            guard line.hasPrefix("  "), !line.hasPrefix("  starts") else { return [shown] }
            return TextWrap.labelled(shown, width: width, indent: labelWidth + 2)
        }
    }

    private static func headline(_ explanation: JobExplanation) -> String {
        switch explanation.reason {
        case .network: "waiting for the network"
        case .schedule: "waiting for its schedule"
        // One job makes the attempt for all jobs that wait for the host.
        case .host(let origin, let status, let message, .zero):
            "waiting: \(WaitText.host(origin))\(status.map { " said \($0)" } ?? ": \(message)"), tried again now"
        case .host(let origin, let status?, _, let remaining):
            "waiting: \(WaitText.host(origin)) said \(status), asks for \(clock(remaining))"
        case .host(let origin, nil, let message, let remaining):
            "waiting: \(WaitText.host(origin)): \(message), next try in \(clock(remaining))"
        case .retry(let remaining): "waiting for its next attempt, \(clockAfter(remaining))"
        case .disk(_, let remaining): "waiting for the disk, checked again in \(clock(remaining))"
        case .worker(let lack): "waiting for \(lack.words)"
        case .needs(let needs):
            needs.count == 1
                ? "waiting for \(needs[0].job), which is \(word(needs[0].state))"
                : "waiting for \(NumberText.count(needs.count, "job"))"
        case .slot(let active): "waiting for a slot, \(NumberText.count(active, "transfer")) under way"
        case .running: "under way, by process \(explanation.pid.map { "\($0)" } ?? "-")"
        case .taken: "taken by process \(explanation.pid.map { "\($0)" } ?? "-"): under way, or about to start"
        case .paused: "paused"
        case .stopped: "not running: no process runs the batch"
        case .done: explanation.isUpload ? "complete, sent" : "complete"
        case .failed(_, let message, _, nil): "failed: \(message)"
        case .failed(_, let message, _, let again?): "failed: \(message), tried again in \(clock(again)) at the latest"
        case .skipped(let need): "skipped: it \(need), which did not complete"
        case .cancelled: "cancelled"
        }
    }

    /// Returns the causes behind the first line.
    private static func causes(_ explanation: JobExplanation) -> [(String, String)] {
        switch explanation.reason {
        case .schedule(let reason), .disk(let reason, _): [("reason", reason)]
        // The links show the reason, where there are any.
        case .network(let reason): explanation.links.isEmpty ? [("reason", reason)] : []
        case .needs(let needs) where needs.count > 1:
            needs.prefix(10).map { ("needs", "\($0.job), \(word($0.state))") }
                + (needs.count > 10 ? [("", "+ \(NumberText.grouped(needs.count - 10)) more")] : [])
        case .done(let path) where !path.isEmpty: [(explanation.isUpload ? "from" : "file", path)]
        case .failed(_, _, let host?, _): [("host", host)]
        case .running(let active) where active > 1:
            [("others", "\(NumberText.count(active - 1, "transfer")) under way")]
        case .taken(let active) where active > 0: [("others", "\(NumberText.count(active, "transfer")) under way")]
        default: []
        }
    }

    /// Returns the places of a job's request and file, with a note if its servers' certificates are not checked.
    private static func places(_ explanation: JobExplanation) -> [(String, String)] {
        guard let route = explanation.route, let words = route.words(path: path(explanation)) else { return [] }
        var places: [(String, String)] = []
        if explanation.state.hasEnded {
            places.append(("url", words.url))
            if let last = explanation.finalURL, !last.isEmpty, last != words.url { places.append(("asked", last)) }
            if !explanation.isUpload, explanation.state != .done { places.append(("to", words.to)) }
        }
        // A copy has two servers.
        if explanation.isUpload, words.to != words.url { places.append(("to", words.to)) }
        if route.isInsecure { places.append(("tls", "certificates are not checked (-k, tls.insecure)")) }
        return places
    }

    /// Returns the file of a complete job.
    private static func path(_ explanation: JobExplanation) -> String? {
        if case .done(let path) = explanation.reason, !path.isEmpty { return path }
        return nil
    }

    private static func starts(
        _ explanation: JobExplanation, _ name: String, _ again: String?, _ hint: CommandHint
    ) -> String? {
        switch explanation.reason {
        case .paused: "with: \(hint.command("resume", name))"
        case .failed, .skipped, .cancelled: "again with: \(hint.command("retry", name))"
        case .stopped: (again ?? explanation.source.map { hint.command("run", $0) }).map { "with: \($0)" }
        case .worker(let lack): "with: \(hint.command("work")) --tags \(lack.tags.text)"
        case .needs(let needs): needs.count == 1 ? "when \(needs[0].job) is complete" : "when all of them are complete"
        default: explanation.starts
        }
    }

    private static func hasAttempts(_ explanation: JobExplanation) -> Bool {
        switch explanation.reason {
        case .done, .skipped, .cancelled: false
        case .failed: explanation.attempts > 0
        default: true
        }
    }

    /// Returns a text such as `1.21 of 3.40 GiB`.
    private static func amount(_ bytes: Int64, of total: Int64?) -> String {
        let there = ByteCount.format(bytes)
        guard let total else { return there }
        let all = ByteCount.format(total)
        let (one, other) = (there.split(separator: " "), all.split(separator: " "))
        return one.count == 2 && other.count == 2 && one[1] == other[1] ? "\(one[0]) of \(all)" : "\(there) of \(all)"
    }

    /// Returns the part of `/etc/field.json:9:18` behind the last slash.
    private static func baseName(_ place: String) -> String {
        place.lastIndex(of: "/").map { String(place[place.index(after: $0)...]) } ?? place
    }

    /// Returns `in 0:42`, or the exact time below a second.
    private static func clockAfter(_ remaining: Duration) -> String {
        remaining < .seconds(1) ? WaitText.after(remaining) : "in \(clock(remaining))"
    }

    private static func clock(_ remaining: Duration) -> String {
        NumberText.countdown(milliseconds: remaining.inMilliseconds)
    }

    static func word(_ state: JobState) -> String {
        switch state {
        case .queued: "ready"
        case .claimed: "running"
        case .waiting: "waiting for its next attempt"
        case .blocked: "waiting for other jobs"
        case .paused: "paused"
        case .done: "complete"
        case .failed: "failed"
        case .skipped: "skipped"
        case .cancelled: "cancelled"
        }
    }

    /// Returns one object.
    ///
    /// The members are:
    ///
    /// - `batch`, `id`, `state`, `url`, `to`, `insecure`, and `finalURL` of a job that has ended;
    /// - `for` (as in `job.waiting` events, and `schedule`, `process`, `turn`) with its details;
    /// - where known `waited` (seconds), `held`, `sent`, `congestion`, `last`, `rules`, `links`, `attempts`, `limit`,
    ///   `starts`, `pid`, `source`;
    /// - `sources` (as in events, and `unasked` ones);
    /// - `settles` (the time at which an uploaded file is moved or deleted);
    /// - `hooks` that could not be notified so far, as in `status`.
    static func json(_ explanation: JobExplanation, troubles: [HookTrouble] = []) -> String {
        JSONObject.text { object in
            object.field("batch", explanation.batch)
            object.field("id", explanation.job)
            object.field("state", explanation.state.name)
            if let route = explanation.route, let words = route.words(path: path(explanation)) {
                object.field("url", words.url)
                object.field("to", words.to)
                if route.isInsecure { object.field("insecure", true) }
            }
            if let last = explanation.finalURL, !last.isEmpty { object.field("finalURL", last) }
            reason(explanation.reason, &object)
            object.optional("waited", explanation.waited)
            if let held = explanation.held {
                object.objects("held", [held]) { object, held in
                    object.field("bytes", held.bytes)
                    object.optional("total", held.total)
                    object.field("path", held.path)
                }
            }
            if let sent = explanation.sent {
                object.objects("sent", [sent]) { object, sent in
                    object.field("bytes", sent.bytes)
                    object.field("total", sent.total)
                    object.field("protocol", sent.uploadProtocol)
                }
            }
            object.optional("congestion", explanation.congestion)
            QueueJSON.sources(explanation.sources, &object)
            if !explanation.rules.isEmpty {
                object.objects("rules", explanation.rules) { object, rule in
                    object.field("rule", rule.text)
                    object.optional("place", rule.place)
                }
            }
            if !explanation.links.isEmpty {
                object.objects("links", explanation.links) { object, link in
                    object.field("name", link.name)
                    object.field("verdict", link.verdict)
                }
            }
            object.optional("last", explanation.lastError)
            object.field("attempts", explanation.attempts)
            object.field("limit", explanation.attemptLimit)
            object.optional("settles", explanation.settles.map { TimeStamp.text($0) })
            object.optional("starts", explanation.starts)
            if !troubles.isEmpty { object.objects("hooks", troubles) { HookText.members(&$0, $1) } }
            object.optional("pid", explanation.pid.map(Int64.init))
            object.optional("source", explanation.source)
        }
    }

    private static func reason(_ reason: JobExplanation.Reason, _ object: inout JSONObject) {
        switch reason {
        case .network(let text): QueueJSON.wait(.network(text), &object)
        case .schedule(let text): QueueJSON.wait(.schedule(text), &object)
        case .host(let origin, let status, let message, let remaining):
            QueueJSON.wait(.host(origin: origin, status: status, message: message, remaining: remaining), &object)
        case .retry(let remaining): QueueJSON.wait(.retry(remaining: remaining), &object)
        case .disk(let text, let remaining): QueueJSON.wait(.disk(text, remaining: remaining), &object)
        case .worker(let lack):
            object.field("for", "worker")
            object.strings("tags", lack.tags.names)
            object.field("workers", lack.workers)
        case .needs(let needs):
            object.field("for", "dependency")
            object.objects("needs", needs) { object, need in
                object.field("id", need.job)
                object.field("state", need.state.name)
            }
        case .slot(let active):
            object.field("for", "slot")
            object.field("active", active)
        // The job waits for nothing.
        case .running(let active): object.field("active", active)
        case .taken(let active):
            object.field("for", "turn")
            object.field("active", active)
        case .paused: object.field("for", "paused")
        case .stopped: object.field("for", "process")
        case .done(let path): object.field("path", path)
        case .failed(let code, let message, let host, let again):
            object.field("code", code)
            object.field("message", message)
            object.optional("host", host)
            if let again { object.field("remaining", again) }
        case .skipped(let need): object.field("message", need)
        case .cancelled: break
        }
    }
}
