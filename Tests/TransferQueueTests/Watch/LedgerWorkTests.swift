import Testing
import TransferCore
import TransferTestSupport
import TransferWatch

@testable import TransferJobs
@testable import TransferStore

/// What a version costs the database doesn't grow with what waits and what was done.
@Suite struct LedgerWorkTests {
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
        let ledger = try fixture.store.openLedger(plan).folder
        try take(0..<10, ledger)
        let few = try fixture.store.steps { try take(10..<110, ledger) }
        try take(110..<900, ledger)
        // That they are counted, once for all that is taken together, is little.
        let many = try fixture.store.steps { try take(900..<1000, ledger) }
        #expect(many < few * 3 / 2, "\(few) steps beside 10 jobs, \(many) beside 900")
    }

    @Test func aVersionThatTakesAnothersPlaceCostsTheSameToo() throws {
        let ledger = try fixture.store.openLedger(plan).folder
        try take(0..<200, ledger)
        let few = try fixture.store.steps { try take(0..<100, ledger, modified: 2) }
        try take(200..<900, ledger)
        let many = try fixture.store.steps { try take(100..<200, ledger, modified: 2) }
        #expect(many < few * 3 / 2, "\(few) steps beside 200 jobs, \(many) beside 900")
    }

    private func take(_ numbers: Range<Int>, _ ledger: Int64, modified: Int64 = 1) throws {
        let offers = numbers.map { number in
            let version = FileVersion(
                device: 1, inode: UInt64(number), size: 1, modified: modified, path: "f\(number)")
            return LedgerOffer(version: version, finding: .new(digest: nil))
        }
        let (_, changes) = try fixture.store.take(offers, folder: ledger, plan: plan)
        #expect(changes.handled == numbers.count)
    }
}
