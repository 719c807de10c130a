import Testing

@testable import TransferCore

@Suite struct LossJudgementTests {
    /// Simulates a connection under loss-based control, round by round: half the window after a loss, otherwise one
    /// segment more.
    ///
    /// - Parameters:
    ///   - loss: The share of segments that the link loses.
    ///   - pipe: The number of segments that fit on the path and into the queue.
    ///   - queue: The number of segments that fit into the queue.
    /// - Returns: The round of the verdict; `nil` if there was none.
    private func play(loss: Double, pipe: Int, queue: Int, base: Double, rounds: Int, seed: UInt64) -> Int? {
        var random = SplitMix(state: seed)
        var judgement = LossJudgement()
        var (window, threshold) = (10, Int.max)
        var (segments, again) = (Int64(0), Int64(0))
        for round in 0..<rounds {
            var lost = loss == 0 ? 0 : (0..<window).count { _ in Double.random(in: 0..<1, using: &random) < loss }
            lost += max(0, window - pipe)
            segments += Int64(window)
            again += Int64(lost)
            let waiting = max(0, min(window, pipe) - (pipe - queue))
            let roundTrip = base * (1 + Double(waiting) / Double(max(1, pipe - queue)))
            let found = judgement.take(
                LossJudgement.Sample(
                    segments: segments, retransmitted: again, roundTrip: roundTrip, leastRoundTrip: base,
                    isRecovering: lost > 0), now: Double(round) * base)
            if found != nil { return round }
            if lost > 0 {
                window = max(2, min(window, pipe) / 2)
                threshold = window
            } else {
                window = window < threshold ? window * 2 : window + 1
            }
        }
        return nil
    }

    @Test(arguments: [0.005, 0.01, 0.03], [0.02, 0.1, 0.3])
    func lossesOnTheWayAreFound(_ loss: Double, _ base: Double) {
        for seed in 0..<10 as Range<UInt64> {
            let round = play(loss: loss, pipe: 1200, queue: 300, base: base, rounds: 200, seed: seed)
            #expect(round.map { $0 < 200 } == true, "\(loss) \(base) \(seed): \(round.map(String.init) ?? "never")")
        }
    }

    /// A deep queue, a queue of a quarter of the path, and nearly no queue.
    @Test(arguments: [(2000, 1000), (1250, 250), (1020, 20), (170, 40)], [0.02, 0.1])
    func aFullQueueIsNoLossyLink(_ link: (pipe: Int, queue: Int), _ base: Double) {
        let round = play(loss: 0, pipe: link.pipe, queue: link.queue, base: base, rounds: 3000, seed: 0)
        #expect(round == nil, "\(link) \(base)")
    }

    @Test func theFirstLossesAreNotCounted() {
        var judgement = LossJudgement()
        func sample(_ segments: Int64, _ again: Int64, _ isRecovering: Bool = false) -> LossJudgement.Sample {
            LossJudgement.Sample(
                segments: segments, retransmitted: again, roundTrip: 0.1, leastRoundTrip: 0.1,
                isRecovering: isRecovering)
        }
        #expect(judgement.take(sample(0, 0), now: 0) == nil)
        #expect(judgement.take(sample(1000, 500, true), now: 0.1) == nil)
        #expect(judgement.take(sample(2000, 900, true), now: 0.3) == nil)
        #expect(judgement.take(sample(3000, 900), now: 0.5) == nil)
        for step in 0..<100 as Range<Int64> {
            #expect(judgement.take(sample(3000 + step * 1000, 900), now: 0.5 + Double(step) / 10) == nil)
        }
    }

    @Test func aNewConnectionIsJudgedAnew() {
        var judgement = LossJudgement()
        let old = LossJudgement.Sample(
            segments: 5000, retransmitted: 100, roundTrip: 0.1, leastRoundTrip: 0.1, isRecovering: false)
        let new = LossJudgement.Sample(
            segments: 10, retransmitted: 0, roundTrip: 0.1, leastRoundTrip: 0.1, isRecovering: false)
        #expect(judgement.take(old, now: 0) == nil)
        #expect(judgement.take(new, now: 1) == nil)
        #expect(judgement.take(new, now: 2) == nil)
    }

    @Test(arguments: ["auto", "system", "bbr", "cubic", "dctcp_x-1"])
    func namesOfCongestionControlsReadBack(_ text: String) {
        #expect(CongestionControl(text)?.text == text)
    }

    @Test(arguments: ["", "BBR", "a b", "sixteen_letters_", "bbr\n", "é"])
    func invalidNamesOfCongestionControlsAreIgnored(_ text: String) { #expect(CongestionControl(text) == nil) }
}
