import Foundation
import Testing
import TransferQueue
import TransferTestSupport

@testable import transfer

/// The live screen of a queue that other processes work on.
@Suite struct TopViewTests {
    private static func row(
        _ name: String, _ state: String = "running", done: Int = 1, total: Int = 4, failed: Int = 0,
        rate: Int64? = 2_048, waitingFor: String? = nil
    ) -> BatchStatusRow {
        BatchStatusRow(
            name: name, state: state, done: done, total: total, failed: failed, waiting: 0, rate: rate,
            eta: .seconds(90), pid: 7, remaining: total - done - failed, waitingFor: waitingFor)
    }

    private static func transfer(
        _ job: String, of batch: String, completed: Int64, total: Int64? = nil, rate: Int64? = nil
    ) -> TopLook.Transfer {
        TopLook.Transfer(batch: batch, job: job, completed: completed, total: total, rate: rate)
    }

    private static func frame(_ view: TopView, width: Int = 80, height: Int = 24) -> [String] {
        view.frame(now: 2_000, width: width, height: height, charset: .utf8).map(\.text)
    }

    @Test func theScreenHasTheBatchesAndTheirTransfers() {
        var view = TopView()
        let batches = [Self.row("nightly", failed: 1), Self.row("over", "finished", done: 4)]
        let transfers = [Self.transfer("big.iso", of: "nightly", completed: 512, total: 1_024, rate: 2_048)]
        view.take(TopLook(time: 1_000, batches: batches, transfers: transfers), isAll: true)
        let lines = Self.frame(view)
        #expect(lines.contains("nightly: 4 jobs"))
        #expect(!lines.contains { $0.hasPrefix("over") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("big.iso") && $0.contains(" 50%") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("1 of 4") && $0.contains("2.00 KiB/s") && $0.contains("1 active") })
        #expect(lines.contains { $0.hasPrefix("1 failed") })
    }

    @Test func aRateThatNobodyReportsIsThatSinceTheLastLook() {
        var view = TopView()
        for (time, bytes) in [(Int64(1_000), Int64(0)), (2_000, 4_096)] {
            let transfer = Self.transfer("a", of: "b", completed: bytes)
            view.take(TopLook(time: time, batches: [Self.row("b", rate: nil)], transfers: [transfer]), isAll: true)
        }
        let lines = Self.frame(view)
        #expect(lines.contains { $0.hasPrefix("a ") && $0.contains("4.00 KiB/s") }, "\(lines)")
    }

    @Test func transfersThatEndedAndBatchesThatWereForgottenLeaveTheScreen() {
        var view = TopView()
        let transfer = Self.transfer("a", of: "b", completed: 1)
        view.take(TopLook(time: 1, batches: [Self.row("b"), Self.row("c")], transfers: [transfer]), isAll: true)
        view.take(TopLook(time: 2, batches: [Self.row("c")], transfers: []), isAll: true)
        let lines = Self.frame(view)
        #expect(!lines.contains { $0.hasPrefix("a ") || $0.hasPrefix("b:") } && lines.contains("c: 4 jobs"), "\(lines)")
    }

    @Test func aQueueWithoutWorkSaysSo() {
        var view = TopView()
        view.take(TopLook(time: 1, batches: [Self.row("b", "finished", done: 4)], transfers: []), isAll: true)
        #expect(Self.frame(view) == ["no batch has work left; q ends"])
    }

    @Test func aBatchThatWasNamedStaysAfterItsEnd() {
        var view = TopView()
        view.take(TopLook(time: 1, batches: [Self.row("b", "finished", done: 4)], transfers: []), isAll: false)
        #expect(Self.frame(view).contains { $0.hasPrefix("4 of 4") })
    }

    @Test func theReasonOfAWaitIsOnTheScreen() {
        var view = TopView()
        let row = Self.row("b", "offline", rate: nil, waitingFor: "eth0 no carrier")
        view.take(TopLook(time: 1_000, batches: [row], transfers: []), isAll: true)
        #expect(Self.frame(view).contains { $0.contains("eth0 no carrier") }, "\(Self.frame(view))")
    }

    @Test(arguments: [20, 40, 60, 80, 120], [4, 10, 24])
    func theFrameFitsTheScreen(_ width: Int, _ height: Int) {
        var view = TopView()
        let transfers = (0..<50).map { Self.transfer("folder/file-\($0)", of: "b", completed: 1, total: 9) }
        view.take(
            TopLook(time: 1, batches: [Self.row("b"), Self.row("watch:/srv/in", "watching")], transfers: transfers),
            isAll: true)
        let lines = view.frame(now: 1, width: width, height: height, charset: .utf8)
        #expect(lines.count < height && lines.allSatisfy { $0.width <= width - 2 }, "\(lines.map(\.text))")
    }

    @Test func standardOutputThatIsNoTerminalIsRefusedWithTheOtherCommand() async throws {
        let result = try await Workplace().run("top")
        #expect(result.exitCode == 64)
        #expect(result.standardError.contains("transfer status") && result.standardError.contains("--follow"))
    }
}
