import CTransferCurl
import TransferCore

// The moment before a request leaves, and the assignment of its answer.
extension ActiveExchange {
    /// Decides whether libcurl may make the request on the connection that it has chosen.
    ///
    /// - Parameter ends: The ends of the connection.
    func mayMakeRequest(between ends: @autoclosure () -> PlainSockets.Ends) -> Bool {
        guard isFirstRequest || mayBeRepeated else {
            // A small body has left with its head.
            if outgoing.isJoined { outgoing.sent = body.length ?? 0 }
            stopReason = .failed(
                TransferError(.connectionLost, "the connection was lost before the answer", isTransient: true))
            return false
        }
        if !outgoing.hasMadeRequest { noteLife() }
        outgoing.hasMadeRequest = true
        guard let sockets = connection.sockets, let hop, hop.url.hasUTF8Prefix(Self.scheme) else { return true }
        return isQuiet(ends(), sockets, hop)
    }

    /// Whether the request is not a repetition of libcurl's. Without an answer libcurl repeats a request only because
    /// the connection died.
    private var isFirstRequest: Bool { !outgoing.hasMadeRequest || answer.status != 0 }

    private var mayBeRepeated: Bool {
        guard let hop else { return false }
        // A body that is read piece by piece may not have left at all. That is decided when libcurl reads it again
        // (``rewindBody(to:)``). Other bodies left with the head.
        let isAhead = hop.sendsBody && !outgoing.isJoined && body.length != 0
        return isAhead
            || RepeatRule(method: hop.method, resendsBody: request.settings.resendsBody).allows(hop.sendsBody)
    }

    /// Returns whether the connection has no unread bytes: bytes before a request would be taken for its answer (RFC
    /// 9112 §9.2).
    ///
    /// Under TLS unread bytes may belong to TLS itself.
    private func isQuiet(_ ends: PlainSockets.Ends, _ sockets: PlainSockets, _ hop: Hop) -> Bool {
        let isNew = sockets.isNew(ends, among: connection.opened)
        connection.acknowledged = nil
        guard let socket = sockets.socket(of: ends), !isTLSToProxy(hop) else { return true }
        guard PlainSockets.hasUnread(socket) else {
            // An answer may still come before the request has left.
            connection.acknowledged = PlainSockets.Acknowledged(socket)
            return true
        }
        PlainSockets.giveUp(socket)
        guard !isNew else {
            stopReason = .failed(
                TransferError(.badResponse, "the server spoke before it was asked", isTransient: true))
            return false
        }
        stopReason = .spokenBefore
        return false
    }

    /// Returns whether the head that begins may be the answer of this request.
    ///
    /// A server that sent a head before the request came has acknowledged no byte of the request. The fate of the
    /// request is then unknown.
    func mayBeAnswer() -> Bool {
        guard let acknowledged = connection.acknowledged else { return true }
        connection.acknowledged = nil
        if acknowledged.hasGrown { return true }
        PlainSockets.giveUp(acknowledged.socket)
        stopReason = .failed(
            TransferError(.connectionLost, "an answer came that was sent before its request", isTransient: true))
        return false
    }

    private func isTLSToProxy(_ hop: Hop) -> Bool {
        request.settings.way(to: hop.url).map { ProxyAddress($0).scheme == "https" } ?? false
    }

    private static let scheme = Array("http://".utf8)

    /// Notes, when a final head has come, whether the whole body had gone to the network by then.
    func noteWhetherBodyIsOut() {
        guard let hop, hop.sendsBody, files == nil, let length = body.length, let handle else {
            outgoing.isBodyOut = true
            return
        }
        outgoing.isBodyOut = handle.offset(CURLINFO_SIZE_UPLOAD_T) >= length
    }

    /// Whether a part of the hop's request may have left. For a file server, that is a command after the login.
    var hasRequestLeft: Bool { outgoing.sent > 0 || files?.hasBegun ?? outgoing.hasMadeRequest }

    /// A request whose body is there and has no bytes has left.
    var emptyBodyLeft: Bool { hasRequestLeft && hop?.sendsBody == true && body.length == 0 }

    /// The part of the request to which the last answer refers: the whole, its beginning, or another request.
    var answerScope: AnswerScope {
        guard let hop, !hop.isTurned(from: request) else { return .another }
        return outgoing.isBodyOut ? .request : .beginning
    }
}

extension Hop {
    /// Returns whether redirects, or decisions about them, replaced the original request by another one.
    func isTurned(from request: ExchangeRequest) -> Bool {
        method != request.method || sendsBody == request.body.isEmpty || replacedBody != nil
    }
}
