/// The rule that decides whether a request's body may have arrived although no success was received. It applies to all
/// protocols: uploads, copies and forms.
///
/// | Response after the last byte of the body | Fate of the body |
/// |---|---|
/// | none, or an incomplete one: a lost connection, a timeout, a reset | may have arrived |
/// | 408, 425, 502, 503, 504, or another status of a gateway | may have arrived |
/// | any other refusal | was refused |
/// | 404 or 410 for an upload that existed before | may have arrived and been removed |
/// | 500 to a PUT | was refused, and is asked about all the same |
/// | a success before the last byte | may have arrived |
///
/// Before its last byte has been sent, a body cannot have arrived completely. If it may have arrived, the server is
/// asked first, provided that the protocol has a query for it. Otherwise only a request that changes nothing when
/// repeated is sent again, and the restart is reported. Any other upload ends with `mayHaveBeenSent`.
public enum DeliveryRule {
    /// Returns whether a refusal with this status leaves the server's action unknown: its sender stopped waiting, or is
    /// a gateway before the server (RFC 9110 §15.5.9, §15.6.3 to §15.6.5). 425 concerns early data, which is never sent
    /// here.
    public static func leavesOpen(_ status: Int) -> Bool {
        switch status {
        case 408, 425, 503: true
        default: StatusRule.mayBeOfGateway(status)
        }
    }

    /// Returns whether the server may have the whole body.
    ///
    /// - Parameters:
    ///   - error: The failure of the request.
    ///   - sent: The number of body bytes handed to the network.
    ///   - length: The length of the whole body in bytes.
    public static func mayHaveArrived(_ error: TransferError, sent: Int64, of length: Int64) -> Bool {
        guard !isBeforeRequest(error), error.code != .sourceChanged else { return false }
        if let status = error.status { return sent >= length && leavesOpen(status) }
        // An early success may be the response to the whole body.
        return sent >= length || error.code == .answeredEarly
    }

    /// Returns whether the server of a PUT is asked for the body before the body is sent again.
    ///
    /// A program may have failed after it stored the file, and its server then answers 500 (RFC 9110 §15.6.1). The
    /// question costs little. For a request that must not be repeated, a 500 remains a refusal.
    public static func isWorthAsking(_ error: TransferError, sent: Int64, of length: Int64) -> Bool {
        mayHaveArrived(error, sent: sent, of: length) || error.status == 500 && sent >= length
    }

    /// Returns the failure of a PUT, with the body's fate in its words where no answer to the whole body came.
    public static func worded(_ error: TransferError, sent: Int64, of length: Int64) -> TransferError {
        guard error.status == nil, mayHaveArrived(error, sent: sent, of: length) else { return error }
        var error = error
        error.message +=
            error.code == .answeredEarly
            ? "; the file may have arrived" : "; the whole body was sent, and may have arrived"
        return error
    }

    /// Returns whether a request may have been executed, wherever it broke off. The rule is for requests whose
    /// repetition changes something again.
    public static func mayHaveBeenTaken(_ error: TransferError) -> Bool {
        guard error.errno == nil, error.code != .sourceChanged else { return false }
        return error.status.map(leavesOpen) ?? true
    }

    /// Returns whether the failure came before the head of the request could leave. The engine has observed that, or
    /// the kind of failure implies it.
    public static func isBeforeRequest(_ error: TransferError) -> Bool {
        error.isBeforeRequest || beforeRequest.contains(error.code)
    }

    /// Returns whether the server no longer has a known upload, which it may have removed because it was complete.
    public static func isGone(_ status: Int) -> Bool { status == 404 || status == 410 }

    private static let beforeRequest: Set<TransferError.Code> = [
        .cannotResolveHost, .linkUnavailable, .cannotConnect, .secureConnectionFailed, .certificateRefused,
        .proxyRefused, .originUnreachable, .addressRefused, .hostKeyRefused, .loginRefused, .tooManyConnections,
        .badURL, .invalidRequest, .secretMissing, .fileMissing, .fileAccess, .fileLocked,
    ]
}
