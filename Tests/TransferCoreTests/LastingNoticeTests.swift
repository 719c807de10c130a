import Testing

@testable import TransferCore

/// A condition that lasts is reported at once, and then once a minute.
@Suite struct LastingNoticeTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test func aConditionIsReportedOnceAMinute() {
        var notice = LastingNotice()
        let reported = (0..<150).filter { notice.isDue(at: start + .seconds($0)) }
        #expect(reported == [0, 60, 120])
    }

    @Test func itsEndIsReportedOnceAndItsReturnAtOnce() {
        var notice = LastingNotice()
        let before = notice.end()
        let first = notice.isDue(at: start)
        let ends = [notice.end(), notice.end()]
        let again = notice.isDue(at: start + .seconds(1))
        #expect(!before, "it was never reported")
        #expect(first && ends == [true, false])
        #expect(again, "it has begun anew")
    }
}
