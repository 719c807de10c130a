import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

@Suite struct SchedulerTests {
    let now = MonotonicTime.seconds(100)
    let a = Lane(batch: 1, origin: "http://a.example")
    let b = Lane(batch: 1, origin: "http://b.example")

    func scheduler(_ concurrency: Int = 32, perHost: Int = 16, requestRate: Double? = nil) -> Scheduler {
        Scheduler(
            limits: .init(concurrency: concurrency, perHost: .exactly(perHost), requestRate: requestRate), now: now)
    }

    func jobs(_ lane: Lane, _ ids: ClosedRange<Int64>, priority: Int = 0) -> [Scheduler.Candidate] {
        ids.map { Scheduler.Candidate(id: $0, lane: lane, priority: priority) }
    }

    func started(_ actions: [Scheduler.Action]) -> [Int64] {
        actions.compactMap { if case .start(let candidate) = $0 { candidate.id } else { nil } }
    }

    func claims(_ actions: [Scheduler.Action]) -> [Scheduler.Action] {
        actions.filter { if case .claim = $0 { true } else { false } }
    }

    @Test func neverStartsMoreThanTheLimits() {
        var scheduler = scheduler(5, perHost: 3)
        scheduler.claimed(a, jobs(a, 1...10), asked: 256)
        scheduler.claimed(b, jobs(b, 11...20), asked: 256)
        let ids = started(scheduler.decide(now: now))
        #expect(ids.count == 5)
        #expect(ids.filter { $0 <= 10 }.count <= 3 && ids.filter { $0 > 10 }.count <= 3)
        #expect(started(scheduler.decide(now: now)).isEmpty)
        scheduler.ended(.init(id: ids[0], lane: ids[0] <= 10 ? a : b, priority: 0))
        #expect(started(scheduler.decide(now: now)).count == 1)
    }

    /// The other uploads send the requested credentials along at once.
    @Test func oneUploadProbesWhereAPasswordMayBeRequired() {
        let probing = (1...5).map { Scheduler.Candidate(id: $0, lane: a, priority: 0, probesAuthentication: true) }
        for isOver in [false, true] {
            var scheduler = scheduler()
            scheduler.claimed(a, probing, asked: 256)
            // Other origins, and requests without a body, do not wait for it.
            scheduler.claimed(b, jobs(b, 11...13), asked: 256)
            #expect(Set(started(scheduler.decide(now: now))) == [1, 11, 12, 13])
            #expect(started(scheduler.decide(now: now)).isEmpty)
            if isOver { scheduler.ended(probing[0]) } else { scheduler.answered(probing[0]) }
            #expect(Set(started(scheduler.decide(now: now))) == [2, 3, 4, 5])
            scheduler.claimed(
                a, [Scheduler.Candidate(id: 6, lane: a, priority: 0, probesAuthentication: true)], asked: 256)
            #expect(started(scheduler.decide(now: now)) == [6], "the origin is known now")
        }
    }

    /// The answer to a claim may arrive after the report of jobs that became ready once the claim was done.
    @Test(arguments: [1, 300]) func jobsReadyDuringAClaimAreClaimedNext(_ count: Int) {
        var scheduler = scheduler()
        scheduler.backlogGrew(a, by: 1)
        #expect(claims(scheduler.decide(now: now)).count == 1)
        scheduler.backlogGrew(a, by: count)
        #expect(claims(scheduler.decide(now: now)).isEmpty, "one at a time")
        scheduler.claimed(a, jobs(a, 1...1), asked: 256)
        #expect(claims(scheduler.decide(now: now)).count == 1)
        // The first claim had included them: there are no more, and no further claim follows.
        scheduler.claimed(a, [], asked: 256)
        #expect(claims(scheduler.decide(now: now)).isEmpty)
    }

