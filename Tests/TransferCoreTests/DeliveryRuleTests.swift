import Testing
import TransferCore

/// The table of ``DeliveryRule``, row by row.
@Suite struct DeliveryRuleTests {
    private func status(_ status: Int) -> TransferError {
        TransferError(.httpStatus, "\(status)", cause: .http(status: status), isTransient: true)
    }

    private func lost(_ code: TransferError.Code, _ cause: TransferError.Cause? = nil) -> TransferError {
        TransferError(code, "lost", cause: cause, isTransient: true)
    }

    @Test(arguments: [408, 425, 502, 503, 504, 520, 522, 524, 530, 598, 599])
    func aGatewayTimeoutLeavesTheDeliveryOpen(_ code: Int) {
        #expect(DeliveryRule.leavesOpen(code))
        #expect(DeliveryRule.mayHaveArrived(status(code), sent: 10, of: 10))
        #expect(DeliveryRule.mayHaveArrived(status(code), sent: 0, of: 0), "an empty file")
        #expect(!DeliveryRule.mayHaveArrived(status(code), sent: 9, of: 10), "before the last byte")
        #expect(DeliveryRule.mayHaveBeenTaken(status(code)))
    }

    @Test(arguments: [400, 401, 403, 404, 409, 410, 411, 413, 415, 421, 423, 429, 500, 501, 505, 507, 511])
    func anyOtherRefusalIsOne(_ code: Int) {
        #expect(!DeliveryRule.leavesOpen(code))
        #expect(!DeliveryRule.mayHaveArrived(status(code), sent: 10, of: 10))
        #expect(!DeliveryRule.mayHaveBeenTaken(status(code)))
    }

    /// A program may fail after it stored a file: the question costs little, and a 500 stays a refusal elsewhere.
    @Test func a500ToAPutIsAskedAbout() {
        #expect(DeliveryRule.isWorthAsking(status(500), sent: 10, of: 10))
        #expect(!DeliveryRule.isWorthAsking(status(500), sent: 9, of: 10))
        #expect(
            ![400, 403, 413, 429, 501, 505, 507].contains { DeliveryRule.isWorthAsking(status($0), sent: 10, of: 10) })
        #expect(DeliveryRule.isWorthAsking(status(502), sent: 10, of: 10))
        #expect(DeliveryRule.isWorthAsking(lost(.connectionLost), sent: 10, of: 10))
    }

    @Test func aLossAfterTheLastByteSaysWhatMayHaveHappened() {
        let words = DeliveryRule.worded(lost(.connectionLost), sent: 10, of: 10)
        #expect(words.message == "lost; the whole body was sent, and may have arrived")
        #expect(words.code == .connectionLost && words.isTransient)
        #expect(DeliveryRule.worded(lost(.connectionLost), sent: 9, of: 10).message == "lost")
        #expect(DeliveryRule.worded(lost(.answeredEarly), sent: 3, of: 10).message == "lost; the file may have arrived")
        #expect(DeliveryRule.worded(status(504), sent: 10, of: 10).message == "504")
        #expect(DeliveryRule.worded(lost(.cannotConnect), sent: 0, of: 0).message == "lost")
    }

    @Test(arguments: [
        TransferError.Code.connectionLost, .timedOut, .tooSlow, .networkChanged, .badResponse, .cancelled,
    ])
    func aLossAfterTheLastByteMayHaveArrived(_ code: TransferError.Code) {
        #expect(DeliveryRule.mayHaveArrived(lost(code), sent: 10, of: 10))
        #expect(DeliveryRule.mayHaveArrived(lost(code), sent: 0, of: 0))
        #expect(!DeliveryRule.mayHaveArrived(lost(code), sent: 9, of: 10))
    }

    @Test(arguments: [
        TransferError.Code.cannotResolveHost, .cannotConnect, .linkUnavailable, .secureConnectionFailed, .proxyRefused,
        .certificateRefused, .hostKeyRefused, .loginRefused, .addressRefused, .originUnreachable, .secretMissing,
    ])
    func aFailureBeforeTheRequestHasNotArrived(_ code: TransferError.Code) {
        #expect(DeliveryRule.isBeforeRequest(lost(code)))
        #expect(!DeliveryRule.mayHaveArrived(lost(code), sent: 0, of: 0))
    }

    /// The kind of failure does not show that a server was silent at the login or the handshake. The engine has
    /// observed it.
    @Test func anObservedFailureBeforeTheRequestHasNotArrived() {
        var error = lost(.timedOut)
        error.isBeforeRequest = true
        #expect(DeliveryRule.isBeforeRequest(error))
        #expect(!DeliveryRule.mayHaveArrived(error, sent: 0, of: 0))
    }

    @Test func aSuccessThatCameEarlyMayBeTheAnswerToTheWhole() {
        #expect(DeliveryRule.mayHaveArrived(lost(.answeredEarly), sent: 3, of: 10))
    }

    @Test func aFaultOfThisMachineIsNoDoubt() {
        #expect(!DeliveryRule.mayHaveArrived(lost(.sourceChanged), sent: 10, of: 10))
        #expect(!DeliveryRule.mayHaveBeenTaken(lost(.fileAccess, .os(errno: 5))))
        #expect(!DeliveryRule.mayHaveBeenTaken(lost(.sourceChanged)))
        #expect(DeliveryRule.mayHaveBeenTaken(lost(.connectionLost)))
    }

    @Test func goneIsNotThereAndNotRefused() {
        #expect([404, 410].allSatisfy(DeliveryRule.isGone))
        #expect(![200, 403, 409, 500].contains(where: DeliveryRule.isGone))
    }
}
