import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferReachability
import TransferUpload

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferScheduling
@testable import TransferStore

@Suite struct JobFactsTests {
    private static let noon = at("2026-11-21 12:00")

    private func facts(_ state: JobState = .queued, origin: String = "https://a.example") -> JobFacts {
        let work = JobSpec.Work.download(.init(urls: ["https://a.example/x"], destination: "x"))
        var facts = JobFacts(batch: "b", identity: "x", state: state, spec: JobSpec(work: work))
        facts.origin = origin
        facts.run = .init(pid: 7)
        return facts
    }

    private func network(isUp: Bool, metered: Metering = .no) throws -> NetworkSnapshot {
        NetworkSnapshot(
            links: [
                .init(
                    index: 2, name: "eth0", hasCarrier: isUp, metering: metering(metered),
                    addresses: [.init(try #require(IPAddress("192.0.2.2")), prefix: 24)])
            ], defaultRoutes: [.init(version: .v4, link: 2)])
    }

    private func metering(_ metering: Metering) -> Metering { metering }

    private func explain(_ facts: JobFacts, _ snapshot: NetworkSnapshot) -> JobExplanation {
        facts.explanation(snapshot, now: Self.noon, zone: .utc)
    }

    @Test func theReceivedPartOfAnUploadIsReportedUntilItsEnd() throws {
        var facts = facts()
        let upload = JobSpec.Upload(source: "f", url: "https://a.example/in", uploadProtocol: .tus)
        facts.spec = JobSpec(work: .upload(upload))
        #expect(explain(facts, try network(isUp: true)).sent == nil)
        facts.upload = UploadRecord(FileStamp(size: 9, modified: 1), state: UploadState(earlier: "{}"), confirmed: 4)
        let sent = JobExplanation.Sent(bytes: 4, total: 9, uploadProtocol: "tus")
        #expect(explain(facts, try network(isUp: true)).sent == sent)
        facts.state = .done
        #expect(explain(facts, try network(isUp: true)).sent == nil)
    }

    /// The arguments are the reason of the job itself, the reason of its origin, and which of them is reported.
    @Test(
        arguments: [
            (JobState.queued, nil, 30, true), (.claimed, nil, 30, true), (.claimed, nil, 0, true),
            (.waiting, 10, 30, true), (.waiting, 60, 30, false), (.paused, nil, 30, false),
        ] as [(JobState, Int?, Int, Bool)])
    func aMissingHostIsReportedToItsWaitingJobs(
        _ state: JobState, _ own: Int?, _ remaining: Int, _ isReported: Bool
    ) throws {
        var facts = facts(state)
        facts.remaining = own.map { .seconds($0) }
        facts.run?.hostWait = HostWait(
            origin: "https://a.example", status: nil, message: "connection refused", since: 0,
            remaining: .seconds(remaining))
        let reason = JobExplanation.Reason.host(
            origin: "https://a.example", status: nil, message: "connection refused", remaining: .seconds(remaining))
        #expect((explain(facts, try network(isUp: true)).reason == reason) == isReported)
    }

    @Test func offlineIsReportedWithEachLinkAndItsStart() throws {
        var facts = facts()
        facts.run?.networkWait = (WallTime(milliseconds: Self.noon.milliseconds - 6000), "offline")
        let explanation = explain(facts, try network(isUp: false))
        #expect(explanation.reason == .network("offline: eth0 no carrier") && explanation.waited == .seconds(6))
        #expect(explanation.links == [.init(name: "eth0", verdict: "no carrier")])
        #expect(explanation.starts == "when a link is usable")
    }

    @Test func aRuleIsReportedWithItsPlace() throws {
        var facts = facts()
        let policy = NetworkPolicy.unmetered
        facts.network = policy.key
        facts.places[.metered] = SourceSpan(line: 9, column: 18)
        facts.source = "/etc/field.json"
        let explanation = explain(facts, try network(isUp: true, metered: .yes))
        #expect(explanation.reason == .network("only metered links are up"))
        #expect(
            explanation.rules == [.init(text: #"network.metered = "forbid""#, place: "/etc/field.json:9:18")])
    }

    @Test func aScheduleIsNoOutage() throws {
        var facts = facts()
        var policy = NetworkPolicy()
        policy.schedule = Schedule([try #require(.init(start: 22 * 60, end: 6 * 60))])
        facts.network = policy.key
        let explanation = explain(facts, try network(isUp: true))
        #expect(explanation.reason == .schedule("outside its schedule, until 22:00"))
        #expect(explanation.starts == "at 22:00")
    }

    @Test func transfersOnThisMachineNeverWaitForTheNetwork() throws {
        var facts = facts(.claimed, origin: "http://127.0.0.1:8080")
        facts.run?.active = 3
        #expect(explain(facts, try network(isUp: false)).reason == .taken(active: 3))
        var policy = NetworkPolicy()
        policy.schedule = Schedule([try #require(.init(start: 22 * 60, end: 6 * 60))])
        facts.network = policy.key
        let schedule = JobExplanation.Reason.schedule("outside its schedule, until 22:00")
        #expect(explain(facts, try network(isUp: true)).reason == schedule, "but for its schedule")
    }

    /// result of a probe × the report for a job to an address or a name without a default route
    @Test(arguments: [
        (HostWays.Finding.routes([2]), true), (HostWays.Finding.routes([3]), false),
        (HostWays.Finding.routes([]), false),
        (HostWays.Finding.unknownName, true), (HostWays.Finding.unanswered, false),
    ])
    func aNearbyHostNeedsNoDefaultRoute(_ finding: HostWays.Finding, _ isNearby: Bool) throws {
        var snapshot = try network(isUp: true)
        snapshot.defaultRoutes = []
        for origin in ["http://203.0.113.9", "https://nas.lan"] {
            let reported = facts(origin: origin).explanation(snapshot, now: Self.noon, zone: .utc) { question in
                origin.hasSuffix(question.host) ? finding : nil
            }
            #expect(reported.reason == (isNearby ? .slot(active: 0) : .network("offline: eth0 no route")))
        }
    }

    @Test func theProbedHostIsTheJobsProxy() throws {
        var snapshot = try network(isUp: true)
        snapshot.defaultRoutes = []
        var facts = facts()
        facts.spec.settings.proxy = JobSettings.Proxy(url: "http://px.lan:8080")
        let reported = facts.explanation(snapshot, now: Self.noon, zone: .utc) {
            $0.host == "px.lan" ? .routes([2]) : nil
        }
        #expect(reported.reason == .slot(active: 0))
    }

    @Test func theProcessThatRunsTheBatchKnowsBest() throws {
        var facts = facts()
        facts.run?.networkWait = (Self.noon, "offline: wwan7 no carrier")
        // The address is reachable in the view of a different network namespace.
        #expect(explain(facts, try network(isUp: true)).reason == .network("offline: wwan7 no carrier"))
    }

    /// A pause of its server, or of the network, concerns other jobs.
    @Test func aJobWhoseTransferIsUnderWayWaitsForNothing() throws {
        var running = facts(.claimed)
        running.run = .init(pid: 7, active: 2, isUnderWay: true)
        running.pause = .init(origin: "https://a.example", remaining: .seconds(42), status: 503, message: "503")
        #expect(explain(running, try network(isUp: true)).reason == .running(active: 2))
        #expect(explain(running, try network(isUp: false)).reason == .running(active: 2))
        running.run?.isUnderWay = false
        guard case .host = explain(running, try network(isUp: true)).reason else {
            Issue.record("what has been taken and does not run yet waits for its server")
            return
        }
        // The last report of its process has no meaning once that process is gone.
        running.run = nil
        #expect(explain(running, try network(isUp: true)).reason == .stopped)
    }

    @Test func withoutTheNetworkTheReasonsComeInTheirOrder() throws {
        let up = try network(isUp: true)
        var waiting = facts(.waiting)
        waiting.remaining = .seconds(4)
        #expect(explain(waiting, up).reason == .retry(remaining: .seconds(4)))
        waiting.pause = .init(
            origin: "https://a.example", remaining: .seconds(42), status: 429, message: "429")
        let host = JobExplanation.Reason.host(
            origin: "https://a.example", status: 429, message: "429", remaining: .seconds(42))
        #expect(explain(waiting, up).reason == host)
        waiting.pause = .init(
            origin: "https://a.example", remaining: .seconds(42), status: nil, message: "busy",
            proxy: "http://px.lan:3128")
        #expect(
            explain(waiting, up).reason
                == .host(origin: "http://px.lan:3128", status: nil, message: "busy", remaining: .seconds(42)))
        // A pause that is over delays nothing.
        waiting.pause = .init(origin: "https://a.example", remaining: .zero, status: 429, message: "429")
        #expect(explain(waiting, up).reason == .retry(remaining: .seconds(4)))
        var queued = facts()
        queued.run?.active = 32
        #expect(explain(queued, up).reason == .slot(active: 32))
        queued.run = nil
        #expect(explain(queued, try network(isUp: false)).reason == .stopped)
        #expect(explain(facts(.paused), up).reason == .paused)
        var blocked = facts(.blocked)
        blocked.needs = [.init(job: "iso", state: .claimed)]
        #expect(explain(blocked, up).reason == .needs([.init(job: "iso", state: .claimed)]))
    }
}

@Suite struct BatchReportTests {
    private func report(_ reason: WaitReason?, active: Int = 0, waiting: Int = 1) -> BatchReport {
        var progress = BatchProgress()
        (progress.active, progress.waiting, progress.waitReason) = (active, waiting, reason)
        return BatchReport(progress)
    }

    @Test func aCountdownIsNoNews() {
        #expect(report(.retry(remaining: .seconds(3))) == report(.retry(remaining: .seconds(2))))
        func host(_ seconds: Int) -> WaitReason {
            .host(origin: "https://a.example", status: 429, message: "429", remaining: .seconds(seconds))
        }
        #expect(report(host(42)) == report(host(41)) && report(host(42)) != report(.retry(remaining: .zero)))
        #expect(report(.retry(remaining: .seconds(3)), waiting: 2) != report(.retry(remaining: .seconds(3))))
    }

    @Test func aBatchIsOfflineOnlyWhenNothingOfItRuns() {
        #expect(report(.network("offline")).networkWait == "offline")
        #expect(report(.network("offline"), active: 1).networkWait == nil && report(.slot).networkWait == nil)
    }
}

@Suite struct NetworkLossTests {
    @Test func theLossOfALinkIsNamed() throws {
        let address = NetworkSnapshot.Address(try #require(IPAddress("192.0.2.2")), prefix: 24)
        let old = NetworkSnapshot(
            links: [.init(index: 2, name: "eth0", addresses: [address])],
            defaultRoutes: [.init(version: .v4, link: 2)])
        func losses(_ change: (inout NetworkSnapshot) -> Void) -> [String] {
            var new = old
            change(&new)
            return QueueNetwork.losses(old, new)
        }
        #expect(losses { _ in } == [] && losses { $0.links = [] } == ["eth0 is gone"])
        #expect(losses { $0.links[0].isUp = false } == ["eth0 went down"])
        #expect(losses { $0.links[0].hasCarrier = false } == ["eth0 lost carrier"])
        #expect(losses { $0.links[0].operation = .dormant } == ["eth0 is dormant"])
        #expect(losses { $0.links[0].addresses = [] } == ["eth0 lost its address"])
        #expect(losses { $0.defaultRoutes = [] } == ["eth0 lost its route"])
    }
}
