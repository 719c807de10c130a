package import TransferCore
package import TransferStore

/// The retries of failed files of a watched folder. A folder never ends, so none of its files is given up for ever.
///
/// Each file has its own time, with delays that grow by its failures. A success shows that the server accepts files of
/// this folder, so it wakes one failed file as a probe. A successful probe wakes two others, so that all follow soon. A
/// failed probe stops the waking for a growing time. A success thus never wakes more than one file that the server
/// refuses.
///
/// A pure value: it takes events, and returns actions for the owner of the files.
package struct FailedFiles: Sendable {
    /// The delays before a failed file is retried.
    package struct Delays: Sendable, Hashable {
        package var first = Duration.seconds(60)
        package var most = Duration.seconds(6 * 3600)

        package init(first: Duration = .seconds(60), most: Duration = .seconds(6 * 3600)) {
            self.first = first
            self.most = most
        }

        /// Returns the delay.
        ///
        /// - Parameter failures: The number of failures in a row; 1 after the first.
        package func delay(after failures: Int) -> Duration {
            var delay = first
            for _ in 1..<max(1, min(failures, 64)) where delay < most { delay *= 2 }
            return min(delay, most)
        }
    }

    package enum Event: Sendable, Hashable {
        /// The folder was started with failed files, the first of which returns after this time. The server may accept
        /// them by now, so one of them is a probe. The others keep their times, however often the folder is started.
        case began(next: Duration)
        /// A file was confirmed.
        case succeeded(job: Int64)
        /// A file failed for good, and must be retried after this time at the latest.
        case failed(job: Int64, again: Duration)
        /// A job ended with neither result.
        case left(job: Int64)
        /// The answer to an action.
        case woken(Woken)
        /// The time ``nextWake`` has come.
        case due
    }

    /// The files that were woken.
    package struct Woken: Sendable, Hashable {
        package var jobs: [Int64]
        /// The time until the next remaining file returns automatically; `nil` if none remains.
        package var next: Duration?
    }

    package enum Action: Sendable, Hashable {
        case none
        case wake(FailedSelection, count: Int)
    }

    /// The woken files that have not ended.
    private struct UnderWay: Sendable {
        var jobs: Set<Int64> = []
        var since = MonotonicTime(nanoseconds: .min)
    }

    private let delays: Delays
    private var probes = UnderWay()
    private var tries = UnderWay()
    /// The number of files that successes will wake next.
    private var earned = 0
    private var failedProbes = 0
    /// The time until which a success wakes no file.
    private var heldUntil: MonotonicTime?
    private var nextDue: MonotonicTime?
    /// The action whose answer is awaited.
    private var asked: Action = .none

    /// The most files that are woken at a time: by successes, and by their own time.
    package static let mostProbes = 32
    package static let mostTries = 16

    package init(_ delays: Delays) { self.delays = delays }

    /// The time at which ``Event/due`` must be passed.
    package var nextWake: MonotonicTime? {
        guard asked == .none, let nextDue else { return nil }
        guard tries.jobs.count >= Self.mostTries else { return nextDue }
        return max(nextDue, tries.since + delays.first)
    }

    package mutating func event(_ event: Event, at now: MonotonicTime) -> Action {
        switch event {
        case .began(let next):
            nextDue = now + next
            earned = 1
        case .succeeded(let job):
            tries.jobs.remove(job)
            if probes.jobs.remove(job) != nil {
                (failedProbes, heldUntil) = (0, nil)
                earned = min(earned + 2, Self.mostProbes)
            } else if mayProbe(now) {
                earned = 1
            }
        case .failed(let job, let again):
            nextDue = min(nextDue ?? now + again, now + again)
            tries.jobs.remove(job)
            if probes.jobs.remove(job) != nil {
                failedProbes += 1
                heldUntil = now + delays.delay(after: failedProbes)
                earned = 0
            }
        case .left(let job):
            tries.jobs.remove(job)
            probes.jobs.remove(job)
        case .woken(let woken): self.woken(woken, now)
        case .due: break
        }
        return next(now)
    }

    /// Returns whether a success may wake a probe. A probe may have been removed without notice, so one that takes too
    /// long does not block others.
    private func mayProbe(_ now: MonotonicTime) -> Bool {
        if let heldUntil, heldUntil > now { return false }
        if case .wake(let selection, _) = asked, selection != .due { return false }
        guard nextDue != nil else { return false }
        return earned == 0 && (probes.jobs.isEmpty || probes.since + delays.first <= now)
    }

    private mutating func woken(_ woken: Woken, _ now: MonotonicTime) {
        nextDue = woken.next.map { now + $0 }
        switch asked {
        case .wake(.probe, _), .wake(.followers, _): probes = Self.adding(woken.jobs, to: probes, now, delays.first)
        case .wake(.due, _):
            tries = Self.adding(woken.jobs, to: tries, now, delays.first)
            // Failed files may not be woken now, for example while the folder is paused.
            if woken.jobs.isEmpty, woken.next != nil { nextDue = now + delays.first }
        case .none: break
        }
        if woken.jobs.isEmpty || woken.next == nil { earned = 0 }
        asked = .none
    }

    private static func adding(
        _ jobs: [Int64], to before: UnderWay, _ now: MonotonicTime, _ patience: Duration
    ) -> UnderWay {
        let isOver = before.since + patience <= now
        return UnderWay(jobs: isOver ? Set(jobs) : before.jobs.union(jobs), since: now)
    }

    private mutating func next(_ now: MonotonicTime) -> Action {
        guard asked == .none, let nextDue else { return .none }
        let isOver = tries.since + delays.first <= now
        let room = Self.mostTries - (isOver ? 0 : tries.jobs.count)
        if earned > 0 {
            asked = .wake(earned == 1 ? .probe : .followers, count: earned)
            earned = 0
        } else if nextDue <= now, room > 0 {
            asked = .wake(.due, count: room)
        }
        return asked
    }
}
