package import TransferCore
package import TransferStore

/// When files of a watched folder that failed are tried again: a folder has no end, so nothing in it is given up for ever.
///
/// Each file has a time of its own, which grows with its failures. And a success says that the server takes files of this
/// folder, perhaps again: it wakes one that failed, as a probe. A probe that succeeds wakes two others, so that they all
/// follow soon; one that fails ends that, for a time which grows too. So a success never brings back more than one file
/// that the server refuses, however many there are.
///
/// A pure value: it's told what happened, and says what is to be done by whoever has the files.
package struct FailedFiles: Sendable {
    /// How long a file that failed stays alone.
    package struct Delays: Sendable, Hashable {
        package var first = Duration.seconds(60)
        package var most = Duration.seconds(6 * 3600)

        package init(first: Duration = .seconds(60), most: Duration = .seconds(6 * 3600)) {
            self.first = first
            self.most = most
        }

        /// - Parameter failures: In a row; 1 after the first.
        package func delay(after failures: Int) -> Duration {
            var delay = first
            for _ in 1..<max(1, min(failures, 64)) where delay < most { delay *= 2 }
            return min(delay, most)
        }
    }

    package enum Event: Sendable, Hashable {
        /// At the start: files had failed before, and the first of them comes back by itself then. The server may take them
        /// by now, so that one of them asks; the others keep their times, however often that begins.
        case began(next: Duration)
        /// A file was confirmed.
        case succeeded(job: Int64)
        /// A file failed for good, and is to be tried again after that time at the latest.
        case failed(job: Int64, again: Duration)
        /// A job ended without either.
        case left(job: Int64)
        /// The answer to an action.
        case woken(Woken)
        /// ``nextWake`` has come.
        case due
    }

    /// Files that were woken.
    package struct Woken: Sendable, Hashable {
        package var jobs: [Int64]
        /// The time until the next of those that are left comes back by itself; `nil` when none is left.
        package var next: Duration?
    }

    package enum Action: Sendable, Hashable {
        case none
        case wake(FailedSelection, count: Int)
    }

    /// Files that were woken and haven't ended.
    private struct UnderWay: Sendable {
        var jobs: Set<Int64> = []
        var since = MonotonicTime(nanoseconds: .min)
    }

    private let delays: Delays
    private var probes = UnderWay()
    private var tries = UnderWay()
    /// Files that are woken by successes next.
    private var earned = 0
    private var failedProbes = 0
    /// Until then a success wakes nothing.
    private var heldUntil: MonotonicTime?
    private var nextDue: MonotonicTime?
    /// An answer is awaited: of these files.
    private var asked: Action = .none

    /// The most files that are woken at a time by successes, and by their time.
    package static let mostProbes = 32
    package static let mostTries = 16

    package init(_ delays: Delays) { self.delays = delays }

    /// The time at which it wants to hear ``Event/due``.
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

    /// Somebody may have taken a probe out, which nobody tells; one that takes longer than that holds up nobody.
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
            // Failed files may not be woken now, as while the folder is paused.
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
