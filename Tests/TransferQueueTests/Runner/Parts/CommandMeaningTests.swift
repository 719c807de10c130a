import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferFolders
@testable import TransferJobs
@testable import TransferQueue

/// The effect of commands on the jobs that this process has.
@Suite struct CommandMeaningTests {
    private func command(_ verb: QueueVerb, job: String? = nil) -> QueueCommand {
        QueueCommand(id: 1, verb: verb, batch: 1, job: job)
    }

    @Test func aCommandIsAboutItsBatchOrOneJobOfIt() {
        #expect(command(.pause).means(1, "a") && !command(.pause).means(2, "a"))
        #expect(command(.pause, job: "a").means(1, "a") && !command(.pause, job: "a").means(1, "b"))
    }

    @Test func onlyPauseAndCancelStopTransfersUnderWay() {
        if case .release(.paused)? = command(.pause).stop {} else { Issue.record("a pause releases") }
        if case .cancel? = command(.cancel).stop {} else { Issue.record("a cancel cancels") }
        for verb in [QueueVerb.resume, .retry, .retryFailed] { #expect(command(verb).stop == nil) }
    }

    @Test(arguments: [
        (QueueVerb.resume, false, true), (.resume, true, true), (.retry, false, false), (.retry, true, true),
        (.retryFailed, true, true), (.pause, true, false), (.cancel, true, false),
    ])
    func aRetryEndsAPauseOnlyOfJobsThatFailed(_ verb: QueueVerb, isFailing: Bool, opensGates: Bool) {
        #expect(command(verb).opensGates(isFailing: isFailing) == opensGates)
    }

    @Test func aStepWithCancelledWaitsStartsAnewAtOnce() {
        var step = JobStep(
            id: 1, state: .waiting, attempts: 3, mirror: 1, spentMirrors: 1, due: .seconds(9),
            origin: "http://h.example:80", batch: 1, identity: "a")
        step.askedWait = .seconds(4)
        step.cancelWaits()
        #expect(step.state == .queued && step.due == nil && step.attempts == 0 && step.mirror == 0)
        #expect(step.spentMirrors == 0 && step.askedWait == .zero)
    }
}
