import TransferCore
import TransferEventLoop
import TransferJobs
import TransferStore

/// The jobs of a batch that wait, and their reasons.
struct BatchWaits {
    /// Jobs that haven't ended.
    var left: Int
    /// The jobs that this process is at.
    var busy: Int
    var asleep: [SleepingJob] = []
    var held: (byNetwork: Int, byOrigin: [String: Int]) = (0, [:])
    /// The reason of most of the jobs that the network holds.
    var network: WaitReason?

    /// Says how many wait, and for what most of them do.
    ///
    /// - Parameter pause: Why an origin is spared, and for how long.
    func note(
        in progress: inout BatchProgress, now: MonotonicTime,
        pause: (String) -> (error: TransferError, remaining: Duration)?
    ) {
        // Counts of what is still in the store are upper bounds.
        let most = max(0, left - busy)
        progress.waiting = min(most, asleep.count + held.byOrigin.values.reduce(held.byNetwork, +))
        if let network {
            progress.waitReason = network
            progress.waitingForReason = min(most, held.byNetwork)
        } else if let worst = held.byOrigin.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }),
            let pause = pause(worst.key)
        {
            progress.waitReason = .held(by: worst.key, pause.error, remaining: pause.remaining)
            progress.waitingForReason = min(most, worst.value + asleep.count { $0.lane.origin == worst.key })
        } else if let next = asleep.min(by: { $0.due < $1.due }) {
            let remaining = max(.zero, next.due - now)
            progress.waitReason = next.disk.map { .disk($0, remaining: remaining) } ?? .retry(remaining: remaining)
            progress.waitingForReason = min(most, asleep.count { ($0.disk != nil) == (next.disk != nil) })
        }
    }
}

/// A report without the part of it that goes on by itself: a countdown.
struct BatchReport: Equatable {
    var totals: BatchTotals
    var active: Int
    var waiting: Int
    var rate: Int64
    private var waitsFor: WaitReason?

    init(_ progress: BatchProgress) {
        totals = progress.totals
        active = progress.active
        waiting = progress.waiting
        rate = progress.rate
        waitsFor =
            switch progress.waitReason {
            case .host(let origin, let status, let message, _, let isAsked):
                .host(origin: origin, status: status, message: message, remaining: .zero, isAsked: isAsked)
            case .retry: .retry(remaining: .zero)
            case .disk(let message, _, _): .disk(message, remaining: .zero)
            case let reason: reason
            }
    }

    /// Why the network keeps everything that is left from going on.
    var networkWait: String? {
        guard active == 0, case .network(let reason) = waitsFor else { return nil }
        return reason
    }
}
