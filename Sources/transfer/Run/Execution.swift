import FoundationEssentials
import Glibc
import Synchronization
import TransferCore
import TransferQueue

/// A run of staged batches, from the first event to the exit status: the common part of `run`, `get` and `put`.
struct Execution: Sendable {
    let queue: JobQueue
    let reporter: Reporter
    let stops: StopRules
    /// The commands that continue the batches, by their names.
    var commands: [String: String] = [:]
    /// The builder of commands in messages.
    var hint = CommandHint()
    var inputFaults: InputFaults?
    /// The file of `--metrics-file`.
    var metrics: MetricsFile?
    /// The folders that are watched until the run is stopped.
    var watch: WatchSession?
    /// The temporary folder of the queue, which is removed after the run.
    var scratch: ScratchState?
    /// The work that begins once the batches are in the run.
    var companion: (@Sendable () async -> Void)?

    /// The conditions that end a run early.
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

    /// Makes the first signal end the run in order, also a run that has not begun yet.
    func obeySignals() {
        Signals.handle { [self] in
            reporter.cancelWaits()
            end()
        }
    }

    /// Ends the run in order.
    private func end() { if let watch { watch.end() } else { queue.stop() } }

    /// Makes a SIGHUP reopen the report file, where there is one and no other file is read again.
    ///
    /// On a terminal a SIGHUP means that the user has gone, and ends the run.
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

    /// Runs the batches to their end and reports the result.
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
                // The deadline is a time, so the task waits for it by time.
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
        // Only a signal ends such a watch, so that this end is a success. The rest is left to the next start.
        if let watch, !watch.endsByItself, Signals.isAsked { return .complete }
        Signals.dieIfReceived()
        // Files without a record yet are left, too.
        if summary.left > 0 || summary.hooksLeft > 0 || watch?.isCutShort == true { return .workLeft }
        let failed =
            summary.totals.values.contains { $0.failed + $0.skipped + $0.cancelled > 0 }
            || summary.hooksFailed > 0 || watch?.leavesFiles == true || !(inputFaults?.isEmpty ?? true)
        return failed ? .someFailed : .complete
    }

    /// Gives the reporter short names of batches without their own names; the register is read only where there are
    /// some.
    private func callBatches(_ running: [String]) async throws {
        guard running.contains(where: BatchNames.isLong) else { return reporter.call([:], hint) }
        let names = BatchNames(try await queue.batchRegister())
        let shown = running.map { ($0, names.short($0)) }
        reporter.call(Dictionary(shown, uniquingKeysWith: { first, _ in first }), hint)
    }

    /// A counter of failures that ends the run after too many.
    private final class FailureCount: Sendable {
        private let state = Mutex((failed: 0, jobs: [String: Int](), isOver: false))

        /// Counts the failures of an event.
        ///
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
