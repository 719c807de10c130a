import TransferCore
import TransferJobs

/// The reason of a job's state, in the words of `transfer why --json`.
struct ReasonRecord: Codable, Sendable {
    struct Need: Codable, Sendable {
        let id: String
        let state: String
    }

    /// The kind of a wait.
    private(set) var `for`: String?
    private(set) var origin: String?
    private(set) var status: Int?
    private(set) var reason: String?
    private(set) var delay: Double?
    private(set) var needs: [Need]?
    private(set) var active: Int?
    private(set) var path: String?
    private(set) var code: String?
    private(set) var message: String?
    private(set) var host: String?
    private(set) var remaining: Double?
    private(set) var tags: [String]?
    private(set) var workers: Int?

    init(_ reason: JobExplanation.Reason) {
        switch reason {
        case .network(let text): (self.for, self.reason) = ("network", text)
        case .schedule(let text): (self.for, self.reason) = ("schedule", text)
        case .host(let origin, let status, let message, let remaining):
            (self.for, self.origin, self.status) = ("host", origin, status)
            (self.reason, delay) = (message, remaining.inSeconds)
        case .retry(let remaining): (self.for, delay) = ("retry", remaining.inSeconds)
        case .disk(let text, let remaining): (self.for, self.reason, delay) = ("disk", text, remaining.inSeconds)
        case .worker(let lack): (self.for, tags, workers) = ("worker", lack.tags.names, lack.workers)
        case .needs(let needs):
            self.for = "dependency"
            self.needs = needs.map { Need(id: $0.job, state: $0.state.name) }
        case .slot(let active): (self.for, self.active) = ("slot", active)
        case .running(let active): self.active = active
        case .taken(let active): (self.for, self.active) = ("turn", active)
        case .paused: self.for = "paused"
        case .stopped: self.for = "process"
        case .done(let path): self.path = path
        case .failed(let code, let message, let host, let again):
            (self.code, self.message, self.host, remaining) = (code, message, host, again?.inSeconds)
        case .skipped(let need): message = need
        case .cancelled: break
        }
    }

    /// - Parameter state: The name of the job's state, which decides the reason where the record names no kind of wait.
    /// - Returns: `nil` for a reason that this version does not know.
    func reason(in state: String) -> JobExplanation.Reason? {
        let delay = Duration(declaredSeconds: delay ?? 0)
        switch self.for {
        case "network": return .network(reason ?? "")
        case "schedule": return .schedule(reason ?? "")
        case "host": return .host(origin: origin ?? "", status: status, message: reason ?? "", remaining: delay)
        case "retry": return .retry(remaining: delay)
        case "disk": return .disk(reason ?? "", remaining: delay)
        case "worker":
            return WorkerTags(tags ?? []).map { .worker(WorkerLack(tags: $0, workers: workers ?? 0)) }
        case "dependency":
            return .needs(
                (needs ?? []).compactMap { need in
                    StateName.state(need.state).map { JobExplanation.Need(job: need.id, state: $0) }
                })
        case "slot": return .slot(active: active ?? 0)
        case "turn": return .taken(active: active ?? 0)
        case "paused": return .paused
        case "process": return .stopped
        case nil: return ended(state)
        case .some: return nil
        }
    }

    /// Returns the reason of a job that waits for nothing.
    private func ended(_ state: String) -> JobExplanation.Reason? {
        switch state {
        case "running": .running(active: active ?? 1)
        case "done": .done(path: path ?? "")
        case "failed":
            .failed(
                code: code ?? "", message: message ?? "", host: host,
                again: remaining.map { Duration(declaredSeconds: $0) })
        case "skipped": .skipped(message ?? "")
        case "cancelled": .cancelled
        default: nil
        }
    }
}
