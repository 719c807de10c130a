import Testing
import TransferCore
import TransferEventLoop

@testable import TransferEngine

/// The memory of hosts to which large segments vanish.
@Suite struct SmallSegmentsTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    @Test func aDoubtLastsShortlyAndKeepsConnections() {
        let small = SmallSegments()
        small.note("a:80", isProven: false, now: start)
        #expect(small.use(for: "a:80", now: start + .seconds(29)) == .init(isSmall: true, isNew: false))
        #expect(small.use(for: "b:80", now: start) == .init())
        #expect(!small.isProven("a:80", now: start))
        #expect(small.use(for: "a:80", now: start + .seconds(30)) == .init())
    }

    @Test func aProofLastsLongerAndLeavesConnectionsThatWereKept() {
        let small = SmallSegments()
        small.note("a:80", isProven: true, now: start)
        small.note("a:80", isProven: false, now: start + .seconds(1))
        #expect(small.use(for: "a:80", now: start + .seconds(29)) == .init(isSmall: true, isNew: true))
        #expect(small.use(for: "a:80", now: start + .seconds(599)) == .init(isSmall: true, isNew: false))
        #expect(small.isProven("a:80", now: start + .seconds(599)))
        #expect(!small.isProven("a:80", now: start + .seconds(600)))
        #expect(small.use(for: "a:80", now: start + .seconds(600)) == .init())
    }
}
