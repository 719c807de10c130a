import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport
import TransferWatch

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

/// The database work of a version does not grow with the number of waiting and finished files.
@Suite struct HistoryWorkTests {
    private let fixture: StoreFixture
    private let folder: TemporaryFolder
    private let plan: WatchPlan

    init() throws {
        fixture = try StoreFixture()
        folder = try TemporaryFolder("ledger")
        var spec = WatchSpec(folder: try folder.folder("in"), url: "http://h.example/in/{path}")
        spec.rules.isRecursive = true
        plan = try WatchPlan(spec)
    }

    @Test func takingAVersionCostsTheSameWithManyOpenJobs() throws {
        let history = try fixture.store.openHistory(plan).folder
        try take(0..<10, history)
        let few = try fixture.store.steps { try take(10..<110, history) }
        try take(110..<900, history)
        // The files of one transaction are counted once, which is little work.
        let many = try fixture.store.steps { try take(900..<1000, history) }
        #expect(many < few * 3 / 2, "\(few) steps beside 10 jobs, \(many) beside 900")
    }

    @Test func aVersionThatTakesAnothersPlaceCostsTheSameToo() throws {
        let history = try fixture.store.openHistory(plan).folder
        try take(0..<200, history)
        let few = try fixture.store.steps { try take(0..<100, history, modified: 2) }
        try take(200..<900, history)
        let many = try fixture.store.steps { try take(100..<200, history, modified: 2) }
        #expect(many < few * 3 / 2, "\(few) steps beside 200 jobs, \(many) beside 900")
    }

    private func take(_ numbers: Range<Int>, _ history: Int64, modified: Int64 = 1) throws {
        let offers = numbers.map { number in
            let version = FileVersion(
                device: 1, inode: UInt64(number), size: 1, modified: modified, path: "f\(number)")
            return HistoryOffer(version: version, finding: .new(digest: nil))
        }
        let (_, changes) = try fixture.store.take(offers, folder: history, plan: plan)
        #expect(changes.handled == numbers.count)
    }
}