    @Test func theNextJobIsKnownWhileOthersAreUnderWay() {
        var scheduler = scheduler(3, perHost: 2)
        scheduler.claimed(a, jobs(a, 1...10), asked: 256)
        #expect(scheduler.upcoming(4).isEmpty, "nothing runs yet")
        #expect(started(scheduler.decide(now: now)) == [1, 2])
        #expect(scheduler.upcoming(4).map(\.id) == [3, 4, 5, 6])
        scheduler.claimed(b, jobs(b, 11...12), asked: 256)
        #expect(started(scheduler.decide(now: now)) == [11])
        #expect(Set(scheduler.upcoming(100).map(\.id)) == Set(Array(3...10) + [12]))
    }

    @Test func originsThatCameAndWentLeaveNoTrace() {
        var scheduler = scheduler(4, perHost: 1)
        for round in Int64(0)..<50 {
            let lanes = (0..<4).map { Lane(batch: 1, origin: "http://\($0 + Int(round)).example") }
            for (index, lane) in lanes.enumerated() {
                let id = round * 4 + Int64(index)
                scheduler.claimed(lane, [Scheduler.Candidate(id: id, lane: lane, priority: 0)], asked: 256)
            }
            let actions = scheduler.decide(now: now)
            #expect(started(actions).count == 4)
            for case .start(let candidate) in actions { scheduler.ended(candidate) }
            #expect(scheduler.isIdle)
        }
    }

    @Test func aClosedNetworkStartsAndClaimsNothingAndLosesNothing() {
        var scheduler = scheduler(5)
        let night = Lane(batch: 1, origin: a.origin, network: "night")
        scheduler.backlogGrew(night, by: 300)
        scheduler.setNetwork(NetworkGate(shut: ["night"]))
        #expect(scheduler.decide(now: now).isEmpty && scheduler.held(batch: 1).byNetwork == 300)
        scheduler.claimed(a, jobs(a, 1...2), asked: 256)
        #expect(started(scheduler.decide(now: now)) == [1, 2], "other rules go on")
        scheduler.setNetwork(NetworkGate())
        #expect(scheduler.decide(now: now) == [.claim(night, count: 256)])
        #expect(scheduler.closedLanes().isEmpty)
    }

    /// A page of a lane shows whether its jobs need a default route: one goes through a proxy nearby, the others do not
    /// need one.
    @Test func offlineOnePageIsClaimedAndItsJobsToDirectHostsStart() {
        var scheduler = scheduler(5)
        scheduler.backlogGrew(a, by: 300)
        var gate = NetworkGate(offline: [""])
        scheduler.setNetwork(gate)
        #expect(scheduler.decide(now: now) == [.claim(a, count: 256)])
        let candidates = (Int64(1)...256).map { id in
            Scheduler.Candidate(
                id: id, lane: a, priority: 0, reach: id % 100 == 0 ? .name("px.lan") : .name("a.example"))
        }
        scheduler.claimed(a, candidates, asked: 256)
        #expect(scheduler.decide(now: now).isEmpty)
        let hosts = scheduler.hosts(under: [""])
        #expect(hosts == [HostUnderRules(host: "px.lan", network: ""), HostUnderRules(host: "a.example", network: "")])
        gate.direct = [HostUnderRules(host: "px.lan", network: "")]
        scheduler.setNetwork(gate)
        #expect(started(scheduler.decide(now: now)) == [100, 200])
        scheduler.setNetwork(NetworkGate())
        #expect(started(scheduler.decide(now: now)).first == 1)
    }

    @Test func anotherNetworkEndsThePausesThatNoServerAskedFor() {
        var scheduler = scheduler()
        let silent = TransferError(.timedOut, "no answer", isTransient: true, scope: .origin)
        let asked = TransferError(
            .httpStatus, "503", cause: .http(status: 503), isTransient: true, scope: .origin, retryAfter: .seconds(9))
        for job in Int64(1)...3 {
            scheduler.originFailed(a.origin, job: job, silent, rule: RetryRule(), random: 0, now: now)
        }
        scheduler.originFailed(b.origin, job: 4, asked, rule: RetryRule(), random: 0, now: now)
        #expect(scheduler.pause(of: a.origin, now: now) != nil && scheduler.pause(of: b.origin, now: now) != nil)
        scheduler.openSilentGates()
        #expect(scheduler.pause(of: a.origin, now: now) == nil && scheduler.pause(of: b.origin, now: now) != nil)
    }

