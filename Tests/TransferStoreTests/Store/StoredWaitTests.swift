import Testing
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

/// Waits in the database, and clocks that jump.
@Suite struct StoredWaitTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private static let boot = MonotonicTime.seconds(1000)
    private static let wall: Int64 = 1_700_000_000_000

    /// A step of the wall clock × the boot × the rest of a wait of 5 s after one second, in milliseconds.
    @Test(
        arguments: [
            (0, true, 4000), (86_400_000, true, 4000), (-86_400_000, true, 4000), (0, false, 4000),
            (86_400_000, false, 0), (-86_400_000, false, 5000),
        ] as [(Int64, Bool, Int64)])
    func aStepOfTheWallsClockChangesNoWaitOfThisBoot(_ step: Int64, _ isSameBoot: Bool, _ left: Int64) {
        var wait = StoredWait(until: Self.boot + .seconds(5), now: .init(wall: Self.wall, boot: Self.boot))
        // Without a boot only the wall clock is known.
        if !isSameBoot { wait.boot = nil }
        let later = StoredWait.Now(
            wall: Self.wall + 1000 + step, boot: isSameBoot ? Self.boot + .seconds(1) : .seconds(3))
        #expect(wait.remaining(later) == .milliseconds(left))
    }

    /// Former versions stored only the wall clock's time: a machine that starts in 1970 waits for a day, not for
    /// decades.
    @Test func aWaitOfUnknownLengthIsAtMostADay() {
        let wait = StoredWait(wall: Self.wall, boot: nil, length: nil)
        #expect(wait.remaining(.init(wall: 0, boot: .seconds(3))) == .seconds(86_400))
        #expect(wait.remaining(.init(wall: Self.wall - 9000, boot: .seconds(3))) == .seconds(9))
        #expect(wait.remaining(.init(wall: Self.wall + 9000, boot: .seconds(3))) == .zero)
    }

    @Test func nothingIsDueBeforeItsTime() {
        let due = MonotonicTime(nanoseconds: 1_000_000_000_001)
        let wait = StoredWait(until: due, now: .init(wall: Self.wall, boot: Self.boot))
        #expect(wait.due(.init(wall: Self.wall, boot: Self.boot)) >= due)
    }

    /// A file is kept for an hour after its upload, for any setting of the clock. The arguments are steps of the clock;
    /// the expectation is the distance to the end half an hour later.
    @Test(arguments: [0, 900, 86_400_000, -86_400_000, 1_764_000_000_000, -1_764_000_000_000] as [Int64])
    func aStepOfTheWallsClockMovesTheTimesOfKeptFilesWithIt(_ step: Int64) throws {
        let begin = StoredWait.Now.system
        try keep(until: begin.wall + 3_600_000)
        let later = StoredWait.Now(wall: begin.wall + 1_800_000 + step, boot: begin.boot + .seconds(1800))
        try fixture.store.database.write { try StoredWait.follow($0, later) }
        let left = (try due()).map { $0 - later.wall } ?? 0
        #expect(abs(left - 1_800_000) <= StoredWait.smallestStep * 2, "\(left)")
    }

    /// A machine without a clock of its own starts in 1970.
    @Test(arguments: [(0, 3_600_000), (-86_400_000, 3_600_000), (1_800_000, 1_800_000)] as [(Int64, Int64)])
    func afterABootAFileIsKeptForNoLongerThanItWasToBe(_ step: Int64, _ left: Int64) throws {
        let begin = StoredWait.Now.system
        try keep(until: begin.wall + 3_600_000)
        try fixture.raw.run("UPDATE boot SET id = 'another'")
        let now = StoredWait.Now(wall: begin.wall + step, boot: .seconds(3))
        try fixture.store.database.write { try StoredWait.follow($0, now) }
        #expect(try due().map { $0 - now.wall } == left)
    }

    private func keep(until time: Int64) throws {
        try fixture.raw.run("INSERT INTO watchedFolder (id, path, since, thenAfter) VALUES (1, '/in', 0, 3600000)")
        try fixture.raw.run(
            """
            INSERT INTO ledger (folder, device, inode, size, modified, path, url, state, staged, confirmed, due)
            VALUES (1, 1, 1, 1, 1, 'a', 'a', 1, 0, 0, \(time))
            """)
    }

    private func due() throws -> Int64? { try fixture.raw.value("SELECT due FROM ledger").flatMap { Int64($0) } }

    @Test(arguments: ["http://px.lan:3128", nil]) func aPauseRecordsTheProxyThatRequestedIt(_ proxy: String?) throws {
        try fixture.store.publish(
            .pause(
                StoredPause(
                    origin: "http://h.example", remaining: .seconds(60), status: nil, message: "busy", proxy: proxy)))
        let pause = try #require(try SQLiteStore(fixture.state).pauses().first)
        #expect(pause.origin == "http://h.example" && pause.proxy == proxy && pause.message == "busy")
    }

    @Test func anotherBootForgetsTheTimesOfTheOneBefore() throws {
        try fixture.stage([Sample.download("http://h.example/x", to: "a")])
        let record = try #require(try fixture.claimAll(1).first)
        let step = JobStep(
            id: record.id, state: .waiting, attempts: 1, mirror: 0, spentMirrors: 0, askedWait: .seconds(7),
            due: MonotonicTime.now + .seconds(3600), origin: "http://h.example", batch: 1)
        _ = try fixture.store.record([], [step])
        try fixture.store.publish(
            .pause(StoredPause(origin: "http://h.example", remaining: .seconds(60), status: 429, message: "")))
        #expect(try fixture.raw.value("SELECT id FROM boot") == BootID.current)
        _ = try SQLiteStore(fixture.state)
        #expect(try fixture.raw.value("SELECT count(*) FROM job WHERE due IS NOT NULL") == "1")
        try fixture.raw.run("UPDATE boot SET id = 'another'; UPDATE job SET due = 1; UPDATE pause SET due = 1")
        #expect(try fixture.store.backlog(batch: 1).sleepers.first.map { $0.due <= .now } == true)
        let store = try SQLiteStore(fixture.state)
        #expect(try fixture.raw.value("SELECT id FROM boot") == BootID.current)
        let left = try #require(try store.backlog(batch: 1).sleepers.first).due - MonotonicTime.now
        #expect(left > .seconds(3500) && left <= .seconds(3600))
        #expect(try store.pauses().first.map { $0.remaining > .seconds(50) } == true)
        #expect(try store.wake([record.id]).count == 1)
        #expect(try fixture.claimAll(1).map(\.askedWait) == [.seconds(7)])
    }
}
