import TransferJobs

/// Hooks (`onFinish`) that could not be called at an end, as an explanation shows them.
struct HooksRecord: Codable, Sendable {
    private struct Trouble: Codable, Sendable {
        /// The job's identity; `nil` for the batch's own hook.
        let id: String?
        let hook: String
        let attempts: Int
        let message: String
        /// The time of the next attempt, in milliseconds since 1970.
        let again: Int64?
    }

    private let hooks: [Trouble]?

    init(_ troubles: [HookTrouble]) {
        let all = troubles.map {
            Trouble(id: $0.job, hook: $0.hook, attempts: $0.attempts, message: $0.message, again: $0.again)
        }
        hooks = all.isEmpty ? nil : all
    }

    var troubles: [HookTrouble] {
        (hooks ?? []).map {
            HookTrouble(job: $0.id, hook: $0.hook, attempts: $0.attempts, message: $0.message, again: $0.again)
        }
    }
}
