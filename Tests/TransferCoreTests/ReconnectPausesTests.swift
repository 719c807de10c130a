import Testing

@testable import TransferCore

/// Attempts to reach a service that is away become rare, up to a bound.
@Suite struct ReconnectPausesTests {
    @Test func pausesDoubleUpToTheirBound() {
        var pauses = ReconnectPauses()
        let found = (0..<8).map { _ in pauses.next(random: 0.999_999).inSeconds.rounded() }
        #expect(found == [1, 2, 4, 8, 16, 30, 30, 30])
        #expect(ReconnectPauses.longest == .seconds(30))
    }

    @Test func eachPauseIsSpreadOverItsUpperHalf() {
        var (least, most) = (ReconnectPauses(), ReconnectPauses())
        for _ in 0..<70 {
            let (short, long) = (least.next(random: 0), most.next(random: 0.999_999))
            #expect(short >= long / 2 - .milliseconds(1) && short < long && long <= ReconnectPauses.longest)
        }
    }

    @Test func anAnswerResetsThePauses() {
        var pauses = ReconnectPauses(first: .milliseconds(500), longest: .seconds(10))
        for _ in 0..<9 { _ = pauses.next(random: 0.5) }
        #expect(pauses.next(random: 0.999_999).inSeconds.rounded() == 10)
        pauses.reset()
        #expect(pauses.next(random: 0) == .milliseconds(250))
    }
}
