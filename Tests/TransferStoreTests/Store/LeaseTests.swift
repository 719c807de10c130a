import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

/// The rules by which a store in a folder finds out which processes live.
@Suite struct LeaseTests {
    private let now = StoredWait.Now(wall: 1_000_000, boot: .seconds(1000))

    /// Returns a process whose number has no meaning here, as in a separate container.
    private func elsewhere(until: Int64?, isLocked: Bool, boot: String = BootID.current) -> LeaseHolder {
        LeaseHolder(
            generation: 7, identity: ProcessIdentity(pid: 1 << 30, started: 1, boot: boot), until: until,
            isLocked: isLocked)
    }

    @Test func anInvisibleProcessKeepsItsLeaseToItsEnd() {
        let none = LeaseLocks(path: nil)
        let cases: [(until: Int64?, isLocked: Bool, holds: Bool)] = [
            (1_000_001, true, true), (1_000_000, true, false), (nil, true, false),
            // The process declared that it has no lock: its number is the only evidence.
            (1_000_001, false, false),
        ]
        for (until, isLocked, holds) in cases {
            #expect(elsewhere(until: until, isLocked: isLocked).holds(none, own: 1, now: now) == holds)
        }
        #expect(elsewhere(until: nil, isLocked: false).holds(none, own: 7, now: now), "whoever asks lives")
        #expect(!elsewhere(until: 9_000_000, isLocked: true, boot: "another").holds(none, own: 1, now: now))
    }

    @Test func aLockProvesWhetherAProcessLives() throws {
        let folder = try TemporaryFolder("locks")
        let (own, other) = (LeaseLocks(path: folder.path("l")), LeaseLocks(path: folder.path("l")))
        #expect(other.hold(7))
        #expect(own.isHeld(7) == true && own.isHeld(8) == false)
        #expect(elsewhere(until: 0, isLocked: true).holds(own, own: 1, now: now))
        other.release(7)
        #expect(!elsewhere(until: 9_000_000, isLocked: true).holds(own, own: 1, now: now))
        #expect(own.hold(7))
    }

    @Test func jobsOfAProcessInAnotherContainerStayWithIt() throws {
        let fixture = try StoreFixture()
        let other = try SQLiteStore(fixture.state)
        try fixture.stage([Sample.download("http://h.example/x", to: "a")], in: other)
        try fixture.raw.run("UPDATE process SET pid = 1073741824 WHERE id = \(other.database.process)")
        #expect(try fixture.store.hold(.unfinished).isEmpty)
        #expect(try fixture.store.statuses(name: nil).map(\.pid) == [1_073_741_824])
        try fixture.kill(other)
        #expect(try fixture.store.hold(.unfinished).map(\.name) == ["b"])
    }

    /// A version without leases registers itself without one, and is identified by its number.
    @Test func aProcessOfAnEarlierVersionIsKnownByItsNumber() throws {
        let fixture = try StoreFixture()
        let other = try SQLiteStore(fixture.state)
        try fixture.stage([Sample.download("http://h.example/x", to: "a")], in: other)
        other.database.locks.release(other.database.process)
        try fixture.raw.run("UPDATE process SET until = NULL, isLocked = 0 WHERE id = \(other.database.process)")
        #expect(try fixture.store.hold(.unfinished).isEmpty)
        try fixture.raw.run("UPDATE process SET started = started - 1 WHERE id = \(other.database.process)")
        #expect(try fixture.store.hold(.unfinished).map(\.name) == ["b"])
    }

    @Test func renewingMovesTheEndOfTheLease() throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        try fixture.raw.run("UPDATE process SET until = 5 WHERE id = \(store.database.process)")
        let lease = try store.renew()
        #expect(lease.generation == store.database.process)
        let until = try fixture.raw.value("SELECT until FROM process WHERE id = \(store.database.process)")
        #expect(until == "\(lease.until.nanoseconds / 1_000_000)")
    }
}
