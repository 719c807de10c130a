import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferScheduling

@Suite struct CircuitBreakerTests {
    static let now = MonotonicTime.seconds(100)
    let now = Self.now
    let error = Sample.unreachable()

    func breaker(_ events: (inout CircuitBreaker) -> Void) -> CircuitBreaker {
        var breaker = CircuitBreaker()
        events(&breaker)
        return breaker
    }

    /// A breaker that has just been paused for four seconds by a 503.
    var paused: CircuitBreaker { breaker { $0.failed(1, Sample.busy(), now: now) } }

    /// The same breaker, with job 7 as its probe.
    var probing: CircuitBreaker {
        var breaker = paused
        _ = breaker.ask(7, now: now + .seconds(4))
        return breaker
    }

    var dead: CircuitBreaker {
        var breaker = paused
        breaker.exhausted(error)
        return breaker
    }

    func reason(
        _ pauses: Int, _ error: TransferError = Sample.busy(), asked: Duration = .zero
    ) -> CircuitBreaker.Reason {
        CircuitBreaker.Reason(error: error, pauses: pauses, asked: asked)
    }

    @Test func isOpenAtFirst() {
        var breaker = CircuitBreaker()
        #expect(breaker.ask(1, now: now) == .start)
        #expect(breaker.state == .closed(failures: 0))
    }

    @Test func oneOrTwoLostConnectionsCauseNoPause() {
        var breaker = CircuitBreaker()
        for count in 1..<CircuitBreaker.toleratedFailures {
            breaker.failed(Int64(count), error, now: now)
            #expect(breaker.state == .closed(failures: count))
            #expect(breaker.ask(9, now: now) == .start)
        }
        breaker.failed(3, error, now: now)
        #expect(breaker.state == .open(until: now + .seconds(4), reason(0, error)))
    }

    @Test func anAnswerForgetsEarlierFailures() {
        var breaker = CircuitBreaker()
        breaker.failed(1, error, now: now)
        breaker.failed(2, error, now: now)
        breaker.answered()
        breaker.failed(3, error, now: now)
        #expect(breaker.state == .closed(failures: 1))
    }

    @Test(arguments: [
        (Sample.busy(503, retryAfter: nil), Duration.seconds(4)),
        (Sample.busy(429, retryAfter: .seconds(30)), .seconds(30)),
        (Sample.busy(503, retryAfter: .seconds(1)), .seconds(4)),
        (Sample.unreachable(retryAfter: .seconds(9)), .seconds(9)),
    ])
    func anAnswerThatAsksForAPausePausesAtOnce(_ error: TransferError, _ length: Duration) {
        var breaker = CircuitBreaker()
        breaker.failed(1, error, now: now)
        let asked = error.retryAfter == nil ? .zero : length
        #expect(breaker.state == .open(until: now + length, reason(0, error, asked: asked)))
    }

    /// A wait that the server asks for spends time, not attempts. Each lasts at least our own backoff, and all of them
    /// a day.
    @Test(arguments: [Duration.zero, .seconds(1), .seconds(3600), .seconds(366 * 86_400)])
    func anOriginThatAsksForEverIsGivenUpAfterADay(_ asked: Duration) throws {
        let error = Sample.busy(429, retryAfter: asked)
        var breaker = breaker { $0.failed(1, error, now: now, limit: 3) }
        var time = now
        var waits: [Duration] = []
        while case .open(let until, _) = breaker.state {
            waits.append(until - time)
            time = until
            #expect(breaker.ask(7, now: time) == .start)
            breaker.failed(7, error, now: time, limit: 3)
        }
        #expect(time - now == .seconds(86_400))
        #expect(waits.dropLast().allSatisfy { $0 >= min(.seconds(60), asked) } && waits[0] >= .seconds(4))
        #expect(waits.count <= 1 + 86_400 / max(50, Int(asked.components.seconds)) + 4, "\(waits.count)")
        guard case .exhausted(let end) = breaker.state else {
            Issue.record("\(breaker.state)")
            return
        }
        #expect(end.message.contains("1d 00h is the limit (retry.maxWait)") && end.status == 429)
    }

