import TransferCore
import TransferQueue

/// The JSON form of jobs in responses.
enum JobJSON {
    /// Returns whether the job's transfer is active.
    static func isUnderWay(_ entry: JobEntry, _ live: LiveJobs.Job?) -> Bool {
        entry.listed.state == .claimed && (live != nil || entry.isUnderWay)
    }

    /// Returns the states of the queue that a state's name may denote.
    static func states(_ name: some StringProtocol) -> Set<JobState>? {
        if name == running { return [.claimed] }
        let states = JobState.allCases.filter { $0.name == name }
        return states.isEmpty ? nil : Set(states)
    }

    /// The name of the state of a claimed job whose transfer is active.
    static let running = "running"

    /// Returns the name of the job's state.
    static func state(of entry: JobEntry, _ live: LiveJobs.Job?) -> String {
        isUnderWay(entry, live) ? running : entry.listed.state.name
    }

    /// Writes a job.
    ///
    /// - Parameters:
    ///   - live: The live data of an active job.
    ///   - last: The last progress of a job that is neither active nor complete.
    ///   - isOwner: Whether queries of URLs are shown.
    static func write(
        _ writer: inout JSONWriter, _ entry: JobEntry, _ live: LiveJobs.Job?, last: JobProgress? = nil, isOwner: Bool
    ) {
        let job = entry.listed
        writer.member("gid", JobNumberCode.job.name(entry.number))
        writer.member("batch", entry.batch)
        writer.member("id", job.job)
        writer.member("state", state(of: entry, live))
        writer.member("direction", entry.isUpload ? "upload" : "download")
        if let places = job.route?.words(path: job.path) {
            writer.member("url", shown(places.url, isOwner))
            writer.member("to", entry.isUpload ? shown(places.to, isOwner) : places.to)
        }
        writer.member("finalURL", job.finalURL.flatMap { $0.isEmpty ? nil : shown($0, isOwner) })
        let isLive = isUnderWay(entry, live)
        writer.member("bytes", (isLive ? live?.progress.completed : nil) ?? job.bytes ?? last?.completed)
        if isLive, let live {
            writer.member("total", live.progress.total)
            writer.member("rate", live.progress.rate)
            writer.member("phase", live.progress.phase.rawValue)
            writer.member("connections", live.progress.connections)
            writer.member("worker", live.progress.worker)
        } else if job.state == .done {
            writer.member("total", job.bytes)
        } else {
            writer.member("total", last?.total)
        }
        writer.member("priority", entry.priority)
        writer.member("attempts", job.attempts)
        writer.member("status", job.status)
        writer.member("code", job.code)
        writer.member("message", job.message)
        writer.member("host", entry.host)
        writer.member("since", time: job.since)
        if job.route?.isInsecure == true { writer.member("insecure", true) }
    }

    /// Returns a URL as a client may see it. A query may grant access, so it is hidden from clients with only the right
    /// to read.
    static func shown(_ url: String, _ isOwner: Bool) -> String {
        guard !isOwner, let query = url.firstIndex(of: "?") else { return url }
        return url[..<query] + "?…"
    }
}
