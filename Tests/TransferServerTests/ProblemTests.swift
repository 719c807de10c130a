import HTTPTypes
import Testing
import TransferQueue

@testable import TransferServer

/// The responses to errors of the queue, by the HTTP API and by aria2's interface.
@Suite struct ProblemTests {
    /// An error, with the status of the HTTP API, that of aria2's JSON-RPC, and a part of both texts.
    private static let table: [(any Error, Int, Int, String)] = [
        (TransferError(.cannotConnect, "m", isTransient: true), 503, 503, "the queue's database is away: m"),
        (TransferError(.connectionLost, "m", isTransient: true), 503, 503, "the queue's database is away: m"),
        (TransferError(.timedOut, "does not answer", isTransient: true), 503, 503, "does not answer"),
        (TransferError(.fileAccess, "the disk is full", isTransient: true), 503, 503, "the disk is full"),
        (TransferError(.cancelled, "m"), 503, 503, "about to end"), (CancellationError(), 503, 503, "about to end"),
        (TransferError(.rightMissing, "the login \"u\" may not submit"), 403, 400, "\"u\" may not submit"),
        (TransferError(.fileMissing, "no such queue"), 404, 400, "no such queue"),
        (TransferError(.invalidRequest, "m"), 422, 400, "m"), (TransferError(.internalFault, "m"), 500, 400, "m"),
        (Problem.unavailable("tooMany", "full"), 503, 503, "full"),
        (Problem.conflict("ended", "done"), 409, 400, "done"),
    ]

    @Test(arguments: table.indices) func anErrorHasItsStatusInBothInterfaces(_ row: Int) {
        let (error, status, ariaStatus, words) = Self.table[row]
        let (problem, failure) = (Problem(error), AriaError(error))
        #expect(problem.status.code == status && failure.status == ariaStatus, "\(error)")
        #expect(problem.detail.contains(words) && failure.message.contains(words), "\(error)")
        #expect((problem.headers[.retryAfter] != nil) == (status == 503), "\(error)")
        let answer = AriaProtocol.answer(id: .null, failure)
        #expect(answer.status == ariaStatus && (answer.retryAfter != nil) == (ariaStatus == 503), "\(error)")
        #expect(problem.isOfService == (status >= 500 || problem.code == "rightMissing"), "\(error)")
    }

    @Test func aRefusalOfAria2IsNoFaultOfTheService() {
        #expect(AriaError.unauthorized.status == 400 && AriaError.parse.status == 500)
        #expect(AriaError(AriaError.notFound("1")).problem == nil)
    }
}