    @Test func silenceAndRequestedWaitsAreCountedSeparately() {
        var breaker = breaker { $0.failed(1, Sample.busy(429, retryAfter: .seconds(9)), now: now, limit: 2) }
        for pauses in 1...5 {
            let time = now + .seconds(pauses * 1000)
            #expect(breaker.ask(7, now: time) == .start)
            breaker.failed(7, Sample.busy(429, retryAfter: .seconds(9)), now: time, limit: 2)
        }
        guard case .open(_, let reason) = breaker.state else {
            Issue.record("\(breaker.state)")
            return
        }
        #expect(reason.pauses == 0 && reason.asked > .seconds(54))
    }

    /// A pause that the server asked for takes no probe from the budget of a server that is silent afterwards.
    @Test(arguments: [1, 3]) func silenceAfterARequestedPauseIsCountedFromOne(_ limit: Int) {
        var breaker = breaker { $0.failed(1, Sample.busy(retryAfter: .seconds(1)), now: now, limit: limit) }
        var failures = 0
        while case .open(let until, _) = breaker.state {
            #expect(breaker.ask(7, now: until) == .start)
            failures += 1
            breaker.failed(7, error, now: until, limit: limit)
        }
        #expect(failures == limit + 1 && breaker.state == .exhausted(error))
    }

    @Test func noJobStartsDuringAPause() {
        var breaker = paused
        #expect(breaker.ask(2, now: now) == .wait(until: now + .seconds(4)))
        #expect(breaker.ask(2, now: now + .milliseconds(3999)) == .wait(until: now + .seconds(4)))
    }

    @Test func oneJobProbesAfterThePause() {
        var breaker = paused
        #expect(breaker.ask(7, now: now + .seconds(4)) == .start)
        #expect(breaker.state == .halfOpen(job: 7, reason(0)))
        #expect(breaker.ask(8, now: now + .seconds(5)) == .wait(until: nil))
    }

    @Test func aLongerRequestOfATransferUnderWayLengthensThePause() {
        var breaker = paused
        breaker.failed(2, Sample.busy(429, retryAfter: .seconds(60)), now: now)
        let longer = CircuitBreaker.State.open(until: now + .seconds(60), reason(0, asked: .seconds(56)))
        #expect(breaker.state == longer)
        breaker.failed(3, Sample.busy(429, retryAfter: .seconds(5)), now: now)
        #expect(breaker.state == longer)
        breaker.failed(4, error, now: now, scale: 60)
        #expect(breaker.state == longer)
    }

    @Test func aFailedProbePausesForLonger() {
        var breaker = probing
        let later = now + .seconds(10)
        breaker.failed(7, error, now: later)
        #expect(breaker.state == .open(until: later + .seconds(8), reason(1, error)))
    }

    @Test func anOriginIsGivenUpAfterAsManyProbesAsTheLimitAllows() {
        var breaker = breaker { $0.failed(1, Sample.busy(), now: now, limit: 5) }
        var probes = 0
        var time = now
        while case .open(let until, _) = breaker.state {
            time = until
            #expect(breaker.ask(7, now: time) == .start)
            probes += 1
            breaker.failed(7, error, now: time, limit: 5)
        }
        #expect(probes == 5)
        #expect(breaker.state == .exhausted(error))
    }

    @Test func failuresOfOtherJobsDoNotAffectTheProbe() {
        var breaker = probing
        breaker.failed(8, error, now: now)
        #expect(breaker == probing)
        breaker.abandoned(8, now: now)
        #expect(breaker == probing)
    }

    @Test func anAnswerOpensAPausedOrProbedOrigin() {
        for start in [paused, probing] {
            var breaker = start
            breaker.answered()
            #expect(breaker.state == .closed(failures: 0))
        }
    }

