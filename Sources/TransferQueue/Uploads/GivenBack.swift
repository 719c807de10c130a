/// Callers who wait until jobs that were taken back are recorded.
struct GivenBack {
    private var waiting: [(jobs: Set<Int64>, waiter: CheckedContinuation<Void, Never>)] = []

    mutating func wait(for jobs: Set<Int64>, _ waiter: CheckedContinuation<Void, Never>) {
        waiting.append((jobs, waiter))
    }

    /// Resumes the waiters whose jobs are all recorded.
    mutating func recorded(_ jobs: [Int64]) {
        guard !waiting.isEmpty else { return }
        for index in waiting.indices { waiting[index].jobs.subtract(jobs) }
        for entry in waiting where entry.jobs.isEmpty { entry.waiter.resume() }
        waiting.removeAll(where: \.jobs.isEmpty)
    }

    mutating func tellAll() { for entry in exchange(&waiting, with: []) { entry.waiter.resume() } }
}
