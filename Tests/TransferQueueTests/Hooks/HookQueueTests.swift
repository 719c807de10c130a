import Testing
import TransferCore
import TransferEventLoop
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferStore

/// The order and the retries of messages for hooks.
@Suite struct HookQueueTests {
    private let now = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func call(_ id: Int64, limit: Int = 10, attempts: Int = 0) -> HookCall {
        var settings = JobSettings()
        settings.onFinish = .command("tell")
        settings.retry.limit = limit
        settings.retry.jitter = false
        return HookCall(
            id: id, batch: 1, job: "j\(id)", event: "e\(id)", body: "{}", settings: settings, attempts: attempts)
    }

    private func turns(_ calls: [HookCall]) -> HookQueue {
        var turns = HookQueue()
        turns.came(1, revivesFailed: false)
        #expect(turns.nextTaken()?.batch == 1)
        #expect(turns.took(calls, of: 1, now: now).isEmpty)
        return turns
    }

    private let failure = TransferError(.hookFailed, "no", isTransient: true)

    @Test func fourMessagesAreSentAtATimeInOrder() {
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

    private func pause(_ end: (outcome: HookOutcome, news: HookNews?)?) -> Duration? {
        if case .retrying(let pause, _)? = end?.news?.state { pause } else { nil }
    }

    @Test func aWatchedFoldersMessageIsNeverGivenUp() {
        var turns = turns([call(1, limit: 0)])
        var time = now
        var pauses: [Int] = []
        for _ in 0..<9 {
            guard let next = turns.next(now: time),
                let pause = pause(turns.ended(next.id, failure, now: time, random: 0, isEndless: true))
            else { break }
            pauses.append(Int(pause.inSeconds))
            #expect(turns.next(now: time) == nil)
            time = turns.nextDue ?? time
        }
        #expect(pauses == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
        #expect(!turns.isEmpty && turns.failed == 0)
    }

    @Test func anEndlessMessageIsKeptAfterALastingFailure() {
        var turns = turns([call(1)])
        _ = turns.next(now: now)
        let gone = TransferError(.httpStatus, "410", cause: .http(status: 410))
        #expect(pause(turns.ended(1, gone, now: now, random: 0, isEndless: true)) == .seconds(60))
    }

    @Test func anEndlessMessageWaitsAsLongAsItsServerAsks() {
        var turns = turns([call(1, limit: 0)])
        _ = turns.next(now: now)
        let busy = TransferError(
            .httpStatus, "503", cause: .http(status: 503), isTransient: true, retryAfter: .seconds(1000))
        #expect(pause(turns.ended(1, busy, now: now, random: 0, isEndless: true)) == .seconds(1000))
    }

    /// A wait that the server asks for spends time and no attempt, as for jobs. It grows where the server names no
    /// time.
    @Test(arguments: [(0, 7), (5, 12), (600, 1)]) func waitsThatAServerAsksForSpendNoAttempt(
        _ seconds: Int, _ mostInAMinute: Int
    ) {
        var turns = turns([call(1)])
        let busy = TransferError(
            .httpStatus, "503", cause: .http(status: 503), isTransient: true, retryAfter: .seconds(seconds))
        var (time, attempts) = (now, 0)
        while time - now < .seconds(60), let next = turns.next(now: time) {
            attempts += 1
            _ = turns.ended(next.id, busy, now: time, random: 0)
            time = turns.nextDue ?? time
        }
        #expect(attempts <= mostInAMinute && turns.failed == 0)
        for _ in 0..<100 {
            guard let next = turns.next(now: time) else { break }
            _ = turns.ended(next.id, busy, now: time, random: 0)
            time = turns.nextDue ?? time
        }
        // The limit is the day that `retry.maxWait` has by default.
        #expect(turns.failed == 0 || time - now >= .seconds(86_400))
    }

    @Test func aSuccessWakesMessagesForTheSameHook() {
        var turns = turns((1...5).map { call($0, limit: 0) })
        for _ in 1...5 {
            guard let next = turns.next(now: now) else { break }
            _ = turns.ended(next.id, failure, now: now, random: 0, isEndless: true)
        }
        turns.came(1, revivesFailed: false)
        _ = turns.nextTaken()
        _ = turns.took([call(6, limit: 0)], of: 1, now: now)
        var order: [Int64] = []
        while let next = turns.next(now: now) {
            order.append(next.id)
            _ = turns.ended(next.id, nil, now: now, random: 0, isEndless: true)
        }
        #expect(order == [6, 1, 2, 3, 4, 5] && turns.isEmpty)
    }

    @Test func aProbeThatFailsEndsTheWakingForAWhile() {
        var turns = turns([call(1, limit: 0)])
        _ = turns.next(now: now)
        _ = turns.ended(1, failure, now: now, random: 0, isEndless: true)
        func succeed(_ id: Int64, _ time: MonotonicTime) {
            turns.came(1, revivesFailed: false)
            _ = turns.nextTaken()
            _ = turns.took([call(id, limit: 0)], of: 1, now: time)
            #expect(turns.next(now: time)?.id == id)
            _ = turns.ended(id, nil, now: time, random: 0, isEndless: true)
        }
        succeed(2, now)
        #expect(turns.next(now: now)?.id == 1)
        _ = turns.ended(1, failure, now: now, random: 0, isEndless: true)
        succeed(3, now + .seconds(30))
        #expect(turns.next(now: now + .seconds(30)) == nil)
        succeed(4, now + .seconds(61))
        #expect(turns.next(now: now + .seconds(61))?.id == 1)
    }

    @Test func oneEndlessMessageOfAHookIsSentAtATime() {
        var turns = turns((1...3).map { call($0, limit: 0) })
        for _ in 1...3 {
            guard let next = turns.next(now: now) else { break }
            _ = turns.ended(next.id, failure, now: now, random: 0, isEndless: true)
        }
        let time = now + .seconds(60)
        #expect(turns.next(now: time) != nil && turns.next(now: time) == nil && turns.nextDue == nil)
    }

    @Test func anUnwatchedFolderLeavesItsMessagesToTheNextRun() {
        var turns = turns([call(1, limit: 0), call(2)])
        for _ in 1...2 {
            guard let next = turns.next(now: now) else { break }
            _ = turns.ended(next.id, failure, now: now, random: 0, isEndless: true)
        }
        #expect(turns.folderEnded(1).map(\.outcome.id) == [1])
        #expect(turns.failed == 1 && turns.nextDue == now + .seconds(1))
    }

    @Test func aServersWaitIsKeptAndCostsNoAttempt() {
        var turns = turns([call(1, limit: 1)])
        let busy = TransferError(
            .httpStatus, "429", cause: .http(status: 429), isTransient: true, retryAfter: .seconds(30))
        _ = turns.next(now: now)
        _ = turns.ended(1, busy, now: now, random: 0)
        #expect(turns.nextDue == now + .seconds(30))
        _ = turns.next(now: now + .seconds(30))
        let again = pause(turns.ended(1, busy, now: now + .seconds(30), random: 0))
        #expect(again.map { $0 >= .seconds(30) && $0 <= .seconds(31) } == true, "\(String(describing: again))")
        #expect(turns.failed == 0)
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

    @Test func aStopReturnsUnsentMessagesWithoutAnAttempt() {
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
        // A message that was delivered after all.
        guard case .reported? = turns.ended(3, nil, now: now, random: 0)?.outcome.kind else {
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