    @Test func theBoundOfAHostHoldsAcrossBatches() {
        var scheduler = scheduler(10, perHost: 2)
        let other = Lane(batch: 2, origin: a.origin)
        scheduler.claimed(a, jobs(a, 1...5), asked: 256)
        scheduler.claimed(other, jobs(other, 6...9), asked: 256)
        #expect(started(scheduler.decide(now: now)).count == 2)
    }

    @Test func lanesTakeTurns() {
        var scheduler = scheduler(1)
        scheduler.claimed(a, jobs(a, 1...4), asked: 256)
        scheduler.claimed(b, jobs(b, 11...14), asked: 256)
        var origins: [String] = []
        for _ in 0..<8 {
            guard case .start(let candidate)? = scheduler.decide(now: now).first else { break }
            origins.append(candidate.lane.origin)
            scheduler.ended(candidate)
        }
        #expect(origins.count == 8)
        #expect(zip(origins, origins.dropFirst()).allSatisfy(!=))
    }

    @Test func priorityGoesBeforeFairness() {
        var scheduler = scheduler(3)
        scheduler.claimed(a, jobs(a, 1...2), asked: 256)
        scheduler.claimed(b, jobs(b, 11...12, priority: 5), asked: 256)
        let ids = started(scheduler.decide(now: now))
        #expect(ids.prefix(2) == [11, 12])
        #expect(ids.count == 3)
    }

    @Test func aLaterUrgentJobOvertakesClaimedJobs() {
        var scheduler = scheduler(1)
        scheduler.claimed(a, jobs(a, 1...3), asked: 256)
        scheduler.claimed(a, jobs(a, 4...4, priority: 10), asked: 256)
        scheduler.claimed(a, jobs(a, 5...5), asked: 256)
        var order: [Int64] = []
        while case .start(let candidate)? = scheduler.decide(now: now).first {
            order.append(candidate.id)
            scheduler.ended(candidate)
        }
        #expect(order == [4, 1, 2, 3, 5])
    }

    @Test func anOriginAtItsBoundDoesNotHoldUpOthers() {
        var scheduler = scheduler(10, perHost: 1)
        scheduler.claimed(a, jobs(a, 1...5, priority: 9), asked: 256)
        scheduler.claimed(b, jobs(b, 11...11), asked: 256)
        #expect(started(scheduler.decide(now: now)) == [1, 11])
    }

    @Test func aWaitingOriginHoldsNoSlotAndNamesItsTimeToWake() {
        var scheduler = scheduler(2)
        scheduler.claimed(a, jobs(a, 1...3), asked: 256)
        scheduler.originFailed(
            a.origin, job: 99, Sample.busy(retryAfter: .seconds(7)), rule: RetryRule(), random: 0, now: now)
        scheduler.claimed(b, jobs(b, 11...14), asked: 256)
        #expect(started(scheduler.decide(now: now)) == [11, 12])
        #expect(scheduler.held(batch: 1).byOrigin == [a.origin: 3])
        for id in [11, 12] as [Int64] { scheduler.ended(.init(id: id, lane: b, priority: 0)) }
        #expect(started(scheduler.decide(now: now)) == [13, 14])
        for id in [13, 14] as [Int64] { scheduler.ended(.init(id: id, lane: b, priority: 0)) }
        #expect(started(scheduler.decide(now: now)).isEmpty)
        #expect(scheduler.nextWake == now + .seconds(7))
        #expect(!scheduler.isIdle)
        #expect(started(scheduler.decide(now: now + .seconds(7))) == [1], "one job tries")
        #expect(scheduler.nextWake == nil, "only the probe's end can change anything")
        scheduler.originAnswered(a.origin)
        #expect(started(scheduler.decide(now: now + .seconds(7))) == [2])
    }

    @Test func aDeadOriginsJobsAreAllRefused() {
        var scheduler = scheduler(2)
        let error = Sample.unreachable()
        scheduler.originFailed(a.origin, job: 99, Sample.busy(), rule: RetryRule(), random: 0, now: now)
        scheduler.originExhausted(a.origin, error)
        scheduler.claimed(a, jobs(a, 1...5), asked: 256)
        let actions = scheduler.decide(now: now)
        #expect(actions == jobs(a, 1...5).map { .refuse($0, error) })
        #expect(scheduler.isIdle)
    }

