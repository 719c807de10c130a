/// The rule that says whether a request's body may have arrived although no success came back. Every protocol goes by
/// it: uploads, copies and forms alike.
///
/// | What came back after the last byte of the body | The body |
/// |---|---|
/// | nothing: a cut, a time-out, a reset, also one in the middle of the answer | may have arrived |
/// | 408, 425, 502, 503, 504, a status of a gateway | may have arrived |
/// | any other refusal | was refused |
/// | 404 or 410 of an upload that was there before | may have arrived, and was taken away |
///
/// Before the last byte of the body nothing can have arrived whole. What may have arrived is asked for first, wherever the
/// protocol has a question for it. Where no question helps, only a request that changes nothing when it is repeated is
/// sent again, and the restart is reported. Any other upload ends with `mayHaveBeenSent`.
public enum DeliveryRule {
    /// Whether a refusal with that status leaves open what the server did: its sender gave up waiting, or is a gateway
    /// before the server (RFC 9110 §15.5.9, §15.6.3 to §15.6.5). 425 speaks of early data, which is never sent here.
    public static func leavesOpen(_ status: Int) -> Bool {
        switch status {
        case 408, 425, 503: true
        default: StatusRule.mayBeOfGateway(status)
        }
    }

    /// Whether the server may have the whole body.
    ///
    /// - Parameters:
    ///   - error: The failure of the request.
    ///   - sent: Bytes of the body that were handed to the network.
    ///   - length: Bytes of the whole body.
    public static func mayHaveArrived(_ error: TransferError, sent: Int64, of length: Int64) -> Bool {
        guard !isBeforeRequest(error), error.code != .sourceChanged else { return false }
        if let status = error.status { return sent >= length && leavesOpen(status) }
        // A success that came early may be the answer to the whole.
        return sent >= length || error.code == .answeredEarly
    }

    /// Whether a request with a body that changes something each time it is made may have been taken, wherever it broke off.
    public static func mayHaveBeenTaken(_ error: TransferError) -> Bool {
        guard error.errno == nil, error.code != .sourceChanged else { return false }
        return error.status.map(leavesOpen) ?? true
    }

    /// Whether the failure came before the head of the request could leave: the engine has seen it, or the kind of failure
    /// tells.
    public static func isBeforeRequest(_ error: TransferError) -> Bool {
        error.isBeforeRequest || beforeRequest.contains(error.code)
    }

    /// Whether the server had an upload and doesn't have it now: all of it may have been taken away because it was complete.
    public static func isGone(_ status: Int) -> Bool { status == 404 || status == 410 }

    private static let beforeRequest: Set<TransferError.Code> = [
        .cannotResolveHost, .linkUnavailable, .cannotConnect, .secureConnectionFailed, .certificateRefused,
        .proxyRefused, .originUnreachable, .addressRefused, .hostKeyRefused, .loginRefused, .tooManyConnections,
        .badURL, .invalidRequest, .secretMissing, .fileMissing, .fileAccess, .fileLocked,
    ]
}
