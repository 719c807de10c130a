import FoundationEssentials
import Testing
import TransferCore
import TransferEventLoop
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStorePostgres
@testable import TransferStoreSQLite

/// Jobs that require a worker with tags.
@Suite struct WorkerTagTests {
    @Test(arguments: [
        ("", "", true), ("eu", "", true), ("", "eu", false), ("eu", "eu", true), ("eu,gpu", "gpu", true),
        ("gpu", "eu,gpu", false),
    ])
    func aWorkerDoesJobsThatRequireNoOtherTags(own: String, asked: String, does: Bool) {
        func tags(_ text: String) -> WorkerTags { WorkerTags(text: text) ?? .none }
        #expect(tags(own).cover(tags(asked)) == does)
    }

    @Test func tagsHaveOneTextInAnyOrder() {
        #expect(WorkerTags(["gpu", "eu", "gpu"])?.text == "eu,gpu")
        #expect(WorkerTags(text: "gpu,eu")?.names == ["eu", "gpu"])
        for wrong in ["", "eu,", "EU", "a b", String(repeating: "a", count: 65)] {
            #expect(WorkerTags(text: wrong) == nil, "\(wrong)")
        }
        #expect(WorkerTags((0...WorkerTags.most).map { "t\($0)" }) == nil)
    }

    @Test func aQueueOfOneMachineTakesNoJobThatAsksForTags() throws {
        let folder = try TemporaryFolder("tags")
        let store = try SQLiteStore(StateFolder(folder.path("state")))
        let spec = Sample.tagged("x", ["gpu", "eu"])
        let failure = #expect(throws: StagingFailure.self) { try store.stage([spec]) }
        guard case .faults(let report)? = failure else {
            Issue.record("it was taken")
            return
        }
        #expect(report.faults.first?.message.contains("a worker with the tags eu, gpu has to do it") == true)
        #expect(try store.statuses(name: "b").isEmpty)
    }
}

/// The tags of jobs and workers in the store.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(1))) struct WorkerTagStoreTests: SharedQueueTests {
    let address: PostgresAddress

    init() async throws { address = try await Self.newQueue() }

    @Test func aWorkerSeesTheLanesThatItMayDo() throws {
        let jobs = [Sample.tagged("0", []), Sample.tagged("1", ["eu"]), Sample.tagged("2", ["gpu", "eu"])]
        let batch = try bring(jobs)
        func lanes(_ tags: String...) throws -> [String] {
            var own = PostgresWorker()
            own.tags = WorkerTags(tags) ?? .none
            return try PostgresStore(address, .worker(own)).backlog(batch: batch).ready.keys.map(\.tags).sorted()
        }
        #expect(try lanes() == [""])
        #expect(try lanes("us") == [""])
        #expect(try lanes("eu") == ["", "eu"])
        #expect(try lanes("gpu", "eu", "big") == ["", "eu", "eu,gpu"])
        let claimed = try worker("eu").claim(
            Lane(batch: batch, origin: "http://h.example", tags: "eu"), limit: 9, secrets: [:])
        #expect(claimed.jobs.map(\.record.identity) == ["1"])
        #expect(claimed.jobs.first?.record.spec.settings.worker.tags.names == ["eu"])
    }

    /// A job that waits for its next attempt, or for other jobs, is woken by workers with its tags.
    @Test func waitingJobsAreLeftToWorkersWithTheirTags() throws {
        let jobs = [
            Sample.tagged("0", []), Sample.tagged("1", ["eu"], needs: ["0"]), Sample.tagged("2", ["eu"]),
        ]
        let batch = try bring(jobs)
        let (plain, eu) = (try worker(), try worker("eu"))
        let lane = Lane(batch: batch, origin: "http://h.example")
        let waiting = try #require(
            eu.claim(lane.tagged("eu"), limit: 1, secrets: [:]).jobs.first?.record)
        _ = try eu.record(
            [],
            [
                JobStep(
                    id: waiting.id, state: .waiting, attempts: 1, mirror: 0, spentMirrors: 0, due: .now,
                    origin: "http://h.example", batch: batch)
            ])
        #expect(try plain.backlog(batch: batch).sleepers.isEmpty)
        #expect(try eu.backlog(batch: batch).sleepers.map(\.lane) == [lane.tagged("eu")])
        let first = try #require(plain.claim(lane, limit: 1, secrets: [:]).jobs.first?.record)
        #expect(try plain.succeed(first).unblocked.isEmpty, "it is not its own to do")
        #expect(try eu.backlog(batch: batch).ready == [lane.tagged("eu"): 1])
    }

    @Test func whyAndStatusSayWhichTagsNoWorkerHas() throws {
        let batch = try bring([Sample.tagged("0", ["gpu", "eu"]), Sample.tagged("1", ["eu"])])
        let workers = try [worker("eu"), worker()]
        let looker = try PostgresStore(address, .onlooker)
        let lack = WorkerLack(tags: try #require(WorkerTags(["eu", "gpu"])), workers: 2)
        #expect(try looker.facts(batch: "b", job: "0")?.lack == lack)
        #expect(try looker.facts(batch: "b", job: "1")?.lack == nil)
        #expect(try looker.statuses(name: "b").first?.lacks == [lack])
        #expect(lack.words == "a worker with the tags eu, gpu; none of the 2 workers has them")
        #expect(try looker.workers().map(\.tags.text) == ["eu", ""])
        #expect(try workers[0].backlog(batch: batch).ready.count == 1)
        let both = try worker("eu", "gpu")
        #expect(try looker.facts(batch: "b", job: "0")?.lack == nil && both.sharesBatches)
    }

    @Test func stagedAgainAJobAsksForOtherTagsAndIsTheSame() throws {
        _ = try bring([Sample.tagged("0", ["eu"])])
        let batch = try bring([Sample.tagged("0", ["us"])])
        #expect(try worker("us").backlog(batch: batch).ready.keys.map(\.tags) == ["us"])
        #expect(try worker("eu").backlog(batch: batch).ready.isEmpty)
    }
}

extension Sample {
    fileprivate static func tagged(_ name: String, _ tags: [String], needs: [String] = []) -> JobSpec {
        var settings = quick
        settings.worker.tags = WorkerTags(tags) ?? .none
        return download("http://h.example/\(name)", to: name, id: name, needs: needs, settings: settings)
    }
}

extension Lane {
    fileprivate func tagged(_ tags: String) -> Lane { Lane(batch: batch, origin: origin, network: network, tags: tags) }
}