    @Test func refusingTakesNoneOfTheRequestRate() {
        var scheduler = scheduler(100, perHost: 100, requestRate: 1)
        scheduler.originFailed(a.origin, job: 99, Sample.busy(), rule: RetryRule(), random: 0, now: now)
        scheduler.originExhausted(a.origin, Sample.unreachable())
        scheduler.claimed(a, jobs(a, 1...50), asked: 256)
        #expect(scheduler.decide(now: now).count == 50)
    }

    @Test func keepsTheRequestRateByTheGivenClock() {
        var scheduler = scheduler(100, perHost: 100, requestRate: 4)
        scheduler.claimed(a, jobs(a, 1...9), asked: 256)
        var time = now
        var starts: [(Int64, Double)] = []
        while starts.count < 9 {
            starts += started(scheduler.decide(now: time)).map { ($0, (time - now).inSeconds) }
            guard starts.count < 9, let wake = scheduler.nextWake, wake > time else { break }
            time = wake
        }
        #expect(starts.map(\.0) == Array(1...9))
        for (index, start) in starts.enumerated() { #expect(abs(start.1 - Double(index) * 0.25) < 0.02) }
    }

    @Test func readsTheStoreAPageAtATime() {
        var scheduler = scheduler(200, perHost: 200)
        scheduler.backlogGrew(a, by: 600)
        #expect(scheduler.decide(now: now) == [.claim(a, count: 256)])
        #expect(scheduler.decide(now: now).isEmpty, "one claim at a time")
        scheduler.claimed(a, jobs(a, 1...256), asked: 256)
        let actions = scheduler.decide(now: now)
        #expect(started(actions).count == 200)
        #expect(claims(actions) == [.claim(a, count: 256)], "the window ran low")
        scheduler.claimed(a, jobs(a, 257...512), asked: 256)
        #expect(claims(scheduler.decide(now: now)).isEmpty, "the window is full enough")
    }

    @Test func aShortPageMeansThatTheLaneIsEmpty() {
        var scheduler = scheduler()
        scheduler.backlogGrew(a, by: 300)
        _ = scheduler.decide(now: now)
        scheduler.claimed(a, jobs(a, 1...2), asked: 256)
        let actions = scheduler.decide(now: now)
        #expect(started(actions) == [1, 2])
        #expect(claims(actions).isEmpty)
        for id in [1, 2] as [Int64] { scheduler.ended(.init(id: id, lane: a, priority: 0)) }
        #expect(scheduler.isIdle)
    }

    @Test func workThatComesDuringAClaimIsNotForgotten() {
        var scheduler = scheduler()
        scheduler.backlogGrew(a, by: 1)
        _ = scheduler.decide(now: now)
        scheduler.claimed(a, jobs(a, 1...1), asked: 256)
        scheduler.backlogGrew(a, by: 1)
        #expect(claims(scheduler.decide(now: now)) == [.claim(a, count: 256)])
        scheduler.backlogIs(a, 0)
        #expect(!scheduler.isIdle, "the claim is still to come back")
        scheduler.claimed(a, [], asked: 256)
        scheduler.ended(.init(id: 1, lane: a, priority: 0))
        #expect(scheduler.isIdle)
    }

    @Test func takesOutClaimedJobsThatHaveNotStarted() {
        var scheduler = scheduler(1)
        scheduler.claimed(a, jobs(a, 1...3), asked: 256)
        scheduler.claimed(b, jobs(b, 11...12), asked: 256)
        let first = started(scheduler.decide(now: now))
        let removed = scheduler.remove { $0.lane.origin == "http://a.example" }
        #expect(Set(removed.map(\.id)) == Set([1, 2, 3]).subtracting(first))
        #expect(scheduler.active.count == 1)
        scheduler.ended(.init(id: first[0], lane: first[0] < 10 ? a : b, priority: 0))
        #expect(started(scheduler.decide(now: now)).allSatisfy { $0 > 10 })
    }

    @Test func onlyRunningJobsOfAForgottenBatchAreLeft() {
        var scheduler = scheduler(1)
        let other = Lane(batch: 2, origin: a.origin)
        scheduler.backlogGrew(a, by: 600)
        scheduler.backlogGrew(b, by: 1)
        scheduler.claimed(a, jobs(a, 1...3), asked: 3)
        scheduler.claimed(other, jobs(other, 11...12), asked: 256)
        let actions = scheduler.decide(now: now)
        #expect(started(actions) == [1] && claims(actions).count == 2)
        scheduler.forget(batch: 1)
        #expect(scheduler.active.count == 1)
        scheduler.ended(.init(id: 1, lane: a, priority: 0))
        for job in jobs(other, 11...12) {
            #expect(scheduler.decide(now: now) == [.start(job)])
            scheduler.ended(job)
        }
        #expect(scheduler.isIdle)
    }

    @Test func endingTwiceFreesOneSlot() {
        var scheduler = scheduler(2, perHost: 2)
        scheduler.claimed(a, jobs(a, 1...6), asked: 256)
        _ = scheduler.decide(now: now)
        for _ in 0..<3 { scheduler.ended(.init(id: 1, lane: a, priority: 0)) }
        #expect(started(scheduler.decide(now: now)) == [3])
    }

    @Test func newLimitsHoldFromThenOn() {
        var scheduler = scheduler(8, perHost: 8)
        scheduler.claimed(a, jobs(a, 1...20), asked: 256)
        #expect(started(scheduler.decide(now: now)).count == 8)
        scheduler.setLimits(.init(concurrency: 2, perHost: 2), now: now)
        for id in 1...6 as ClosedRange<Int64> { scheduler.ended(.init(id: id, lane: a, priority: 0)) }
        #expect(started(scheduler.decide(now: now)).isEmpty)
        scheduler.ended(.init(id: 7, lane: a, priority: 0))
        #expect(started(scheduler.decide(now: now)).count == 1)
    }

    @Test func theDocumentedDefaults() {
        #expect(Scheduler.Limits(BatchLimits()) == .init(concurrency: 64, perHost: .automatic, requestRate: nil))
    }

    @Test(arguments: [0, -5])
    func absurdLimitsStillLetSomethingStart(_ number: Int) {
        var scheduler = Scheduler(limits: .init(BatchLimits(concurrency: number, perHost: number)), now: now)
        scheduler.claimed(a, jobs(a, 1...2), asked: 256)
        #expect(started(scheduler.decide(now: now)).count == 1)
    }

    /// A job that waits for the network is not counted again for its origin, nor is a job of a different batch.
    @Test func eachJobThatIsHeldCountsOnceAndForItsBatch() {
        var scheduler = scheduler()
        let other = Lane(batch: 2, origin: a.origin)
        let night = Lane(batch: 1, origin: a.origin, network: "night")
        scheduler.backlogGrew(a, by: 10)
        scheduler.backlogGrew(other, by: 500)
        scheduler.backlogGrew(night, by: 7)
        scheduler.claimed(b, jobs(b, 1...3), asked: 256)
        scheduler.setNetwork(NetworkGate(shut: ["night"]))
        for origin in [a.origin, b.origin] {
            scheduler.originFailed(
                origin, job: 99, Sample.busy(429, retryAfter: .seconds(9)), rule: RetryRule(), random: 0, now: now)
        }
        #expect(scheduler.held(batch: 1).byOrigin == [a.origin: 10, b.origin: 3])
        #expect(scheduler.held(batch: 1).byNetwork == 7)
        #expect(scheduler.held(batch: 2).byOrigin == [a.origin: 500] && scheduler.held(batch: 2).byNetwork == 0)
        #expect(scheduler.held(batch: 3).byOrigin.isEmpty)
        let pause = scheduler.pause(of: a.origin, now: now + .seconds(2))
        #expect(pause?.remaining == .seconds(7) && pause?.error.status == 429)
    }
}
