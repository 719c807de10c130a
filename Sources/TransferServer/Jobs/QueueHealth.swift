/// The check whether the queue can be read, for monitors of the service. It answers in time also where a database hangs
/// or a long query of another client is under way.
actor QueueHealth {
    private let check: @Sendable () async throws -> Void
    private let limit: Duration
    /// The check that has not ended. Later callers wait for the same one, so that checks do not pile up.
    private var underWay: Task<Bool, Never>?

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - limit: The longest time until an answer.
    ///   - check: A closure that reads the queue, and may take long.
    init(within limit: Duration = .seconds(3), _ check: @escaping @Sendable () async throws -> Void) {
        self.limit = limit
        self.check = check
    }

    /// Returns whether the queue could be read in time.
    func isGood() async -> Bool {
        let current = underWay ?? begin()
        let (answers, answer) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingOldest(1))
        let waiting = Task { answer.yield(await current.value) }
        let timer = Task { [limit] in
            // A sleep with a reason: the end of the wait is a time.
            try? await Task.sleep(for: limit)
            answer.yield(false)
        }
        defer {
            waiting.cancel()
            timer.cancel()
        }
        for await isGood in answers { return isGood }
        return false
    }

    private func begin() -> Task<Bool, Never> {
        let task = Task { [check] in
            let isGood = (try? await check()) != nil
            end()
            return isGood
        }
        underWay = task
        return task
    }

    private func end() { underWay = nil }
}