    /// Failed probes of a server that our other transfers keep busy are further apart, and do not give the server up.
    @Test(arguments: [true, false]) func aServerBusyWithOurOtherTransfersIsNotGivenUp(_ isAnswer: Bool) {
        let error = isAnswer ? Sample.busy(429) : Sample.unreachable()
        var breaker = breaker { $0.failed(1, Sample.busy(429), now: now, limit: 2) }
        var time = now
        for _ in 0..<5 {
            guard case .open(let until, _) = breaker.state else { break }
            time = until
            #expect(breaker.ask(7, now: time) == .start)
            breaker.failed(7, error, now: time, limit: 2, hasOthers: true)
        }
        guard isAnswer else { return #expect(breaker.state == .exhausted(error), "nobody answers") }
        #expect(breaker.permission(now: time) == .wait(until: time + .seconds(60)))
        // The other transfers are finished, and the origin opens.
        #expect(breaker.ask(7, now: time + .seconds(60)) == .start)
        breaker.failed(7, error, now: time + .seconds(60), limit: 2)
        guard case .exhausted = breaker.state else {
            Issue.record("\(breaker.state)")
            return
        }
    }

    @Test func transfersUnderWayAtAClosureAreNoNewRefusal() {
        var breaker = CircuitBreaker()
        for job in Int64(1)...23 {
            // Requests that were sent at the same time are answered.
            if job % 3 == 0 { breaker.answered() }
            breaker.failed(job, Sample.busy(429), now: now + .milliseconds(job * 8), limit: 1, since: now)
        }
        breaker.answered()
        breaker.failed(24, Sample.busy(429), now: now + .milliseconds(200), since: now)
        #expect(breaker.state == .closed(failures: 0) && breaker.wasUnderWay(now))
        // A longer pause is kept, whichever transfer receives it.
        var asked = breaker
        asked.failed(25, Sample.busy(429, retryAfter: .seconds(9)), now: now + .seconds(1), since: now)
        #expect(asked.permission(now: now + .seconds(9)) == .wait(until: now + .seconds(10)))
        let later = now + .milliseconds(20)
        breaker.failed(26, Sample.busy(429), now: now + .seconds(1), since: later)
        #expect(breaker.permission(now: now + .seconds(4)) == .wait(until: now + .seconds(5)))
    }

    @Test func aProbeThatGoesAwayLeavesItsPlaceToTheNext() {
        var breaker = probing
        let later = now + .seconds(20)
        breaker.abandoned(7, now: later)
        #expect(breaker.state == .open(until: later, reason(0)))
        #expect(breaker.ask(8, now: later) == .start)
        #expect(breaker.state == .halfOpen(job: 8, reason(0)))
    }

    @Test func abandoningChangesNothingElse() {
        for start in [CircuitBreaker(), paused, dead] {
            var breaker = start
            breaker.abandoned(7, now: now)
            #expect(breaker == start)
        }
    }

    @Test func isDeadWhenAJobGaveUpWithoutAnyAnswer() {
        for start in [paused, probing] {
            var breaker = start
            breaker.exhausted(error)
            #expect(breaker.state == .exhausted(error))
            #expect(breaker.ask(9, now: now + .seconds(1000)) == .refuse(error))
        }
    }

    @Test func anOpenOriginIsNotDeadBecauseOfOneJob() {
        var breaker = breaker { $0.failed(1, error, now: now) }
        breaker.exhausted(error)
        #expect(breaker.state == .closed(failures: 1))
    }

    /// A watched folder has no end: its server may be away for any length of time.
    @Test func anOriginIsProbedForEverForEndlessWork() {
        var breaker = breaker { $0.failed(1, error, now: now, isEndless: true) }
        var lengths: [Duration] = []
        var time = now
        for probe in 0..<200 {
            guard case .open(let until, _) = breaker.state else {
                breaker.failed(7, error, now: time, isEndless: true)
                continue
            }
            lengths.append(until - time)
            time = until
            #expect(breaker.ask(7, isEndless: true, now: time) == .start, "probe \(probe)")
            breaker.failed(7, error, now: time, isEndless: true)
        }
        #expect(lengths.prefix(5) == [.seconds(4), .seconds(8), .seconds(16), .seconds(32), .seconds(60)])
        #expect(lengths.dropFirst(5).allSatisfy { $0 == .seconds(60) } && lengths.count > 190)
        breaker.answered()
        #expect(breaker.ask(8, now: time) == .start)
    }

    /// The axes are a server's requested waits × the pauses of work without an end. Each pause is as long as requested,
    /// at most a day, without a limit on their number.
    @Test(
        arguments: [(0, 4, 60), (1, 4, 60), (3600, 3600, 3600), (86_400 * 30, 86_400, 86_400)] as [(Int, Int, Int)])
    func aServerThatAsksForEverIsProbedForEverForEndlessWork(_ asked: Int, _ first: Int, _ last: Int) {
        let error = Sample.busy(429, retryAfter: .seconds(asked))
        var breaker = breaker { $0.failed(1, error, now: now, limit: 3, isEndless: true) }
        var lengths: [Duration] = []
        var time = now
        for _ in 0..<3000 {
            guard case .open(let until, let reason) = breaker.state else { break }
            #expect(reason.givenUp == nil && reason.error.message.contains("retry.maxWait") == (asked > 86_400))
            lengths.append(until - time)
            time = until
            #expect(breaker.ask(7, isEndless: true, now: time) == .start)
            breaker.failed(7, error, now: time, limit: 3, isEndless: true)
        }
        #expect(lengths.count == 3000 && lengths.first == .seconds(first) && lengths.last == .seconds(last))
    }

    @Test func finiteJobsAreRefusedAfterTheirTimeWhileEndlessWorkContinues() {
        let error = Sample.busy(429, retryAfter: .seconds(43_200))
        var breaker = breaker { $0.failed(1, error, now: now) }
        var time = now
        for probe in 1...2 {
            time = time + .seconds(43_200)
            #expect(breaker.permission(now: time) == .start)
            #expect(breaker.ask(7, isEndless: true, now: time) == .start)
            breaker.failed(7, error, now: time, isEndless: true)
            guard probe == 2 else { continue }
            let end = error.waitedTooLong(.seconds(86_400))
            #expect(breaker.permission(now: time) == .refuse(end))
            #expect(breaker.permission(isEndless: true, now: time) == .wait(until: time + .seconds(43_200)))
        }
    }

    @Test func finiteJobsAreGivenUpWhileEndlessWorkKeepsProbing() {
        var breaker = breaker { $0.failed(1, Sample.busy(), now: now, limit: 3) }
        var time = now
        for probe in 1...3 {
            time = time + .seconds(100)
            #expect(breaker.ask(7, isEndless: true, now: time) == .start)
            #expect(breaker.permission(now: time) == .wait(until: nil))
            breaker.failed(7, error, now: time, isEndless: true)
            let isGivenUp = probe == 3
            #expect(breaker.permission(now: time + .seconds(100)) == (isGivenUp ? .refuse(error) : .start))
        }
        time = time + .seconds(100)
        #expect(breaker.ask(7, isEndless: true, now: time) == .start)
        #expect(breaker.permission(now: time) == .refuse(error))
        // A new batch needs the origin.
        breaker.revive()
        #expect(breaker.permission(now: time) == .wait(until: nil))
        breaker.answered()
        #expect(breaker.permission(now: time) == .start)
    }

    @Test func anOriginThatWasGivenUpIsProbedForEndlessWork() {
        var breaker = dead
        #expect(breaker.ask(7, isEndless: true, now: now) == .start)
        #expect(breaker.permission(now: now) == .refuse(error))
        breaker.answered()
        #expect(breaker.permission(now: now) == .start)
    }

    @Test func aJobThatGivesUpEndsOnlyFiniteJobs() {
        var breaker = breaker { $0.failed(1, Sample.busy(), now: now, isEndless: true) }
        breaker.exhausted(error)
        #expect(breaker.permission(now: now) == .refuse(error))
        #expect(breaker.permission(isEndless: true, now: now) == .wait(until: now + .seconds(4)))
    }

    @Test func aDeadOriginStaysDead() {
        var breaker = dead
        breaker.answered()
        breaker.failed(1, Sample.busy(), now: now)
        breaker.exhausted(Sample.busy())
        breaker.abandoned(1, now: now)
        #expect(breaker == dead)
    }
}

extension CircuitBreaker {
    mutating func failed(
        _ job: Int64, _ error: TransferError, now: MonotonicTime, scale: Double = 4, limit: Int = 10,
        isEndless: Bool = false, since: MonotonicTime? = nil, hasOthers: Bool = false
    ) {
        failed(
            job, error, rule: RetryRule(limit: limit, scale: scale, jitter: false), isEndless: isEndless, since: since,
            hasOthers: hasOthers, random: 0, now: now)
    }
}

extension CircuitBreaker: Equatable {
    static func == (left: CircuitBreaker, right: CircuitBreaker) -> Bool { left.state == right.state }
}
