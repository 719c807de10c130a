import FoundationEssentials
import Glibc
import Synchronization
import TransferCore
import TransferQueue

/// One run of staged batches, from the first event to the exit status: what `run`, `get` and `put` have in common.
struct Execution: Sendable {
    let queue: JobQueue
    let reporter: Reporter
    let stops: StopRules
    /// What goes on with batches, by their names.
    var commands: [String: String] = [:]
    /// For the commands that are told.
    var hint = CommandHint()
    var inputFaults: InputFaults?
    /// `--metrics-file`
    var metrics: MetricsFile?
    /// Folders that are watched until the run is stopped.
    var watch: WatchSession?
    /// Goes when the run is over, and its queue with it.
    var scratch: ScratchState?
    /// What begins once the batches are in the run.
    var companion: (@Sendable () async -> Void)?

    /// What ends a run early.
    struct StopRules: Sendable {
        var deadline: Duration?
        var failFast = false
        var maxFailures: FailureBound?

        init() {}

        init(_ options: StopOptions) {
            deadline = options.deadline?.duration
            failFast = options.failFast
            maxFailures = options.maxFailures
        }
    }

    /// From now on the first signal ends the run in order, also one that hasn't begun yet.
    func obeySignals() {
        Signals.handle { [self] in
            reporter.cancelWaits()
            end()
        }
    }

    /// Ends the run in order.
    private func end() { if let watch { watch.end() } else { queue.stop() } }

    /// From now on a SIGHUP has the report's file opened anew, where there is one and nothing else is read again. On a
    /// terminal it says that somebody is gone, and stays an end.
    func followRotation(_ service: ServiceManager? = nil) {
        guard reporter.hasReport, isatty(STDERR_FILENO) == 0 else { return }
        Signals.reloadOtherwise { [reporter, watch, service] in
            watch?.reloading()
            service?.reloading()
            reporter.reopenReport()
            watch?.reloaded()
            service?.reloaded()
        }
    }

    /// Runs the batches to their end and tells how it went.
    func run(_ batches: [StagedBatch], _ options: RunOptions) async throws -> ExitStatus {
        let failures = FailureCount()
        try await callBatches(batches.map(\.name))
        queue.observe { [reporter, stops, queue] event in
            reporter.receive(event)
            guard let reason = failures.reason(stops, event) else { return }
            reporter.note(.warn, "stopped: \(reason)")
            queue.stop()
        }
        obeySignals()
        followRotation()
        let deadline = stops.deadline.map { limit in
            Task {
                // The deadline is a time, so it's waited for by time.
                try await Task.sleep(for: limit)
                end()
            }
        }
        let summary: RunSummary
        do {
            summary = try await queue.run(batches, options: options) {
                watch?.running()
                if let companion { Task { await companion() } }
            }
        } catch {
            await watch?.close()
            metrics?.close()
            reporter.finish(commands: commands)
            await queue.close()
            let words = (error as? TransferError)?.message ?? "the queue's database failed: \(error)"
            throw Failure(.stateUnusable, words)
        }
        deadline?.cancel()
        await watch?.close()
        metrics?.close()
        reporter.finish(commands: commands)
        await queue.close()
        scratch?.remove()
        // Nothing else ends such a watch: to be asked is its right end, and what is left is left to the next start.
        if let watch, !watch.endsByItself, Signals.isAsked { return .complete }
        Signals.dieIfReceived()
        // Files that aren't recorded yet are left, too.
        if summary.left > 0 || summary.hooksLeft > 0 || watch?.isCutShort == true { return .workLeft }
        let failed =
            summary.totals.values.contains { $0.failed + $0.skipped + $0.cancelled > 0 }
            || summary.hooksFailed > 0 || watch?.leavesFiles == true || !(inputFaults?.isEmpty ?? true)
        return failed ? .someFailed : .complete
    }

    /// Batches without a name of their own are shown by short names, which are looked at only where there are such.
    private func callBatches(_ running: [String]) async throws {
        guard running.contains(where: BatchNames.isLong) else { return reporter.call([:], hint) }
        let names = BatchNames(try await queue.batchRegister())
        let shown = running.map { ($0, names.short($0)) }
        reporter.call(Dictionary(shown, uniquingKeysWith: { first, _ in first }), hint)
    }

    /// Counts failures until they are too many.
    private final class FailureCount: Sendable {
        private let state = Mutex((failed: 0, jobs: [String: Int](), isOver: false))

        /// - Returns: Why the run ends now; once.
        func reason(_ rules: StopRules, _ event: QueueEvent) -> String? {
            state.withLock { state in
                switch event.kind {
                case .batchStarted(let totals): state.jobs[event.batch] = totals.jobs
                case .failed where !state.isOver:
                    state.failed += 1
                    let jobs = state.jobs.values.reduce(0, +)
                    state.isOver =
                        rules.failFast || rules.maxFailures?.isExceeded(failed: state.failed, of: jobs) ?? false
                    guard state.isOver else { return nil }
                    let option = rules.failFast ? "--fail-fast" : "--max-failures"
                    return "\(NumberText.count(state.failed, "job")) failed (\(option))"
                default: break
                }
                return nil
            }
        }
    }
}
