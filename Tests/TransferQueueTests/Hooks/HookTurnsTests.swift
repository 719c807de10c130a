import Testing
import TransferCore
import TransferEventLoop

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferStore

/// Messages for hooks in turn.
@Suite struct HookTurnsTests {
    private let now = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func call(_ id: Int64, limit: Int = 10, attempts: Int = 0) -> HookCall {
        var settings = JobSettings()
        settings.onFinish = .command("tell")
        settings.retry.limit = limit
        settings.retry.jitter = false
        return HookCall(
            id: id, batch: 1, job: "j\(id)", event: "e\(id)", body: "{}", settings: settings, attempts: attempts)
    }

    private func turns(_ calls: [HookCall]) -> HookTurns {
        var turns = HookTurns()
        turns.came(1, revivesFailed: false)
        #expect(turns.nextTaken()?.batch == 1)
        #expect(turns.took(calls, of: 1, now: now).isEmpty)
        return turns
    }

    private let failure = TransferError(.hookFailed, "no", isTransient: true)

    @Test func fourAreToldAtATimeInTheirOrder() {
        var turns = turns((1...6).map { call($0) })
        var started: [Int64] = []
        while let call = turns.next(now: now) { started.append(call.id) }
        #expect(started == [1, 2, 3, 4])
        #expect(turns.ended(2, nil, now: now, random: 0)?.news?.attempts == 1)
        #expect(turns.next(now: now)?.id == 5 && turns.next(now: now) == nil && !turns.isEmpty)
    }

    /// The queue's rule: 1 s, doubled each time, up to 60 s, ten times after the first.
    @Test func aFailureIsFollowedByTheRulesDelaysUpToItsLimit() {
        var turns = turns([call(1)])
        var time = now
        var delays: [Int64] = []
        while let call = turns.next(now: time) {
            guard let end = turns.ended(call.id, failure, now: time, random: 0) else { break }
            guard case .retrying(let delay, _) = end.news?.state else {
                guard case .failed(let attempts, _) = end.outcome.kind else {
                    Issue.record("\(end)")
                    return
                }
                #expect(attempts == 11)
                break
            }
            delays.append(delay.inMilliseconds / 1000)
            #expect(turns.next(now: time) == nil)
            time = turns.nextDue ?? time
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
        #expect(turns.isEmpty && turns.failed == 1)
    }

    @Test func aServersWishIsObeyedAndCounted() {
        var turns = turns([call(1, limit: 1)])
        let busy = TransferError(
            .httpStatus, "429", cause: .http(status: 429), isTransient: true, retryAfter: .seconds(30))
        _ = turns.next(now: now)
        _ = turns.ended(1, busy, now: now, random: 0)
        #expect(turns.nextDue == now + .seconds(30))
        _ = turns.next(now: now + .seconds(30))
        guard case .failed? = turns.ended(1, busy, now: now, random: 0)?.news?.state else {
            Issue.record("no end")
            return
        }
    }

    @Test func aLastingFailureIsNotTriedAgain() {
        for error in [
            TransferError(.hookFailed, "no such command"),
            TransferError(.httpStatus, "410", cause: .http(status: 410)),
        ] {
            var turns = turns([call(1)])
            _ = turns.next(now: now)
            guard case .failed? = turns.ended(1, error, now: now, random: 0)?.news?.state else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test func aStopGivesBackWhatHasNotBeenToldAndSpendsNoAttempt() {
        var turns = turns((1...6).map { call($0) })
        for _ in 0..<4 { _ = turns.next(now: now) }
        _ = turns.ended(1, failure, now: now, random: 0)
        #expect(Set(turns.stop().map(\.id)) == [1, 5, 6])
        #expect(turns.next(now: now) == nil)
        let end = turns.ended(2, TransferError(.cancelled, "stopped"), now: now, random: 0)
        guard case .released? = end?.outcome.kind, end?.news == nil else {
            Issue.record("\(String(describing: end))")
            return
        }
        // One that was told all the same.
        guard case .told? = turns.ended(3, nil, now: now, random: 0)?.outcome.kind else {
            Issue.record("told")
            return
        }
        #expect(turns.left == 4 && turns.failed == 0)
        turns.begin()
        #expect(turns.left == 0)
    }

    @Test func aFullPageIsFollowedByAnother() {
        var turns = turns((1...64).map { call($0) })
        #expect(turns.nextTaken() == nil, "as long as there are some")
        while let call = turns.next(now: now) { _ = turns.ended(call.id, nil, now: now, random: 0) }
        #expect(turns.nextTaken()?.batch == 1)
    }
}
