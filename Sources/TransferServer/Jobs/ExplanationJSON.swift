import TransferQueue

/// Why a job stands as it does, with the words of `transfer why --json`.
enum ExplanationJSON {
    static func write(_ writer: inout CanonicalWriter, _ explanation: JobExplanation) {
        writer.member("batch", explanation.batch)
        writer.member("id", explanation.job)
        writer.member("state", JobJSON.name(explanation.state))
        writer.member("direction", explanation.isUpload ? "upload" : "download")
        reason(explanation.reason, &writer)
        writer.member("waited", explanation.waited)
        writer.member("lastError", explanation.lastError)
        writer.member("attempts", explanation.attempts)
        writer.member("attemptLimit", explanation.attemptLimit)
        writer.member("starts", explanation.starts)
        writer.member("pid", explanation.pid.map(Int.init))
        if let held = explanation.held {
            writer.member("held") { writer in
                writer.member("bytes", held.bytes)
                writer.member("total", held.total)
                writer.member("path", held.path)
            }
        }
        if !explanation.rules.isEmpty {
            writer.member("rules", objects: explanation.rules) { writer, rule in
                writer.member("rule", rule.text)
                writer.member("place", rule.place)
            }
        }
        if !explanation.links.isEmpty {
            writer.member("links", objects: explanation.links) { writer, link in
                writer.member("name", link.name)
                writer.member("verdict", link.verdict)
            }
        }
        SourceJSON.write(&writer, explanation.sources)
    }

    private static func reason(_ reason: JobExplanation.Reason, _ writer: inout CanonicalWriter) {
        switch reason {
        case .network(let text): WaitJSON.write(&writer, .network(text))
        case .schedule(let text): WaitJSON.write(&writer, .schedule(text))
        case .host(let origin, let status, let message, let remaining):
            WaitJSON.write(&writer, .host(origin: origin, status: status, message: message, remaining: remaining))
        case .retry(let remaining): WaitJSON.write(&writer, .retry(remaining: remaining))
        case .disk(let text, let remaining): WaitJSON.write(&writer, .disk(text, remaining: remaining))
        case .needs(let needs):
            writer.member("for", "dependency")
            writer.member("needs", objects: needs) { writer, need in
                writer.member("id", need.job)
                writer.member("state", JobJSON.name(need.state))
            }
        case .slot(let active):
            writer.member("for", "slot")
            writer.member("active", active)
        case .running(let active), .taken(let active): writer.member("active", active)
        case .paused: writer.member("for", "paused")
        case .stopped: writer.member("for", "process")
        case .done(let path): writer.member("path", path)
        case .failed(let code, let message, let host, let again):
            writer.member("code", code)
            writer.member("message", message)
            writer.member("host", host)
            writer.member("again", again)
        case .skipped(let need): writer.member("message", need)
        case .cancelled: break
        }
    }
}

/// What a job or a batch waits for, with the words of the command's events.
enum WaitJSON {
    static func write(_ writer: inout CanonicalWriter, _ reason: WaitReason) {
        switch reason {
        case .host(let origin, let status, let message, let remaining, _):
            writer.member("for", "host")
            writer.member("origin", origin)
            writer.member("status", status)
            writer.member("reason", message)
            writer.member("delay", remaining)
        case .retry(let remaining):
            writer.member("for", "retry")
            writer.member("delay", remaining)
        case .dependency(let need):
            writer.member("for", "dependency")
            writer.member("need", need)
        case .slot: writer.member("for", "slot")
        case .paused: writer.member("for", "paused")
        case .schedule(let text): write(&writer, "schedule", text)
        case .clock(let text): write(&writer, "clock", text)
        case .openFiles(let text): write(&writer, "openFiles", text)
        case .network(let text): write(&writer, "network", text)
        case .disk(let text, let remaining):
            write(&writer, "disk", text)
            writer.member("delay", remaining)
        }
    }

    private static func write(_ writer: inout CanonicalWriter, _ name: String, _ reason: String) {
        writer.member("for", name)
        writer.member("reason", reason)
    }
}
